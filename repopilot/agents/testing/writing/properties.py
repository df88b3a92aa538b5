"""Properties of a function that its name, its annotations and its neighbours promise, as tests for Hypothesis. Pure.

Round trips, idempotence and the type of the result: patterns of Hypothesis' own ghostwriter (hypothesis.readthedocs.io,
"Ghostwriter"). Each is a guess, and is kept only if it passes and notices a fault that no other test does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from repopilot.code.python_ast import parse_python

_Function = ast.FunctionDef
_INVERSES = (
    *(("encode", "decode"), ("dumps", "loads"), ("dump", "load"), ("escape", "unescape"), ("quote", "unquote")),
    *(("pack", "unpack"), ("serialize", "deserialize"), ("compress", "decompress"), ("encrypt", "decrypt")),
    *(("format", "parse"), ("to", "from"), ("flatten", "unflatten"), ("wrap", "unwrap"), ("split", "join")),
)
_IDEMPOTENT = re.compile(
    r"(?:^|_)(?:normali[sz]e|canonical\w*|strip|trim|clean|sanit[iy][sz]e|sort|sorted|unique|dedup\w*|slugify|"
    r"simplify|collapse|compact|clamp|lower|upper|title|absolute|abspath|resolve)(?:_|$)"
)
_PLAIN: Mapping[str, str] = {
    "int": "st.integers()",
    "str": "st.text()",
    "bytes": "st.binary()",
    "bool": "st.booleans()",
    "float": "st.floats(allow_nan=False, allow_infinity=False)",
    "None": "st.none()",
}
_LISTS = frozenset({"list", "List", "Sequence", "Iterable", "Collection"})
_CONCRETE = frozenset({"int", "str", "bytes", "bool", "float", "list", "dict", "set", "tuple"})
_MOST_ARGUMENTS = 4


@dataclass(frozen=True, slots=True)
class Property:
    """A property as a test: a word for its name, its strategies by argument, and its assertion."""

    slug: str
    strategies: Mapping[str, str]
    assertion: str


def properties_of(text: str, symbol: str, call: str) -> tuple[Property, ...]:
    """The properties that a function may have, the most telling first.

    Args:
        text: of its module.
        symbol: its name. Methods and classes have none: their objects would have to be made.
        call: how a test writes it.

    Returns:
        At most one of each kind; () where an argument that it needs has no annotation that says what may be given.
    """
    try:
        functions = [n for n in parse_python(text).body if isinstance(n, _Function)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    subject = next((f for f in functions if f.name == symbol), None)
    if subject is None or any(isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(subject)):
        return ()
    strategies = _strategies(subject)
    if not strategies:
        return ()
    written = f"{call}({', '.join(strategies)})"
    return tuple(
        Property(slug, strategies, assertion)
        for slug, assertion in (
            *_round_trip(subject, functions, strategies, call),
            *_idempotence(subject, strategies, call, written),
            *_result_type(subject, written),
        )
    )


def property_test(name: str, found: Property) -> str:
    """The source of a test of a property, without indentation."""
    given = ", ".join(f"{argument}={strategy}" for argument, strategy in found.strategies.items())
    return f"@given({given})\ndef {name}({', '.join(found.strategies)}):\n    {found.assertion}\n"


def _strategies(function: _Function) -> dict[str, str]:
    """A strategy for each argument that has to be given; empty where one isn't known."""
    arguments = function.args
    if arguments.posonlyargs or (arguments.kwonlyargs and None in arguments.kw_defaults):
        return {}
    needed = arguments.args[: len(arguments.args) - len(arguments.defaults)]
    found = {a.arg: _strategy(a.annotation) for a in needed}
    return found if 0 < len(found) <= _MOST_ARGUMENTS and all(found.values()) else {}


def _strategy(annotation: ast.expr | None) -> str:
    """The strategy for values of a type, '' where it isn't known."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return _PLAIN.get(annotation.value, "")
    if isinstance(annotation, ast.Constant) and annotation.value is None:
        return _PLAIN["None"]
    if isinstance(annotation, ast.Name):
        return _PLAIN.get(annotation.id, "")
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return _joined([annotation.left, annotation.right], lambda parts: " | ".join(parts))
    if isinstance(annotation, ast.Subscript):
        return _generic(ast.unparse(annotation.value).rpartition(".")[2], annotation.slice)
    return ""


def _generic(name: str, inside: ast.expr) -> str:
    parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    if name in _LISTS and len(parts) == 1:
        return _joined(parts, lambda found: f"st.lists({found[0]})")
    if name in ("set", "Set", "frozenset") and len(parts) == 1:
        return _joined(parts, lambda found: f"st.{name.lower()}s({found[0]})")
    if name in ("dict", "Dict", "Mapping") and len(parts) == 2:
        return _joined(parts, lambda found: f"st.dictionaries({', '.join(found)})")
    if name == "Optional" and len(parts) == 1:
        return _joined(parts, lambda found: f"st.none() | {found[0]}")
    if name in ("tuple", "Tuple") and parts and not any(_is_ellipsis(part) for part in parts):
        return _joined(parts, lambda found: f"st.tuples({', '.join(found)})")
    return ""


def _joined(parts: list[ast.expr], join: Callable[[list[str]], str]) -> str:
    found = [_strategy(part) for part in parts]
    return join(found) if all(found) else ""


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _round_trip(
    subject: _Function, functions: list[_Function], strategies: Mapping[str, str], call: str
) -> Iterator[tuple[str, str]]:
    """What the inverse in the same module makes of the result is the argument."""
    inverse = next((f for f in functions if _is_inverse(subject.name, f.name) and len(_needed(f)) == 1), None)
    if inverse is None or len(strategies) != 1:
        return
    (argument,) = strategies
    back = f"{call.rpartition('.')[0]}.{inverse.name}" if "." in call else inverse.name
    yield "round_trip", f"assert {back}({call}({argument})) == {argument}"


def _needed(function: _Function) -> list[ast.arg]:
    return function.args.args[: len(function.args.args) - len(function.args.defaults)]


def _is_inverse(name: str, other: str) -> bool:
    """Whether the second function undoes the first by their names; only the direction that loses nothing."""
    words, others = name.strip("_").split("_"), other.strip("_").split("_")
    if len(words) != len(others):
        return False
    if len(words) == 3 and words[1] == others[1] in ("to", "2"):
        return (words[0], words[2]) == (others[2], others[0])
    different = [(a, b) for a, b in zip(words, others, strict=True) if a != b]
    return len(different) == 1 and (different[0] in _INVERSES)


def _idempotence(
    subject: _Function, strategies: Mapping[str, str], call: str, written: str
) -> Iterator[tuple[str, str]]:
    if len(strategies) == 1 and _IDEMPOTENT.search(subject.name):
        yield "idempotent", f"assert {call}({written}) == {written}"


def _result_type(subject: _Function, written: str) -> Iterator[tuple[str, str]]:
    returns = subject.returns
    name = ast.unparse(returns).partition("[")[0] if returns is not None else ""
    if name in _CONCRETE:
        yield "result_type", f"assert isinstance({written}, {name})"
