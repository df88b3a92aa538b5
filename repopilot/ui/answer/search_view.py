"""A search on the page: its element can be refined, paged and opened without another message."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.agents.search.grep import grep_report
from repopilot.errors import UsageError
from repopilot.i18n.format import commit_words, duration
from repopilot.retrieval.query.exact_matches import ALIASES
from repopilot.retrieval.rank import PAST_COMMITS
from repopilot.retrieval.result_page import MOST_PLACES, PAGE, place_lines, search_page
from repopilot.retrieval.search_all import page_of_all
from repopilot.types import Citation, MarkedLine, RankedPlace, SearchReport
from repopilot.ui.answer.code_panel import show_code
from repopilot.ui.buttons import answer_of, button
from repopilot.ui.chat import Chat, ShownAnswer
from repopilot.ui.elements import update
from repopilot.ui.messages import LONGEST
from repopilot.ui.progress_text import progress_line
from repopilot.ui.stored_turns import change_exchange
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from repopilot.index.store import Index

VALUES_SHOWN = 8
"""Most languages, and most kinds, offered as filters."""


@button
async def search_again(chat: Chat, payload: dict) -> dict:
    """Search with other words or filters, or for more places, in the same element.

    Args:
        chat: where the search is.
        payload: {answer: id, text: the words, filters: [[name, value]], count: how many places}.

    Returns:
        {}, or {error}.
    """
    shown, report = _shown_search(chat, payload)
    if shown.element is None:
        raise UsageError(i18n.message("ui.search.gone"))
    query = with_filters(str(payload.get("text", "")), payload.get("filters", ()))[:LONGEST]
    count = min(MOST_PLACES, max(PAGE, int(payload.get("count", PAGE))))
    shown.index = newest(chat, shown.index)
    with chat.process.runtime.index_jobs.embedding_paused():
        search = partial(search_page, shown.index, embedder=chat.process.models.embedder)
        if report.repositories is not None:
            search = partial(page_of_all, await asyncio.to_thread(lambda: chat.indexes))
        looking = _exactly(chat, shown, query, count) if report.exact else asyncio.to_thread(search, query, count)
        found = await looking
    # A reload shows what was seen last.
    await change_exchange(chat, shown, answer=replace(shown.answer, result=found, evidence=()))
    props = search_props(str(payload["answer"]), found, chat.language, status=index_status(chat, shown.index))
    await update(shown.element, props)
    return {}


async def _exactly(chat: Chat, shown: ShownAnswer, query: str, count: int) -> SearchReport:
    opening = chat.opening
    if opening is None or opening.snapshot is None or opening.index is not shown.index:
        raise UsageError(i18n.message("ui.search.other_repository"))
    return await grep_report(query, Workspace(opening.snapshot, shown.index, opening.settings), count)


@button
async def search_open(chat: Chat, payload: dict) -> dict:
    """Open the file of a place in the side view.

    Args:
        chat: where the search is.
        payload: {answer: id, number: of the place, line: the one to mark, null for all of the place}.

    Returns:
        {}, or {error} when the file can't be shown.
    """
    shown, report = _shown_search(chat, payload)
    place = _place(report, payload)
    line = payload.get("line")
    origin = place.origin
    first, last = (line, line) if isinstance(line, int) else (place.start_line, place.end_line)
    commit = origin.commit if origin else report.commit
    citation = Citation(place.number, place.path, first, last, commit, place.symbol, origin=origin)
    return await show_code(chat, shown.index, citation)


@button
async def search_lines(chat: Chat, payload: dict) -> dict:
    """All lines of a place, with the query's words marked.

    Args:
        chat: where the search is.
        payload: {answer: id, number: of the place}.

    Returns:
        {lines: as in the props of a place}, or {error}.
    """
    _, report = _shown_search(chat, payload)
    return {"lines": _lines(place_lines(_place(report, payload), report.tokens))}


def newest(chat: Chat, index: Index) -> Index:
    """The newest index of the same repository, if that is still open in the chat; else the index itself."""
    current = chat.opening.index if chat.opening else None
    return current if current is not None and current.folder.parent == index.folder.parent else index


def index_status(chat: Chat, index: Index) -> str:
    """A note that an index is still being built or is of an earlier commit; '' if neither."""
    opening = chat.opening
    language = chat.language
    if opening is None or opening.index is not index or opening.phase not in ("cloning", "indexing"):
        return ""
    parts = []
    if opening.snapshot is not None and opening.snapshot.commit != index.commit:
        parts.append(i18n.text("ui.search.earlier", language, commit=commit_words(index.commit, language)))
    if moment := opening.current_progress:
        parts.append(i18n.text("ui.search.indexing", language, progress=progress_line(moment, language)))
    return " ".join(parts)


def with_filters(text: str, filters: Iterable[Sequence[str]]) -> str:
    """A query of words and filters. Pure.

    Args:
        text: the words; filters typed among them stay.
        filters: (name, value) of further ones.

    Returns:
        The query, each filter once.
    """
    # A value that begins with // would read as an address.
    written = (
        f'{name}:"{value}"' if " " in value or value.startswith("//") else f"{name}:{value}" for name, value in filters
    )
    return " ".join(part for part in (text.strip(), *dict.fromkeys(written)) if part)


def search_props(answer_id: str, report: SearchReport, language: str, *, status: str = "") -> dict:
    """Props of the element `Search`.

    Args:
        answer_id: the id of the answer's message.
        report: the search.
        language: of the reader.
        status: a note on the index, '' for none.

    Returns:
        A JSON-serializable value.
    """
    shown = len(report.places)
    more = min(PAGE, MOST_PLACES - shown) if report.more else 0
    full = report.more and shown >= MOST_PLACES
    of_all = report.repositories is not None
    words = i18n.section("ui.search.words", language)
    words |= i18n.section("ui.search.all_words", language) if of_all else {}
    words |= i18n.section("ui.search.exact_words", language) if report.exact else {}
    return {
        "answer": answer_id,
        "all": of_all,
        "exact": report.exact,
        "query": report.words,
        "filters": [_filter_props(name, value, language) for name, value in report.filters],
        "facets": _facets(report, language),
        "summary": _summary(report, language) if report.query else "",
        "notes": [i18n.translated(note, language) for note in report.notes],
        "status": "" if of_all else status,
        "places": [_place_props(place, language) for place in report.places],
        "count": shown,
        "page": PAGE,
        "next": i18n.text("ui.search.next", language, count=more) if more else "",
        "most": i18n.text("ui.search.most", language, count=MOST_PLACES) if full else "",
        "empty": i18n.text("ui.search.empty", language, query=report.query) if report.query and not shown else "",
        "examples": [[query, i18n.text(f"ui.search.examples.{what}", language)] for what, query in report.examples],
        "words": words,
    }


def why_rows(why: Mapping[str, float], language: str, history: str = "") -> list[dict]:
    """The contributions to a score in plain words, largest first: {label, size, share of the largest, negative}.

    `history` is a message that says which past commits speak for the place.
    """
    largest = max((abs(value) for value in why.values()), default=1.0) or 1.0
    ordered = sorted(why.items(), key=lambda pair: -abs(pair[1]))
    return [
        {
            "label": i18n.translated(history, language)
            if history and name == PAST_COMMITS
            else why_label(name, language),
            "size": _signed(value, language),
            "share": round(abs(value) / largest, 3),
            "negative": value < 0,
        }
        for name, value in ordered
    ]


def why_label(name: str, language: str) -> str:
    """A contribution in plain words; one that the catalogue doesn't know keeps its name."""
    key = name.replace("file: ", "file.")
    label = i18n.term("ui.search.why", key, language)
    if label != key:
        return label
    return ": ".join(i18n.term("ui.facts", part, language) for part in name.split(": "))


