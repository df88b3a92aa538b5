"""What the elements of a Python iterable are, as far as the code itself says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tree_sitter import Node

if TYPE_CHECKING:
    from repopilot.agents.editing.exact.python.classes import Known, PythonProject

_SEQUENCES = frozenset(("list", "tuple", "set"))
_COMPREHENSIONS = frozenset(("list_comprehension", "set_comprehension", "generator_expression"))
_KEEPING = frozenset("list tuple set frozenset sorted reversed iter deque".split())
"""What gives the elements of its argument again."""
_OF_ELEMENTS = frozenset(
    "list List tuple Tuple set Set frozenset FrozenSet deque Deque Sequence MutableSequence Iterable Iterator "
    "Collection AbstractSet MutableSet Generator AsyncIterable AsyncIterator".split()
)
_OF_VALUES = frozenset("dict Dict Mapping MutableMapping defaultdict OrderedDict".split())


def element_of(project: PythonProject, path: str, node: Node, depth: int, *, indexed: bool) -> Known | None:
    """What every element of a sequence, set or generator is, or every value of a mapping.

    Args:
        project: the repository.
        path: the file of the expression.
        node: the expression.
        depth: how far values are followed from name to name.
        indexed: whether `expression[…]` is meant, which of a mapping is a value, and not what a loop gives.

    Returns:
        What all of them are; None where that isn't certain.
    """
    if depth <= 0:
        return None
    if node.type == "parenthesized_expression" and node.named_child_count == 1:
        return element_of(project, path, node.named_children[0], depth, indexed=indexed)
    if node.type in _SEQUENCES:
        return _same(project.known(path, item, depth - 1) for item in node.named_children if item.type != "comment")
    if node.type in _COMPREHENSIONS:
        body = node.child_by_field_name("body")
        return project.known(path, body, depth - 1) if body is not None else None
    if node.type in ("dictionary", "dictionary_comprehension") and indexed:
        pairs = [c for c in node.named_children if c.type == "pair"]
        values = [pair.child_by_field_name("value") for pair in pairs]
        return _same(project.known(path, value, depth - 1) for value in values if value is not None)
    if node.type == "call":
        return _of_call(project, path, node, depth, indexed=indexed)
    if node.type in ("identifier", "attribute"):
        assigned = project.assignments(path, node, depth - 1)
        return _same(_of_assigned(project, *found, depth, indexed=indexed) for found in assigned)
    return None


def _same(found: Iterator[Known | None]) -> Known | None:
    values = set(found)
    return values.pop() if len(values) == 1 else None


def _of_call(project: PythonProject, path: str, node: Node, depth: int, *, indexed: bool) -> Known | None:
    source = project.sources.get(path)
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if source is None or function is None or arguments is None:
        return None
    given = [c for c in arguments.named_children if c.type != "comment"]
    if function.type == "attribute" and not given and source.slice(function).endswith(".values"):
        mapping = function.child_by_field_name("object")
        return element_of(project, path, mapping, depth - 1, indexed=True) if mapping is not None else None
    name = source.slice(function).rpartition(".")[2]
    inner = arguments if arguments.type in _COMPREHENSIONS else given[0] if given else None
    if inner is None or name not in _KEEPING:
        return None
    return element_of(project, path, inner, depth - 1, indexed=False)


def _of_assigned(project: PythonProject, path: str, node: Node, depth: int, *, indexed: bool) -> Known | None:
    """The elements of what an assignment or a parameter with an annotation binds."""
    declared = node.child_by_field_name("type")
    if declared is not None:
        return _of_annotation(project, path, declared, depth - 1, indexed=indexed)
    right = node.child_by_field_name("right")
    return element_of(project, path, right, depth - 1, indexed=indexed) if right is not None else None


def _of_annotation(project: PythonProject, path: str, node: Node, depth: int, *, indexed: bool) -> Known | None:
    """What the elements of a value with an annotation are: of `list[X]`, of a mapping its values."""
    source = project.sources.get(path)
    while node.type == "type" and node.named_child_count == 1:
        node = node.named_children[0]
    if source is None or node.type not in ("generic_type", "subscript"):
        return None
    name = source.slice(node.named_children[0]).rpartition(".")[2]
    listed = [child for child in node.named_children[1:] if child.type != "comment"]
    if len(listed) == 1 and listed[0].type == "type_parameter":
        listed = listed[0].named_children
    if name in _OF_ELEMENTS and (len(listed) == 1 or (name.lower() == "tuple" and source.slice(listed[-1]) == "...")):
        return project.annotation(path, listed[0], depth)
    mapped = indexed and name in _OF_VALUES and len(listed) == 2
    return project.annotation(path, listed[1], depth) if mapped else None
