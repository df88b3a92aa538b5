"""A repository with a change applied to it: texts before and after, and the code graph of before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from repopilot.agents.coding.follow_ups.code_changes import CodeChanges, code_changes
from repopilot.agents.coding.follow_ups.needed_edit import FileTexts
from repopilot.code.graph.graph import Edge, Graph
from repopilot.errors import GenerationFailed
from repopilot.impact.codebase import codebase_of
from repopilot.tools.file_change import Changes
from repopilot.tools.stored_text import stored_text
from repopilot.workspace import Workspace

_USING = (Edge.CALLS, Edge.USES, Edge.INHERITS, Edge.IMPORTS)
_SURE = 0.6


@dataclass(frozen=True, slots=True)
class UsingPlace:
    """A definition (`scope`, '' for the rest of the file) that calls, uses or inherits from another."""

    path: str
    scope: str
    kind: Edge
    confidence: float


@dataclass(frozen=True)
class ChangedState:
    """`code` is what changes in the definitions of each file of code. Texts are read on demand."""

    workspace: Workspace
    changes: Changes
    code: tuple[CodeChanges, ...]
    _texts: dict[str, FileTexts | None] = field(default_factory=dict)

    @property
    def graph(self) -> Graph:
        """The code graph of the repository before the change."""
        return codebase_of(self.workspace.index).graph

    def texts(self, path: str) -> FileTexts | None:
        """A file's texts; None for one that is gone, is no text or never was."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def text(self, path: str) -> str:
        """A file's text after the change, '' where there is none."""
        texts = self.texts(path)
        return texts.current if texts else ""

    def users(self, path: str, qualified: str) -> Iterator[UsingPlace]:
        """What is surely connected with a definition by a call, a use, inheritance or an import."""
        graph = self.graph
        number = graph.by_path.get(path)
        for node in graph.inside(number) if number is not None else ():
            if graph.nodes.name(node) == qualified:
                for link in graph.incoming(node, _USING):
                    source = graph.nodes[link.node]
                    if link.confidence >= _SURE:
                        scope = "" if source.kind == "file" else source.name
                        yield UsingPlace(source.path, scope, link.kind, link.confidence)

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


def line_at(text: str, offset: int) -> int:
    """The number of the line an offset is in."""
    return text.count("\n", 0, offset) + 1
