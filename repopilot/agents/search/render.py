"""A search as Markdown and as evidence. Pure."""

from __future__ import annotations

from repopilot import i18n
from repopilot.i18n.format import duration
from repopilot.types import Evidence, RankedPlace, SearchReport, repository_mark


def search_markdown(report: SearchReport, language: str) -> str:
    """The places of a search with their lines; for a search that says nothing, how queries are written.

    Args:
        report: the search.
        language: the reader's language.
    """
    notes = [f"*{i18n.translated(note, language)}*" for note in report.notes]
    if not report.query:
        shown = [f"- `/search {query}`" for _, query in report.examples]
        return "\n".join([i18n.text("search.help", language), "", *shown])
    if not report.places:
        return "\n\n".join([i18n.text("search.nothing", language, query=report.query), *notes])
    took = duration(report.seconds, language)
    head = i18n.text("search.found", language, count=len(report.places), duration=took)
    if report.exact:
        head = i18n.text("search.matched", language, count=report.total, files=report.files, listed=len(report.places))
    return "\n\n".join([head, *notes, *(_block(place) for place in report.places)])


def evidence_of(report: SearchReport) -> tuple[Evidence, ...]:
    """The places of a search as evidence: with the lines that matter."""
    return tuple(
        Evidence(
            place.number,
            place.path,
            place.start_line,
            place.end_line,
            place.title,
            tuple((line.number, line.text) for line in place.lines),
            origin=place.origin,
        )
        for place in report.places
    )


def search_json(report: SearchReport) -> dict[str, object]:
    """A search as the document of the command line."""
    hits = [hit_json(place) for place in report.places]
    if report.repositories is None:
        return {"commit": report.commit, "hits": hits}
    facts = {"repositories": report.repositories, "seconds": round(report.seconds, 3)}
    return {**facts, "hits": hits, "degraded": list(report.notes)}


def hit_json(place: RankedPlace) -> dict[str, object]:
    """A place of a search as JSON, with its repository and commit where several were searched."""
    origin = place.origin
    return {
        **({"repository": origin.repository, "commit": origin.commit} if origin else {}),
        "path": place.path,
        "start_line": place.start_line,
        "end_line": place.end_line,
        "symbol": place.title,
        "signature": place.signature,
        "score": round(place.score, 3),
        "why": {name: round(value, 3) for name, value in place.why.items()},
        "history": place.history,
        "kind": place.kind,
        "language": place.language,
        "lines": [[line.number, line.text] for line in place.lines],
        "text": place.text,
    }


def _block(place: RankedPlace) -> str:
    title = f"**{place.title}** " if place.title else ""
    width = len(str(place.lines[-1].number)) if place.lines else 1
    lines = [f"    {line.number:>{width}}  {line.text}" for line in place.lines]
    head = f"{place.number}. {title}`{repository_mark(place.origin)}{place.path}:{place.start_line}-{place.end_line}`"
    return "\n".join([head, "", *lines])
