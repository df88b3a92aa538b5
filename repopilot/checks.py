"""Checks this machine for what RepoPilot needs, and says how to fix what is missing."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from repopilot import i18n
from repopilot.errors import RepoPilotError
from repopilot.release import release
from repopilot.repo.remote.credentials import token_hosts
from repopilot.runtime import Runtime

if TYPE_CHECKING:
    from repopilot.llm.choice.status import SizeOffer

BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "microsoft-edge",
)
LEAST_FREE_GB = 2.0
_GIT_TIMEOUT_S = 10.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check.

    Attributes:
        name: what was checked; an id in JSON.
        state: `degraded`: works with restrictions; `broken`: doesn't work.
        detail: what was found.
        fix: what to do about it, '' when there is nothing to do.
    """

    name: str
    state: Literal["ok", "degraded", "broken"]
    detail: str
    fix: str = ""


def checks(runtime: Runtime) -> list[Check]:
    """Check everything RepoPilot needs, in the order to fix it in. Takes seconds; writes nothing but a probe file."""
    return [_guarded(name, check, runtime) for name, check in _CHECKS.items()]


def parts(runtime: Runtime) -> dict[str, Check]:
    """The checks of what answers depend on, by part of the program. Takes up to several seconds."""
    named = {"model": "language model", "index": "disk", "sandbox": "sandbox", "vectors": "chroma", "forge": "forge"}
    return {part: _guarded(name, _CHECKS[name], runtime) for part, name in named.items()}


def is_usable(runtime: Runtime) -> bool:
    """Whether the data directory is writable; otherwise nothing can be opened or answered."""
    return _disk(runtime).state != "broken"


def check_json(check: Check) -> dict[str, str]:
    """A check as the command line prints it."""
    return {"name": check.name, "state": check.state, "detail": check.detail, "fix": check.fix}


