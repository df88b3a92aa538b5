"""What has members in languages with braces: literals, enumerations, unions, fields, blocks of constants."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import (
    ambiguous,
    candidates,
    check_editable,
    dotted,
    is_name,
    owners,
    task_paths,
)
from repopilot.agents.editing.exact.polyglot import LANGUAGES
from repopilot.agents.editing.exact.sources import Sources, SourceText, word_pattern
from repopilot.types import Symbol

SCRIPTS = ("javascript", "typescript", "tsx")
_NAMED_BY = ("name", "property", "left", "key", "declarator", "pattern")
_SHAPES = {
    "array": "list",
    "object": "map",
    "enum_body": "enum",
    "enum_variant_list": "enum",
    "interface_body": "fields",
    "object_type": "fields",
    "interface_type": "fields",
    "class_body": "fields",
    "field_declaration_list": "fields",
    "array_expression": "list",
    "token_tree": "list",
    "array_initializer": "list",
    "argument_list": "list",
    "union_type": "union",
    "const_declaration": "consts",
}
_KEEPING = frozenset(
    "Object.freeze Object.seal Set Map WeakSet Collections.unmodifiableList Collections.unmodifiableSet "
    "Collections.unmodifiableMap Collections.unmodifiableCollection ArrayList HashSet LinkedHashSet TreeSet HashMap "
    "LinkedHashMap TreeMap ImmutableList.copyOf ImmutableSet.copyOf HashMap::from HashSet::from BTreeMap::from "
    "BTreeSet::from IndexMap::from Vec::from VecDeque::from LazyLock::new Lazy::new OnceLock::new Arc::new Box::new "
    "LazyCell::new".split()
)
"""Calls whose only argument has the members."""
_LISTING = frozenset(
    "List.of Set.of Arrays.asList ImmutableList.of ImmutableSet.of Stream.of EnumSet.of Lists.newArrayList "
    "Sets.newHashSet".split()
)
_PAIRING = {"Map.of": 10, "ImmutableMap.of": 10}
_WRAPPERS = frozenset(
    "as_expression satisfies_expression parenthesized_expression reference_expression unary_expression "
    "non_null_expression closure_expression array_creation_expression composite_literal".split()
)


@dataclass(frozen=True, slots=True)
class Container:
    """Something with members.

    Attributes:
        source: its file.
        name: what it is called, qualified.
        declaration: the node that declares it; for members of a block the block.
        holder: the node that has the members as its children.
        shape: list, map, pairs (a map as a row of arguments), enum, fields, union or consts.
        entries: the members.
    """

    source: SourceText
    name: str
    declaration: Node
    holder: Node
    shape: str
    entries: tuple[Node, ...]


def container_of(task: ExactTask, sources: Sources) -> Container | None:
    """What the task adds a member to or removes one from.

    Args:
        task: with the name of the container in `name`, perhaps with what it is in as `places`.
        sources: the files.

    Returns:
        The container; None where the name is that of nothing in these languages, or of nothing that has members.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: it is in a generated file.
    """
    if not is_name(task.name):
        return None
    symbols = [s for s in candidates(task.name, task, sources) if s.kind not in ("function", "method", "macro")]
    if len(symbols) > 1:
        raise ambiguous(task.name, symbols)
    found = None
    for symbol in symbols:
        source = sources.get(symbol.path)
        declaration = declaration_of(source, symbol) if source is not None else None
        if source is None or declaration is None:
            return None
        found = _container(source, declaration, symbol.qualified, sources)
    if not symbols:
        found = _nested(task, sources) or _in_files(task, sources)
    if found is not None:
        check_editable(found.source.path, task, sources)
    return found


def declaration_of(source: SourceText, symbol: Symbol) -> Node | None:
    """The node that declares a symbol of these languages: the one that its name is a part of."""
    if source.language not in LANGUAGES or source.root is None:
        return None
    for node in declarations(source, symbol.name):
        if symbol.start_line <= node.end_point[0] + 1 and node.start_point[0] + 1 <= symbol.end_line:
            return node
    return None


def declarations(source: SourceText, name: str) -> Iterator[Node]:
    """The nodes that declare a name in a file, or give a value to it."""
    for match in word_pattern(name).finditer(source.data) if source.root is not None else ():
        node = source.root.descendant_for_byte_range(*match.span()) if source.root is not None else None
        if node is None or (node.start_byte, node.end_byte) != match.span():
            continue
        declared = _declaring(node)
        if declared is not None:
            yield declared


def _declaring(node: Node) -> Node | None:
    parent = node.parent
    if parent is not None and parent.type == "string":
        node, parent = parent, parent.parent
    if parent is not None and parent.type == "literal_element":
        node, parent = parent, parent.parent
    while parent is not None and parent.type == "member_expression" and parent.end_byte == node.end_byte:
        node, parent = parent, parent.parent
    if parent is None or parent.type.endswith(("member_expression", "invocation", "call_expression")):
        return None
    named = any(n.id == node.id for f in _NAMED_BY for n in parent.children_by_field_name(f))
    return parent if named else None


def _container(source: SourceText, declaration: Node, name: str, sources: Sources) -> Container | None:
    """What a declaration holds."""
    if declaration.type == "type_spec" and source.language == "go":
        inner = declaration.child_by_field_name("type")
        listed = _child(inner, "field_declaration_list") if inner is not None and inner.type == "struct_type" else None
        if listed is not None:
            return _of(source, name, declaration, listed, "fields")
        if inner is not None and inner.type == "interface_type":
            return _of(source, name, declaration, inner, "fields")
        return _const_block(source, declaration, name, sources)
    body = declaration.child_by_field_name("body")
    if body is not None and body.type in _SHAPES:
        return _of(source, name, declaration, body, _SHAPES[body.type])
    value = declaration.child_by_field_name("value") or declaration.child_by_field_name("right")
    if value is not None and value.type == "expression_list":
        value = value.named_child(0) if value.named_child_count == 1 else None
    if value is not None and value.type == "literal_element":
        value = value.named_child(0)
    return _of_value(source, name, declaration, value) if value is not None else None


def _of_value(source: SourceText, name: str, declaration: Node, value: Node) -> Container | None:
    while True:
        inner = _unwrapped(source, value)
        if inner is None:
            break
        value = inner
    called = _called(source, value)
    if value.type in ("array", "object", "array_expression", "array_initializer", "object_type", "union_type"):
        return _of(source, name, declaration, value, _SHAPES[value.type])
    if value.type == "literal_value":
        keyed = any(c.type == "keyed_element" for c in value.named_children)
        around = value.parent.child_by_field_name("type") if value.parent is not None else None
        is_map = keyed or (around is not None and around.type == "map_type")
        return _of(source, name, declaration, value, "map" if is_map else "list")
    if value.type == "macro_invocation" and source.slice(value).startswith("vec!"):
        tree = _child(value, "token_tree")
        return _of(source, name, declaration, tree, "list") if tree is not None else None
    arguments = value.child_by_field_name("arguments")
    if arguments is not None and called in _LISTING:
        return _of(source, name, declaration, arguments, "list")
    if arguments is not None and called in _PAIRING:
        return _of(source, name, declaration, arguments, "pairs")
    return None


def _unwrapped(source: SourceText, value: Node) -> Node | None:
    """What a value is put into something by: frozen, cast, borrowed, wrapped; None where it stands alone."""
    if value.type == "composite_literal":
        return value.child_by_field_name("body")
    if value.type == "closure_expression":
        return value.child_by_field_name("body")
    if value.type in ("unary_expression", "reference_expression"):
        return value.child_by_field_name("operand") or value.child_by_field_name("value")
    if value.type == "array_creation_expression":
        return value.child_by_field_name("value")
    if value.type in _WRAPPERS:
        return value.named_child(0)
    arguments = value.child_by_field_name("arguments")
    if arguments is None or arguments.named_child_count != 1:
        return None
    called = _called(source, value)
    return arguments.named_child(0) if called in _KEEPING else None


def _called(source: SourceText, value: Node) -> str:
    """The name of the function or class that a value is a call of, without type arguments."""
    if value.type == "method_invocation":
        held, label = value.child_by_field_name("object"), value.child_by_field_name("name")
        return f"{source.slice(held)}.{source.slice(label)}" if held is not None and label is not None else ""
    target = next((n for f in ("function", "constructor", "type") if (n := value.child_by_field_name(f))), None)
    if target is None or value.child_by_field_name("arguments") is None:
        return ""
    return re.sub(r"^std::(?:\w+::)*(?=[A-Z])|<.*>", "", source.slice(target))


def _of(source: SourceText, name: str, declaration: Node, holder: Node, shape: str) -> Container:
    children = holder.named_children
    if shape == "union":
        entries = list(_union_members(holder))
    elif holder.type == "token_tree":
        entries = _groups(source, holder)
    else:
        entries = [c for c in children if "comment" not in c.type and c.type not in _NO_ENTRIES]
        if holder.type == "array_expression" and entries and _all_pairs(entries):
            shape = "tuples"
        if holder.type == "array" and _all_arrays(source, entries, holder):
            shape = "tuples"
    return Container(source, name, declaration, holder, shape, tuple(entries))


_NO_ENTRIES = ("attribute_item", "enum_body_declarations", "empty_statement")


def _all_pairs(entries: Sequence[Node]) -> bool:
    """Whether entries are the pairs that make a map in Rust."""
    return all(e.type == "tuple_expression" and e.named_child_count == 2 for e in entries)


def _all_arrays(source: SourceText, entries: Sequence[Node], holder: Node) -> bool:
    """Whether an array is the pairs that `new Map(…)` is made of."""
    around = holder.parent.parent if holder.parent is not None else None
    of_map = around is not None and around.type == "new_expression" and _called(source, around) == "Map"
    return of_map and all(e.type == "array" and e.named_child_count == 2 for e in entries)


def _union_members(union: Node) -> Iterator[Node]:
    for child in union.named_children:
        if child.type == "union_type":
            yield from _union_members(child)
        elif "comment" not in child.type:
            yield child


def _groups(source: SourceText, tree: Node) -> list[Node]:
    """The entries of `vec![…]` where each is one token; none where that isn't so."""
    inner = [c for c in tree.children[1:-1] if "comment" not in c.type]
    plain = all((source.slice(c) == ",") == (n % 2 == 1) for n, c in enumerate(inner))
    return [c for c in inner if source.slice(c) != ","] if plain else []


