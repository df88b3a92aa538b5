"""Parameters of a Python function and the arguments of its calls, changed where they stand: everything else in the
text, annotations, comments and line breaks among it, stays as it is. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from repopilot.code.source_positions import Replacement, SourcePositions

_COMMA = re.compile(r"\s*,\s*")
_LONE_MARK = re.compile(r",\s*[*/]\s*,")
"""The star or slash between two kinds of parameters."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class SignatureChange:
    """What becomes of the parameters: added ones with their defaults ('' for none), removed ones, new names by old
    ones, and those that change places, in their new order."""

    add: Mapping[str, str] = field(default_factory=dict)
    remove: Sequence[str] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    order: Sequence[str] = ()


def parameters(function: Function) -> list[str]:
    """The names of a function's parameters, in order."""
    return [each.arg for each in _every(function.args)]


def positional(function: Function) -> list[str]:
    """Those that an argument without a name can fill, in order."""
    return [each.arg for each in (*function.args.posonlyargs, *function.args.args)]


def changed_definition(text: str, function: Function, change: SignatureChange) -> list[Replacement]:
    """What has to be replaced in a text for a function to have other parameters, its body included.

    Args:
        text: of the module.
        function: in the module's tree.
        change: of names that the function has.
    """
    offsets = SourcePositions(text)
    spans = {each.arg: _span(each, function.args, offsets) for each in _every(function.args)}
    found = list(_renamed(function, change.rename, offsets))
    found += _reordered(text, spans, change.order)
    found += removed_items(text, list(spans.values()), [list(spans).index(name) for name in change.remove])
    return found + _added(text, function, spans, change.add, offsets)


def changed_call(
    offsets: SourcePositions, call: ast.Call, bound: int, known: Sequence[str], change: SignatureChange
) -> list[Replacement] | None:
    """What has to be replaced in a call.

    Args:
        offsets: of the module's text.
        call: in the module's tree.
        bound: how many parameters the object of the call fills.
        known: the parameters before the change that an argument without a name can fill.
        change: of the parameters.

    Returns:
        The replacements; None where starred arguments or a missing value leave open what they would be.
    """
    text, names = offsets.text, known[bound:]
    starred = any(isinstance(each, ast.Starred) for each in call.args) or any(not k.arg for k in call.keywords)
    required = [name for name, default in change.add.items() if not default]
    if required or (starred and (change.remove or change.order)):
        return None
    found = []
    for keyword in call.keywords:
        if keyword.arg and keyword.arg in change.rename:
            start, _ = offsets.span(keyword)
            found.append(Replacement(start, start + len(keyword.arg), change.rename[keyword.arg]))
    filled = dict(zip(names, map(offsets.span, call.args), strict=False))
    if change.order:
        found += _reordered_call(text, filled, change.order, names)
    every = [*map(offsets.span, call.args), *map(offsets.span, call.keywords)]
    gone = [n for n, name in enumerate(names[: len(call.args)]) if name in change.remove]
    gone += [n for n, keyword in enumerate(call.keywords, len(call.args)) if keyword.arg in change.remove]
    return found + removed_items(text, every, gone)


def _every(arguments: ast.arguments) -> list[ast.arg]:
    starred = [arguments.vararg] if arguments.vararg else []
    last = [arguments.kwarg] if arguments.kwarg else []
    return [*arguments.posonlyargs, *arguments.args, *starred, *arguments.kwonlyargs, *last]


def _span(parameter: ast.arg, arguments: ast.arguments, offsets: SourcePositions) -> tuple[int, int]:
    """From a parameter's name, or its star, to the end of its default."""
    start, end = offsets.span(parameter)
    if parameter in (arguments.vararg, arguments.kwarg):
        star = "*" if parameter is arguments.vararg else "**"
        start = offsets.text.rindex(star, 0, start)
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: dict[str, ast.expr | None] = {
        each.arg: value for each, value in zip(reversed(plain), reversed(arguments.defaults), strict=False)
    }
    defaults |= {each.arg: value for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)}
    default = defaults.get(parameter.arg)
    return start, offsets.span(default)[1] if default is not None else end


