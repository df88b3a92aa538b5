"""Do numbers and outcomes of a sentence fit the lines it cites? Pure."""

from __future__ import annotations

import ast
import errno
import re
import signal
from collections.abc import Iterator
from functools import lru_cache
from http import HTTPStatus

from repopilot.retrieval.claims import last_name

_NUMBER = re.compile(r"(?<![\w.$/#-])(\d+(?:[_,]\d{3})*(?:\.\d+)?)(?![\w/]|\.\d)")
_IN_CODE = re.compile(r"(?<![\w.])(0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\d[\d_]*(?:\.\d+)?)")
_OTHER_BASE = re.compile(r"\b0(?:[xX][\da-fA-F]+|[bB][01]+|[oO][0-7]+)\b")
_SUMS = re.compile(r"\d[\d_]*(?:\.\d+)?(?:\s*(?:\*\*|<<|[*+-])\s*\d[\d_]*(?:\.\d+)?)+")
_UNITS = (60, 1000, 1024, 3600, 1024**2, 86_400, 1000**2, 1024**3)
_WORDS = dict(enumerate("zero one two three four five six seven eight nine ten eleven twelve".split()))
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def strange_numbers(sentence: str, lines: str, known: str) -> list[str]:
    """Numbers of a sentence that neither its lines nor what is known bear out.

    Args:
        sentence: prose and code, without citations.
        lines: the code that it cites.
        known: further texts whose numbers it may repeat: the question, names.

    Returns:
        Those that stand in none of them, aren't a product or a unit of one that does (64 KiB of 65536), and are no
        value of a constant of HTTP, of a signal or of an error that the lines name (303 of `SEE_OTHER`).
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
    return " ".join(_NAME_WORD.findall(name)).lower()


def _numbers(text: str) -> Iterator[float]:
    for match in _IN_CODE.finditer(text.replace(",", "_") if re.fullmatch(r"[\d,]+", text) else text):
        yield _value(match.group(1))
    yield from (_value(part) for part in re.findall(r"(?<=[A-Za-z]_)\d+(?![\da-zA-Z])", text))
    yield from (float(value) for value, word in _WORDS.items() if re.search(rf"\b{word}\b", text, re.I))
    for match in _SUMS.finditer(text):
        yield from _computed(match.group(0))
    for match in _NUMBER.finditer(text):
        yield _value(match.group(1))


def _computed(expression: str) -> Iterator[float]:
    """The value of a sum or product of numbers, and of each part of it."""
    try:
        tree = ast.parse(expression, mode="eval")
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
    left, right = _evaluated(node.left), _evaluated(node.right)
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
def _constants() -> dict[float, frozenset[str]]:
    """Names that the standard library gives to numbers: of HTTP, of signals, of errors."""
    found: dict[float, set[str]] = {}
    for status in HTTPStatus:
        found.setdefault(float(status), set()).add(words_of(status.name))
    for each in signal.Signals:
        found.setdefault(float(each), set()).add(words_of(each.name))
    for number, name in errno.errorcode.items():
        found.setdefault(float(number), set()).add(words_of(name))
    return {number: frozenset(names) for number, names in found.items()}


_NAME_SPAN = re.compile(r"`([A-Za-z_$#@][\w$.:#>-]*)(?:\(\))?`")
_DENIAL = re.compile(r"\b(?:not|never|no longer|cannot)\b|n[’']t\b", re.I)
_DENIES_ALL = re.compile(rf"{_DENIAL.pattern}|\b(?:no|nothing|none|nobody|nowhere|ne|pas|jamais|rien|aucune?)\b", re.I)
_DENIED_NAME = re.compile(
    rf"(?:{_DENIAL.pattern}|\b(?:without|instead of|rather than)\b)[^`.,;:]{{0,14}}`([\w.]+)(?:\(\))?`"
)
_DENIED_VERB = re.compile(rf"(?:{_DENIES_ALL.pattern}|\bwithout)[^`.,;]{{0,40}}", re.I)
_FAILS = re.compile(
    r"\b(?:panics?|reject(?:s|ed)|refuse[sd]?|propagate[sd]?)\b|"
    r"\b(?:rais(?:es?|ed|ing)|throws?)\s+(?:\w+\s+){0,3}(?:`[\w.]*[A-Z]\w*|error|exception)|"
    r"(?:`[\w.]*[A-Z][\w.]*`|error|exception)\s+(?:is|are|gets?)\s+(?:\w+\s+)?(?:raised|thrown)\b"
)
"""What a sentence calls a failure. A counter is raised, too."""
_FAILING = re.compile(
    r"\b(?:raise|throw|panic|assert|reject|abort|exit|die)|err|fail|exception|fatal|return (?:None|nil|false|null|-1)",
    re.I,
)
_SWALLOWS = re.compile(r"\b(?:swallow|suppress|ignor)\w*", re.I)
_HANDLER = re.compile(r"^\s*(?:\}\s*)?(?:except|catch|rescue)\b")


def turned_outcome(sentence: str, lines: str) -> str:
    """What a sentence says of an error, or of a name that it denies, and its lines show otherwise; '' for nothing.

    An error that only a handler names isn't raised by these lines, one that a handler raises again isn't swallowed, and
    nothing fails where no line could make it. A name that is denied isn't called.
    """
    for match in _DENIED_NAME.finditer(sentence):
        if re.search(rf"(?<!def )\b{re.escape(last_name(match.group(1)))}\(", lines):
            return match.group(1)
    prose = _DENIED_VERB.sub(" ", sentence)
    fails = _FAILS.search(prose)
    if fails and not _FAILING.search(lines):
        return fails.group(0).replace("`", "")
    if fails and any(_only_handled(name, lines) for name in _NAME_SPAN.findall(prose)):
        return fails.group(0).replace("`", "")
    swallows = _SWALLOWS.search(prose)
    return swallows.group(0) if swallows and re.search(r"(?m)^\s*(?:raise|throw;?)\s*$", lines) else ""


def _only_handled(name: str, lines: str) -> bool:
    rows = [row for row in lines.split("\n") if re.search(rf"\b{re.escape(last_name(name))}\b", row)]
    return bool(rows) and all(_HANDLER.search(row) for row in rows)
