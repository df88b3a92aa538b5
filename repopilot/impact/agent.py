"""Impact: what a change touches. Code gathers the evidence and the risk; the model may add words tied to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from repopilot.errors import RepoPilotError, UsageError
from repopilot.impact.assess import assess
from repopilot.impact.change import Change, changes_of_diffs, changes_of_targets
from repopilot.impact.codebase import codebase_of
from repopilot.impact.model_notes import with_prose
from repopilot.impact.question import ImpactRequest, requested
from repopilot.impact.render import impact_markdown
from repopilot.impact.svg import graph_svg
from repopilot.repo import history
from repopilot.results import Answer, ImpactReport
from repopilot.trace import Step
from repopilot.types import Citation, FileChange
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from repopilot.repo.history import Commit

__all__ = ["graph_svg", "impact", "impact_json", "impact_markdown", "impact_of_files", "impact_report"]

_CITED = 10


async def impact(question: str, workspace: Workspace, step: Step) -> Answer:
    """What a change to the files, symbols, commits or generated code that the question names would touch.

    `details`: impact (as `impact_json`) and impact_svg (the picture). Raises UsageError and SourceError on what
    can't be found.
    """
    async with step.child("what changes", "tool", question) as reading:
        wanted = await asyncio.to_thread(_requested, question, workspace)
        reading.note(targets=list(wanted.targets), diff=wanted.diff, files=[c.path for c in wanted.changes])
        if not (wanted.targets or wanted.diff or wanted.changes):
            raise UsageError("The question names no file, symbol or range of commits of this repository.",
                             "For example: what would break if I change `path/to/file.py`?")  # fmt: skip
        if wanted.note:
            reading.degrade(wanted.note)
    if wanted.changes:
        report = await impact_of_files(workspace, step, wanted.changes)
    else:
        report = await impact_report(workspace, step, wanted.targets, diff=wanted.diff)
    citations = _citations(report, workspace)
    numbers = {str(item["id"]): c.number for item, c in zip(report.affected, citations, strict=False)}
    text = "\n\n".join(filter(None, (wanted.note, impact_markdown(report, numbers, _language(question)))))
    async with step.child("answer", "answer") as answering:
        await answering.write(text)
    return Answer(text, citations, details={"impact": impact_json(report), "impact_svg": graph_svg(report)})


async def impact_report(workspace: Workspace, step: Step, targets: Sequence[str] = (), *, diff: str | None = None,
                        patch: str | None = None) -> ImpactReport:  # fmt: skip
    """The report for files and symbols (`path`, `path:Symbol`, `Symbol`), for a range BASE..HEAD (without HEAD: up to
    what is open), or for a unified diff.

    Raises UsageError on an unknown target and on an empty diff, SourceError on an unknown ref.
    """
    async with step.child("changed code", "tool", diff or ", ".join(targets) or "patch") as finding:
        changes = await asyncio.to_thread(_changes, workspace, targets, diff, patch)
        finding.note(files=[c.path for c in changes], symbols=sum(len(c.symbols) for c in changes))
    return await _assessed(workspace, step, changes)


async def impact_of_files(workspace: Workspace, step: Step, files: Sequence[FileChange]) -> ImpactReport:
    """The report for generated files."""
    return await impact_report(workspace, step, patch="\n".join(_as_diff(file) for file in files))


def impact_json(impact: ImpactReport) -> dict:
    """The report as the command line prints it."""
    return {key: value for key, value in asdict(impact).items() if key != "kind"}


async def _assessed(workspace: Workspace, step: Step, changes: Sequence[Change]) -> ImpactReport:
    async with step.child("evidence", "tool") as gathering:
        commits = await asyncio.to_thread(_commits, workspace, gathering)
        report = await asyncio.to_thread(assess, workspace.index, changes, commits)
        gathering.note(risk=report.risk, affected=report.completeness["affected"],
                       tests=report.completeness["covering_tests"], gaps=report.completeness["gaps"])  # fmt: skip
    if workspace.model is None:
        return report
    return await with_prose(report, workspace.model, step)


def _requested(question: str, workspace: Workspace) -> ImpactRequest:
    return requested(question, workspace, codebase_of(workspace.index).graph)


def _changes(workspace: Workspace, targets: Sequence[str], diff: str | None, patch: str | None) -> list[Change]:
    if diff is None and patch is None:
        return changes_of_targets(targets, workspace.index, codebase_of(workspace.index).graph)
    diffs = history.parse_patch(patch) if patch is not None else _diff(workspace, diff or "")
    if not diffs:
        where = "The patch changes no file." if patch is not None else f"Nothing changed in {diff}."
        raise UsageError(where, "Give a unified diff, or a range of commits with a difference.")
    return changes_of_diffs(diffs, workspace.index)


def _diff(workspace: Workspace, written: str) -> list[history.FileDiff]:
    base, dots, head = written.partition("..")
    head = head.removeprefix(".")
    if not dots or not base:
        raise UsageError(f"“{written}” is no range of commits.", "Write BASE..HEAD, for example HEAD~1..HEAD.")
    snapshot, settings = workspace.snapshot, workspace.settings
    if written.startswith(f"{base}..."):
        base = history.merge_base(snapshot, base, head or None, settings)
    return history.diff(snapshot, base, head or None, settings)


def _commits(workspace: Workspace, step: Step) -> Sequence[Commit]:
    """Past commits: those of the index, else what the clone holds, else fetched now; () where there are none."""
    snapshot, settings = workspace.snapshot, workspace.settings
    if not settings.history_commits:
        return ()
    known = workspace.index.commits or history.commits(snapshot, settings.history_commits)
    if len(known) > 1 or snapshot.git_dir is None:
        return known
    try:
        history.deepen(snapshot, settings)
    except RepoPilotError as error:
        step.degrade(f"impact without history: {error}")
        return known
    return history.commits(snapshot, settings.history_commits)


def _citations(report: ImpactReport, workspace: Workspace) -> tuple[Citation, ...]:
    commit = workspace.index.commit
    return tuple(
        Citation(n, str(item["path"]), int(item["line"]), int(item["line"]), commit, str(item["symbol"]))
        for n, item in enumerate(report.affected[:_CITED], 1)
    )


def _as_diff(file: FileChange) -> str:
    """The change as git would write it; what was generated may come without the names of its files."""
    if file.diff.startswith(("diff --git", "--- ")):
        return file.diff.rstrip("\n")
    old = "/dev/null" if file.change == "added" else f"a/{file.path}"
    new = "/dev/null" if file.change == "deleted" else f"b/{file.path}"
    return f"--- {old}\n+++ {new}\n{file.diff}".rstrip("\n")


def _language(question: str) -> str:
    from repopilot.retrieval.query import parse

    return parse(question).language