def _renamed(function: Function, names: Mapping[str, str], offsets: SourcePositions) -> Iterator[Replacement]:
    """New names of parameters in the definition and in its body, but for inner functions with one of that name."""
    for each in _every(function.args):
        if each.arg in names:
            start, _ = offsets.span(each)
            yield Replacement(start, start + len(each.arg), names[each.arg])
    waiting: list[tuple[ast.AST, Mapping[str, str]]] = [(node, names) for node in function.body]
    while waiting:
        node, left = waiting.pop()
        if isinstance(node, ast.Name) and node.id in left:
            yield Replacement(*offsets.span(node), left[node.id])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            own = {each.arg for each in _every(node.args)}
            left = {old: new for old, new in left.items() if old not in own}
        waiting += [(child, left) for child in ast.iter_child_nodes(node)]


def _reordered(text: str, spans: Mapping[str, tuple[int, int]], order: Sequence[str]) -> list[Replacement]:
    places = [spans[name] for name in spans if name in order]
    return [Replacement(*place, text[slice(*spans[name])]) for place, name in zip(places, order, strict=True)]


def _reordered_call(
    text: str, filled: Mapping[str, tuple[int, int]], order: Sequence[str], names: Sequence[str]
) -> list[Replacement]:
    """The arguments without a name in their new order; what stands behind a gap gets its name."""
    moved = iter(order)
    new = [next(moved) if name in order else name for name in names]
    texts, gap = [], False
    for name in new:
        if name not in filled:
            gap = True
        else:
            value = text[slice(*filled[name])]
            texts.append(f"{name}={value}" if gap else value)
    return [Replacement(*place, value) for place, value in zip(filled.values(), texts, strict=True)]


def removed_items(text: str, spans: Sequence[tuple[int, int]], gone: Sequence[int]) -> list[Replacement]:
    """What has to be replaced to take items out of a list, each with the comma that it no longer needs.

    Args:
        text: with the list.
        spans: where all its items stand, in order.
        gone: the numbers of those to take out.
    """
    found, left = [], [n for n in range(len(spans)) if n not in gone]
    for n in gone:
        start, end = spans[n]
        if n + 1 == len(spans):  # with the comma before it
            start = spans[left[-1]][1] if left else start
        elif _LONE_MARK.search(text[end : spans[n + 1][0]]):
            comma = _COMMA.match(text, end)
            end = comma.end() if comma else end
        else:
            end = spans[n + 1][0]
        found.append(Replacement(start, end, ""))
    return _merged(found)


def added_items(text: str, spans: Sequence[tuple[int, int]], new: Sequence[str]) -> list[Replacement]:
    """What has to be replaced to put items behind those of a list: each on a line of its own where the last one is."""
    start, end = spans[-1]
    line = text.rfind("\n", 0, start) + 1
    glue = ", " if text[line:start].strip() else f",\n{text[line:start]}"
    return [Replacement(end, end, "".join(f"{glue}{each}" for each in new))]


def _merged(replacements: Sequence[Replacement]) -> list[Replacement]:
    """Replacements by nothing that overlap, as one."""
    merged: list[Replacement] = []
    for each in sorted(replacements):
        if merged and each.start <= merged[-1].end:
            merged[-1] = Replacement(merged[-1].start, max(merged[-1].end, each.end), "")
        else:
            merged.append(each)
    return merged


def _added(
    text: str,
    function: Function,
    spans: Mapping[str, tuple[int, int]],
    add: Mapping[str, str],
    offsets: SourcePositions,
) -> list[Replacement]:
    """New parameters behind the others: before `**`, and behind a bare star only where others are."""
    if not add:
        return []
    arguments = function.args
    new = [f"{name}={default}" if default else name for name, default in add.items()]
    before = [name for name in spans if not (arguments.kwarg and name == arguments.kwarg.arg)]
    if not before:
        opening = text.index("(", offsets.offset(function.lineno, function.col_offset)) + 1
        return [Replacement(opening, opening, ", ".join(new) + ", " * bool(spans))]
    return added_items(text, [spans[name] for name in before], new)