def _child(node: Node | None, kind: str) -> Node | None:
    return next((c for c in node.named_children if c.type == kind), None) if node is not None else None


def _const_block(source: SourceText, declaration: Node, name: str, sources: Sources) -> Container | None:
    """The one block of constants of a Go type in its package."""
    label = declaration.child_by_field_name("name")
    wanted = source.slice(label) if label is not None else ""
    found = []
    for path in sources.mentioning(wanted, ("go",)):
        other = sources.get(path) if posixpath.dirname(path) == posixpath.dirname(source.path) else None
        for node in other.root.named_children if other is not None and other.root is not None else ():
            specs = [c for c in node.named_children if c.type == "const_spec"] if "const_decl" in node.type else []
            types = [other.slice(t) for s in specs if (t := s.child_by_field_name("type")) is not None] if other else []
            if other is not None and wanted in types:
                found.append(Container(other, name, node, node, "consts", tuple(specs)))
    return found[0] if len(found) == 1 else None


def _nested(task: ExactTask, sources: Sources) -> Container | None:
    """A key of a literal, or a variable in a function, that the task names with what it is in."""
    around, _, last = dotted(task.name).rpartition(".")
    rest = ExactTask(task.kind, task.name, places=tuple(p for p in task.places if "/" in p.name or "." in p.name))
    holders: list[Symbol] = []
    for owner in [around] if around else [p.name for p in owners(task, sources.workspace.index)]:
        holders += candidates(owner, rest, sources)
    found: dict[tuple[str, int], Container] = {}
    for symbol in holders:
        source = sources.get(symbol.path)
        if source is None or source.language not in LANGUAGES:
            continue
        for node in declarations(source, last or task.name):
            inside = symbol.start_line <= node.start_point[0] + 1 and node.end_point[0] + 1 <= symbol.end_line
            held = _container(source, node, f"{symbol.qualified}.{last or task.name}", sources) if inside else None
            if held is not None:
                found[held.source.path, held.holder.start_byte] = held
    return next(iter(found.values())) if len(found) == 1 else None


def _in_files(task: ExactTask, sources: Sources) -> Container | None:
    """The only thing with members of that name in the files that the task names."""
    if "." in dotted(task.name):
        return None
    found: dict[tuple[str, int], Container] = {}
    for path in task_paths(task, sources):
        source = sources.get(path)
        if source is None or source.language not in LANGUAGES:
            continue
        for node in declarations(source, task.name):
            held = _container(source, node, task.name, sources)
            if held is not None:
                found[path, held.holder.start_byte] = held
    return next(iter(found.values())) if len(found) == 1 else None
