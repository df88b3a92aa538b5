"""What the names in a task mean in a repository of Python."""

from __future__ import annotations

import re

from repopilot.agents.editing.exact.locate import path_named
from repopilot.agents.editing.exact.python.modules import modules_of
from repopilot.agents.editing.exact.sources import Sources
from repopilot.agents.editing.exact.wording.task_shape import KnownNames


def names_of(sources: Sources) -> KnownNames:
    """What the names of a task mean in a repository of Python."""
    index = sources.workspace.index

    def is_class(name: str) -> bool:
        last = name.rpartition(".")[2]
        found = [s for s in index.symbols(name) if s.kind == "class" and s.path.endswith(".py")]
        return re.match(r"_*[A-Z]", last) is not None and bool(found)

    return KnownNames(is_class, lambda name: bool(place_named(name, sources)))


def place_named(name: str, sources: Sources) -> str:
    """The Python file of a path or a module's name, '' for none or several."""
    index = sources.workspace.index
    path = path_named(name, index)
    if path is not None:
        return path if path.endswith(".py") else ""
    if re.fullmatch(r"\w+(?:\.\w+)*", name) is None:
        return ""
    found = modules_of(index).by_name.get(name, ())
    return found[0] if len(found) == 1 else path_named(f"{name.replace('.', '/')}.py", index) or ""
