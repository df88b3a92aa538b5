"""Reviews and impact reports for MCP clients."""

from __future__ import annotations

import asyncio

from repopilot.agents.impact.impact_report import impact_json, impact_report
from repopilot.agents.impact.render import impact_markdown
from repopilot.agents.review.agent import review_snapshot
from repopilot.agents.review.report import report_json, report_markdown
from repopilot.documents import plain
from repopilot.forge.hosts import forge_of
from repopilot.forge.items import ForgeItem
from repopilot.forge.review import review_pull
from repopilot.mcp.arguments import ImpactArguments, ReviewArguments
from repopilot.repo.history import commit_range
from repopilot.results import ReviewReport
from repopilot.runtime import Runtime
from repopilot.tools.registry import ToolResult
from repopilot.trace import Step
from repopilot.types import OnProgress
from repopilot.workspace import Workspace


async def report_on(asked: ReviewArguments | ImpactArguments, workspace: Workspace, step: Step) -> ToolResult:
    """The review of a diff or of files, or what a change touches. Raises RepoPilotError."""
    language = workspace.settings.language or "en"
    if isinstance(asked, ReviewArguments):
        commits = commit_range(asked.diff) if asked.diff else None
        return _reviewed(await review_snapshot(workspace, step, commits, asked.paths), language)
    report = await impact_report(workspace, step, asked.targets, diff=asked.diff or None, patch=asked.patch or None)
    return ToolResult(impact_markdown(report, language=language), plain(impact_json(report)))


async def review_of_pull(item: ForgeItem, runtime: Runtime, step: Step, progress: OnProgress) -> ToolResult:
    """The review of a pull request; nothing is posted. Raises RepoPilotError."""
    pull = await asyncio.to_thread(forge_of(item, runtime.settings).pull)
    report, _ = await review_pull(item, pull, runtime, step, progress)
    return _reviewed(report, runtime.settings.language or "en")


def _reviewed(report: ReviewReport, language: str) -> ToolResult:
    return ToolResult(report_markdown(report, language=language), plain(report_json(report)))
