"""What RepoPilot needs of this machine, what is there, and how to mend what is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from repopilot.errors import RepoPilotError
from repopilot.settings import Settings

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LEAST_FREE_GB = 2.0


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. `degraded` works with less; `broken` doesn't work. `mend` says what to do about it."""

    name: str
    state: Literal["ok", "degraded", "broken"]
    detail: str
    mend: str = ""


def checks(settings: Settings) -> list[Check]:
    """Every check, in the order a newcomer would mend them. Takes a few seconds; changes nothing but a probe file."""
    return [_guarded(name, check, settings) for name, check in _CHECKS.items()]


def show(found: Sequence[Check]) -> None:
    """The checks for people: a mark, the facts, and below them what to do."""
    marks = {"ok": "✓", "degraded": "~", "broken": "✗"}
    for c in found:
        print(f"{marks[c.state]} {c.name:16} {c.detail}")
        if c.mend:
            print(f"  {'':16} → {c.mend}")


def find_browser() -> str | None:
    """A Chromium of the system, for the tests in a browser."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def _guarded(name: str, check: Callable[[Settings], Check], settings: Settings) -> Check:
    try:
        return check(settings)
    except RepoPilotError as error:
        return Check(name, "degraded", error.message, error.hint)


def _python(settings: Settings) -> Check:
    return Check("python", "ok", f"{sys.version.split()[0]} at {sys.executable}")


def _git(settings: Settings) -> Check:
    path = shutil.which("git")
    if path is None:
        return Check("git", "broken", "not found", "Install git from your system's packages.")
    version = subprocess.run(
        [path, "--version"], capture_output=True, text=True, check=False, timeout=10
    ).stdout.strip()
    return Check("git", "ok", version)


def _disk(settings: Settings) -> Check:
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
        probe = settings.home / f".probe-{os.getpid()}"
        probe.write_bytes(b"x")
        probe.unlink()
    except OSError as error:
        return Check(
            "disk",
            "broken",
            f"{settings.home} can't be written: {error.strerror}",
            "Set REPOPILOT_HOME to a writable folder.",
        )
    free = shutil.disk_usage(settings.home).free / 1e9
    if free < LEAST_FREE_GB:
        return Check(
            "disk", "degraded", f"{free:.1f} GB free in {settings.home}", f"Free at least {LEAST_FREE_GB:.0f} GB."
        )
    return Check("disk", "ok", f"{free:.0f} GB free in {settings.home}")


def _model(settings: Settings) -> Check:
    from repopilot.llm.choose import status

    found = status(settings)
    if found.kind == "none":
        return Check(
            "language model",
            "degraded",
            f"none: answers are extractive. {found.detail}",
            "Start Ollama and pull qwen2.5-coder:1.5b, or run `python -m repopilot models pull qwen2.5-coder:0.5b`.",
        )
    mend = f"`ollama pull {found.missing_model}`" if found.missing_model else ""
    return Check("language model", "degraded" if mend else "ok", f"{found.kind}: {found.name}. {found.detail}", mend)


def _embedded(settings: Settings) -> Check:
    from repopilot.llm.models import available

    there = [m.name for m in available(settings) if m.path and m.purpose == "chat"]
    if not settings.embedded:
        return Check("embedded model", "ok", "turned off by REPOPILOT_EMBEDDED")
    if there:
        return Check("embedded model", "ok", f"{', '.join(there)} in {settings.models}")
    return Check(
        "embedded model",
        "degraded",
        "not fetched yet",
        "The browser app fetches it in the background; or `python -m repopilot models pull qwen2.5-coder:0.5b`.",
    )


def _embedding(settings: Settings) -> Check:
    from repopilot.index.embed import Embedders

    embedder, note = Embedders().explain_choice(settings)
    if embedder is None:
        return Check("embeddings", "degraded", note, "`python -m repopilot models pull minilm` (23 MB).")
    return Check("embeddings", "ok", f"{embedder.name}, {embedder.dimension} dimensions. {note}".strip())


def _chroma(settings: Settings) -> Check:
    from repopilot.index.vectors import health

    return Check("chroma", "ok", health(settings.indexes))


def _sandbox(settings: Settings) -> Check:
    from repopilot.sandbox.levels import level

    found = level(settings)
    mend = (
        ""
        if found in ("bwrap", "seatbelt")
        else "Install bubblewrap from your system's packages for the strongest level."
    )
    return Check("sandbox", "degraded" if found == "limits" else "ok", f"level {found}", mend)


def _browser(settings: Settings) -> Check:
    found = find_browser()
    if found is None:
        return Check(
            "test browser",
            "degraded",
            "no Chromium (only `make test` needs one)",
            "Install chromium from your system's packages; `make test` also tries Playwright's own.",
        )
    return Check("test browser", "ok", found)


def _parsers(settings: Settings) -> Check:
    from repopilot.code.split import analyse

    found = analyse("probe.py", "def probe():\n    return 1\n", "python", "code")
    if not (found.parsed and found.symbols):
        return Check(
            "parsers", "broken", "tree-sitter found no symbol in a probe", "Run `make run` again after deleting .venv."
        )
    return Check("parsers", "ok", f"tree-sitter, {Path(sys.prefix).name}")


_CHECKS: dict[str, Callable[[Settings], Check]] = {
    "python": _python,
    "git": _git,
    "disk": _disk,
    "parsers": _parsers,
    "language model": _model,
    "embedded model": _embedded,
    "embeddings": _embedding,
    "chroma": _chroma,
    "sandbox": _sandbox,
    "test browser": _browser,
}
