"""An interpreter that the user named in place of an environment of ours: what it reads, and its pytest plugins."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from repopilot import i18n
from repopilot.errors import EnvironmentFailed
from repopilot.sandbox.environments.distribution_metadata import installed_plugins
from repopilot.types import Environment

_TIMEOUT_S = 20.0
_ASK = """
import json, site, sys, sysconfig
import pytest
folders = [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))]
paths = [sys.prefix, sys.base_prefix, sys.exec_prefix, sysconfig.get_path("stdlib"), *folders]
print(json.dumps({"folders": folders, "paths": paths}))
"""


def named_environment(program: str, files: Mapping[str, str] | None = None) -> Environment:
    """The environment of an interpreter that has the repository's dependencies and pytest.

    Args:
        program: its path or name.
        files: texts of files that the project's build would write.

    Raises:
        EnvironmentFailed: it can't be started, or has no pytest.
    """
    folders, paths = _ask(program)
    # Not resolved: the folder of the program is how an interpreter recognises its virtual environment.
    readable = [*paths, os.path.dirname(program), os.path.dirname(os.path.realpath(program))]
    readable += [os.path.realpath(path) for path in readable]
    outside = [Path(path) for path in dict.fromkeys(readable) if path != "/" and os.path.exists(path)]
    plugins = installed_plugins(tuple(Path(folder) for folder in folders))
    return Environment("", Path(os.path.abspath(program)), (), tuple(outside), plugins, files or {})


@lru_cache(maxsize=8)
def _ask(program: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    try:
        command = [program, "-s", "-P", "-B", "-c", _ASK]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
        found = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        problem = str(error)
        found = None
    else:
        problem = (done.stderr.strip().splitlines() or [str(done.returncode)])[-1]
    if found is None:
        raise EnvironmentFailed(
            i18n.message("environments.interpreter_unusable", program=program, problem=problem),
            i18n.message("environments.interpreter_hint"),
        )
    return tuple(found["folders"]), tuple(found["paths"])
