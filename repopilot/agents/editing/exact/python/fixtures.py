"""The uses of a pytest fixture: tests name it as a parameter, or in a string."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from tree_sitter import Node

from repopilot.agents.editing.exact.python.classes import PythonProject, decorator_names
from repopilot.agents.editing.exact.python.name_uses import NameTable, NameUse
from repopilot.agents.editing.exact.sources import SourceText

_ASKING = frozenset(("usefixtures", "getfixturevalue"))


def is_fixture(source: SourceText, function: Node) -> bool:
    """Whether a function is a fixture that tests know by its own name."""
    if "fixture" not in decorator_names(source, function) or function.parent is None:
        return False
    decorators = [source.slice(c) for c in function.parent.children if c.type == "decorator"]
    return not any(re.search(r"fixture\(.*\bname\s*=", text, re.S) for text in decorators)


def fixture_uses(project: PythonProject, path: str, name: str) -> Iterator[tuple[NameTable, NameUse, Node | None]]:
    """The requests of a fixture by tests and other fixtures.

    Args:
        project: the repository.
        path: the file of the fixture.
        name: its name.

    Yields:
        The file's uses, one of them, and the function whose parameter it is (None for a string).
    """
    folder = posixpath.dirname(path)
    shared = posixpath.basename(path) == "conftest.py"
    tables = {}
    for other in project.sources.mentioning(name, ("python",)):
        near = other == path or (shared and f"{other}/".startswith(f"{folder}/" if folder else ""))
        table = project.table(other, name) if near else None
        if table is not None:
            tables[other] = table
    own = {o for o, t in tables.items() if o != path and any(_defines(t, u) for u in t.uses)}
    hidden = [posixpath.dirname(o) for o in own if posixpath.basename(o) == "conftest.py"]
    for other, table in tables.items():
        if other in own or any(other.startswith(f"{h}/") for h in hidden):
            continue
        for use in table.uses:
            if use.role == "parameter" and _asks(table.source, use.scope):
                yield table, use, use.scope
            elif use.role == "string" and _asked_in(table.source, use.node, name):
                yield table, use, None


def _defines(table: NameTable, use: NameUse) -> bool:
    parent = use.node.parent
    return use.role == "bind" and parent is not None and parent.type == "function_definition"


def _asks(source: SourceText, function: Node) -> bool:
    """Whether pytest passes the arguments of a function."""
    label = function.child_by_field_name("name")
    is_test = label is not None and source.slice(label).startswith("test")
    return is_test or "fixture" in decorator_names(source, function)


def _asked_in(source: SourceText, string: Node, name: str) -> bool:
    arguments = string.parent
    call = arguments.parent if arguments is not None and arguments.type == "argument_list" else None
    function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
    exact = source.slice(string).strip("\"'") == name
    return exact and function is not None and source.slice(function).rpartition(".")[2] in _ASKING
