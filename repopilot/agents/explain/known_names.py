"""Which names an answer may speak of: those of the repository, of what it imports, and of Python itself."""

from __future__ import annotations

import builtins
import importlib.util
import keyword
import re
import sys
from functools import lru_cache, partial
from pathlib import Path

from repopilot.agents.explain.answer_check import Known
from repopilot.agents.explain.borne_out import SYSTEM_NAMES
from repopilot.agents.explain.grounding import exists_in, files_holding
from repopilot.agents.explain.lines_read import LinesRead
from repopilot.retrieval.claims import Anchor, last_name
from repopilot.retrieval.places.checked_docs import imported_names
from repopilot.workspace import Workspace

_TYPES = (str, bytes, int, float, list, dict, set, tuple, object, type, BaseException, BaseExceptionGroup)
_MODULE = re.compile(r"[A-Za-z_][\w-]*")


def known_names(read: LinesRead, question: str, workspace: Workspace) -> Known:
    """What an answer about a repository is checked against.

    Args:
        read: the lines that the model has seen.
        question: as it was asked.
        workspace: the repository.
    """
    return Known(read, question, workspace.index, partial(_exists, workspace))


def _exists(workspace: Workspace, anchor: Anchor) -> bool:
    """Whether a name occurs anywhere in the repository, or may belong to a dependency."""
    index = workspace.index
    if exists_in(index, anchor, partial(files_holding, workspace.resolver)):
        return True
    if anchor.kind == "path":
        folder = anchor.text.strip("/").removeprefix("./")
        return any(path.startswith(f"{folder}/") or f"/{folder}/" in path for path in index.files)
    name = last_name(anchor.text)
    imported = index.derived(imported_names)
    first = _MODULE.match(anchor.text.lstrip("-"))
    if first is not None and "." in anchor.text and first.group(0) in imported:
        return True
    return name in SYSTEM_NAMES or is_python(name, imported)


def is_python(name: str, modules: frozenset[str]) -> bool:
    """Whether a name is built into Python, or occurs in a module of its standard library that is imported."""
    if keyword.iskeyword(name) or hasattr(builtins, name) or any(hasattr(kind, name) for kind in _TYPES):
        return True
    return any(name in _names_in(module) for module in modules & sys.stdlib_module_names)


@lru_cache(maxsize=128)
def _names_in(module: str) -> frozenset[str]:
    """Every word in the source of a standard library module, which is read, not run."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return frozenset()
    folders = map(Path, (spec and spec.submodule_search_locations) or ())
    files = [path for folder in folders for path in folder.glob("*.py")]
    if spec and spec.origin and spec.origin.endswith(".py"):
        files.append(Path(spec.origin))
    return frozenset(word for path in files for word in re.findall(r"\w+", path.read_text("utf-8", "replace")))
