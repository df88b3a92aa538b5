"""An overview as Markdown, as JSON, as a Mermaid diagram, and as the few lines that a model gets. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from repopilot import i18n
from repopilot.agents.overview.overview_values import Component, ComponentUse, NamedPlace, Overview

Cite = Callable[[str, int], str]
"""Cites a place by its path and line."""
LINES_FOR_A_MODEL = 10
SYMBOLS_SHOWN = 5
_NAMED_COMMANDS = {"start": "run"}
"""Purposes that the contract of the command line calls otherwise."""


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
        "flows": [{"title": flow.title, "path": [step.name for step in flow.path]} for flow in overview.flows],
        "terms": [{"name": t.name, "path": t.path, "line": t.line, "says": t.note} for t in overview.terms],
        "recent": [{"commit": commit, "subject": subject} for commit, subject in overview.recent],
        "hot": [{"path": path, "commits": commits} for path, commits in overview.hot],
        "diagram": mermaid(overview),
    }


def mermaid(overview: Overview) -> str:
    """The components and what uses what as a Mermaid flowchart, top down.

    Args:
        overview: the overview.
    """
    return diagram_of(overview.components, range(len(overview.components)), overview.uses)


def diagram_of(components: Sequence[Component], shown: Iterable[int], uses: Iterable[ComponentUse]) -> str:
    """Some components and what uses what between them as a Mermaid flowchart, top down.

    Args:
        components: all of them.
        shown: the numbers of those that are drawn.
        uses: between these.
    """
    boxes = [f'  c{number}["{_escaped(components[number].name)}"]' for number in shown]
    arrows = [f"  c{use.source} --> c{use.target}" for use in uses]
    return "\n".join(["flowchart TD", *boxes, *arrows])


def overview_markdown(overview: Overview, language: str) -> str:
    """The overview as a page.

    Args:
        overview: the overview.
        language: of the reader.
    """
    return f"# {overview.name}\n\n{overview_text(overview, language, place_in_code)}\n"


def overview_text(overview: Overview, language: str, at: Cite, parts: Collection[str] = (), level: int = 2) -> str:
    """The overview below a heading.

    Args:
        overview: the overview.
        language: of the reader.
        at: how a place is cited, by its path and line.
        parts: the sections that are shown; all where none are named.
        level: of their headings.
    """
    shown = [_head(overview, language, at)]
    shown += [_section(name, rows, language, level) for name, rows in _sections(overview, language, at, parts) if rows]
    return "\n\n".join(filter(None, shown))


def overview_rows(overview: Overview, part: str, language: str, at: Cite) -> list[str]:
    """The rows of one section, as in `overview_text`."""
    return _ROWS[part](overview, language, at)


def lines_for_model(overview: Overview) -> str:
    """What the system prompt of a loop says of the repository, so that it needn't be found out again. English.

    Args:
        overview: the overview.
    """
    rows = [overview.purpose] if overview.purpose else []
    rows += [f"{', '.join(c.paths[:3])}: {(c.summary or _symbols(c))[:120]}" for c in overview.components]
    entries = ", ".join(f"{e.path} ({e.name})" for e in overview.entry_points[:3])
    return "\n".join([*rows[: LINES_FOR_A_MODEL - 1], *([f"Entered by {entries}"] if entries else [])])


def facts_text(overview: Overview, language: str) -> str:
    """Languages and size in a line.

    Args:
        overview: the overview.
        language: of the reader.
    """
    facts = {"languages": shares_text(overview), "lines": f"{overview.lines:,}", "files": f"{overview.files:,}"}
    return i18n.text("overview.facts", language, **facts)


def shares_text(overview: Overview) -> str:
    """The languages with their shares.

    Args:
        overview: the overview.
    """
    return ", ".join(f"{name} {round(100 * share)} %" for name, share in overview.languages[:4])


def _head(overview: Overview, language: str, at: Cite) -> str:
    rows = [_with_place(overview.purpose, overview.purpose_source, at), facts_text(overview, language)]
    if overview.licence:
        rows.append(i18n.text("overview.licence", language, licence=overview.licence))
    return "\n\n".join(filter(None, rows))


def _sections(overview: Overview, language: str, at: Cite, parts: Collection[str]) -> Iterable[tuple[str, list[str]]]:
    """The rows of each section that is shown, in order; places of others aren't cited."""
    return ((name, rows(overview, language, at)) for name, rows in _ROWS.items() if not parts or name in parts)


