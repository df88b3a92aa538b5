"""Edits in languages other than Python, by their syntax trees: values, and renames of names that only one thing has."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.go_packages import OtherPackages
from repopilot.agents.editing.exact.mentions import Mentioned, certain_mention, certain_text, document_mentions
from repopilot.agents.editing.exact.python.references import OpenUse, References, SureReference
from repopilot.agents.editing.exact.sources import Sources, SourceText, word_pattern
from repopilot.code.graph.import_resolver import family
from repopilot.errors import GenerationFailed
from repopilot.types import Symbol

LANGUAGES = frozenset(("javascript", "typescript", "tsx", "go", "rust", "java"))
_NAMED_BY = ("name", "left", "property", "pattern", "key")
_VALUED_BY = ("value", "right")
_LOCAL = frozenset(
    "formal_parameters required_parameter optional_parameter assignment_pattern parameter_declaration parameter "
    "formal_parameter closure_parameters let_declaration short_var_declaration range_clause for_in_statement "
    "rest_pattern catch_clause labeled_statement local_variable_declaration enhanced_for_statement "
    "variadic_parameter_declaration shorthand_field_pattern array_pattern tuple_pattern".split()
)
_IDENTIFIER = re.compile(r"identifier$|shorthand_property_identifier|_identifier$")
_COMMON = re.compile(
    r"^(?:[a-z]{1,7}|[A-Z][a-z]{1,6}|toString|valueOf|hashCode|equals|compareTo|ServeHTTP|(?:Un)?[Mm]arshal\w*|GoString|"
    r"componentDid\w+|hasOwnProperty|addEventListener|removeEventListener|forEach|indexOf|charAt|innerHTML|to_string|"
    r"from_str|as_ref|as_str|into_iter|is_empty|to_owned|nodeName|className|readFile\w*|writeFile\w*|statusCode)$"
)
"""Names that objects from elsewhere are likely to have, too."""


def value_node(source: SourceText, symbol: Symbol, name: str | None) -> Iterator[Node]:
    """The values of a definition: its own, or that of a parameter, field or entry in it.

    Args:
        source: the file.
        symbol: the definition.
        name: of what is in it; None for the definition itself.
    """
    wanted = name or symbol.name
    found = []
    for match in word_pattern(wanted).finditer(source.data):
        line = source.line_of(match.start())
        node = source.root.descendant_for_byte_range(*match.span()) if source.root is not None else None
        if node is None or not symbol.start_line <= line <= symbol.end_line:
            continue
        value = _value_of(_whole_key(node))
        if value is not None and (name is not None or _is_shallow(node, symbol)):
            found.append(value)
    yield from _declared_first(source, found) if name is not None else found


def _declared_first(source: SourceText, values: list[Node]) -> list[Node]:
    """Of several values of a name the one it begins with: a parameter's default, a field's, the constructor's."""
    for is_first in (_is_default, lambda v: v.parent.type.endswith("field_definition"), is_set_by_constructor):
        first = [v for v in values if len(values) > 1 and v.parent is not None and is_first(v)]
        if first:
            return first
    return values


def _is_default(value: Node) -> bool:
    parent = value.parent
    return parent is not None and parent.type in ("assignment_pattern", "required_parameter", "optional_parameter")


def is_set_by_constructor(value: Node) -> bool:
    """Whether a value is what a constructor of JavaScript sets an attribute to, whatever it is given."""
    assignment = value.parent
    left = assignment.child_by_field_name("left") if assignment is not None else None
    held = left.child_by_field_name("object") if left is not None else None
    if assignment is None or held is None or held.type != "this" or assignment.type != "assignment_expression":
        return False
    statement = assignment.parent
    body = statement.parent if statement is not None else None
    method = body.parent if body is not None else None
    label = method.child_by_field_name("name") if method is not None and method.type == "method_definition" else None
    return label is not None and label.text == b"constructor"


def _whole_key(node: Node) -> Node:
    """A name, or the string literal that it is the content of, or the member expression that it ends."""
    parent = node.parent
    if parent is not None and (
        parent.type in ("string", "interpreted_string_literal", "string_literal")
        or (parent.type == "member_expression" and parent.end_byte == node.end_byte)
    ):
        return parent
    return node


def _is_shallow(node: Node, symbol: Symbol) -> bool:
    """Whether a name is that of the definition itself, which begins on its first lines."""
    return node.start_point[0] + 1 - symbol.start_line <= 3


