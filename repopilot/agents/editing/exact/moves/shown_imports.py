"""Imports that texts show as examples: `from package.module import name`. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from repopilot.agents.editing.exact.sources import ByteEdit

_IMPORT = re.compile(
    rb"^(?P<lead>[^\n]*?)\bfrom (?P<module>\w[\w.]*) import (?P<names>\w+(?: as \w+)?(?:, ?\w+(?: as \w+)?)*)"
    rb"(?=[^\S\n]*(?:#[^\n]*)?[`\"']*$)",
    re.M,
)


def moved_imports(text: bytes, names: Collection[str], moved: Callable[[str], str | None]) -> list[ByteEdit]:
    """The changes by which the imports shown in a text have some names from another module.

    Args:
        text: of a document.
        names: what is moved.
        moved: the new module for how the text writes the old one, None for any other module.

    Returns:
        The changes; an import that has other names as well becomes two, one below the other.
    """
    found = []
    for match in _IMPORT.finditer(text):
        new = moved(match["module"].decode("utf-8"))
        items = [item.strip() for item in match["names"].decode("utf-8").split(",")]
        here = [item for item in items if item.partition(" ")[0] in names]
        if new is None or not here:
            continue
        if len(here) == len(items):
            found.append(ByteEdit(*match.span("module"), new))
            continue
        kept = ", ".join(item for item in items if item not in here)
        lead = match["lead"].decode("utf-8")
        found.append(ByteEdit(*match.span("names"), f"{kept}\n{lead}from {new} import {', '.join(here)}"))
    return found
