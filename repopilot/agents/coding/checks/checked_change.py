"""From a file's new text to a change that can be shown."""

from __future__ import annotations

from repopilot import i18n
from repopilot.agents.coding.checks import edits
from repopilot.agents.coding.checks.import_fixer import with_imports
from repopilot.agents.coding.places import EditTarget
from repopilot.code.languages import is_test_path
from repopilot.errors import GenerationFailed
from repopilot.index.store import Index
from repopilot.tools import file_change
from repopilot.types import FileChange


def checked_change(target: EditTarget, text: str, index: Index) -> FileChange:
    """A text as a change: with missing imports and secrets restored, checked, in the old file's encoding.

    Args:
        target: the file.
        text: its new text, with LF line ends.
        index: knows which file defines a missing name.

    Returns:
        The change; its diff is empty where nothing differs.

    Raises:
        GenerationFailed: the text can't be used.
    """
    text = with_imports(target.path, text, lambda name: _defining_file(name, index))
    problem = edits.problem_of(target.path, text, target.shown or None)
    if problem is not None:
        raise GenerationFailed(i18n.message("generate.problem.in_file", path=target.path, problem=problem.message))
    plain = target.raw.removeprefix("\ufeff").replace("\r\n", "\n")
    new = file_change.with_line_ends(edits.with_secrets(text, target.shown, plain), target.stored or "")
    return file_change.change(target.path, new, target.stored)


def _defining_file(name: str, index: Index) -> str | None:
    """The one Python file of the code that defines a name at its top level; None for none or several."""
    places = {s.path for s in index.symbols(name) if s.qualified == name and s.path.endswith(".py")}
    places = {path for path in places if not is_test_path(path)}
    return places.pop() if len(places) == 1 else None
