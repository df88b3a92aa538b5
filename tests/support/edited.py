"""Small repositories for edits by code, and what comes out of them."""

from __future__ import annotations

from pathlib import Path

from support.index_case import write
from support.shop_workspace import offline, open_workspace

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.recognise import carry_out, exact_edit
from repopilot.agents.editing.exact.sources import Sources
from repopilot.agents.editing.outcome import EditOutcome
from repopilot.workspace import Workspace


def workspace_of(tmp: Path, files: dict[str, str | bytes]) -> Workspace:
    """A folder with some files, indexed."""
    return open_workspace(write(tmp / "repo", files), offline(tmp / "home"))


def edited(workspace: Workspace, task: str) -> EditOutcome:
    """The outcome of a task that code must be able to carry out."""
    outcome = exact_edit(task, workspace)
    assert outcome is not None
    assert outcome.by_code
    return outcome


def carried_out(workspace: Workspace, kind: str, name: str = "", *places: str, **parts: str) -> EditOutcome:
    """The outcome of a task of a kind, whose parts are `new`, `old`, `what` or something extra."""
    known = {key: parts.pop(key) for key in ("new", "old", "what") if key in parts}
    task = ExactTask(kind, name, places=tuple(NamedPlace(p) for p in places), extra=parts, **known)
    outcome = carry_out(task, Sources(workspace))
    assert outcome is not None
    return outcome


def texts(outcome: EditOutcome) -> dict[str, str]:
    """The new texts by path."""
    return {c.path: c.content for c in outcome.changes if c.change != "deleted"}


def changed_lines(outcome: EditOutcome) -> list[str]:
    """The removed and added lines of all diffs, without indentation."""
    rows = (row for c in outcome.changes for row in c.diff.split("\n"))
    return [row[0] + row[1:].strip() for row in rows if row[:1] in ("+", "-") and row[:3] not in ("+++", "---")]
