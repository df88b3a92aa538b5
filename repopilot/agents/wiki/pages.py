"""The pages of the wiki: the overview, one a component, a glossary, how-tos. Sync."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from repopilot import i18n
from repopilot.agents.overview.best_commands import by_convention, chosen, commands_of
from repopilot.agents.overview.compute import overview_of
from repopilot.agents.overview.overview_values import Component, NamedPlace, Overview
from repopilot.agents.overview.render import mermaid, overview_rows, shares_text
from repopilot.agents.wiki.component_page import ComponentFacts, component_page, summary_of
from repopilot.agents.wiki.wiki_page import Page, code
from repopilot.code.project.project_commands import Purpose
from repopilot.foreign_text import literal, visible
from repopilot.index.store import Index

INDEX, GLOSSARY, HOW_TO = "index.md", "glossary.md", "how-to.md"
LONGEST_NAME = 50
TERMS_OF_A_COMPONENT = 5
_ON_THE_INDEX = ("entry_points", "components", "edges", "cycles", "flows", "commands", "reading", "terms")


def pages_of(index: Index, links: str, language: str) -> list[Page]:
    """Write the wiki.

    Args:
        index: the repository.
        links: how places are linked, see `wiki_page.link_template`.
        language: of the readers.

    Returns:
        Its pages, the first one first.
    """
    overview = overview_of(index)
    names = page_names(overview.components)
    facts = ComponentFacts(index, overview, names)
    parts = [component_page(facts, n, Page(name, links, language)) for n, name in enumerate(names)]
    pages = [
        _index_page(overview, names, Page(INDEX, links, language)),
        *parts,
        _glossary(index, overview, Page(GLOSSARY, links, language)),
        _how_to(index, overview, Page(HOW_TO, links, language)),
    ]
    for page in pages:
        page.parts.append(i18n.text("wiki.written", language, commit="\0"))
        page.parts.append(f"## {i18n.text('wiki.notes', language)}")
    return pages


def page_names(components: Sequence[Component]) -> list[str]:
    """The file of each component's page: by its name, where several have it by its path, too.

    Args:
        components: of the overview.
    """
    short = [_slug(component.name) for component in components]
    often = Counter(short)
    taken = {name.removesuffix(".md") for name in (INDEX, GLOSSARY, HOW_TO)}
    names = []
    for component, name in zip(components, short, strict=True):
        wanted = _slug(component.paths[0]) if often[name] > 1 or name in taken else name
        wanted = next(n for n in (wanted, *(f"{wanted}-{m}" for m in range(2, 99))) if n not in taken)
        taken.add(wanted)
        names.append(f"{wanted}.md")
    return names


def _slug(name: str) -> str:
    return re.sub(r"[^\w.]+", "-", name.lower())[:LONGEST_NAME].strip("-.") or "part"


def _index_page(overview: Overview, names: Sequence[str], page: Page) -> Page:
    """The overview; its components link to their pages. What every commit changes isn't on it."""
    language = page.language
    purpose = overview.purpose_source
    licence = i18n.text("overview.licence", language, licence=literal(overview.licence)) if overview.licence else ""
    page.parts = [
        f"# {literal(overview.name)}",
        f"{literal(overview.purpose)} {page.at(purpose.path, purpose.line)}" if purpose and overview.purpose else "",
        shares_text(overview),
        licence,
        "" if overview.components else i18n.text("overview.none", language),
        " · ".join(f"[{i18n.text(f'wiki.{key}', language)}]({key.replace('_', '-')}.md)" for key in _OTHERS),
    ]
    if len(overview.components) > 1:
        page.section("overview.sections.diagram", [f"```mermaid\n{mermaid(overview)}\n```"])
    shown = _linked(overview, names)
    for part in _ON_THE_INDEX:
        page.section(f"overview.sections.{part}", overview_rows(shown, part, language, page.at))
    page.history(path for path, _ in overview.hot)
    return page


_OTHERS = ("glossary", "how_to")


def _linked(overview: Overview, names: Sequence[str]) -> Overview:
    """The overview with all that is foreign in it fit for Markdown, and links for the names of components."""
    components = tuple(
        replace(
            component,
            name=f"[{literal(component.name)}]({name})",
            paths=tuple(map(_in_code, component.paths)),
            summary=literal(component.summary),
            symbols=_named(component.symbols),
        )
        for component, name in zip(overview.components, names, strict=True)
    )
    return replace(
        overview,
        components=components,
        entry_points=tuple(replace(entry, name=_in_code(entry.name)) for entry in overview.entry_points),
        flows=tuple(replace(flow, title=literal(flow.title), path=_named(flow.path)) for flow in overview.flows),
        commands={purpose: replace(c, command=_in_code(c.command)) for purpose, c in overview.commands.items()},
        reading=_named(overview.reading),
        terms=_named(overview.terms),
    )


def _named(places: Sequence[NamedPlace]) -> tuple[NamedPlace, ...]:
    return tuple(replace(place, name=_in_code(place.name), note=literal(place.note)) for place in places)


def _in_code(text: str) -> str:
    """A text that can stand between backticks."""
    return " ".join(visible(text).replace("`", "'").split())


def _glossary(index: Index, overview: Overview, page: Page) -> Page:
    """The terms of the overview and the names that others use of each component, as far as something says what they
    are."""
    used = [place for c in overview.components for place in c.symbols[:TERMS_OF_A_COMPONENT]]
    said = [replace(place, note=summary_of(index, place)) for place in used]
    terms = {(t.name, t.path): t for t in (*overview.terms, *said) if t.note}
    rows = sorted(terms.values(), key=lambda term: (term.name.casefold(), term.path))
    page.parts = [f"# {i18n.text('wiki.glossary', page.language)}"]
    if not rows:
        page.parts.append(i18n.text("wiki.no_terms", page.language))
    else:
        page.parts.append("\n".join(f"- {code(t.name)}: {literal(t.note)} {page.at(t.path, t.line)}" for t in rows))
    return page


def _how_to(index: Index, overview: Overview, page: Page) -> Page:
    """What is done with the repository by which commands."""
    page.parts = [f"# {i18n.text('wiki.how_to', page.language)}"]
    every = index.derived(commands_of)
    for purpose in get_args(Purpose):
        found = chosen(every, purpose)
        rows = [f"- {code(c.command)} {page.at(c.path, c.line)}" for c in found or by_convention(index, purpose, found)]
        page.section(f"overview.purposes.{purpose}", rows)
    page.section(
        "overview.sections.entry_points",
        overview_rows(_linked(overview, [""] * len(overview.components)), "entry_points", page.language, page.at),
    )
    if len(page.parts) == 1:
        page.parts.append(i18n.text("wiki.no_commands", page.language))
    return page
