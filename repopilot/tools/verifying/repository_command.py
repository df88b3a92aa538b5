"""A command of the repository (build, generator, script, formatter), run in the sandbox on the working copy."""

from __future__ import annotations

import asyncio
from functools import partial

from pydantic import Field

from repopilot.background import run_in_thread
from repopilot.errors import UsageError
from repopilot.i18n import joined, message
from repopilot.i18n.format import listed
from repopilot.project_environment import until_fetched
from repopilot.repo.text_encoding import decoded
from repopilot.sandbox.run_shell import ShellRun, run_shell, strong_level
from repopilot.tools import result_types
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult
from repopilot.tools.test_suites import shell_needs
from repopilot.tools.working_copy import WorkingCopy
from repopilot.workspace import Workspace

RUN_COMMAND = "run_command"
LONGEST_S = 600
MOST_NAMED = 20
HEAD = 1500
"""Characters that are shown of the beginning of the output."""
TAIL = 4500
"""Characters that are shown of its end."""


class RunCommand(Arguments):
    """A command."""

    command: str = Field(min_length=1, max_length=8000, description="as typed in a shell at the top of the repository")
    seconds: int = Field(60, ge=1, le=LONGEST_S, description="its time limit")


async def run_command(arguments: RunCommand, context: ToolContext) -> ToolResult:
    """Run the repository's own build, code generator, script or formatter. It gets the repository's packages, in a
    sandbox without network and git history. The text files that it writes, changes or deletes become one edit, unless
    they are ignored by git; of a command that doesn't end in time nothing is kept. For tests call run_tests."""
    await _require_agreement(arguments.command, context)
    copy = context.working_copy
    original = context.working_copy.original
    await until_fetched(original.snapshot, original.index, original.settings)
    needs = await asyncio.to_thread(shell_needs, original)
    folder = await asyncio.to_thread(copy.root)
    run = await run_in_thread(
        partial(run_shell, arguments.command, arguments.seconds, folder, needs, original.settings)
    )
    left_out = await asyncio.to_thread(_take_over, run, copy) if run.files or run.deleted else []
    left_out = sorted({*left_out, *run.special})
    paths = sorted({*run.files, *run.deleted} - {*left_out})
    data = {"exit_code": run.status, "seconds": run.seconds, "stopped": run.stopped, "paths": paths}
    return ToolResult(_told(run, paths, left_out), {**data, "left_out": left_out, "output": _bounded(run.output)})


async def can_run_commands(workspace: Workspace) -> bool:
    """Whether a model may be offered commands: the sandbox is strong, and the user agreed or can be asked."""
    wanted = workspace.settings.commands
    agreed = wanted == "always" or (wanted == "ask" and workspace.agree is not None)
    return agreed and await asyncio.to_thread(strong_level, workspace.settings)


async def _require_agreement(command: str, context: ToolContext) -> None:
    workspace = context.workspace
    wanted = workspace.settings.commands
    agree = workspace.agree
    if wanted == "always" or (wanted == "ask" and agree is not None and await agree(command)):
        return
    if wanted == "ask" and agree is not None:
        context.step.degrade(message("command_tool.declined"))
    raise UsageError(message("command_tool.not_agreed"), message("command_tool.not_agreed_hint"))


def _take_over(run: ShellRun, copy: WorkingCopy) -> list[str]:
    """Make a command's changes an edit of the working copy. Returns the paths that can't be taken over: kept out as
    secret or ignored, or not text."""
    texts: dict[str, str | None] = {}
    left_out = []
    for path, data in {**run.files, **dict.fromkeys(run.deleted)}.items():
        text, _ = (decoded(data, path) or ("\0", "")) if data is not None else (None, "")
        if "\0" in (text or "") or not _may_change(path, copy):
            left_out.append(path)
        else:
            texts[path] = text
    if texts:
        copy.edit(texts)
    return left_out


def _may_change(path: str, copy: WorkingCopy) -> bool:
    try:
        copy.text(path)
    except UsageError:
        return False
    return path == path.strip()


def _told(run: ShellRun, paths: list[str], left_out: list[str]) -> str:
    """How the command ended, its output, and what became of the files that it wrote."""
    edited, left = (listed(each, MOST_NAMED, str) for each in (paths, left_out))
    ended = run.stopped or message("command_tool.ended", status=run.status, seconds=run.seconds)
    became = (
        message("command_tool.nothing_kept") if run.stopped else "",
        run.refused,
        message("command_tool.edited", count=len(paths), names=edited) if paths else "",
        message("command_tool.left_out", count=len(left_out), names=left) if left_out else "",
    )
    unchanged = "" if any(became) else message("command_tool.unchanged")
    return joined(filter(None, (ended, _bounded(run.output).strip("\n"), *became, unchanged)), "\n")


def _bounded(output: str) -> str:
    cut = len(output) - HEAD - TAIL
    if cut <= 0:
        return output
    return f"{output[:HEAD]}\n{message('command_tool.cut', count=cut)}\n{output[-TAIL:]}"


TOOLS = (Tool(RUN_COMMAND, RunCommand, "edit", run_command, result_types.CommandRun, generates=True),)
