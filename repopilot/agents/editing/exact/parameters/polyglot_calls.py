"""The uses and calls of a function in languages other than Python, where they are certain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tree_sitter import Node

from repopilot.agents.editing.exact.go_packages import package_files
from repopilot.agents.editing.exact.parameters.reordering import HasSpan, TextSpan
from repopilot.agents.editing.exact.polyglot import check_free, identifiers_named, is_local, is_unique
from repopilot.agents.editing.exact.python.references import References, SureReference
from repopilot.agents.editing.exact.sources import Sources, SourceText
from repopilot.code.graph.import_resolver import family
from repopilot.types import Symbol

_PROPERTIES = frozenset(("field_identifier", "property_identifier", "private_property_identifier"))
_LAST_PART = {
    "selector_expression": "field",
    "member_expression": "property",
    "field_expression": "field",
    "scoped_identifier": "name",
    "generic_function": "function",
}
_CALLS = {"call_expression": "function", "method_invocation": "name", "new_expression": "constructor"}
_SPREAD = frozenset(("spread_element", "variadic_argument"))
_NAMING = frozenset(
    "import_specifier export_specifier shorthand_property_identifier shorthand_property_identifier_pattern use_list "
    "scoped_use_list use_declaration use_as_clause import_declaration import_clause namespace_import object_pattern "
    "pair pair_pattern import_spec export_clause scoped_type_identifier".split()
)


@dataclass(frozen=True, slots=True)
class PolyglotCall:
    """A call: its arguments in order, and the number of the first that stands for several (None without one)."""

    source: SourceText
    start: int
    arguments: tuple[HasSpan, ...]
    spread: int | None


def name_node(source: SourceText, symbol: Symbol) -> Node | None:
    """The node of a definition's name; None where the definition has several of them, as overloads have."""
    found = {}
    for node in identifiers_named(source, symbol.name):
        function = function_around(node) if symbol.start_line <= node.start_point[0] + 1 <= symbol.end_line else None
        if function is not None:
            found[function.id] = node
    return next(iter(found.values())) if len(found) == 1 else None


def function_around(name: Node) -> Node | None:
    """The function whose name a node is, with a field of parameters."""
    parent = name.parent
    if parent is None:
        return None
    if _is(parent.child_by_field_name("name"), name) and parent.child_by_field_name("parameters") is not None:
        return parent
    if parent.type == "member_expression" and _is(parent.child_by_field_name("property"), name):
        name, parent = parent, parent.parent
    for field in ("name", "left", "property", "key"):
        if parent is not None and _is(parent.child_by_field_name(field), name):
            value = parent.child_by_field_name("value") or parent.child_by_field_name("right")
            if value is not None and value.child_by_field_name("parameters") is not None:
                return value
    return None


def certain_uses(symbol: Symbol, sources: Sources) -> list[tuple[SourceText, Node]] | None:
    """The uses of a function in code, where nothing else can be meant by its name.

    Args:
        symbol: the function.
        sources: the files.

    Returns:
        The identifiers, its definition among them; None where one may mean something else.
    """
    source = sources.get(symbol.path)
    if source is None or source.root is None:
        return None
    index = sources.workspace.index
    unique = is_unique(symbol, sources)
    if unique:
        mentioning = sources.mentioning(symbol.name)
        paths = [p for p in mentioning if family(index.files[p].language) == family(source.language)]
    else:
        paths = _files_in_scope(symbol, source, sources)
    found = []
    for path in paths:
        other = sources.get(path)
        if other is None or other.root is None:
            return None
        for node in identifiers_named(other, symbol.name):
            if node.type in _PROPERTIES and not unique:
                continue
            if is_local(node):
                return None
            found.append((other, node))
    return found or None


def scoped_references(symbol: Symbol, new: str, sources: Sources) -> References | None:
    """The references to a function whose name others share, but not where it can be used.

    Args:
        symbol: its definition, in one of LANGUAGES.
        new: the new name.
        sources: the files.

    Returns:
        The references; None where a use may mean something else.

    Raises:
        GenerationFailed: the new name is in use.
    """
    uses = None if is_unique(symbol, sources) else certain_uses(symbol, sources)
    if uses is None:
        return None
    check_free(symbol, new, list(dict.fromkeys(source.path for source, _ in uses)), sources)
    found = References()
    for source, node in sorted(uses, key=lambda u: u[0].path != symbol.path):
        found.sure.append(SureReference(source.path, node.start_byte, node.end_byte))
        function = function_around(node)
        above = function.prev_sibling if function is not None else None
        while above is not None and "comment" in above.type:
            words = re.compile(rb"//\s*(%b)\b" % re.escape(symbol.name.encode("utf-8"))).match(
                source.data, above.start_byte
            )
            found.sure += [SureReference(source.path, *words.span(1))] if words else []
            above = above.prev_sibling
    return found


