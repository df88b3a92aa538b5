"""Changes the parameters of a Python function and the arguments of its calls in place: everything else in the text
stays as it is, including annotations, comments and line breaks. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from tree_sitter import Node

from repopilot.code.source_positions import Replacement
from repopilot.resolve.python_scopes import decorators
from repopilot.tools.refactoring.python_source import PythonSource

_MARKS = ("positional_separator", "keyword_separator")
_STARRED = ("list_splat_pattern", "dictionary_splat_pattern")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class AddedParameter:
    """A parameter to add; its default is '' for none."""

    name: str
    default: str = ""
    annotation: str = ""
    keyword_only: bool = False

    def written(self, default: str) -> str:
        """The parameter as code, with a default."""
        head = f"{self.name}: {self.annotation}" if self.annotation else self.name
        equals = " = " if self.annotation else "="
        return f"{head}{equals}{default}" if default else head


@dataclass(frozen=True, slots=True)
class SignatureChange:
    """What becomes of the parameters: added ones, removed ones, new names by old ones, and those that change places, in
    their new order."""

    add: Sequence[AddedParameter] = ()
    remove: Sequence[str] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    order: Sequence[str] = ()

    @property
    def required(self) -> bool:
        """Whether every call needs another argument."""
        return any(not each.default for each in self.add)

    @property
    def moves_arguments(self) -> bool:
        """Whether it matters how many arguments a call has."""
        return bool(self.remove or self.order or self.required)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, or a separator (`/` or `*`), whose name is ''."""

    name: str
    span: Span
    node: Node
    name_span: Span = (0, 0)


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function as they stand."""

    source: PythonSource
    function: Node
    items: Sequence[Parameter]

    @property
    def names(self) -> list[str]:
        """The names of all parameters."""
        return [each.name for each in self.items if each.name]

    @property
    def positional(self) -> list[str]:
        """The names of parameters that a positional argument can fill, in order."""
        before = takewhile(lambda each: each.node.type not in (*_STARRED, "keyword_separator"), self.items)
        return [each.name for each in before if each.name]

    @property
    def positional_only(self) -> list[str]:
        """The names of parameters that a keyword argument can't fill."""
        marks = [n for n, each in enumerate(self.items) if each.node.type == "positional_separator"]
        return [each.name for each in self.items[: marks[0]]] if marks else []

    @property
    def takes_any(self) -> bool:
        """Whether it takes keywords of any name."""
        return any(each.node.type == "dictionary_splat_pattern" for each in self.items)

    def named(self, name: str) -> Parameter | None:
        """The parameter of a name."""
        return next((each for each in self.items if each.name == name), None)


def signature_of(source: PythonSource, function: Node) -> Signature:
    """The parameters of a function.

    Args:
        source: the file.
        function: its definition in the file's tree.
    """
    found = function.child_by_field_name("parameters")
    nodes = [each for each in (found.named_children if found else ()) if each.type != "comment"]
    return Signature(source, function, [_parameter(source, each) for each in nodes])


def _parameter(source: PythonSource, node: Node) -> Parameter:
    if node.type in _MARKS:
        return Parameter("", source.span(node), node)
    kind = node
    name = node.child_by_field_name("name") or node
    while name.type != "identifier":
        kind = name if name.type in _STARRED else kind
        name = next(each for each in name.named_children if each.type != "comment")
        kind = name if name.type in _STARRED else kind
    return Parameter(source.of(name), source.span(node), kind, source.span(name))


def changed_definition(signature: Signature, change: SignatureChange) -> list[Replacement]:
    """The replacements that change a function's parameters, except for their new names.

    Args:
        signature: of the function.
        change: of its parameters, with only names that it has.
    """
    text = signature.source.text
    items = signature.items
    found = _reordered(text, {each.name: each.span for each in items}, change.order)
    gone = [n for n, each in enumerate(items) if each.name and each.name in change.remove]
    left = [n for n in range(len(items)) if n not in gone]
    while (orphan := next((n for n in left if _is_orphan(items, left, n)), None)) is not None:
        gone.append(orphan)
        left.remove(orphan)
    opening, closing = _inside(signature)
    found += removed_items([each.span for each in items], sorted(gone), closing)
    return found + _added(signature, [items[n] for n in left], change.add, opening, closing)


