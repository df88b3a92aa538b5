"""Runs uv, bounded in time and disk space, with the user's own index.

uv is an optional dependency that we never download: it is pinned and hashed like all others, and installed before
anyone waits for an environment.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repopilot import i18n
from repopilot.errors import EnvironmentFailed
from repopilot.sandbox import supervise
from repopilot.sandbox.environments.installer_run import run_installer
from repopilot.settings import Settings

CACHE = "cache"
"""The folder, among the environments, of the caches of package managers."""
_PIP_TIMEOUT_S = 20.0
_FROM_PIP = {  # uv reads no pip configuration
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
}
_OLD_NAMES = {"UV_DEFAULT_INDEX": "UV_INDEX_URL", "UV_INDEX": "UV_EXTRA_INDEX_URL"}
PUBLIC_INDEX = "PyPI"


@dataclass(frozen=True, slots=True)
class UvRun:
    """Where and how long uv may work.

    Attributes:
        folder: the working folder, whose size is limited.
        settings: the data directory, whose cache is kept between builds, and the limits.
        cancel: ends a run once set.
        allow_builds: packages without a wheel are built, which runs their code.
        variables: uv's environment variables for the index, besides those of our own process.
        as_of: date after which packages are ignored; '' for none.
        python: the interpreter that the packages are for.
    """

    folder: Path
    settings: Settings
    cancel: threading.Event
    allow_builds: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    as_of: str = ""
    python: str = sys.executable


def find_uv() -> str:
    """The path of uv. Raises EnvironmentFailed where it isn't installed."""
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    if found is None:
        raise EnvironmentFailed(i18n.message("environments.no_uv"), i18n.message("environments.no_uv_hint"))
    return found


def run_uv(arguments: Sequence[str], run: UvRun) -> supervise.RunOutcome:
    """Run a command of `uv pip`.

    Args:
        arguments: what follows `uv pip`.
        run: where and how long.

    Returns:
        How it ended; the caller reads its status.

    Raises:
        EnvironmentFailed: uv is missing, took too long or wrote too much.
        StorageError: the disk is full.
        Cancelled: `run.cancel` was set.
    """
    options = [
        "--python",
        run.python,
        "--cache-dir",
        str(run.settings.environments_folder / CACHE),
        "--no-progress",
        "--color",
        "never",
    ]
    options += ["--no-python-downloads"]
    options += [] if run.allow_builds else ["--only-binary", ":all:"]
    options += ["--exclude-newer", run.as_of] if run.as_of else []
    program = [find_uv(), "pip", *arguments, *options]
    return run_installer(program, run.variables, run.folder, run.settings, run.cancel)


def index_name() -> str:
    """Where packages come from, without credentials, for the user to read."""
    address = {**index_variables(), **os.environ}.get("UV_DEFAULT_INDEX") or os.environ.get("UV_INDEX_URL")
    return address.rpartition("@")[2].removeprefix("https://") if address else PUBLIC_INDEX


def index_variables() -> dict[str, str]:
    """uv's variables for the index that pip is configured to use, as far as uv's own are not set."""
    configured = _pip_configuration()
    found = {}
    for option, variable in _FROM_PIP.items():
        set_anyway = variable in os.environ or _OLD_NAMES.get(variable, variable) in os.environ
        if option in configured and not set_anyway:
            found[variable] = configured[option] if variable == "SSL_CERT_FILE" else _list(variable, configured[option])
    if "UV_INDEX" in found and "UV_INDEX_STRATEGY" not in os.environ:
        found["UV_INDEX_STRATEGY"] = "unsafe-best-match"  # as pip chooses among its indexes
    return found


def _list(variable: str, text: str) -> str:
    separator = "," if variable == "UV_FIND_LINKS" else " "
    return separator.join(text.split())


def _pip_configuration() -> Mapping[str, str]:
    """Pip's options, where environment variables override files; none without pip."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, timeout=_PIP_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found: dict[str, str] = {}
    for line in sorted(listed.stdout.splitlines(), key=_strength):
        name, equals, value = line.partition("=")
        try:
            found[name.rpartition(".")[2]] = str(ast.literal_eval(value)) if equals else ""
        except (SyntaxError, ValueError):
            continue
    return found


def _strength(line: str) -> int:
    return 2 if line.startswith(":env:") else 1 if line.startswith("install.") else 0