def _entry_rows(overview: Overview, language: str, at: Cite) -> list[str]:
    return [
        f"- `{e.name}` ({i18n.text(f'overview.kinds.{e.kind}', language)}) {at(e.path, e.line)}"
        for e in overview.entry_points
    ]


def _component_rows(overview: Overview, language: str, at: Cite) -> list[str]:
    return [_component(component, at) for component in overview.components]


def _edge_rows(overview: Overview, language: str, at: Cite) -> list[str]:
    rows = []
    for use in overview.uses:
        pair = f"{overview.components[use.source].name} → {overview.components[use.target].name}"
        rows.append(f"- {pair}: {i18n.text('overview.uses', language, count=use.count)} {at(use.path, use.line)}")
    return rows


def _cycle_rows(overview: Overview, language: str, at: Cite) -> list[str]:
    return [f"- {', '.join(overview.components[number].name for number in cycle)}" for cycle in overview.cycles]


def _diagram_rows(overview: Overview, language: str, at: Cite) -> list[str]:
    return [f"```mermaid\n{mermaid(overview)}\n```"] if len(overview.components) > 1 else []


def _flow_rows(overview: Overview, language: str, at: Cite) -> list[str]:
    rows = []
    for flow in overview.flows:
        end = flow.path[-1]
        rows.append(f"- {flow.title}: {' → '.join(f'`{step.name}`' for step in flow.path)} {at(end.path, end.line)}")
    return rows


def _command_rows(overview: Overview, language: str, at: Cite) -> list[str]:
    return [
        f"- {i18n.text(f'overview.purposes.{purpose}', language)}: `{c.command}` {at(c.path, c.line)}"
        for purpose, c in overview.commands.items()
    ]


def _reading_rows(overview: Overview, language: str, at: Cite) -> list[str]:
    return [f"{n}. `{p.path}`: `{p.name}` {at(p.path, p.line)}" for n, p in enumerate(overview.reading, 1)]


def _term_rows(overview: Overview, language: str, at: Cite) -> list[str]:
    return [f"- `{t.name}`{f': {t.note}' if t.note else ''} {at(t.path, t.line)}" for t in overview.terms]


def _hot_rows(overview: Overview, language: str, at: Cite) -> list[str]:
    return [f"- `{path}`: {i18n.text('overview.commits', language, count=count)}" for path, count in overview.hot]


def _recent_rows(overview: Overview, language: str, at: Cite) -> list[str]:
    return [f"- `{commit}` {subject}" for commit, subject in overview.recent]


_ROWS: Mapping[str, Callable[[Overview, str, Cite], list[str]]] = {
    "entry_points": _entry_rows,
    "components": _component_rows,
    "edges": _edge_rows,
    "cycles": _cycle_rows,
    "diagram": _diagram_rows,
    "flows": _flow_rows,
    "commands": _command_rows,
    "reading": _reading_rows,
    "terms": _term_rows,
    "hot": _hot_rows,
    "recent": _recent_rows,
}
"""How each section is written, in the order of the page."""


def _section(name: str, rows: Sequence[str], language: str, level: int) -> str:
    return "\n".join([f"{'#' * level} {i18n.text(f'overview.sections.{name}', language)}", "", *rows])


def _component(component: Component, at: Cite) -> str:
    paths = ", ".join(f"`{path}`" for path in component.paths[:6])
    more = f" +{len(component.paths) - 6}" if len(component.paths) > 6 else ""
    said = f": {component.summary} {at(component.source.path, component.source.line)}" if component.source else ""
    symbols = f" — {_symbols(component)}" if component.symbols else ""
    return f"- **{component.name}** ({paths}{more}){said}{symbols}"


def _symbols(component: Component) -> str:
    return ", ".join(f"`{symbol.name}`" for symbol in component.symbols[:SYMBOLS_SHOWN])


def _with_place(text: str, place: NamedPlace | None, at: Cite) -> str:
    return f"{text} {at(place.path, place.line)}" if text and place else text


def place_in_code(path: str, line: int) -> str:
    """A place in code marks, in brackets."""
    return f"(`{path}:{line}`)"


def _escaped(text: str) -> str:
    """A name as the text of a box: what ends the text, or is markup in it, is left out."""
    return re.sub(r"[\x00-\x1f<>`#;&{}%]", " ", text.replace('"', "'").replace("[", "(").replace("]", ")"))
