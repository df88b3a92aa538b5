"""Definitions and uses of names in one parsed file, found by the queries in `tags/`.

A definition's span is everything that would go with it when it is replaced: its decorators and its `export` too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tree_sitter import Node, QueryCursor

from repopilot.code.syntax import Tags, text_of
from repopilot.types import Symbol

_LEAVES = frozenset({"variable", "field", "declaration", "macro"})
_CLASSES = frozenset({"class", "interface", "struct", "trait", "enum", "impl", "module"})
# Where several patterns match one name, the one that says most of it wins.
_VAGUE = {"export": 4, "variable": 3, "field": 3, "type": 2, "declaration": 2, "function": 1, "class": 1}
_BODY = re.compile(r"body|block|declaration_list$")
_RECEIVER = re.compile(rb"([\w$]+(?:(?:\.|::|->|\?\.|\\)[\w$]+)*)(?:\.|::|->|\?\.|\\)$")
_SIGNATURE_CHARS = 200


class Use(NamedTuple):
    """A use of a name, small enough to keep by the million; `Reference` without its path.

    `receiver` is what stands before the name as written (`self`, `os.path`), `)` for the result of a call, '' for none.
    """

    name: str
    line: int
    kind: str
    scope: str
    receiver: str


@dataclass(frozen=True, slots=True)
class Definition:
    """A symbol with where it lies in the bytes, and whether it is open to inner definitions."""

    symbol: Symbol
    start_byte: int
    end_byte: int
    name_byte: int
    name_end: int

    @property
    def is_class(self) -> bool:
        return self.symbol.kind in _CLASSES

    @property
    def is_leaf(self) -> bool:
        return self.symbol.kind in _LEAVES


def definitions(root: Node, tags: Tags, path: str, data: bytes) -> list[Definition]:
    """Every definition under `root` in the order of the text; `impl` blocks among them, which are no symbols."""
    found: dict[int, _Found] = {}
    for _, captures in QueryCursor(tags.definitions).matches(root):
        _collect(found, captures, data)
    ordered = sorted(found.values(), key=lambda f: (f.start, -f.end, f.name.start_byte))
    return _qualified(ordered, path, data)


def uses(root: Node, tags: Tags, data: bytes, found: Sequence[Definition], bound: Iterable[str],
         hidden: Sequence[tuple[int, int]]) -> list[Use]:  # fmt: skip
    """Calls, inheritance and other uses of names, in the order of the text, without definitions and imports.

    A plain use is kept where it can refer to a definition: an attribute, a name that `found` defines or an import
    binds (`bound`), or a capitalised name. `hidden` are the byte ranges of the import statements.
    """
    captures = QueryCursor(tags.references).captures(root)
    taken = {d.name_byte for d in found}
    hidden = [*hidden, *((d.name_byte, d.name_end) for d in found if d.name_end - d.name_byte > len(d.symbol.name))]
    known = {d.symbol.name for d in found} | set(bound)
    rows: list[tuple[int, str, int, str]] = []
    for kind in ("inherit", "call", "member", "use"):
        for node in captures.get(kind, ()):
            at = node.start_byte
            if at in taken:
                continue
            taken.add(at)
            name = data[at : node.end_byte].decode("utf-8", "replace")
            if kind == "use" and name not in known and not name[:1].isupper():
                continue
            rows.append((at, name, node.start_point[0] + 1, "use" if kind == "member" else kind))
    rows.sort()
    return _scoped(rows, data, [d for d in found if not d.is_leaf], sorted(hidden))


@dataclass(slots=True)
class _Found:
    kind: str
    name: Node
    inner: Node
    start: int
    end: int
    first_row: int
    last_row: int
    owner: str


def _collect(found: dict[int, _Found], captures: dict[str, list[Node]], data: bytes) -> None:
    name = captures["name"][0]
    owner = captures["path"][0] if "path" in captures else None
    for kind, nodes in captures.items():
        if kind in ("name", "path") or kind.startswith("_"):
            continue
        node = nodes[0]
        old = found.get(name.start_byte)
        end = node.end_point
        # A node that ends with its newline (C macros) ends on the line before.
        last = end[0] - 1 if end[1] == 0 and end[0] > node.start_point[0] else end[0]
        if old is None:
            owned = text_of(owner, data) if owner else ""
            found[name.start_byte] = _Found(kind, name, node, node.start_byte, node.end_byte,
                                            node.start_point[0], last, owned)  # fmt: skip
            continue
        if _VAGUE.get(kind, 0) < _VAGUE.get(old.kind, 0):
            old.kind = kind
        if owner and not old.owner:
            old.owner = text_of(owner, data)
        if node.end_byte - node.start_byte < old.inner.end_byte - old.inner.start_byte:
            old.inner = node
        if node.start_byte < old.start:
            old.start, old.first_row = node.start_byte, node.start_point[0]
        if node.end_byte > old.end:
            old.end, old.last_row = node.end_byte, last


def _qualified(ordered: Sequence[_Found], path: str, data: bytes) -> list[Definition]:
    result: list[Definition] = []
    open_: list[tuple[int, str, str]] = []  # end, qualified, kind
    seen: set[str] = set()
    for item in ordered:
        while open_ and open_[-1][0] <= item.start:
            open_.pop()
        outer, outer_kind = (open_[-1][1], open_[-1][2]) if open_ else ("", "")
        name, local = _names(item, path, data)
        qualified = f"{outer}.{local}" if outer else local
        member = "." in local or outer_kind in _CLASSES - {"module"}
        kind = "method" if item.kind == "function" and member else item.kind
        if kind in _LEAVES or kind == "type":
            if qualified in seen:
                continue
        elif kind != "export":
            open_.append((item.end, qualified, kind))
        seen.add(qualified)
        symbol = Symbol(name, qualified, "variable" if kind == "export" else kind, path, item.first_row + 1,
                        item.last_row + 1, _signature(item.inner, data))  # fmt: skip
        result.append(Definition(symbol, item.start, item.end, item.name.start_byte, item.name.end_byte))
    return result


def _names(item: _Found, path: str, data: bytes) -> tuple[str, str]:
    """The plain name and the name qualified by what the definition itself says (receiver, `Class::`, `prototype`)."""
    written = text_of(item.name, data).strip().strip("\"'`")
    owner = item.owner
    if "::" in written or "\\" in written:
        parts = [p.strip() for p in re.split(r"::|\\", written) if p.strip()]
        return parts[-1] if parts else written, ".".join(parts) or written
    if owner.endswith("module.exports"):
        own = next((n for n in (_field(item.inner, "right", "name"),) if n), None)
        name = text_of(own, data) if own else path.rsplit("/", 1)[-1].split(".")[0]
        return name, name
    if "." in owner:
        steps = [
            s
            for s in re.split(r"[.?!\s]+", owner)
            if s not in ("this", "exports", "module", "prototype", "self", "window", "")
        ]
        return written, ".".join(s for s in steps if re.fullmatch(r"[\w$#]+", s)) or written
    return written, f"{owner}.{written}" if owner else written


def _field(node: Node, *names: str) -> Node | None:
    current: Node | None = node
    for name in names:
        if current is None:
            return None
        if current.type == "expression_statement":
            current = current.named_child(0)
        current = current.child_by_field_name(name) if current else None
    return current


def _signature(node: Node, data: bytes) -> str:
    """The definition's head on one line: everything before its body."""
    holder = node
    for field in ("value", "right"):
        inner = holder.child_by_field_name(field)
        if inner is not None and inner.child_by_field_name("body") is not None:
            holder = inner
    body = holder.child_by_field_name("body")
    if body is None:
        body = next((c for c in holder.children if c.is_named and _BODY.search(c.type)), None)
    end = body.start_byte if body is not None else min(node.end_byte, node.start_byte + 1000)
    head = data[node.start_byte : end]
    if body is None:
        head = head.split(b"\n", 1)[0]
    text = " ".join(head[:2000].decode("utf-8", "replace").split())
    return text.rstrip("{ ").removesuffix("=>").rstrip(":= " if body is not None else " ")[:_SIGNATURE_CHARS]


