"""An overview as Markdown, as JSON, as a Mermaid diagram, and as the few lines that a model gets. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, get_args

from repopilot import i18n
from repopilot.agents.overview.layers import shared
from repopilot.agents.overview.overview_values import (
    UNSURE,
    Component,
    ComponentUse,
    DataKind,
    DataPlace,
    Overview,
    RegisteredKind,
)
from repopilot.code.languages import display_name
from repopilot.foreign_text import code_span, literal, visible
from repopilot.i18n.format import list_row, listed
from repopilot.project.project_commands import ProjectCommand, Purpose

Cite = Callable[[str, int], str]
"""Cites a place by its path and line."""
LINES_FOR_A_MODEL = 10
LONGEST_LINE = 120
LONGEST_CODE = 240
MOST_DATA = 10
SYMBOLS_SHOWN = 5
MOST_PATHS = 6
MOST_ARROWS = 2
"""Arrows from one component in a diagram."""
_NAMED_COMMANDS = {"start": "run"}
"""Purposes that have another name in the JSON contract of the command line."""


def overview_json(overview: Overview) -> dict[str, Any]:
    """The overview as the command line and the API give it.

    Args:
        overview: the overview.
    """
    names = [component.name for component in overview.components]
    return {
        "name": overview.name,
        "commit": overview.commit,
        "purpose": overview.purpose,
        "languages": dict(overview.languages),
        "lines": overview.lines,
        "files": overview.files,
        "licence": overview.licence,
        "last_commit": overview.last_commit,
        "commits_in_a_year": overview.year,
        "entry_points": [
            {"path": e.path, "line": e.line, "symbol": e.symbol or e.name, "kind": e.kind, "name": e.name}
            for e in overview.entry_points
        ],
        "components": [
            {
                "name": c.name,
                "paths": list(c.paths),
                "summary": c.summary or _symbols(c),
                "symbols": [symbol.name for symbol in c.symbols],
                "lines": c.lines,
                "tests": c.tests,
                "commits": c.commits,
            }
            for c in overview.components
        ],
        "edges": [[names[use.source], names[use.target]] for use in overview.uses],
        "edge_places": [{"count": use.count, "path": use.path, "line": use.line} for use in overview.uses],
        "cycles": [[names[number] for number in cycle] for cycle in overview.cycles],
        "commands": {_NAMED_COMMANDS.get(purpose, purpose): c.command for purpose, c in overview.commands.items()},
        "reading": [place.path for place in overview.reading],
        "flows": [
            {
                "title": flow.title,
                "path": [step.name for step in flow.path],
                "places": [f"{step.path}:{step.line}" for step in flow.path],
                "unsure": [number for number, step in enumerate(flow.path) if step.note == UNSURE],
            }
            for flow in overview.flows
        ],
        "terms": [{"name": t.name, "path": t.path, "line": t.line, "says": t.note} for t in overview.terms],
        "data": [asdict(place) for place in overview.data],
        "recent": [{"commit": commit, "subject": subject} for commit, subject in overview.recent],
        "hot": [{"path": path, "commits": commits} for path, commits in overview.hot],
        "diagram": mermaid(overview),
    }


def mermaid(overview: Overview) -> str:
    """The components and what they use most as a Mermaid flowchart, top down.

    Each component has arrows to the MOST_ARROWS that it uses most: with all uses, ten components are a tangle. That
    most others use a component is said in words instead of arrows.

    Args:
        overview: the overview.
    """
    most: dict[int, list[ComponentUse]] = {}
    left_out = shared(len(overview.components), overview.uses)
    for use in sorted(overview.uses, key=lambda use: (-use.count, use.target)):
        if use.target not in left_out:
            most.setdefault(use.source, []).append(use)
    boxes = [f'  c{number}["{_escaped(each.name)}"]' for number, each in enumerate(overview.components)]
    arrows = [f"  c{use.source} --> c{use.target}" for _, uses in sorted(most.items()) for use in uses[:MOST_ARROWS]]
    return "\n".join(["flowchart TD", *boxes, *arrows])


@dataclass(frozen=True, slots=True)
class _Shown:
    """An overview for a reader: the language, how a place is cited, and the names of the components as Markdown."""

    overview: Overview
    language: str
    at: Cite
    names: Sequence[str]


def overview_markdown(overview: Overview, language: str) -> str:
    """The overview as a page.

    Args:
        overview: the overview.
        language: the reader's language.
    """
    return f"# {literal(overview.name)}\n\n{overview_text(overview, language, place_in_code)}\n"


def overview_text(overview: Overview, language: str, at: Cite, parts: Sequence[str] = (), level: int = 2) -> str:
    """The overview below a heading. Text from the repository stays text: none of it becomes markup.

    Args:
        overview: the overview.
        language: the reader's language.
        at: how a place is cited, by its path and line.
        parts: the sections that are shown, in order; all where none are named.
        level: the level of their headings.
    """
    shown = [_head(overview, language, at)]
    for part in parts or _ROWS:
        if rows := overview_rows(overview, part, language, at):
            title = i18n.text(f"overview.sections.{part}", language)
            shown.append("\n".join([f"{'#' * level} {title}", "", *rows]))
    # Zero-width spaces keep the host of a wiki from making references of `#1` and `@name`; here there is no host.
    return "\n\n".join(shown).replace("\u200b", "")


def overview_rows(overview: Overview, part: str, language: str, at: Cite, names: Sequence[str] = ()) -> list[str]:
    """The rows of one section, as in `overview_text`.

    Args:
        overview: the overview.
        part: the section.
        language: the reader's language.
        at: how a place is cited.
        names: the names of the components, as Markdown; without any, those in the overview.
    """
    names = names or [literal(component.name) for component in overview.components]
    return _ROWS[part](_Shown(overview, language, at, names))


def code(text: str) -> str:
    """A foreign text as inline code on one line, whatever it holds."""
    return code_span(visible(text), LONGEST_CODE) if text.strip() else "` `"


def lines_for_model(overview: Overview) -> str:
    """What a model is told of the repository, so that it needn't find out the layout again. In English.

    Args:
        overview: the overview.
    """
    head = [overview.purpose] if overview.purpose else []
    entries = ", ".join(f"{e.path} ({e.name})" for e in overview.entry_points[:3])
    end = [f"Entered by {entries}"] if entries else []
    room = LINES_FOR_A_MODEL - len(head) - len(end)
    parts = overview.components
    shown = parts if len(parts) <= room else parts[: room - 1]
    rest = ", ".join(part.paths[0] for part in parts[len(shown) :])
    return "\n".join([*head, *map(_line_for_model, shown), *([f"Also {rest}"] if rest else []), *end])


def _line_for_model(component: Component) -> str:
    """What a component is for, beginning with the file that says it; else the names that others use."""
    source = component.source
    said = component.paths if source is None or source.path not in component.paths else (source.path, *component.paths)
    paths = listed(list(dict.fromkeys(said)), 3, str)
    symbols = _symbols(component)
    short = symbols if len(symbols) <= LONGEST_LINE else symbols[:LONGEST_LINE].rpartition(", ")[0]
    return f"{paths}: {component.summary[:LONGEST_LINE] or short}"


def facts_text(overview: Overview, language: str, written: Callable[[str], str] = visible) -> str:
    """Languages, size, licence and activity, in one line.

    Args:
        overview: the overview.
        language: the reader's language.
        written: writes a text of the repository in the markup of the line.
    """
    lines = i18n.text("overview.lines", language, count=overview.lines)
    size = i18n.text("overview.size", language, count=overview.files, lines=lines)
    key = "overview.facts_of_code" if overview.languages else "overview.facts"
    told = [i18n.text(key, language, languages=shares_text(overview), size=size)]
    if overview.licence:
        told.append(i18n.text("overview.licence", language, licence=written(overview.licence)))
    if overview.last_commit:
        day = datetime.fromtimestamp(overview.last_commit, UTC).date().isoformat()
        told.append(i18n.text("overview.alive", language, day=day, count=overview.year))
    return " ".join(told)


def shares_text(overview: Overview) -> str:
    """The languages with their shares.

    Args:
        overview: the overview.
    """
    return ", ".join(f"{display_name(name)} {round(100 * share)} %" for name, share in overview.languages[:4])


def _head(overview: Overview, language: str, at: Cite) -> str:
    source = overview.purpose_source
    purpose = [f"{literal(overview.purpose)} {at(source.path, source.line)}"] if source else []
    return "\n\n".join([*purpose, facts_text(overview, language, literal)])


def _entry_rows(shown: _Shown) -> list[str]:
    entries = [
        f"- {code(e.name)} ({i18n.text(f'overview.kinds.{e.kind}', shown.language)}) {shown.at(e.path, e.line)}"
        for e in shown.overview.entry_points
    ]
    return [*entries, *_counted_rows(shown, get_args(RegisteredKind))]


def _component_rows(shown: _Shown) -> list[str]:
    named = zip(shown.overview.components, shown.names, strict=True)
    return [_component(component, name, shown.at) for component, name in named]


def _edge_rows(shown: _Shown) -> list[str]:
    rows = []
    for use in shown.overview.uses:
        pair = f"{shown.names[use.source]} → {shown.names[use.target]}"
        count = i18n.text("overview.uses", shown.language, count=use.count)
        rows.append(list_row(pair, f"{count} {shown.at(use.path, use.line)}", shown.language))
    return rows


def _cycle_rows(shown: _Shown) -> list[str]:
    return [f"- {', '.join(shown.names[number] for number in cycle)}" for cycle in shown.overview.cycles]


def _diagram_rows(shown: _Shown) -> list[str]:
    if len(shown.overview.components) < 2:
        return []
    drawn = mermaid(shown.overview)
    notes = [i18n.text("overview.arrows", shown.language, count=MOST_ARROWS)] if shown.overview.uses else []
    if left_out := sorted(shared(len(shown.names), shown.overview.uses)):
        names = ", ".join(shown.names[number] for number in left_out)
        notes.append(i18n.text("overview.shared", shown.language, names=names))
    return [f"```mermaid\n{drawn}\n```", "", " ".join(notes)]


def _flow_rows(shown: _Shown) -> list[str]:
    rows = []
    for flow in shown.overview.flows:
        end = flow.path[-1]
        steps = "".join(f" {'⇢' if step.note == UNSURE else '→'} {code(step.name)}" for step in flow.path)
        rows.append(f"- {steps.removeprefix(' → ')} {shown.at(end.path, end.line)}")
    if rows:
        rows += ["", i18n.text("overview.static_calls", shown.language)]
    return rows


def _command_rows(shown: _Shown) -> list[str]:
    return [
        list_row(command_label(purpose, command, shown.language), command_text(command, shown.at), shown.language)
        for purpose, command in shown.overview.commands.items()
    ]


def command_label(purpose: Purpose, command: ProjectCommand, language: str) -> str:
    """What a command is for, and whether no file names it."""
    label = i18n.text(f"overview.purposes.{purpose}", language)
    return f"{label} ({i18n.text('overview.by_convention', language)})" if command.origin == "convention" else label


def command_text(command: ProjectCommand, at: Cite) -> str:
    """A command with the line that states it, where one does."""
    return code(command.command) + ("" if command.origin == "convention" else f" {at(command.path, command.line)}")


def _reading_rows(shown: _Shown) -> list[str]:
    places = enumerate(shown.overview.reading, 1)
    return [f"{n}. {code(p.path)}: {code(p.name)} {shown.at(p.path, p.line)}" for n, p in places]


def _term_rows(shown: _Shown) -> list[str]:
    return [
        f"- {code(t.name)}{f': {literal(t.note)}' if t.note else ''} {shown.at(t.path, t.line)}"
        for t in shown.overview.terms
    ]


def _counted_rows(shown: _Shown, kinds: Iterable[str]) -> list[str]:
    """A row for each kind of data, with the count and the first places."""

    def written(place: DataPlace) -> str:
        return f"{code(place.name)} {shown.at(place.path, place.line)}"

    counted = counted_data(shown.overview, kinds, shown.language)
    return [list_row(title, listed(places, MOST_DATA, written), shown.language) for title, places in counted]


def counted_data(overview: Overview, kinds: Iterable[str], language: str) -> Iterator[tuple[str, list[DataPlace]]]:
    """The places of each kind of data that has any, after their title with the count."""
    for kind in kinds:
        places = [place for place in overview.data if place.kind == kind]
        if places:
            yield f"{i18n.text(f'overview.data.{kind}', language)} ({len(places)})", places


def _people_rows(shown: _Shown) -> list[str]:
    named = zip(shown.names, shown.overview.components, strict=True)
    return [list_row(name, ", ".join(map(literal, each.people)), shown.language) for name, each in named if each.people]


def _hot_rows(shown: _Shown) -> list[str]:
    return [
        list_row(code(path), i18n.text("overview.commits", shown.language, count=count), shown.language)
        for path, count in shown.overview.hot
    ]


def _recent_rows(shown: _Shown) -> list[str]:
    return [f"- `{commit}` {literal(subject)}" for commit, subject in shown.overview.recent]


_ROWS: Mapping[str, Callable[[_Shown], list[str]]] = {
    "entry_points": _entry_rows,
    "components": _component_rows,
    "edges": _edge_rows,
    "cycles": _cycle_rows,
    "diagram": _diagram_rows,
    "flows": _flow_rows,
    "commands": _command_rows,
    "reading": _reading_rows,
    "terms": _term_rows,
    "data": partial(_counted_rows, kinds=get_args(DataKind)),
    "people": _people_rows,
    "hot": _hot_rows,
    "recent": _recent_rows,
}
"""How each section is written, in the order of the page."""


def _component(component: Component, name: str, at: Cite) -> str:
    paths = listed(component.paths, MOST_PATHS, code)
    source = component.source
    said = f": {literal(component.summary)} {at(source.path, source.line)}" if source else ""
    symbols = f" — {_symbols(component)}" if component.symbols else ""
    return f"- **{name}** ({paths}){said}{symbols}"


def _symbols(component: Component) -> str:
    return ", ".join(code(symbol.name) for symbol in component.symbols[:SYMBOLS_SHOWN])


def place_in_code(path: str, line: int) -> str:
    """A place in code marks, in brackets."""
    return f"({code(f'{path}:{line}')})"


def _escaped(text: str) -> str:
    """A name as the text of a box, without characters that would end the text or be markup."""
    return re.sub(r"[\x00-\x1f<>`#;&{}%]", " ", text.replace('"', "'").replace("[", "(").replace("]", ")"))