def _is_orphan(items: Sequence[Parameter], left: Sequence[int], n: int) -> bool:
    """Whether a separator has no parameters to separate any more."""
    place = left.index(n)
    if items[n].node.type == "positional_separator":
        return place == 0
    if items[n].node.type == "keyword_separator":
        following = items[left[place + 1]] if place + 1 < len(left) else None
        return following is None or following.node.type == "dictionary_splat_pattern"
    return False


def _inside(signature: Signature) -> Span:
    """Where the parentheses of a function open and close."""
    found = signature.function.child_by_field_name("parameters")
    assert found is not None
    start, end = signature.source.span(found)
    return start + 1, end - 1


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call: its positional arguments, its keyword arguments, those with `*` (`starred`) and with `**` (`options`)."""

    source: PythonSource
    node: Node
    arguments: Sequence[Node]
    keywords: Sequence[tuple[str, Node]]
    starred: Sequence[Node]
    options: Sequence[Node]

    @property
    def every(self) -> list[Node]:
        """All its arguments, in order."""
        found = [*self.arguments, *(node for _, node in self.keywords), *self.starred, *self.options]
        return sorted(found, key=lambda node: node.start_byte)

    @property
    def closing(self) -> int:
        """Where its parentheses close."""
        return self.source.span(self.node)[1] - 1

    def span(self, argument: Node) -> Span:
        """Where an argument stands; a bare generator without the parentheses of the call."""
        start, end = self.source.span(argument)
        bare = argument.type == "generator_expression" and argument.parent == self.node
        return (start + 1, end - 1) if bare else (start, end)


def call_at(source: PythonSource, node: Node) -> CallSite:
    """A call in a file.

    Args:
        source: the file.
        node: the call in its tree.
    """
    given = node.child_by_field_name("arguments")
    inner = [given] if given and given.type == "generator_expression" else given.named_children if given else []
    each = [n for n in inner if n.type != "comment"]
    plain = [n for n in each if n.type not in ("keyword_argument", "list_splat", "dictionary_splat")]
    keywords = [(source.of(n.child_by_field_name("name")), n) for n in each if n.type == "keyword_argument"]
    starred = [n for n in each if n.type == "list_splat"]
    return CallSite(source, node, plain, keywords, starred, [n for n in each if n.type == "dictionary_splat"])


def changed_call(
    call: CallSite, bound: int, signature: Signature, change: SignatureChange
) -> tuple[list[Replacement], bool]:
    """The replacements that adapt a call, except for new names.

    Args:
        call: as it stands.
        bound: how many parameters are filled before its first argument.
        signature: of the function before the change.
        change: of the parameters.

    Returns:
        The replacements, and whether they are complete: they aren't where starred arguments or a missing value leave
        them open, or where the value of a removed or moved argument may have side effects.
    """
    source = call.source
    names = signature.positional[bound:]
    movable = [name for name in names if name in (*change.remove, *change.order)]
    if change.required or (call.starred and movable) or (call.options and change.remove):
        return [], False
    filled = dict(zip(names, call.arguments, strict=False))
    gone = [node for name, node in filled.items() if name in change.remove]
    gone += [node for name, node in call.keywords if name in change.remove]
    complete = not any(source.has_effects(node) for node in gone)
    found: list[Replacement] = []
    if change.order:
        made = _reordered_call(call, filled, change.order, signature, bound)
        if made is None:
            return [], False
        busy = [node for name, node in filled.items() if name in change.order and source.has_effects(node)]
        found = made
        complete = complete and len(busy) < 2
    every = call.every
    gone_at = [n for n, node in enumerate(every) if node in gone]
    return found + removed_items([call.span(n) for n in every], gone_at, call.closing), complete


def _reordered(text: str, spans: Mapping[str, Span], order: Sequence[str]) -> list[Replacement]:
    places = [spans[name] for name in spans if name in order]
    return [Replacement(*place, text[slice(*spans[name])]) for place, name in zip(places, order, strict=True)]


def _reordered_call(
    call: CallSite, filled: Mapping[str, Node], order: Sequence[str], signature: Signature, bound: int
) -> list[Replacement] | None:
    """The positional arguments in their new order; those after a gap become keyword arguments, None where they
    can't."""
    names = signature.positional[bound:]
    moved = iter(order)
    new = [next(moved) if name in order else name for name in names]
    texts = []
    gap = False
    for name in new:
        if name not in filled:
            gap = True
        elif gap and name in signature.positional_only:
            return None
        else:
            value = call.source.text[slice(*call.span(filled[name]))]
            texts.append(f"{name}={value}" if gap else value)
    if gap and len(call.arguments) > len(names):
        return None
    return [Replacement(*call.span(node), value) for node, value in zip(filled.values(), texts, strict=True)]


