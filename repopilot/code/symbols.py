"""Definitions and uses of names in one parsed file, found by the queries in `tags/`.

The span of a definition includes its decorators and its `export`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from tree_sitter import Node, QueryCursor

from repopilot.code.file_analysis import CLASS_KINDS, LEAF_KINDS, Definition, PassedValue, Use
from repopilot.code.passed_values import UNTYPED, arguments, tells_type
from repopilot.code.receivers import Assigned, receiver
from repopilot.code.syntax import Tags, text_of
from repopilot.types import Symbol

# Where several patterns match one name, the least vague kind wins.
_VAGUENESS = {"export": 4, "variable": 3, "field": 3, "type": 2, "declaration": 2, "function": 1, "class": 1}
_BARE_PARAMETER = re.compile(r"= (async )?([\w$]+) =>$")
"""The end of an arrow function's signature, without the parentheses that it needn't have."""
_NO_OWNERS = frozenset(("this", "exports", "module", "prototype", "self", "window", ""))
_BODY = re.compile(r"body|block|declaration_list$")
_SIGNATURE_CHARS = 1000


def definitions(root: Node, tags: Tags, path: str, data: bytes) -> list[Definition]:
    """Every definition under `root`, ordered by its first byte.

    Args:
        root: the root of the syntax tree.
        tags: the queries of its language.
        path: the file's path, for the symbols.
        data: the file's text as UTF-8.

    Returns:
        The definitions, including `impl` blocks, although they aren't symbols.
    """
    found: dict[int, _Found] = {}
    for _, captures in QueryCursor(tags.definitions).matches(root):
        _collect(found, captures, data)
    ordered = sorted(found.values(), key=lambda f: (f.first.start_byte, -f.last.end_byte, f.name.start_byte))
    return _qualified(ordered, path, data)


@dataclass(frozen=True, slots=True)
class Bindings:
    """The names a file defines or imports: its definitions, the names its imports bind, and the byte ranges of the
    import statements."""

    definitions: Sequence[Definition]
    imported: Iterable[str]
    import_ranges: Sequence[tuple[int, int]]
    language: str = ""


def reachable(symbols: Collection[Symbol]) -> Iterator[Symbol]:
    """The definitions that other code can name: those outside functions, and members set on `this`."""
    functions = {symbol.qualified for symbol in symbols if symbol.kind in ("function", "method")}
    for symbol in symbols:
        outer = accumulate(symbol.qualified.split(".")[:-1], "{}.{}".format)
        if symbol.signature.startswith("this.") or functions.isdisjoint(outer):
            yield symbol


def uses(root: Node, tags: Tags, data: bytes, bindings: Bindings) -> tuple[list[Use], list[PassedValue]]:
    """Calls, inheritance and other uses of names, in the order of the text, without definitions and imports; and, for a
    language without types, the values that are passed.

    A plain use counts only where it can refer to a definition: an attribute, a name that the file defines or imports,
    or a capitalised name.

    Args:
        root: the root of the syntax tree.
        tags: the queries of its language.
        data: the file's text as UTF-8.
        bindings: what the file defines and imports.
    """
    found = bindings.definitions
    captures = QueryCursor(tags.references).captures(root)
    seen = {d.name_byte for d in found}
    qualified = ((d.name_byte, d.name_end) for d in found if d.name_end - d.name_byte > len(d.symbol.name))
    ignored = sorted([*bindings.import_ranges, *qualified])
    known = {d.symbol.name for d in found} | set(bindings.imported)
    rows: list[_Occurrence] = []
    for kind in ("inherit", "call", "member", "use"):
        for node in captures.get(kind, ()):
            start = node.start_byte
            if start in seen:
                continue
            seen.add(start)
            name = data[start : node.end_byte].decode("utf-8", "replace")
            if kind == "use" and name not in known and not name[:1].isupper():
                continue
            rows.append(_Occurrence(start, name, node.start_point[0] + 1, "use" if kind == "member" else kind))
    rows.sort()
    scopes = [d for d in found if not d.is_leaf]
    assigned = Assigned(data, scopes)
    result, calls = _with_scopes(rows, data, scopes, ignored, assigned, bindings.language)
    return result, list(_passed(calls, data, assigned, known)) if bindings.language in UNTYPED else []


def _passed(
    calls: Iterable[tuple[int, Use]], data: bytes, assigned: Assigned, known: Collection[str]
) -> Iterator[PassedValue]:
    """The values that calls pass, each with the byte after its name, and those that attributes are set to, as far as
    they tell types."""
    for end, call in calls:
        if call.receiver or call.name in known:
            for target, written in arguments(data, end):
                value = assigned.instead_of(written, call.scope)
                if tells_type(value, assigned.parameters(call.scope)):
                    yield PassedValue(call.name, call.receiver, call.scope, target, value)
    for scope, attribute, value in assigned.attributes:
        if tells_type(value, assigned.parameters(scope)):
            yield PassedValue("", "", scope, attribute, value)


class _Occurrence(NamedTuple):
    """An occurrence of a name in the text. `line` is 1-based."""

    start_byte: int
    name: str
    line: int
    kind: str


@dataclass(slots=True)
class _Found:
    """A definition being assembled from all the patterns that match its name.

    `inner` is its smallest node, `first` and `last` are those that begin first and end last; `owner` is the owner that
    the definition itself names (a receiver, `Class::`).
    """

    kind: str
    name: Node
    inner: Node
    first: Node
    last: Node
    owner: str = ""

    def add(self, kind: str, node: Node) -> None:
        """Merge another match: keep the more specific kind, the smallest node, the widest span."""
        if _VAGUENESS.get(kind, 0) < _VAGUENESS.get(self.kind, 0):
            self.kind = kind
        if node.end_byte - node.start_byte < self.inner.end_byte - self.inner.start_byte:
            self.inner = node
        if node.start_byte < self.first.start_byte:
            self.first = node
        if node.end_byte > self.last.end_byte:
            self.last = node


def _collect(found: dict[int, _Found], captures: dict[str, list[Node]], data: bytes) -> None:
    """Add one match of the definition queries to `found`, which is keyed by the first byte of the name."""
    name = captures["name"][0]
    owner = captures["path"][0] if "path" in captures else None
    for kind, nodes in captures.items():
        if kind in ("name", "path") or kind.startswith("_"):
            continue
        node = nodes[0]
        entry = found.get(name.start_byte)
        if entry is None:
            entry = found[name.start_byte] = _Found(kind, name, node, node, node)
        else:
            entry.add(kind, node)
        if owner and not entry.owner:
            entry.owner = text_of(owner, data)


def _last_row(node: Node, data: bytes) -> int:
    """The last row of a node that isn't blank; some end with line ends (C macros, rules of make)."""
    row, column = node.end_point
    if column:
        return row
    blank = data[max(node.start_byte, node.end_byte - 80) : node.end_byte]
    return max(node.start_point[0], row - blank[len(blank.rstrip()) :].count(b"\n"))