def _files_in_scope(symbol: Symbol, source: SourceText, sources: Sources) -> list[str]:
    """The files in which a name at the top level means one definition, though others elsewhere share it."""
    node = name_node(source, symbol)
    function = node.parent if node is not None else None
    if function is None or function.parent is None:
        return []
    top = function.parent.type in ("source_file", "program")
    if function.type == "function_declaration" and source.language == "go" and top:
        return _go_package(symbol, source, sources)
    if source.language in ("javascript", "typescript", "tsx", "rust") and top:
        exported = function.children[0].type == "visibility_modifier" or any(
            other.type in _NAMING or (other.parent is not None and other.parent.type in _NAMING)
            for other in identifiers_named(source, symbol.name)
        )
        text = source.text
        exported = exported or re.search(rf"exports\b[^\n]*\b{re.escape(symbol.name)}\b", text) is not None
        return [] if exported else [symbol.path]
    return []


def _go_package(symbol: Symbol, source: SourceText, sources: Sources) -> list[str]:
    paths = [other.path for other in package_files(source, symbol.name, sources)]
    same = [s for s in sources.workspace.index.symbols(symbol.name) if s.path in paths and s.qualified == symbol.name]
    exported = symbol.name[:1].isupper()
    return paths if len({(s.path, s.start_line) for s in same}) == 1 and not exported else []


def call_with(source: SourceText, name: Node) -> PolyglotCall | None:
    """The call whose function a name is.

    Args:
        source: the file.
        name: the identifier.

    Returns:
        The call; None where the name isn't called there, or on a type (`Type::method(object)`).
    """
    current, parent = name, name.parent
    if parent is not None and parent.type == "token_tree":  # Rust doesn't parse what a macro gets
        following = name.next_sibling
        return _in_macro(source, name, following) if following is not None else None
    while parent is not None and parent.type in _LAST_PART:
        if not _is(parent.child_by_field_name(_LAST_PART[parent.type]), current):
            return None
        current, parent = parent, parent.parent
    if parent is None or not _is(parent.child_by_field_name(_CALLS.get(parent.type, "")), current):
        return None
    listed = parent.child_by_field_name("arguments")
    if listed is None or listed.type == "template_string":
        return None
    arguments = [c for c in listed.named_children if "comment" not in c.type]
    spread = next((n for n, a in enumerate(arguments) if a.type in _SPREAD), None)
    return PolyglotCall(source, listed.start_byte, tuple(arguments), spread)


def _in_macro(source: SourceText, name: Node, tree: Node) -> PolyglotCall | None:
    if tree.type != "token_tree" or not source.slice(tree).startswith("("):
        return None
    groups: list[list[Node]] = [[]]
    for child in tree.children[1:-1]:
        if source.slice(child) == ",":
            groups.append([])
        else:
            groups[-1].append(child)
    spans = tuple(TextSpan(g[0].start_byte, g[-1].end_byte) for g in groups if g)
    return PolyglotCall(source, tree.start_byte, spans, None)


def is_naming(node: Node) -> bool:
    """Whether an identifier only names something to import or export it, or defines it."""
    parent = node.parent
    around = parent.parent if parent is not None else None
    if function_around(node) is not None or node.type in _NAMING:
        return True
    return any(n is not None and n.type in _NAMING for n in (parent, around if _is_path(parent) else None))


def _is_path(node: Node | None) -> bool:
    return node is not None and node.type in ("scoped_identifier", "object", "object_pattern")


def arguments_in_order(call: PolyglotCall, order: Sequence[int]) -> list[HasSpan | None] | None:
    """The arguments of a call in another order of the parameters.

    Args:
        call: the call.
        order: for each parameter, where it stood before.

    Returns:
        The arguments, None for one that is left out before others; None where a spread argument hides which is which.
    """
    last = max((n for n, old in enumerate(order) if n != old), default=-1)
    if call.spread is not None and call.spread <= last:
        return None
    given = dict(enumerate(call.arguments))
    result = [given.pop(old, None) for old in order]
    while result and result[-1] is None:
        result.pop()
    return [*result, *(given[n] for n in sorted(given))]


def _is(one: Node | None, other: Node | None) -> bool:
    return one is not None and other is not None and one.id == other.id
