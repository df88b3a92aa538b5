"""The status line, always in view: repository, index, model and how it is run, sandbox, problems."""

from __future__ import annotations

from repopilot import i18n
from repopilot.errors import RepoPilotError
from repopilot.i18n.format import short_commit
from repopilot.index.vectors import trouble_of
from repopilot.sandbox.levels import level
from repopilot.settings import Settings
from repopilot.ui.chat import Process
from repopilot.ui.error_text import error_line
from repopilot.ui.progress_text import percent
from repopilot.ui.repository.registry import Opening


def health_props(opening: Opening | None, process: Process, language: str) -> dict:
    """The content of the status line. Blocking: the first call probes the sandbox and a server for vectors.

    Args:
        opening: the repository that the page shows, None for none.
        process: what all chats share.
        language: of the interface.

    Returns:
        {state: `ok`, `busy` or `bad`, items: [text], problems: [text], words}.
    """
    models = process.models
    problems = [error_line(error, language) for error, _ in models.troubles]
    sandbox, weak = _sandbox(process.runtime.settings, language)
    problems += [weak] if weak else []
    vectors = ""
    if server := process.runtime.indexes.chroma:
        vectors = i18n.text("ui.health.vectors", language, url=server.shown_url)
        trouble = trouble_of(server)
        problems += [i18n.translated(trouble, language)] if trouble else []
    if opening is not None and opening.phase == "failed" and opening.error is not None:
        problems.insert(0, error_line(opening.error, language))
    busy = models.status is None or models.warming or (opening is not None and opening.phase in ("cloning", "indexing"))
    items = [
        *(_repository(opening, language) if opening else []),
        _model(process, language),
        sandbox,
        vectors,
        _servers(process, language),
    ]
    return {
        "state": "bad" if problems else "busy" if busy else "ok",
        "items": [item for item in items if item],
        "problems": problems,
        "words": i18n.section("ui.health.words", language),
    }


def _repository(opening: Opening, language: str) -> list[str]:
    commit = opening.index.commit if opening.index else opening.snapshot.commit if opening.snapshot else ""
    name = opening.source.name + (f"@{short_commit(commit)}" if commit else "")
    moment = opening.current_progress
    done = percent(moment) if moment and opening.phase == "indexing" else None
    phase = i18n.text(f"ui.opening_phases.{opening.phase}", language)
    return [name, phase if done is None else f"{phase} {i18n.text('ui.progress.percent', language, percent=done)}"]


def _model(process: Process, language: str) -> str:
    models = process.models
    if models.status is None:
        return i18n.text("ui.health.looking", language)
    if models.model is None:
        return i18n.text("ui.health.no_model", language)
    way = i18n.text(f"ui.health.ways.{models.model.way}", language)
    speed = models.status.sizes.speed(models.model.name) if models.status.sizes else None
    took = i18n.text("ui.health.seconds", language, seconds=speed.answer_seconds()) if speed else ""
    return " ".join(filter(None, (models.model.name, f"({way})", took)))


def _servers(process: Process, language: str) -> str:
    """The running language servers with their memory."""
    running = sorted(process.runtime.lookups.running().items())
    return ", ".join(i18n.text("ui.health.server", language, name=name, megabytes=m / 1e6) for name, m in running)


def _sandbox(settings: Settings, language: str) -> tuple[str, str]:
    """How tests are isolated, and the problem with that, '' for none."""
    try:
        return i18n.text("ui.health.sandbox", language, level=level(settings)), ""
    except RepoPilotError as error:
        return i18n.text("ui.health.no_sandbox", language), error_line(error, language)
