"""A repository with a change applied to it: its texts before and after."""

from __future__ import annotations

from dataclasses import dataclass, field

from repopilot.agents.coding.follow_ups.code_changes import CodeChanges, code_changes
from repopilot.agents.coding.follow_ups.needed_edit import FileTexts
from repopilot.errors import GenerationFailed
from repopilot.tools.file_change import Changes
from repopilot.tools.stored_text import stored_text
from repopilot.workspace import Workspace


@dataclass(frozen=True)
class ChangedState:
    """`code` is what changes in the definitions of each file of code. Texts are read on demand."""

    workspace: Workspace
    changes: Changes
    code: tuple[CodeChanges, ...]
    _texts: dict[str, FileTexts | None] = field(default_factory=dict)

    def texts(self, path: str) -> FileTexts | None:
        """A file's texts; None for one that is gone, is no text or never was."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def text(self, path: str) -> str:
        """A file's text after the change, '' where there is none."""
        texts = self.texts(path)
        return texts.current if texts else ""

    def _read(self, path: str) -> FileTexts | None:
        changed = next((c for c in self.changes if c.path == path), None)
        if changed is not None and changed.change == "deleted":
            return None
        try:
            stored = stored_text(path, self.workspace)
        except GenerationFailed:
            return None
        current = changed.content if changed is not None else stored
        return None if current is None else FileTexts(stored, plain(current))


def changed_state(changes: Changes, workspace: Workspace) -> ChangedState:
    """Compare the changed files with the snapshot."""
    found = []
    for change in changes:
        try:
            stored = stored_text(change.path, workspace)
        except GenerationFailed:
            continue
        compared = code_changes(change.path, plain(stored or ""), plain(change.content))
        found += [compared] if compared else []
    return ChangedState(workspace, changes, tuple(found))


def plain(text: str) -> str:
    """A text without byte order mark and with LF line ends."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")
