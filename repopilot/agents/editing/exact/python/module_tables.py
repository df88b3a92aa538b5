"""Tables and calls that say by strings from which module a name is, as those of lazy imports (PEP 562) do."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tree_sitter import Node

from repopilot.agents.editing.exact.python.modules import Modules
from repopilot.agents.editing.exact.python.string_values import string_content
from repopilot.agents.editing.exact.sources import SourceText

_CONTAINERS = ("list", "tuple", "set")


def module_beside(source: SourceText, string: Node, paths: Collection[str], modules: Modules) -> Node | None:
    """The string that says the module of a name, in the entry of a table or the call that both are in.

    `"Name": ".module"`, `"module": ["Name", "Other"]` and `"Name": ("package.module", "Name")` are such entries,
    `get_import("package.module", "Name")` such a call.

    Args:
        source: the file.
        string: the name, as a string.
        paths: the files whose modules have the name.
        modules: those of the repository.

    Returns:
        The module's string; None where the entry names none of these modules.
    """
    entry = string.parent
    while entry is not None and entry.type in _CONTAINERS:
        entry = entry.parent
    if entry is None or entry.type not in ("pair", "argument_list"):
        return None
    for other in _strings(entry):
        written = string_content(source, other) if other.id != string.id else ""
        if written and any(modules.find(source.path, name) in paths for name in (written, f".{written}")):
            return other
    return None


def is_of_one_name(module: Node) -> bool:
    """Whether the entry of a module's string is that of a single name: not `"module": ["Name", "Other"]`."""
    key = module.parent.child_by_field_name("key") if module.parent is not None else None
    return key is None or key.id != module.id


def _strings(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type == "string":
            yield child
        elif child.type in _CONTAINERS:
            yield from _strings(child)