def _value_of(node: Node) -> Node | None:
    parent = node.parent
    if parent is None or parent.type == "binary_expression":  # its left side is no name of its right one
        return None
    if parent.type == "literal_element" and parent.parent is not None:  # Go: an entry of a map
        elements = parent.parent.named_children
        last = elements[-1] if len(elements) == 2 and elements[0].id == parent.id else None
        return last.named_child(0) if last is not None else None
    if parent.type == "field_initializer":
        return parent.child_by_field_name("value") if parent.named_child(0) == node else None
    if not any((named := parent.child_by_field_name(f)) is not None and named.id == node.id for f in _NAMED_BY):
        return None
    value = next((v for f in _VALUED_BY if (v := parent.child_by_field_name(f)) is not None), None)
    if value is not None and value.type == "expression_list":
        return value.named_child(0) if value.named_child_count == 1 else None
    return value


def unique_references(
    symbol: Symbol, new: str, sources: Sources, *, shared: Collection[Symbol] = ()
) -> References | None:
    """The references to a name that the whole repository uses for one thing.

    Args:
        symbol: its definition, in one of LANGUAGES.
        new: the new name.
        sources: the files.
        shared: other definitions that are the same thing, such as the methods of several types by which they implement
            an interface.

    Returns:
        The references; None where the name may mean something else somewhere.

    Raises:
        GenerationFailed: the new name is in use.
    """
    index = sources.workspace.index
    source = sources.get(symbol.path)
    if source is None or not is_unique(symbol, sources, shared):
        return None
    related = [p for p in sources.mentioning(symbol.name) if family(index.files[p].language) == family(source.language)]
    check_free(symbol, new, related, sources)
    found = References()
    texts: list[tuple[SourceText, Node, int]] = []
    packages = OtherPackages(sources) if source.language == "go" else None
    for path in (symbol.path, *(p for p in related if p != symbol.path)):
        other = sources.get(path)
        if other is None or other.root is None or not _collect(other, symbol.name, found, texts, packages):
            return None
    _add_texts(symbol, sources, texts, found)
    found.notes.append(i18n.message("exact.only_definition", name=symbol.name))
    return found


def is_unique(symbol: Symbol, sources: Sources, shared: Collection[Symbol] = ()) -> bool:
    """Whether a name that objects from elsewhere are unlikely to have is that of one definition only, or of some."""
    source = sources.get(symbol.path)
    if source is None or source.root is None or _COMMON.match(symbol.name) or symbol.kind in ("field", "declaration"):
        return False
    return not _is_ambiguous(symbol, sources, shared)


def _is_ambiguous(symbol: Symbol, sources: Sources, shared: Collection[Symbol]) -> bool:
    """Whether another definition has the name, or the definition itself answers to a foreign interface."""
    index = sources.workspace.index
    places = {(s.path, s.qualified) for s in index.symbols(symbol.name) if s.name == symbol.name and s.kind != "export"}
    places.discard((symbol.path, f"{symbol.qualified}.{symbol.name}"))  # its constructor
    places -= {(s.path, s.qualified) for s in shared if s != symbol}
    if len(places) > 1:
        return True
    source = sources.get(symbol.path)
    assert source is not None and source.root is not None
    for match in word_pattern(symbol.name).finditer(source.data):
        node = source.root.descendant_for_byte_range(*match.span())
        if node is not None and source.line_of(match.start()) == _name_line(symbol, source):
            return _is_foreign(source, node)
    return True


def _name_line(symbol: Symbol, source: SourceText) -> int:
    pattern = word_pattern(symbol.name)
    lines = source.data.split(b"\n")
    return next((n for n in range(symbol.start_line, symbol.end_line + 1) if pattern.search(lines[n - 1])), 0)


def _is_foreign(source: SourceText, node: Node) -> bool:
    """Whether a definition implements something of its language or of another package."""
    current: Node | None = node
    while current is not None:
        if current.type == "impl_item" and current.child_by_field_name("trait") is not None:
            return True
        if current.type == "method_declaration" and re.search(r"@Override\b", source.slice(current)[:400]):
            return True
        current = current.parent
    return False


