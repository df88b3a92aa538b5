"""Do the numbers of a sentence follow from the lines it cites? Pure."""

from __future__ import annotations

import ast
import errno
import re
import signal
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from http import HTTPMethod, HTTPStatus

from repopilot.code.python_ast import parse_expression
from repopilot.index.tokens import NAME_PART

_NUMBER = re.compile(r"(?<![\w.$/#-])-?(\d+(?:[_,]\d{3})*(?:\.\d+)?)(?![\w/]|\.\d)")
_IN_CODE = re.compile(r"(?<![\w.])(0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\d[\d_]*(?:\.\d+)?)")
_OTHER_BASE = re.compile(r"\b0(?:[xX][\da-fA-F]+|[bB][01]+|[oO][0-7]+)\b")
_SUMS = re.compile(r"\d[\d_]*(?:\.\d+)?(?:\s*(?:\*\*|<<|[*+-])\s*\d[\d_]*(?:\.\d+)?)+")
SYSTEM_NAMES = frozenset(
    [*HTTPMethod, *errno.errorcode.values(), *(each.name for each in (*HTTPStatus, *signal.Signals))]
)
"""Names that programs of any language share: methods and statuses of HTTP, signals, errors."""
_UNITS = (60, 1000, 1024, 3600, 1024**2, 86_400, 1000**2, 1024**3)
_WORDS = dict(enumerate("zero one two three four five six seven eight nine ten eleven twelve".split()))
_DENIED = re.compile(r"\bnot [\w(]|![\w(]")
"""A negated condition, which 0 fulfils."""


def strange_numbers(sentence: str, lines: str, known: str) -> list[str]:
    """Numbers of a sentence that follow neither from its lines nor from what is known.

    Args:
        sentence: prose and code, without citations.
        lines: the code that it cites.
        known: further texts whose numbers it may repeat: the question, names.

    Returns:
        The numbers that occur in none of these texts, not even in another unit (64 KiB for 65536), and aren't the value
        of a constant of HTTP, a signal or an error that the lines name (303 for `SEE_OTHER`).
    """
    stated = dict.fromkeys(match.group(1) for match in _NUMBER.finditer(sentence))
    there = {*_numbers(lines), *_numbers(known), *map(_value, _OTHER_BASE.findall(sentence))}
    names = {words_of(name) for name in re.findall(r"[A-Za-z_]\w*", lines)}
    return [text for text in stated if not _is_borne_out(_value(text), there, names)]


def _is_borne_out(value: float, there: set[float], names: set[str]) -> bool:
    if value in there:
        return True
    if any(value * unit in there or value / unit in there for unit in _UNITS):
        return True
    return any(_is_name_of(constant, name) for constant in _constants().get(value, ()) for name in names)


def _is_name_of(constant: str, name: str) -> bool:
    """Whether an identifier names a constant, both as words: `StatusOK`, `handleMethodNotAllowed`."""
    return name in (constant, f"status {constant}") or (" " in constant and f" {constant} " in f" {name} ")


def words_of(name: str) -> str:
    """The words of an identifier, in lower case, with spaces between them."""
    return " ".join(NAME_PART.findall(name)).lower()


def _numbers(text: str) -> Iterator[float]:
    for match in _IN_CODE.finditer(text.replace(",", "_") if re.fullmatch(r"[\d,]+", text) else text):
        yield _value(match.group(1))
    yield from (_value(part) for part in re.findall(r"(?<=[A-Za-z]_)\d+(?![\da-zA-Z])", text))
    yield from (float(value) for value, word in _WORDS.items() if re.search(rf"\b{word}\b", text, re.I))
    for match in _SUMS.finditer(text):
        yield from _computed(match.group(0))
    for match in _NUMBER.finditer(text):
        yield _value(match.group(1))
    if _DENIED.search(text):
        yield 0.0


def _computed(expression: str) -> Iterator[float]:
    """The value of a sum or product of numbers, and of each part of it."""
    try:
        tree = parse_expression(expression)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            value = _evaluated(node)
            if value is not None:
                yield value


def _evaluated(node: ast.expr) -> float | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if not isinstance(node, ast.BinOp):
        return None
    left = _evaluated(node.left)
    right = _evaluated(node.right)
    if left is None or right is None or max(abs(left), abs(right)) > 2**40:
        return None
    if isinstance(node.op, ast.LShift | ast.Pow) and (abs(left) > 1024 or not 0 <= right < 64):
        return None
    if isinstance(node.op, ast.LShift):
        return left * 2**right
    if isinstance(node.op, ast.Pow):
        return left**right
    operations = {ast.Mult: left * right, ast.Add: left + right, ast.Sub: left - right}
    return operations.get(type(node.op))


def _value(text: str) -> float:
    bare = text.replace("_", "").replace(",", "")
    try:
        return float(int(bare, 0)) if bare[:1] == "0" and len(bare) > 1 and bare[1:2].isalpha() else float(bare)
    except ValueError:
        return -1.0


@lru_cache(maxsize=1)
def _constants() -> Mapping[float, set[str]]:
    """The names of HTTP statuses, signals and errors in the standard library, by their numbers."""
    found: defaultdict[float, set[str]] = defaultdict(set)
    named = [(each.value, each.name) for each in (*HTTPStatus, *signal.Signals)]
    for number, name in (*named, *errno.errorcode.items()):
        found[number].add(words_of(name))
    return found
