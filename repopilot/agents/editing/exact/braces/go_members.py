"""References to a Go field or method that only its own package can name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from repopilot.agents.editing.exact.go_packages import package_files
from repopilot.agents.editing.exact.mentions import Mentioned, certain_mention
from repopilot.agents.editing.exact.polyglot import check_free, identifiers_named
from repopilot.agents.editing.exact.python.references import References, SureReference
from repopilot.agents.editing.exact.sources import Sources, SourceText, word_pattern
from repopilot.types import Symbol

_DECLARING = frozenset(("field_declaration", "method_declaration", "method_elem", "method_spec"))


def package_member_references(symbol: Symbol, new: str, sources: Sources) -> References | None:
    """The references to a field or method whose name begins with a small letter.

    No other package can name it, and within its own each selector `x.name` means it where no other type has a member of
    the name.

    Args:
        symbol: the field or method, in Go.
        new: the new name.
        sources: the files.

    Returns:
        The references; None where the name may mean something else in the package.

    Raises:
        GenerationFailed: the new name is in use.
    """
    source = sources.get(symbol.path)
    if source is None or symbol.name[:1].isupper() or symbol.kind not in ("method", "attribute", "field"):
        return None
    files = [other for other in package_files(source, symbol.name, sources) if other.root is not None]
    named = [(other, node) for other in files for node in identifiers_named(other, symbol.name)]
    declaring = [node for _, node in named if _is_declared(node)]
    local = {function.id for node in declaring for function in _functions_around(node)}
    named = [(other, node) for other, node in named if not _is_of_local_type(node, local, symbol)]
    declared = [(other, node) for other, node in named if _is_declared(node)]
    members = [(other, node) for other, node in named if node.type == "field_identifier"]
    keys = [(other, node) for other, node in named if _is_key(node)]
    others = [node for _, node in named if node.type != "field_identifier" and not _is_key(node)]
    if len(declared) != 1 or (keys and others):  # a key may be that of a map, with a variable of the name
        return None
    check_free(symbol, new, [other.path for other in files], sources)
    found = References()
    own = sorted((*members, *keys), key=lambda pair: pair[1].id != declared[0][1].id)
    found.sure = [SureReference(other.path, node.start_byte, node.end_byte) for other, node in own]
    mentioned = Mentioned(symbol.name, frozenset((symbol.qualified.rpartition(".")[0],)), unique=not others)
    for other in files:
        found.sure += [SureReference(other.path, *span) for span in _in_comments(other, mentioned)]
    return found


def _is_declared(node: Node) -> bool:
    return node.type == "field_identifier" and node.parent is not None and node.parent.type in _DECLARING


def _functions_around(node: Node) -> Iterator[Node]:
    """The functions in whose bodies a node is."""
    child, parent = node, node.parent
    while parent is not None:
        if parent.type in ("function_declaration", "method_declaration", "func_literal"):
            body = parent.child_by_field_name("body")
            if body is not None and body.id == child.id:
                yield parent
        child, parent = parent, parent.parent


def _is_of_local_type(node: Node, local: set[int], symbol: Symbol) -> bool:
    """Whether a name is, or may be, that of a field of a type that a function declares for itself."""
    if not any(function.id in local for function in _functions_around(node)):
        return False
    selector = node.parent
    call = selector.parent if selector is not None else None
    called = call is not None and call.type == "call_expression" and call.child_by_field_name("function") == selector
    return not (called and symbol.kind == "method")


def _is_key(node: Node) -> bool:
    """Whether a name is the key of an element in braces: `T{name: 1}`."""
    element = node.parent
    keyed = element.parent if element is not None and element.type == "literal_element" else None
    first = keyed.named_child(0) if keyed is not None and keyed.type == "keyed_element" else None
    return first is not None and element is not None and first.id == element.id


def _in_comments(source: SourceText, mentioned: Mentioned) -> Iterator[tuple[int, int]]:
    """Where comments certainly name the member, or begin with its name as its documentation does."""
    assert source.root is not None
    for match in word_pattern(mentioned.name).finditer(source.data):
        node = source.root.descendant_for_byte_range(*match.span())
        if node is None or node.type != "comment":
            continue
        following = node.next_named_sibling
        documents = following is not None and following.type in _DECLARING and _names(following, mentioned.name)
        begins = re.match(rb"//\s*$", source.data[node.start_byte : match.start()]) is not None
        if (documents and begins) or certain_mention(source, match.start(), mentioned):
            yield match.span()


def _names(declaration: Node, name: str) -> bool:
    return any(child.text == name.encode("utf-8") for child in declaration.children_by_field_name("name"))