def _qualified(ordered: Sequence[_Found], path: str, data: bytes) -> list[Definition]:
    """Definitions with their qualified names, from entries ordered so that outer ones come first."""
    result: list[Definition] = []
    enclosing: list[tuple[int, str, str]] = []  # end byte, qualified name, kind
    seen: set[str] = set()
    for item in ordered:
        while enclosing and enclosing[-1][0] <= item.first.start_byte:
            enclosing.pop()
        # A type owns its members, not the structure that it names: `typedef struct node { … } node;`.
        around = [each for each in enclosing if each[2] != "type" or item.kind in ("field", "method")]
        outer, outer_kind = around[-1][1:] if around else ("", "")
        name, local = _names(item, path, data)
        # A member that a method sets on its object, or declares as a parameter.
        if item.owner.startswith("this.") or "parameter" in item.inner.type:
            outer = next((name for _, name, kind in reversed(enclosing) if kind in CLASS_KINDS - {"module"}), outer)
        qualified = f"{outer}.{local}" if outer else local
        member = "." in local or outer_kind in CLASS_KINDS - {"module"}
        kind = "method" if item.kind == "function" and member else item.kind
        if kind == "declaration" and outer_kind in ("function", "method"):
            continue  # `Basket basket(size);` reads as a prototype
        if (kind in LEAF_KINDS or kind == "type") and qualified in seen:
            continue
        if kind not in LEAF_KINDS and kind != "export":
            enclosing.append((item.last.end_byte, qualified, kind))
        seen.add(qualified)
        symbol = Symbol(
            name,
            qualified,
            "variable" if kind == "export" else kind,
            path,
            item.first.start_point[0] + 1,
            _last_row(item.last, data) + 1,
            _signature(item.inner, data),
        )
        span = (item.first.start_byte, item.last.end_byte, item.name.start_byte, item.name.end_byte)
        result.append(Definition(symbol, *span))
    return result