def _shown_search(chat: Chat, payload: dict) -> tuple[ShownAnswer, SearchReport]:
    """The answer that a button belongs to, and its search. Raises UsageError if the page no longer has it."""
    shown = answer_of(chat, payload, "ui.search.gone")
    report = shown.answer.brings(SearchReport)
    if report is None:
        raise UsageError(i18n.message("ui.search.gone"))
    return shown, report


def _place(report: SearchReport, payload: dict) -> RankedPlace:
    """The place that a button belongs to. Raises UsageError if the search no longer has it."""
    found = next((place for place in report.places if place.number == payload.get("number")), None)
    if found is None:
        raise UsageError(i18n.message("ui.search.gone"))
    return found


def _summary(report: SearchReport, language: str) -> str:
    places = i18n.text("ui.search.place", language, count=len(report.places))
    matching = i18n.text("ui.search.matching", language, count=report.total)
    files = i18n.text("ui.search.in_files", language, count=report.files)
    found = [places, f"{matching} {files}"] if report.places else []
    if report.exact:
        found = [f"{i18n.text('ui.search.lines_match', language, count=report.total)} {files}"] if report.places else []
    of = commit_words(report.commit, language)
    if report.repositories is not None:
        of = i18n.text("ui.search.repository", language, count=report.repositories)
    facts = [*found, duration(report.seconds, language), of]
    return " · ".join(facts)


