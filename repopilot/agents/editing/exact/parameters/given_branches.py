"""Branches of a Python function that only run where a parameter is given: they go when the parameter goes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from repopilot.agents.editing.exact.entries import with_blank_lines
from repopilot.agents.editing.exact.fragments.certain_imports import swap_imports, unused_without
from repopilot.agents.editing.exact.python.classes import PythonProject
from repopilot.agents.editing.exact.sources import Patch, SourceText

_NEVER_GIVEN = {"None": r"{0}|{0} is not None", "False": r"{0}|{0} is True", '""': r"{0}", "''": r"{0}"}
"""By a parameter's default: the conditions that don't hold with it."""


def given_branches(source: SourceText, parameter: Node, uses: Sequence[int]) -> list[Node] | None:
    """The branches that don't run where a parameter keeps its default.

    Args:
        source: the file.
        parameter: with its default.
        uses: the bytes where the function's body uses it.

    Returns:
        The `if` statements; None where it is also used outside of them, or one of them has another branch or is all
        that its block holds.
    """
    if not uses:
        return []
    name, value = (parameter.child_by_field_name(field) for field in ("name", "value"))
    conditions = _NEVER_GIVEN.get(source.slice(value) if value is not None else "")
    if name is None or conditions is None:
        return None
    holds = re.compile(conditions.format(re.escape(source.slice(name))))
    found: dict[int, Node] = {}
    for at in uses:
        branch = _branch_around(source, at, holds, parameter)
        if branch is None:
            return None
        found[branch.id] = branch
    return list(found.values())


def _branch_around(source: SourceText, at: int, holds: re.Pattern[str], parameter: Node) -> Node | None:
    node = source.root.descendant_for_byte_range(at, at) if source.root is not None else None
    while node is not None and node.start_byte > parameter.end_byte:
        condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
        if condition is not None and holds.fullmatch(source.slice(condition)):
            alone = node.parent is None or _is_all_of(node.parent)
            return None if alone or node.child_by_field_name("alternative") is not None else node
        node = node.parent
    return None


def _is_all_of(block: Node) -> bool:
    """Whether a block has one statement beside its docstring."""
    statements = [c for c in block.named_children if c.type != "comment"]
    first = statements[0].named_child(0) if statements and statements[0].type == "expression_statement" else None
    return len(statements) - (first is not None and first.type == "string") < 2


def remove_branches(project: PythonProject, source: SourceText, branches: Sequence[Node], patch: Patch) -> None:
    """Remove branches, and the imports that only they use.

    Args:
        project: the repository.
        source: the file.
        branches: statements of it.
        patch: receives the changes.
    """
    spans = [(branch.start_byte, branch.end_byte) for branch in branches]
    for start, end in spans:
        first, last = source.data.rfind(b"\n", 0, start) + 1, source.data.find(b"\n", end) + 1
        patch.replace(source.path, *with_blank_lines(source.data, first, last or len(source.data)), "")
    names = {word for start, end in spans for word in re.findall(r"[A-Za-z_]\w*", source.data[start:end].decode())}
    swap_imports(project, source, (), unused_without(source, spans, names), patch)