def find_browser() -> str | None:
    """The path of a Chromium on this machine, which the browser tests use; None without one."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def _guarded(name: str, check: Callable[[Runtime], Check], runtime: Runtime) -> Check:
    try:
        return check(runtime)
    except RepoPilotError as error:
        return Check(name, "degraded", error.message, error.hint)
    except Exception as error:  # a fault in one check must not cost the results of the others
        _log.exception("The check of %s failed", name)
        return Check(name, "degraded", _message("check_failed", error=f"{type(error).__name__}: {error}"))


def _release(runtime: Runtime) -> Check:
    return Check("repopilot", "ok", release())


def _python(runtime: Runtime) -> Check:
    return Check("python", "ok", _message("python", version=sys.version.split()[0], executable=sys.executable))


def _git(runtime: Runtime) -> Check:
    path = shutil.which("git")
    if path is None:
        return Check("git", "broken", _message("not_found"), _message("install_git"))
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True, timeout=_GIT_TIMEOUT_S)
    except (OSError, subprocess.SubprocessError) as error:
        return Check("git", "broken", _message("git_fails", path=path, error=str(error)), _message("install_git"))
    return Check("git", "ok", said.stdout.strip())


def _disk(runtime: Runtime) -> Check:
    settings = runtime.settings
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=settings.home) as probe:
            probe.write(b"x")
    except OSError as error:
        problem = _message("unwritable", home=settings.home, error=error.strerror)
        return Check("disk", "broken", problem, _message("set_home"))
    free = shutil.disk_usage(settings.home).free / 1e9
    if free < LEAST_FREE_GB:
        found = _message("little_space", gigabytes=free, home=settings.home)
        return Check("disk", "degraded", found, _message("free_space", gigabytes=LEAST_FREE_GB))
    return Check("disk", "ok", _message("free", gigabytes=free, home=settings.home))


def _model(runtime: Runtime) -> Check:
    from repopilot.llm.choice.status import status

    found = status(runtime.settings)
    if found.kind == "none":
        told = i18n.joined((found.detail, i18n.message("llm.way.none")))
        return Check("language model", "degraded", told, _message("get_model"))
    pull = "ollama pull" if found.kind == "ollama" else "repopilot models pull"
    missing = f"`{pull} {found.missing_model}`" if found.missing_model else ""
    told = i18n.joined((found.detail, i18n.message(f"llm.way.{found.way}")))
    detail = _message("model", kind=found.kind, name=found.name, detail=told)
    offered = _offered(found.offer, pull) if found.offer and not missing else ""
    return Check("language model", "degraded" if missing else "ok", detail, missing or offered)


def _offered(offer: SizeOffer, pull: str) -> str:
    """The offer of a model of another size, with the command that gets it."""
    command = f"`{pull} {offer.name}`"
    if offer.speed is None:
        return ""
    text = _message("next_size", name=offer.name, seconds=offer.speed.answer_seconds(), command=command)
    return _message("licensed", offer=text, licence=offer.licence) if offer.licence else text


def _embedded(runtime: Runtime) -> Check:
    from repopilot.llm.embedded.embedded_engine import import_error, is_installed, start_hint
    from repopilot.llm.weights.models import available

    settings = runtime.settings
    stored = [m.name for m in available(settings) if m.path and m.purpose == "chat"]
    if not settings.embedded:
        return Check("embedded model", "ok", _message("embedded_off"))
    if not is_installed():
        return Check("embedded model", "degraded", i18n.message("llm.embedded_extra"))
    if reason := import_error():
        return Check("embedded model", "degraded", reason, start_hint(reason, settings.models))
    if stored:
        return Check("embedded model", "ok", _message("embedded", names=", ".join(stored), folder=settings.models))
    return Check("embedded model", "degraded", _message("not_fetched"), _message("fetch_embedded"))


def _embedding(runtime: Runtime) -> Check:
    embedder, note = runtime.embedders.explain_choice(runtime.settings)
    if embedder is None:
        return Check("embeddings", "degraded", note, _message("fetch_embeddings"))
    detail = _message("embeddings", name=embedder.name, dimension=embedder.dimension, note=note)
    return Check("embeddings", "ok", detail)


def _chroma(runtime: Runtime) -> Check:
    from repopilot.index.vectors import health

    return Check("chroma", "ok", health(runtime.settings.indexes, runtime.indexes.chroma))


def _sandbox(runtime: Runtime) -> Check:
    from repopilot.sandbox.levels import level, shows_names

    found = level(runtime.settings)
    text = "sandbox_shows_names" if shows_names(found) else "sandbox"
    fix = "" if found in ("bwrap", "seatbelt") else _message("install_bubblewrap")
    return Check("sandbox", "degraded" if found == "limits" else "ok", _message(text, level=found), fix)


def _forge(runtime: Runtime) -> Check:
    hosts = token_hosts(runtime.settings.git_token)
    return Check("forge", "ok", _message("forge", count=len(hosts)) if hosts else _message("no_forge"))


def _browser(runtime: Runtime) -> Check:
    found = find_browser()
    if found is None:
        return Check("test browser", "degraded", _message("no_browser"), _message("install_browser"))
    return Check("test browser", "ok", found)


def _parsers(runtime: Runtime) -> Check:
    from repopilot.code.split import analyse

    found = analyse("probe.py", "def probe():\n    return 1\n", "python", "code")
    if not (found.parsed and found.symbols):
        return Check("parsers", "broken", _message("no_symbols"), _message("reinstall"))
    return Check("parsers", "ok", _message("parsers"))


def _servers(runtime: Runtime) -> Check:
    from repopilot.sandbox.language_servers.catalogue import SERVERS, how_to_get, is_package, program_of

    found = {server.name: program_of(server, None, runtime.settings) for server in SERVERS}
    named = [", ".join(name for name, path in found.items() if (path is None) == gone) or "-" for gone in (False, True)]
    detail = _message("servers", found=named[0], missing=named[1])
    missing = [server for server in SERVERS if is_package(server) and not found[server.name]]
    state: Literal["ok", "degraded"] = "ok" if found[SERVERS[0].name] else "degraded"
    return Check("language servers", state, detail, i18n.joined([how_to_get(server) for server in missing], " "))


def _message(key: str, **values: object) -> str:
    return i18n.message(f"cli.doctor.{key}", **values)


_CHECKS: dict[str, Callable[[Runtime], Check]] = {
    "repopilot": _release,
    "python": _python,
    "git": _git,
    "disk": _disk,
    "parsers": _parsers,
    "language model": _model,
    "embedded model": _embedded,
    "embeddings": _embedding,
    "chroma": _chroma,
    "sandbox": _sandbox,
    "forge": _forge,
    "language servers": _servers,
    "test browser": _browser,
}