def _filter_props(name: str, value: str, language: str) -> dict:
    label = f"{name}:{value}"
    return {
        "name": name,
        "value": value,
        "label": label,
        "remove": i18n.text("ui.search.remove", language, filter=label),
    }


def _facets(report: SearchReport, language: str) -> list[dict]:
    """The languages and kinds to filter by, including those chosen; none where there is only one value."""
    kinds = [(value, i18n.term("ui.search.kind_names", value, language), count) for value, count in report.kinds]
    languages = [(value, value, count) for value, count in report.languages]
    rows = (("lang", "languages", languages), ("kind", "kinds", kinds))
    return [
        {"name": name, "title": i18n.text(f"ui.search.{title}", language), "values": values}
        for name, title, found in rows
        if len(values := _values(found, _chosen(report, name), language)) > 1 or any(v["chosen"] for v in values)
    ]


def _values(found: Sequence[tuple[str, str, int]], chosen: set[str], language: str) -> list[dict]:
    first = [row for place, row in enumerate(found) if place < VALUES_SHOWN or row[0] in chosen]
    return [
        {"value": value, "label": label, "count": i18n.number(count, language), "chosen": value in chosen}
        for value, label, count in first
    ]


def _chosen(report: SearchReport, name: str) -> set[str]:
    values = {value for filter_name, value in report.filters if filter_name == name}
    return values | {ALIASES[value] for value in values if value in ALIASES}


def _place_props(place: RankedPlace, language: str) -> dict:
    start = place.start_line
    end = place.end_line
    of = place.origin
    kind = "lines" if end > start else "line"
    lines = i18n.text(f"ui.search.{kind}", language, start=start, end=end)
    count = end - start + 1
    matches = "" if place.text else i18n.text("ui.search.matching_lines", language, count=len(place.lines))
    return {
        "number": place.number,
        "title": place.title or place.path.rpartition("/")[2],
        "signature": place.signature,
        # The kind is that of the whole place, which may hold other definitions than the one it is shown as.
        "kind": i18n.term("ui.search.kind_names", place.kind, language) if place.title == place.symbol else matches,
        "language": place.language,
        "repository": f"{of.repository} · {commit_words(of.commit, language)}" if of else "",
        "place": f"{place.path}:{start}–{end}" if end > start else f"{place.path}:{start}",
        "open": i18n.text("ui.search.open", language, path=place.path, lines=lines),
        "lines": _lines(place.lines),
        "all": i18n.text("ui.search.all_lines", language, count=count)
        if place.text and count > len(place.lines)
        else "",
        "why": why_rows(place.why, language, place.history),
        "total": i18n.text("ui.search.why_total", language, score=_signed(place.score, language)),
    }


def _lines(lines: Iterable[MarkedLine]) -> list[list]:
    """[number, text, [[start, end], …]] of each line, without the indentation they share."""
    shown = list(lines)
    indented = (len(line.text) - len(line.text.lstrip()) for line in shown if line.text.strip())
    cut = min(indented, default=0)
    return [[line.number, line.text[cut:], [[start - cut, end - cut] for start, end in line.marks]] for line in shown]


def _signed(value: float, language: str) -> str:
    sign = "−" if value < 0 else "+"
    return f"{sign}{i18n.number(abs(value), language, '.2f')}"
