"""An opening as the props of the element `IndexProgress`: every word and number it shows. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from repopilot.i18n.format import commit_words, count, duration, size
from repopilot.types import Progress, Skip
from repopilot.ui.repository.estimate import FOLDERS_SHOWN, Estimate
from repopilot.ui.repository.registry import Opening

STARTERS = (
    ("What it is", "What does this repository do, and how is it organised?"),
    ("Entry points", "Where does execution start, and what happens first?"),
    ("Main parts", "What are the most important modules, and how do they work together?"),
    ("Tests", "How is this code tested, and how do I run the tests?"),
)
TITLES = {
    "cloning": "Getting {name}",
    "asking": "{name} is big",
    "credentials": "{name} asks for credentials",
    "indexing": "Indexing {name}",
    "ready": "Indexed {name}",
    "stopped": "Stopped: {name}",
    "failed": "{name} could not be opened",
}
BUTTONS = {
    "cloning": ("cancel",),
    "indexing": ("stop",),
    "ready": ("update", "reindex"),
    "stopped": ("retry",),
    "failed": ("retry",),
}
SKIPS_SHOWN = 8


def opening_props(opening: Opening, *, starters: bool = True) -> dict:
    """Everything the element shows. JSON-able, and equal between two moments that look the same."""
    name = opening.source.name
    moment = opening.job.progress if opening.phase == "indexing" and opening.job else opening.progress
    working = opening.phase in ("cloning", "indexing")
    return {
        "key": opening.key,
        "name": name,
        "address": address(opening),
        "phase": opening.phase,
        "answerable": opening.answerable,
        "title": TITLES[opening.phase].format(name=name),
        "detail": progress_line(moment) if working and moment else ("Connecting" if working else ""),
        "percent": percent(moment) if working and moment else None,
        "error": {"message": opening.error.message, "hint": opening.error.hint} if opening.error else None,
        "refused": opening.phase == "credentials" and opening.with_token,
        "buttons": list(BUTTONS.get(opening.phase, ())),
        "badge": badge(opening) if opening.answerable else None,
        "estimate": estimate_props(opening.estimate) if opening.phase == "asking" and opening.estimate else None,
        "stale": opening.snapshot.stale if opening.snapshot else None,
        "starters": [list(starter) for starter in STARTERS] if starters and opening.answerable else [],
    }


def address(opening: Opening) -> str:
    """What the message box would take to open the same again; without credentials, which a Source never has."""
    place = opening.source.url or str(opening.source.path)
    if opening.source.url and opening.source.ref:
        place = f"{place.removesuffix('.git')}/tree/{opening.source.ref}"
        place += f"/{opening.source.subdir}" if opening.source.subdir else ""
    return place


def badge(opening: Opening) -> dict:
    """`Indexed: N files · M chunks · commit abc1234`, with what is below it to unfold."""
    index = opening.index
    report = index.report
    facts = [count(len(index.files), "file"), count(len(index.chunks), "chunk")]
    facts.append(commit_words(index.commit))
    return {
        "text": "Indexed: " + " · ".join(facts),
        "dense": dense_words(index.dense, building=opening.phase == "indexing"),
        "complete": index.dense >= 1,
        "lines": count(report.lines, "line"),
        "skipped": len(report.skipped),
        "skips": skip_rows(report.skipped),
        "seconds": " · ".join(f"{phase} {duration(took)}" for phase, took in report.seconds.items()),
        "notes": list(dict.fromkeys([*index.notes, *(opening.job.notes if opening.job else ())])),
        "reused": report.reused,
    }


def dense_words(share: float, *, building: bool) -> str:
    """How far the vectors are, 0–1, in words."""
    if share >= 1:
        return "dense vectors complete"
    if share == 0 and not building:
        return "lexical search only"
    return f"dense vectors {math.floor(share * 100)} % built"


def skip_rows(skipped: Iterable[Skip]) -> list[dict]:
    """How many files were left out for which reason, most first, each with a few names."""
    skipped = list(skipped)
    reasons = Counter(skip.reason for skip in skipped).most_common(SKIPS_SHOWN)
    return [
        {
            "reason": reason,
            "count": number,
            "examples": [skip.path for skip in skipped if skip.reason == reason][:3],
        }
        for reason, number in reasons
    ]


def progress_line(moment: Progress) -> str:
    """`parsing · 120 of 3,400 files · 310/s · 11 s left`."""
    parts = [moment.phase]
    if moment.unit == "bytes":
        done = size(moment.done)
        parts.append(f"{done} of {size(moment.total)}" if moment.total else done)
        parts += [f"{size(moment.rate)}/s"] if moment.rate > 0 else []
    elif moment.total or moment.done:
        of = f"{moment.done:,} of {moment.total:,}" if moment.total else f"{moment.done:,}"
        parts.append(f"{of} {moment.unit}")
        parts += [f"{moment.rate:,.0f}/s"] if moment.rate >= 1 else []
    if moment.remaining_s is not None and moment.remaining_s >= 1 and moment.done < (moment.total or moment.done):
        parts.append(f"{duration(moment.remaining_s)} left")
    if moment.detail:
        parts.append(moment.detail)
    return " · ".join(parts)


def percent(moment: Progress) -> int | None:
    """None while the total is unknown: the bar then only moves."""
    return min(100, round(100 * moment.done / moment.total)) if moment.total else None


def estimate_props(found: Estimate) -> dict:
    shown, rest = found.folders[:FOLDERS_SHOWN], found.folders[FOLDERS_SHOWN:]
    rows = [
        {
            "name": folder.name,
            "label": folder.name or "(top level)",
            "files": folder.files,
            "lines": f"{folder.lines:,}",
        }
        for folder in shown
    ]
    return {
        "text": f"About {count(found.lines, 'line')} in {count(found.files, 'file')}. Questions can be answered after "
        f"about {duration(max(1, found.lexical_s))}; search by meaning is complete after about "
        f"{duration(max(1, found.dense_s))}.",
        "folders": rows,
        "more": f"and {count(len(rest), 'smaller folder')} after these" if rest else "",
    }
