"""The outcome of an edit."""

from __future__ import annotations

from dataclasses import dataclass

from repopilot.tools.file_change import Changes
from repopilot.types import OpenReference

REFACTORING_TOOLS = frozenset(("rename_symbol", "move_symbol", "move_file", "change_signature", "organize_imports"))
"""Tools that check that each occurrence they edit keeps its meaning, so that their edits are right when everything else
works as before."""


@dataclass(frozen=True, slots=True)
class EditOutcome:
    """The files of an edit.

    Attributes:
        changes: the files, at least one.
        tool: the tool that made the edit.
        place: the definition or file that it was called for, '' for none.
        by_code: code made it, so the edit is exact.
        interpreted: a small model said which edit the task means.
        notes: what the user should know of it, as messages.
        open_references: what was left unchanged for the user to decide.
        left: the open references that may break the program, as `path:line`, and anything else that is not done.
    """

    changes: Changes
    tool: str
    place: str = ""
    by_code: bool = False
    interpreted: bool = False
    notes: tuple[str, ...] = ()
    open_references: tuple[OpenReference, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def is_refactoring(self) -> bool:
        """Whether tests that pass as before verify the edit: code made it, and only renamed or moved."""
        return self.by_code and self.tool in REFACTORING_TOOLS
