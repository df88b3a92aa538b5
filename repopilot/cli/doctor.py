"""What RepoPilot needs of this machine, what is there, and how to fix what is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from repopilot import i18n
from repopilot.errors import RepoPilotError
from repopilot.settings import Settings

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LEAST_FREE_GB = 2.0


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at.

    Attributes:
        name: what was looked at; an id in JSON.
        state: `degraded` works with less; `broken` doesn't work.
        detail: what was found.
        fix: what to do about it, '' for nothing.
    """

    name: str
    state: Literal["ok", "degraded", "broken"]
    detail: str
    fix: str = ""


def checks(settings: Settings) -> list[Check]:
    """Look at everything RepoPilot needs, in the order to fix it in. Takes seconds; writes nothing but a probe file."""
    return [_guarded(name, check, settings) for name, check in _CHECKS.items()]


def check_json(check: Check) -> dict[str, str]:
    """A check as the command line prints it."""
    return {"name": check.name, "state": check.state, "detail": check.detail, "mend": check.fix}


def show(found: Sequence[Check], language: str) -> None:
    """Print the checks: a mark, what was found, and below it what to do."""
    marks = {"ok": "✓", "degraded": "~", "broken": "✗"}
    for check in found:
        print(f"{marks[check.state]} {check.name:16} {i18n.said(check.detail, language)}")
        if check.fix:
            print(f"  {'':16} → {i18n.said(check.fix, language)}")


def find_browser() -> str | None:
    """A Chromium of the system, for the tests in a browser."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def _guarded(name: str, check: Callable[[Settings], Check], settings: Settings) -> Check:
    try:
        return check(settings)
    except RepoPilotError as error:
        return Check(name, "degraded", error.message, error.hint)


def _python(settings: Settings) -> Check:
    return Check("python", "ok", _said("python", version=sys.version.split()[0], executable=sys.executable))


def _git(settings: Settings) -> Check:
    path = shutil.which("git")
    if path is None:
        return Check("git", "broken", _said("not_found"), _said("install_git"))
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
        problem = _said("unwritable", home=settings.home, error=error.strerror)
        return Check("disk", "broken", problem, _said("set_home"))
    free = shutil.disk_usage(settings.home).free / 1e9
    if free < LEAST_FREE_GB:
        found = _said("little_space", gigabytes=free, home=settings.home)
        return Check("disk", "degraded", found, _said("free_space", gigabytes=LEAST_FREE_GB))
    return Check("disk", "ok", _said("free", gigabytes=free, home=settings.home))


def _model(settings: Settings) -> Check:
    from repopilot.llm.choose import status

    found = status(settings)
    if found.kind == "none":
        return Check("language model", "degraded", _said("no_model", detail=found.detail), _said("get_model"))
    fix = f"`ollama pull {found.missing_model}`" if found.missing_model else ""
    detail = _said("model", kind=found.kind, name=found.name, detail=found.detail)
    return Check("language model", "degraded" if fix else "ok", detail, fix)


def _embedded(settings: Settings) -> Check:
    from repopilot.llm.embedded import is_installed
    from repopilot.llm.models import available

    there = [m.name for m in available(settings) if m.path and m.purpose == "chat"]
    if not settings.embedded:
        return Check("embedded model", "ok", _said("embedded_off"))
    if not is_installed():
        return Check("embedded model", "degraded", i18n.message("llm.embedded_extra"))
    if there:
        return Check("embedded model", "ok", _said("embedded", names=", ".join(there), folder=settings.models))
    return Check("embedded model", "degraded", _said("not_fetched"), _said("fetch_embedded"))


def _embedding(settings: Settings) -> Check:
    from repopilot.index.embed import Embedders

    embedder, note = Embedders().explain_choice(settings)
    if embedder is None:
        return Check("embeddings", "degraded", note, _said("fetch_embeddings"))
    detail = _said("embeddings", name=embedder.name, dimension=embedder.dimension, note=note)
    return Check("embeddings", "ok", detail)


def _chroma(settings: Settings) -> Check:
    from repopilot.index.vectors import health

    return Check("chroma", "ok", health(settings.indexes))


def _sandbox(settings: Settings) -> Check:
    from repopilot.sandbox.levels import level

    found = level(settings)
    fix = "" if found in ("bwrap", "seatbelt") else _said("install_bubblewrap")
    return Check("sandbox", "degraded" if found == "limits" else "ok", _said("sandbox", level=found), fix)


def _browser(settings: Settings) -> Check:
    found = find_browser()
    if found is None:
        return Check("test browser", "degraded", _said("no_browser"), _said("install_browser"))
    return Check("test browser", "ok", found)


def _parsers(settings: Settings) -> Check:
    from repopilot.code.split import analyse

    found = analyse("probe.py", "def probe():\n    return 1\n", "python", "code")
    if not (found.parsed and found.symbols):
        return Check("parsers", "broken", _said("no_symbols"), _said("reinstall"))
    return Check("parsers", "ok", _said("parsers", environment=Path(sys.prefix).name))


def _said(key: str, **values: object) -> str:
    return i18n.message(f"cli.doctor.{key}", **values)


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
