"""The overview of a repository, as a card below its opening and as a panel beside the chat."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, get_args

from repopilot import i18n
from repopilot.agents.overview.compute import overview_of, with_people
from repopilot.agents.overview.overview_values import UNSURE, Component, DataKind, NamedPlace, Overview, RegisteredKind
from repopilot.agents.overview.render import (
    MOST_DATA,
    MOST_PATHS,
    SYMBOLS_SHOWN,
    command_label,
    counted_data,
    facts_text,
)
from repopilot.errors import RepoPilotError, UsageError
from repopilot.i18n.format import listed
from repopilot.ui.buttons import button
from repopilot.ui.chat import Chat
from repopilot.ui.elements import show_aside
from repopilot.ui.overview_picture import picture_props

if TYPE_CHECKING:
    from repopilot.ui.repository.registry import Opening

ELEMENT = "Overview"
ON_CARD = {"entry_points": 5, "components": 6, "commands": 4, "data": 3}
"""The sections of the card, each with the number of rows shown there."""
STARTERS = {
    "search": "",
    "purpose": "purpose",
    "entry_points": "entry_points",
    "modules": "components",
    "tests": "tests",
}
"""Suggestions for a newly opened repository, by key in `[ui.starters]`: the section that each opens, '' for none."""


def card_props(chat: Chat, opening: Opening) -> dict:
    """Props of the element `Overview` as a card. Blocking: it may compute the overview.

    Args:
        chat: where the card is.
        opening: the repository.

    Returns:
        The props; only the suggested questions if the overview has no components, {} while the repository can't be
        asked about.
    """
    language = chat.language
    if opening.index is None or not opening.answerable:
        return {}
    try:
        overview = overview_of(opening.index)
    except RepoPilotError:
        overview = None  # the card of the opening says what is wrong with its index
    tells = overview if overview and (overview.components or overview.purpose) else None
    shown = overview_props(tells, language) if tells else {"sections": []}
    parts = {"purpose", *(section["part"] for section in shown["sections"])} if shown["sections"] else set[str]()
    sections = [
        section | {"rows": section["rows"][: ON_CARD[section["part"]]]}
        for section in shown["sections"]
        if section["part"] in ON_CARD
    ]
    return {
        **shown,
        "sections": sections,
        "key": opening.key,
        "source": "" if chat.opening is opening else opening.index.origin.key,
        "starters": starter_rows(parts, language),
        "words": i18n.section("ui.overview.words", language),
    }


def starter_rows(parts: Iterable[str], language: str) -> list[list[str]]:
    """The suggestions for a newly opened repository: [label, question, the section that answers it or ''].

    Args:
        parts: the sections that its overview has.
        language: of the interface.
    """
    words = ([i18n.text(f"ui.starters.{name}.{part}", language) for part in ("label", "question")] for name in STARTERS)
    return [[*each, part if part in parts else ""] for each, part in zip(words, STARTERS.values(), strict=True)]


@button
async def show_overview(chat: Chat, payload: dict) -> dict:
    """Open the panel with the whole overview; returns {}, or {error}.

    Args:
        chat: where the button was pressed.
        payload: {key: of the opening, '' for that of the chat, part: the section to show first, component: the number
            of one to show there}.
    """
    key = str(payload.get("key", ""))
    opening = chat.process.openings.get(key, chat.owner) if key else chat.opening
    if opening is None or opening.index is None or opening.snapshot is None:
        raise UsageError(i18n.message("ui.errors.opening_closed"))
    index, snapshot = opening.index, opening.snapshot
    overview = await asyncio.to_thread(lambda: with_people(overview_of(index), snapshot, index.commits))
    props = {
        **overview_props(overview, chat.language),
        "part": str(payload.get("part", "")),
        "component": payload.get("component"),
        "source": "" if chat.opening is opening else opening.index.origin.key,
        "words": i18n.section("ui.overview.words", chat.language),
    }
    await show_aside(ELEMENT, props)
    return {}


def overview_props(overview: Overview, language: str) -> dict:
    """The props of card and panel: {name, purpose, place: of the purpose, facts, picture, sections: [{part, title,
    rows}]}. Pure.

    Args:
        overview: of the repository.
        language: of the reader.

    Returns:
        A JSON-serializable value; sections without rows are left out. A row is {name, text, place: {path, line} or
        None, places: [[name, path, line]], ask: the question about it or ''}.
    """
    source = overview.purpose_source
    return {
        "name": overview.name,
        "purpose": overview.purpose,
        "place": _place(source.path, source.line) if source else None,
        "facts": facts_text(overview, language),
        "picture": picture_props(overview),
        "sections": [
            {"part": part, "title": i18n.text(f"overview.sections.{part}", language), "rows": rows}
            for part, rows in _sections(overview, language).items()
            if rows
        ],
    }


def _sections(overview: Overview, language: str) -> dict[str, list[dict]]:
    parts = overview.components
    commands = {
        purpose: _row(c.command, command_label(purpose, c, language), c.path, c.line)
        for purpose, c in overview.commands.items()
    }
    tests = [row for purpose, row in commands.items() if purpose == "test"]
    tested = sorted(((_opened(c), c.tests) for c in parts if c.tests), key=lambda each: -each[1])
    return {
        "entry_points": [
            *(
                _row(e.name, i18n.text(f"overview.kinds.{e.kind}", language), e.path, e.line)
                for e in overview.entry_points
            ),
            *_counted_rows(overview, get_args(RegisteredKind), language),
        ],
        "components": [_component_row(component, language) for component in parts],
        "edges": [
            _row(
                f"{parts[use.source].name} → {parts[use.target].name}",
                _times("uses", use.count, language),
                use.path,
                use.line,
            )
            for use in overview.uses
        ],
        "cycles": [_row(places=[_opened(parts[number]) for number in cycle]) for cycle in overview.cycles],
        "flows": [_row(places=flow.path) for flow in overview.flows],
        "commands": list(commands.values()),
        "tests": [*tests, *(_row(at.name, _times("tests", n, language), at.path, at.line) for at, n in tested)],
        "reading": [_row(p.path, p.name, p.path, p.line) for p in overview.reading],
        "terms": [_row(t.name, t.note, t.path, t.line) for t in overview.terms],
        "data": list(_counted_rows(overview, get_args(DataKind), language)),
        "hot": [_row(path, _times("commits", count, language), path, 1) for path, count in overview.hot],
        "recent": [_row(commit, subject) for commit, subject in overview.recent],
    }


def _counted_rows(overview: Overview, kinds: Iterable[str], language: str) -> Iterator[dict]:
    """A row for each kind of data, with the count and the first places."""
    for title, found in counted_data(overview, kinds, language):
        yield _row(title, places=[NamedPlace(data.name, data.path, data.line) for data in found[:MOST_DATA]])


def _component_row(component: Component, language: str) -> dict:
    last = component.name.rpartition("/")[2]
    named = (path for path in component.paths if last in path.rpartition("/")[2])
    ask = i18n.text("ui.overview.ask", language, path=next(named, component.paths[0]))
    about = [
        listed(component.paths, MOST_PATHS, str),
        _times("tests", component.tests, language) if component.tests else "",
        _times("commits", component.commits, language) if component.commits else "",
        ", ".join(component.people),
    ]
    at = _opened(component)
    row = _row(component.name, component.summary, at.path, at.line, component.symbols[:SYMBOLS_SHOWN], ask)
    return row | {"about": " · ".join(filter(None, about))}


def _opened(component: Component) -> NamedPlace:
    """Where to open a component: where its summary comes from, else at the definition that others use most."""
    place = component.source or next(iter(component.symbols), None)
    return NamedPlace(component.name, *((place.path, place.line) if place else (component.files[0], 1)))


def _row(
    name: str = "", text: str = "", path: str = "", line: int = 1, places: Sequence[NamedPlace] = (), ask: str = ""
) -> dict:
    rest = [[place.name, place.path, place.line, place.note == UNSURE] for place in places]
    return {"name": name, "text": text, "place": _place(path, line) if path else None, "places": rest, "ask": ask}


def _place(path: str, line: int) -> dict:
    return {"path": path, "line": line}


def _times(what: str, count: int, language: str) -> str:
    return i18n.text(f"overview.{what}", language, count=count)
