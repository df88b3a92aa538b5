"""A Python file's text with its syntax tree: tells what a name is part of. Pure.

Positions count the characters of the stored text, with byte order mark and line ends, so that edits preserve these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from repopilot.code.source_positions import line_at
from repopilot.code.syntax import ancestors, text_of
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.resolve.python_scopes import CharacterOffsets, python_tree

_EFFECTS = frozenset(("call", "await", "yield", "named_expression"))


class PythonSource:
    """A Python text.

    Args:
        path: of the file, for messages.
        text: of the file.

    Raises:
        UsageError: it takes too long to parse.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._data, tree = python_tree(text)
        if tree is None:
            raise UsageError(message("refactor_tools.no_parse", path=path))
        self.root = tree.root_node
        self.span = CharacterOffsets(self._data, text).span
        """Where a node begins and ends."""

    def of(self, node: Node | None) -> str:
        """The text of a node, '' for none."""
        return text_of(node, self._data)

    def line(self, offset: int) -> int:
        """The line of a character, from 1."""
        return line_at(self.text, offset)

    def at(self, start: int, end: int) -> Node | None:
        """The innermost node that holds the characters."""
        first, last = (len(self.text[:offset].encode("utf-8", "surrogatepass")) for offset in (start, end))
        return self.root.named_descendant_for_byte_range(first, last)

    def walk(self, node: Node | None = None, *kinds: str) -> Iterator[Node]:
        """A node and all below it that are of some kinds, in order; of all kinds where none is given."""
        waiting = [node or self.root]
        while waiting:
            each = waiting.pop()
            if not kinds or each.type in kinds:
                yield each
            waiting += reversed(each.children)

    def words(self, name: str, node: Node | None = None) -> Iterator[Node]:
        """The identifiers of a name below a node, except attributes and the keywords of arguments."""
        for each in self.walk(node, "identifier"):
            if self.of(each) == name and not is_attribute(each) and not is_keyword(each):
                yield each

    def has_effects(self, node: Node) -> bool:
        """Whether evaluating an expression may have side effects."""
        return any(self.walk(node, *_EFFECTS))

    def text_value(self, node: Node) -> str | None:
        """The value of a plain string, None for anything else."""
        if node.type != "string" or any(child.type == "interpolation" for child in node.children):
            return None
        found = re.fullmatch(r"[rbuRBU]?(\"\"\"|'''|\"|')(.*?)\1", self.of(node), re.S)
        return found.group(2) if found and "\\" not in found.group(2) else None


def enclosing(node: Node | None, *kinds: str) -> Node | None:
    """The innermost node of some kinds around a node."""
    around = ancestors(node) if node is not None else ()
    return next((each for each in around if each.type in kinds), None)


def is_field(node: Node, parent: Node | None, name: str) -> bool:
    """Whether a node stands in a field of its parent."""
    return parent is not None and node in parent.children_by_field_name(name)


def is_attribute(node: Node) -> bool:
    """Whether an identifier stands behind a dot."""
    return node.parent is not None and node.parent.type == "attribute" and is_field(node, node.parent, "attribute")


def is_keyword(node: Node) -> bool:
    """Whether an identifier is the keyword of an argument."""
    return node.parent is not None and node.parent.type == "keyword_argument" and is_field(node, node.parent, "name")


def expression_of(name: Node) -> Node:
    """A name with the objects before it: `a.b.name`."""
    assert name.parent is not None or name.type == "module"
    return name.parent if name.parent is not None and is_attribute(name) else name


def call_of(name: Node) -> Node | None:
    """The call of a name, None where it isn't called."""
    expression = expression_of(name)
    parent = expression.parent
    return parent if parent is not None and parent.type == "call" and is_field(expression, parent, "function") else None


def definition_of(name: Node) -> Node | None:
    """The definition of a function or class whose name is this node, None for other nodes."""
    parent = name.parent
    defines = parent is not None and parent.type in ("function_definition", "class_definition")
    return parent if defines and is_field(name, parent, "name") else None


def last_name(expression: Node | None) -> Node | None:
    """The last name of an expression, such as `c` of `a.b.c(…)`."""
    while expression is not None and expression.type not in ("identifier", "attribute"):
        expression = expression.child_by_field_name("function") if expression.type == "call" else None
    if expression is not None and expression.type == "attribute":
        return expression.child_by_field_name("attribute")
    return expression
