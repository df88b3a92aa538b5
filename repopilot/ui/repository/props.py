"""An opening as the props of the element `IndexProgress`: every word and number it shows. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.i18n.format import commit_words, count, duration
from repopilot.repo.remote.credentials import host_of
from repopilot.types import Skip
from repopilot.ui.progress_text import percent, phase_name, progress_line
from repopilot.ui.repository.estimate import FOLDERS_SHOWN, Estimate
from repopilot.ui.repository.registry import Opening, Phase

if TYPE_CHECKING:
    from repopilot.index.store import Index

BUTTONS: dict[Phase, tuple[str, ...]] = {
    "cloning": ("cancel",),
    "indexing": ("stop",),
    "ready": ("update", "reindex"),
    "stopped": ("retry",),
    "failed": ("retry",),
}
SKIPS_SHOWN = 200
"""Most paths of skipped files listed for one reason."""


def opening_props(opening: Opening, language: str) -> dict:
    """The state of an opening as the element shows it.

    Args:
        opening: the repository being opened, or open.
        language: of the interface.

    Returns:
        A JSON-serializable value, equal for two moments that look the same.
    """
    moment = opening.current_progress
    working = opening.phase in ("cloning", "indexing")
    return {
        "key": opening.key,
        "name": opening.source.name,
        "address": opening.address,
        "phase": opening.phase,
        "answerable": opening.answerable,
        "title": i18n.text(f"ui.opening.{opening.phase}", language, name=opening.source.name),
        "detail": _detail(opening, language) if working else "",
        "percent": percent(moment) if working and moment else None,
        "error": _error_props(opening, language),
        "host": host_of(opening.source.url) if opening.source.url else "",
        "typed_token": opening.typed is not None and opening.phase != "credentials",
        "refused": opening.phase == "credentials" and opening.with_token,
        "buttons": list(BUTTONS.get(opening.phase, ())),
        "badge": badge(opening, opening.index, language) if opening.index else None,
        "estimate": _asked_estimate(opening, language),
        "stale": i18n.translated(opening.snapshot.stale, language)
        if opening.snapshot and opening.snapshot.stale
        else None,
        "words": i18n.section("ui.opening.words", language),
    }


def badge(opening: Opening, index: Index, language: str) -> dict:
    """The summary of an index.

    Args:
        opening: the repository.
        index: its index.
        language: of the interface.

    Returns:
        `Indexed: N files · M chunks · commit abc1234`, and the details it unfolds to.
    """
    from repopilot.index.embed import can_embed

    report = index.report
    filling = len(index.chunks) <= opening.settings.most_embedded
    facts = [count(len(index.files), "file", language), count(len(index.chunks), "chunk", language)]
    facts.append(commit_words(index.commit, language))
    times = (f"{phase_name(phase, language)} {duration(took, language)}" for phase, took in report.seconds.items())
    lines = [count(report.lines, "line", language), *times]
    if report.reused:
        lines.append(i18n.text("ui.opening.reused", language, count=report.reused))
    skipped = len(report.skipped)
    notes = dict.fromkeys([*index.notes, *report.remarks, *(opening.job.notes if opening.job else ())])
    return {
        "text": i18n.text("ui.opening.indexed", language, facts=" · ".join(facts)),
        "dense": dense_words(index.dense, language, embeds=can_embed(opening.settings), filling=filling),
        "complete": index.dense >= 1,
        "facts": " · ".join(lines),
        "skipped": i18n.text("ui.opening.skipped" if skipped else "ui.opening.none_skipped", language, count=skipped),
        "skips": skip_rows(report.skipped, language),
        "notes": [i18n.translated(note, language) for note in notes],
    }


def dense_words(share: float, language: str, *, embeds: bool, filling: bool) -> str:
    """A phrase that says which passages have embedding vectors.

    Args:
        share: the share of passages that have one, 0 to 1.
        language: of the interface.
        embeds: whether there is an embedding model.
        filling: whether the vectors of all passages are wanted.

    Returns:
        A phrase.
    """
    if share >= 1:
        return i18n.text("ui.opening.dense_complete", language)
    if not embeds:
        return i18n.text("ui.opening.lexical_only", language)
    if not filling:
        return i18n.text("ui.opening.dense_on_demand", language)
    return i18n.text("ui.opening.dense_partial", language, percent=math.floor(share * 100))


def skip_rows(skipped: Iterable[Skip], language: str) -> list[dict]:
    """The skipped files by reason, most frequent first: {reason, count, paths, more}.

    If there are too many, `more` says how many paths are left out."""
    by_reason: dict[str, list[str]] = {}
    for skip in skipped:
        by_reason.setdefault(skip.reason, []).append(skip.path)
    return [
        {
            "reason": i18n.translated(reason, language),
            "count": i18n.number(len(paths), language),
            "paths": paths[:SKIPS_SHOWN],
            "more": i18n.text("ui.opening.more_skipped", language, count=more)
            if (more := len(paths) - SKIPS_SHOWN) > 0
            else "",
        }
        for reason, paths in sorted(by_reason.items(), key=lambda item: -len(item[1]))
    ]


def estimate_props(found: Estimate, language: str) -> dict:
    """What indexing would take, and the folders to choose from: {text, folders: [{name, label, lines}], more}."""
    shown = found.folders[:FOLDERS_SHOWN]
    rest = found.folders[FOLDERS_SHOWN:]
    rows = [
        {
            "name": folder.name,
            "label": folder.name or i18n.text("ui.opening.top_level", language),
            "lines": count(folder.lines, "line", language),
        }
        for folder in shown
    ]
    text = i18n.text(
        "ui.opening.estimate",
        language,
        lines=count(found.lines, "line", language),
        files=count(found.files, "file", language),
        lexical=duration(max(1, found.lexical_s), language),
    )
    more = i18n.text("ui.opening.more_folders", language, count=len(rest)) if rest else ""
    return {"text": text, "folders": rows, "more": more}


def moved_note(opening: Opening, asked: str, language: str) -> str:
    """Say that the index has moved on from the commit that the last answer came from.

    Args:
        opening: the repository.
        asked: the commit of the last answer, '' for none.
        language: of the interface.

    Returns:
        The note; '' while the commit is the same.
    """
    if not asked or opening.index is None or opening.index.commit == asked:
        return ""
    before, now = (commit_words(commit, language) for commit in (asked, opening.index.commit))
    return i18n.text("ui.opening.moved", language, before=before, now=now)


def _detail(opening: Opening, language: str) -> str:
    moment = opening.current_progress
    return progress_line(moment, language) if moment else i18n.text("ui.opening.connecting", language)


def _error_props(opening: Opening, language: str) -> dict | None:
    error = opening.error
    if error is None:
        return None
    return {"message": i18n.translated(error.message, language), "hint": i18n.translated(error.hint, language)}


def _asked_estimate(opening: Opening, language: str) -> dict | None:
    return estimate_props(opening.estimate, language) if opening.phase == "asking" and opening.estimate else None
