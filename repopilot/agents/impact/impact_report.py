"""The impact report of a change: code gathers the evidence and the risk; no model is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.agents.impact.assess import assess
from repopilot.agents.impact.change import Change, changes_of_diffs, changes_of_targets
from repopilot.agents.impact.codebase import codebase_of
from repopilot.errors import RepoPilotError, UsageError
from repopilot.i18n import message
from repopilot.repo import history
from repopilot.repo.patches.patch import FileDiff, parse_patch
from repopilot.results import ImpactReport
from repopilot.trace import Step
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from repopilot.repo.history import Commit


async def impact_report(
    workspace: Workspace,
    step: Step,
    targets: Sequence[str] = (),
    *,
    diff: str | None = None,
    patch: str | None = None,
) -> ImpactReport:
    """Report the impact of one of three kinds of change.

    Args:
        workspace: the repository.
        step: the steps of the work go below it.
        targets: files and symbols: `path`, `path:Symbol`, `Symbol`.
        diff: a range as `history.commit_range` reads it; without a head, it ends at the open state.
        patch: a unified diff.

    Raises:
        UsageError: a target is unknown, or the diff is empty.
        SourceError: a commit of the range is unknown.
    """
    async with step.child("changed code", "tool", diff or ", ".join(targets) or "patch") as finding:
        changes = await asyncio.to_thread(_changes, workspace, targets, diff, patch)
        finding.note(files=[c.path for c in changes], symbols=sum(len(c.symbols) for c in changes))
    async with step.child("evidence", "tool") as gathering:
        commits = await asyncio.to_thread(_commits, workspace, gathering)
        report = await asyncio.to_thread(lambda: assess(workspace.index, changes, commits, workspace.resolver))
        report = replace(report, for_reader=workspace.settings.audience == "reader")
        found = report.completeness
        gathering.note(risk=report.risk, affected=found.affected, tests=found.covering_tests, gaps=list(found.gaps))
    return report


def impact_json(report: ImpactReport) -> dict:
    """The report as the command line prints it."""
    return {key: value for key, value in asdict(report).items() if key not in ("kind", "for_reader")}


def _changes(workspace: Workspace, targets: Sequence[str], diff: str | None, patch: str | None) -> list[Change]:
    if diff is None and patch is None:
        return changes_of_targets(targets, workspace.index, codebase_of(workspace.index).graph)
    diffs = parse_patch(patch) if patch is not None else _diff(workspace, diff or "")
    if not diffs:
        problem = (
            message("impact.errors.empty_patch")
            if patch is not None
            else message("impact.errors.empty_diff", diff=diff)
        )
        raise UsageError(problem, message("impact.errors.empty_hint"))
    return changes_of_diffs(diffs, workspace.index)


def _diff(workspace: Workspace, written: str) -> list[FileDiff]:
    commits = history.commit_range(written)
    snapshot = workspace.snapshot
    settings = workspace.settings
    return history.diff(snapshot, history.start_of(snapshot, commits, settings), commits.head, settings)


def _commits(workspace: Workspace, step: Step) -> Sequence[Commit]:
    """Past commits: those of the index, else what the clone has, else fetched now; () where there are none."""
    snapshot = workspace.snapshot
    settings = workspace.settings
    if not settings.history_commits:
        return ()
    known = history.follow_renames(workspace.index.commits or history.commits(snapshot, settings.history_commits))
    if len(known) > 1 or snapshot.git_dir is None:
        return known
    try:
        history.deepen(snapshot, settings)
    except RepoPilotError as error:
        step.degrade(message("impact.no_history", error=i18n.reason(error)))
        return known
    return history.follow_renames(history.commits(snapshot, settings.history_commits))