def _scoped(rows: Sequence[tuple[int, str, int, str]], data: bytes, scopes: Sequence[Definition],
            hidden: Sequence[tuple[int, int]]) -> list[Use]:  # fmt: skip
    result: list[Use] = []
    open_: list[tuple[int, str]] = []
    seen: set[tuple[str, int, str]] = set()
    next_scope = next_hidden = 0
    for at, name, line, kind in rows:
        while next_hidden < len(hidden) and hidden[next_hidden][1] <= at:
            next_hidden += 1
        if next_hidden < len(hidden) and hidden[next_hidden][0] <= at:
            continue
        while next_scope < len(scopes) and scopes[next_scope].start_byte <= at:
            scope = scopes[next_scope]
            while open_ and open_[-1][0] <= scope.start_byte:
                open_.pop()
            open_.append((scope.end_byte, scope.symbol.qualified))
            next_scope += 1
        while open_ and open_[-1][0] <= at:
            open_.pop()
        if kind == "use":
            key = (name, line, kind)
            if key in seen:
                continue
            seen.add(key)
        result.append(Use(name, line, kind, open_[-1][1] if open_ else "", _receiver(data, at)))
    return result


def _receiver(data: bytes, at: int) -> str:
    if at == 0 or data[at - 1 : at] not in (b".", b":", b">", b"\\"):
        return ""
    match = _RECEIVER.search(data, max(0, at - 80), at)
    return match.group(1).decode("utf-8", "replace").replace("::", ".").replace("->", ".") if match else ")"
