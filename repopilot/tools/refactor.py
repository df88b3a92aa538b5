"""The tool that puts the imports of a Python file in order."""

from __future__ import annotations

import asyncio
import subprocess
import sys

from pydantic import Field

from repopilot.code.languages import language_of
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.tools import result_types
from repopilot.tools.file_change import safe_path, syntax_error
from repopilot.tools.refactored import finished
from repopilot.tools.registry import Arguments, Desk, Tool, ToolResult
from repopilot.tools.set_value import SetValue, set_value
from repopilot.tools.working_copy import WorkingCopy

RUFF_S = 30


class OnePath(Arguments):
    """A file."""

    path: str = Field(description="the file")


async def organize_imports(arguments: OnePath, desk: Desk) -> ToolResult:
    """Sort the imports of a Python file and remove those that nothing uses."""
    return await asyncio.to_thread(_organize_imports, arguments.path, desk.working_copy)


def _organize_imports(path: str, copy: WorkingCopy) -> ToolResult:
    text = copy.text(path)
    if text is None or language_of(path) != "python":
        raise UsageError(message("refactor_tools.no_python_file", path=path))
    if syntax_error(path, text) is not None:
        raise UsageError(message("refactor_tools.no_parse", path=path))
    options = "check --select=I,F401 --fix --quiet --no-cache --exit-zero".split()
    command, given = [sys.executable, "-m", "ruff", *options, f"--stdin-filename={path}", "-"], text.encode()
    try:
        done = subprocess.run(command, input=given, capture_output=True, cwd=copy.root(), timeout=RUFF_S, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(message("refactor_tools.ruff", problem=str(error))) from error
    return finished(copy, {safe_path(path): done.stdout.decode()}, (), ())


TOOLS = (
    Tool("set_value", SetValue, "edit", set_value, result_types.ValueSet),
    Tool("organize_imports", OnePath, "edit", organize_imports, result_types.Refactored),
)
