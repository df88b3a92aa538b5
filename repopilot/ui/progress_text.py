"""The progress of a long job as a line of text. Pure."""

from __future__ import annotations

from repopilot import i18n
from repopilot.i18n.format import duration, size
from repopilot.types import Progress


def progress_line(moment: Progress, language: str) -> str:
    """`parsing · 120 of 3,400 files · 310/s · 11 s left`."""
    parts = [phase_name(moment.phase, language), *_amounts(moment, language)]
    if moment.remaining_s is not None and moment.remaining_s >= 1 and moment.done < (moment.total or moment.done):
        parts.append(i18n.text("ui.progress.remaining", language, duration=duration(moment.remaining_s, language)))
    if moment.detail:
        parts.append(i18n.translated(moment.detail, language))
    return " · ".join(parts)


def phase_name(phase: str, language: str) -> str:
    """A phase of a job, for example `parsing`, in the language; unchanged if the catalogue lacks it."""
    return i18n.term("ui.phases", i18n.translated(phase, language), language)


def percent(moment: Progress) -> int | None:
    """How far the job is, 0–100; None while its total is unknown."""
    return min(100, round(100 * moment.done / moment.total)) if moment.total else None


def _amounts(moment: Progress, language: str) -> list[str]:
    """How much is done of how much, and how fast."""
    if moment.unit == "bytes":
        done = size(moment.done, language)
        total = size(moment.total, language)
        rate = [f"{size(moment.rate, language)}/s"] if moment.rate > 0 else []
        return [_share(done, total if moment.total else "", language), *rate]
    if not moment.total and not moment.done:
        return []
    done, total = (i18n.number(amount, language) for amount in (moment.done, moment.total))
    unit = i18n.term("ui.units", moment.unit, language)
    rate = [f"{i18n.number(moment.rate, language, ',.0f')}/s"] if moment.rate >= 1 else []
    return [f"{_share(done, total if moment.total else '', language)} {unit}", *rate]


def _share(done: str, total: str, language: str) -> str:
    return i18n.text("ui.progress.share", language, done=done, total=total) if total else done