def check_free(symbol: Symbol, new: str, related: list[str], sources: Sources) -> None:
    """Refuse a new name that some of the files use already.

    Raises:
        GenerationFailed: one does, or it is no name.
    """
    if not re.fullmatch(r"[A-Za-z_$][\w$]*", new):
        raise GenerationFailed(i18n.message("exact.no_identifier", name=new))
    pattern = word_pattern(new)
    for path in related:
        source = sources.get(path)
        match = pattern.search(source.data) if source is not None else None
        node = source.root.descendant_for_byte_range(*match.span()) if source and source.root and match else None
        if source is not None and match is not None and node is not None and _IDENTIFIER.search(node.type):
            line = source.line_of(match.start())
            raise GenerationFailed(i18n.message("exact.name_taken", name=new, path=path, line=line))


def _collect(
    source: SourceText,
    name: str,
    found: References,
    texts: list[tuple[SourceText, Node, int]],
    packages: OtherPackages | None,
) -> bool:
    """Take in the uses of a file, comments and strings apart; False where one is a local name."""
    assert source.root is not None
    for match in word_pattern(name).finditer(source.data):
        node = source.root.descendant_for_byte_range(*match.span())
        if node is None:
            continue
        exact = (node.start_byte, node.end_byte) == match.span()
        if (exact and _IDENTIFIER.search(node.type)) or _is_subscript(node, exact):
            if is_local(node):
                return False
            if packages is not None and packages.is_member(source, node):
                found.open.append(OpenUse(source.path, match.start(), i18n.message("exact.open.other_package")))
            else:
                found.sure.append(SureReference(source.path, *match.span()))
        else:
            texts.append((source, node, match.start()))
    return True


def _is_subscript(node: Node, exact: bool) -> bool:
    """Whether a string looks up a property: `thing["name"]`."""
    string = node.parent if exact else None
    return string is not None and string.parent is not None and string.parent.type == "subscript_expression"


def _add_texts(symbol: Symbol, sources: Sources, texts: list[tuple[SourceText, Node, int]], found: References) -> None:
    """Add what comments, strings and documents say of a definition."""
    length = len(symbol.name.encode("utf-8"))
    is_value = any("comment" not in n.type and n.end_byte - n.start_byte in (length, length + 2) for _, n, _ in texts)
    is_called = symbol.kind in ("function", "method", "class", "interface", "struct", "trait", "type")
    mentioned = Mentioned(
        symbol.name, frozenset(), unique=True, callable=is_called, is_value=is_value, is_shared=bool(found.open)
    )
    for source, node, start in texts:
        is_comment = "comment" in node.type
        if (certain_mention if is_comment else certain_text)(source, start, mentioned):
            found.sure.append(SureReference(source.path, start, start + length))
        else:
            reason = i18n.message(f"exact.open.{'comment' if is_comment else 'string'}")
            found.open.append(OpenUse(source.path, start, reason))
    sure, unsure = document_mentions(sources, mentioned)
    found.sure += [SureReference(*place) for place in sure]
    found.open += [OpenUse(*place) for place in unsure]


def is_identifier(node: Node) -> bool:
    """Whether a node is a name in code."""
    return _IDENTIFIER.search(node.type) is not None


def identifiers_named(source: SourceText, name: str) -> Iterator[Node]:
    """The identifiers with a name in a file."""
    root = source.root
    for match in word_pattern(name).finditer(source.data) if root is not None else ():
        node = root.descendant_for_byte_range(*match.span()) if root is not None else None
        if node is not None and (node.start_byte, node.end_byte) == match.span() and is_identifier(node):
            yield node


def is_local(node: Node) -> bool:
    """Whether a name is bound by a parameter or a statement inside a function."""
    child, parent = node, node.parent
    while parent is not None and parent.type in _LOCAL | {"expression_list", "object_pattern", "identifier_list"}:
        if parent.type in _LOCAL:
            bound = (parent.child_by_field_name(f) for f in ("name", "left", "pattern", "declarator"))
            plain = parent.type in ("formal_parameters", "closure_parameters", "rest_pattern", "array_pattern")
            return plain or any(b is not None and b.id == child.id for b in bound)
        child, parent = parent, parent.parent
    declares = parent is not None and parent.type == "variable_declarator"
    name = parent.child_by_field_name("name") if parent is not None and declares else None
    if name is None or name.id != child.id or child.type == "object_pattern":
        return False
    return _inside_function(node)


def _inside_function(node: Node) -> bool:
    current = node.parent
    while current is not None:
        if re.search(r"function|method|arrow|closure", current.type):
            return True
        current = current.parent
    return False