def _names(item: _Found, path: str, data: bytes) -> tuple[str, str]:
    """The plain name, and the name with the owner that the definition itself names (receiver, `Class::`).

    A captured dotted path may end with the name, or hold only the owner.
    """
    written = text_of(item.name, data).strip().strip("\"'`").lstrip(":")
    owner = item.owner
    if "::" in written or "\\" in written:
        parts = [p.strip() for p in re.split(r"::|\\", written) if p.strip()]
        return parts[-1] if parts else written, ".".join(parts) or written
    if owner.endswith("module.exports"):
        own = _field(item.inner, "right", "name")
        name = text_of(own, data) if own else path.rsplit("/", 1)[-1].split(".")[0]
        return name, name
    if "." in owner:
        steps = [s for s in re.split(r"[.?!\s]+", owner) if s not in _NO_OWNERS]
        plain = [s for s in steps if re.fullmatch(r"[\w$#]+", s)]
        return written, ".".join(plain if plain[-1:] == [written] else (*plain, written))
    return written, f"{owner}.{written}" if owner else written


def _field(node: Node, *names: str) -> Node | None:
    """The node at the end of a path of field names, None where there is none."""
    current: Node | None = node
    for name in names:
        if current is None:
            return None
        if current.type == "expression_statement":
            current = current.named_child(0)
        current = current.child_by_field_name(name) if current else None
    return current


def _signature(node: Node, data: bytes) -> str:
    """The definition on one line up to its body."""
    holder = node
    for field in ("value", "right"):
        inner = holder.child_by_field_name(field)
        if inner is not None and inner.child_by_field_name("body") is not None:
            holder = inner
    body = holder.child_by_field_name("body")
    if body is None:
        body = next((c for c in holder.children if c.is_named and _BODY.search(c.type)), None)
    end = body.start_byte if body is not None else min(node.end_byte, node.start_byte + 1000)
    head = _without_comments(data, node, end)
    if body is None:
        head = head.split(b"\n", 1)[0]
    text = " ".join(head[:4000].decode("utf-8", "replace").split())
    text = _BARE_PARAMETER.sub(r"= \1(\2)", text)
    return text.rstrip("{ ").removesuffix("=>").rstrip(":= " if body is not None else " ")[:_SIGNATURE_CHARS]


def _without_comments(data: bytes, node: Node, end: int) -> bytes:
    """The bytes of a node up to `end`, without the comments among them."""
    pieces = []
    start = node.start_byte
    for comment in _comments(node, end):
        pieces.append(data[start : comment.start_byte])
        start = comment.end_byte
    return b"".join((*pieces, data[start:end]))


def _comments(node: Node, end: int) -> Iterator[Node]:
    """The comments in a node that begin before `end`, in order."""
    for child in node.named_children:
        if child.start_byte < end and "comment" in child.type:
            yield child
        elif child.start_byte < end:
            yield from _comments(child, end)


def _with_scopes(
    rows: Sequence[_Occurrence],
    data: bytes,
    scopes: Sequence[Definition],
    ignored: Sequence[tuple[int, int]],
    assigned: Assigned,
    language: str,
) -> tuple[list[Use], list[tuple[int, Use]]]:
    """Occurrences as uses, each with the innermost definition around it; those in `ignored` byte ranges are left out.
    Beside them the calls, each with the byte after its name.

    All sequences are ordered by their first byte.
    """
    result: list[Use] = []
    calls: list[tuple[int, Use]] = []
    enclosing: list[tuple[int, str]] = []  # end byte, qualified name
    seen: set[tuple[str, str, int]] = set()
    next_scope = next_ignored = 0
    for start, name, line, kind in rows:
        while next_ignored < len(ignored) and ignored[next_ignored][1] <= start:
            next_ignored += 1
        if next_ignored < len(ignored) and ignored[next_ignored][0] <= start:
            continue
        while next_scope < len(scopes) and scopes[next_scope].start_byte <= start:
            scope = scopes[next_scope]
            while enclosing and enclosing[-1][0] <= scope.start_byte:
                enclosing.pop()
            enclosing.append((scope.end_byte, scope.symbol.qualified))
            next_scope += 1
        while enclosing and enclosing[-1][0] <= start:
            enclosing.pop()
        before = receiver(data, start).replace("@", "self." if language == "ruby" else "")
        if kind == "use":
            if (name, before, line) in seen:
                continue
            seen.add((name, before, line))
        around = enclosing[-1][1] if enclosing else ""
        result.append(Use(name, line, kind, around, assigned.instead_of(before, around) if before else ""))
        if kind == "call":
            calls.append((start + len(name.encode()), result[-1]))
    return result, calls
