"""The outcome of an edit."""

from __future__ import annotations

from dataclasses import dataclass

from repopilot.tools.file_change import Changes
from repopilot.types import Edit, OpenReference

_REFACTORING = frozenset(("rename", "rename_file", "move", "change_signature", "delete", "delete_file", "sort"))
"""Kinds of edits that are right when everything else works as before."""
REFACTORING_TOOLS = frozenset(("rename_symbol", "move_symbol", "move_file", "change_signature", "organize_imports"))
"""Tools that check that each occurrence they edit keeps its meaning."""


@dataclass(frozen=True, slots=True)
class EditOutcome:
    """The files of an edit.

    Attributes:
        changes: the files, at least one.
        edits: the places that were changed in them; () where files were written in full.
        by_code: code made it, so the edit is exact.
        interpreted: a small model said which edit the task means.
        notes: what the user should know of it, as messages.
        open_references: what was left unchanged for the user to decide.
        left: the open references that may break the program, as `path:line`, and anything else that is not done.
    """

    changes: Changes
    edits: tuple[Edit, ...] = ()
    by_code: bool = False
    interpreted: bool = False
    notes: tuple[str, ...] = ()
    open_references: tuple[OpenReference, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def is_refactoring(self) -> bool:
        """Whether tests that pass as before verify the edit: code made it, and only renamed, moved or removed."""
        return self.by_code and bool(self.edits) and all(edit.kind in _REFACTORING for edit in self.edits)