def removed_items(spans: Sequence[Span], gone: Sequence[int], closing: int | None = None) -> list[Replacement]:
    """The replacements that remove items from a list, each with its comma.

    Args:
        spans: where all its items stand, in order.
        gone: the numbers of those to take out.
        closing: where the list ends, None for behind its last item.
    """
    if gone and len(gone) == len(spans):
        return [Replacement(spans[0][0], closing or spans[-1][1], "")]
    found = []
    left = [n for n in range(len(spans)) if n not in gone]
    for n in gone:
        start, end = spans[n]
        if n > left[-1]:  # with the comma before it
            start = spans[left[-1]][1]
        else:
            end = spans[n + 1][0]
        found.append(Replacement(start, end, ""))
    return _merged(found)


def added_items(text: str, spans: Sequence[Span], new: Sequence[str]) -> list[Replacement]:
    """The replacements that append items to a list, each on a line of its own where the last one is."""
    start, end = spans[-1]
    line = text.rfind("\n", 0, start) + 1
    ending = "\r\n" if text[:line].endswith("\r\n") else "\n"
    glue = ", " if text[line:start].strip() else f",{ending}{text[line:start]}"
    return [Replacement(end, end, "".join(f"{glue}{each}" for each in new))]


def _merged(replacements: Sequence[Replacement]) -> list[Replacement]:
    """Deletions, with overlapping and adjacent ones merged."""
    merged: list[Replacement] = []
    for each in sorted(replacements):
        if merged and each.start <= merged[-1].end:
            merged[-1] = Replacement(merged[-1].start, max(merged[-1].end, each.end), "")
        else:
            merged.append(each)
    return merged


def _added(
    signature: Signature, left: Sequence[Parameter], add: Sequence[AddedParameter], opening: int, closing: int
) -> list[Replacement]:
    """Append new parameters before `**`; a bare star is added only for keyword-only ones that have none before them."""
    if not add:
        return []
    brief = is_brief(signature)
    after_star = any(each.node.type in ("keyword_separator", "list_splat_pattern") for each in left)
    written = [(each, each.written("..." if brief and each.default else each.default)) for each in add]
    plain = [text for each, text in written if after_star or not each.keyword_only]
    named = [text for each, text in written if not after_star and each.keyword_only]
    new = [*plain, *(["*", *named] if named else [])]
    rest = [each for each in left if each.node.type == "dictionary_splat_pattern"]
    before = [each.span for each in left if each not in rest]
    if before:
        return added_items(signature.source.text, before, new)
    end = rest[0].span[0] if rest else closing
    return [Replacement(opening if not rest else end, end, ", ".join(new) + ", " * bool(rest))]


def is_brief(signature: Signature) -> bool:
    """Whether a definition only declares a signature: in a stub, or as an overload."""
    source = signature.source
    return source.path.endswith(".pyi") or any("overload" in source.of(each) for each in decorators(signature.function))
