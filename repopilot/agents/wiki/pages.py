"""The pages of the wiki: the overview, one a component, a glossary, how-tos. Sync."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import get_args

from repopilot import i18n
from repopilot.agents.overview.best_commands import by_convention, chosen, commands_of
from repopilot.agents.overview.overview_values import Component, DataKind, Overview
from repopilot.agents.overview.render import code, mermaid, overview_rows, shares_text
from repopilot.agents.overview.repository_parts import subclasses, summary_between
from repopilot.agents.wiki.component_page import ComponentFacts, component_page, summary_of
from repopilot.agents.wiki.wiki_page import COMMIT, Page
from repopilot.foreign_text import literal
from repopilot.index.store import Index
from repopilot.project.project_commands import Purpose
from repopilot.types import Symbol

INDEX = "index.md"
GLOSSARY = "glossary.md"
HOW_TO = "how-to.md"
CONFIGURATION = "configuration.md"
DATA = "stored-data.md"
ERRORS = "errors.md"
TESTING = "testing.md"
SUBJECTS = (CONFIGURATION, DATA, ERRORS, TESTING)
"""What cuts across the components; a page of it is written where the repository has it."""
MOST_ROWS = 200
_ROOTS = ("Exception", "BaseException", "Error", "RuntimeException", "RuntimeError", "ValueError", "Throwable")
"""Classes of languages whose subclasses are errors."""
LONGEST_NAME = 50
TERMS_OF_A_COMPONENT = 5
_ON_THE_INDEX = ("entry_points", "components", "edges", "cycles", "flows", "commands", "reading", "terms")


Writer = Callable[[], Page]


def pages_of(overview: Overview, index: Index, links: str, language: str) -> list[Page]:
    """Write the wiki.

    Args:
        overview: of the repository.
        index: the repository.
        links: how places are linked, see `wiki_page.link_template`.
        language: of the readers.

    Returns:
        Its pages, the first one first.
    """
    pages = [write() for write in page_writers(overview, index, links, language).values()]
    for page in pages:
        page.parts.append(f"## {i18n.text('wiki.notes', language)}")
    return pages


def page_writers(overview: Overview, index: Index, links: str, language: str) -> dict[str, Writer]:
    """What writes each page, all but its section for people, by its name, the first one first; see `pages_of`."""
    names = page_names(overview.components)
    facts = ComponentFacts(index, overview, names)

    def empty(name: str) -> Page:
        return Page(name, links, language)

    subjects = [
        _configuration(overview, empty(CONFIGURATION)),
        _stored_data(overview, empty(DATA)),
        _errors(index, overview, empty(ERRORS)),
        _testing(facts, empty(TESTING)),
    ]
    others = [page.name for page in subjects if page.parts]
    writers: dict[str, Writer] = {
        INDEX: partial(_index_page, overview, names, (GLOSSARY, HOW_TO, *others), empty(INDEX)),
        **{name: partial(component_page, facts, number, empty(name)) for number, name in enumerate(names)},
        GLOSSARY: partial(_glossary, index, overview, empty(GLOSSARY)),
        HOW_TO: partial(_how_to, index, overview, empty(HOW_TO)),
        **{page.name: partial(_titled, page) for page in subjects if page.parts},
    }
    return {name: partial(_signed, write) for name, write in writers.items()}


def _titled(page: Page) -> Page:
    page.parts.insert(0, f"# {_title(page.name, page.language)}")
    return page


def _signed(write: Writer) -> Page:
    page = write()
    page.parts.append(i18n.text("wiki.written", page.language, commit=COMMIT))
    return page


def page_names(components: Sequence[Component]) -> list[str]:
    """The file of each component's page: by its name, where several have it by its path, too.

    Args:
        components: of the overview.
    """
    short = [_slug(component.name) for component in components]
    often = Counter(short)
    taken = {name.removesuffix(".md") for name in (INDEX, GLOSSARY, HOW_TO, *SUBJECTS)}
    names = []
    for component, name in zip(components, short, strict=True):
        wanted = _slug(component.paths[0]) if often[name] > 1 or name in taken else name
        wanted = next(n for n in (wanted, *(f"{wanted}-{m}" for m in range(2, 99))) if n not in taken)
        taken.add(wanted)
        names.append(f"{wanted}.md")
    return names


def _slug(name: str) -> str:
    return re.sub(r"[^\w.]+", "-", name.lower())[:LONGEST_NAME].strip("-.") or "part"


def _index_page(overview: Overview, names: Sequence[str], others: Sequence[str], page: Page) -> Page:
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
        " · ".join(f"[{_title(name, language)}]({name})" for name in others),
    ]
    if len(overview.components) > 1:
        page.section("overview.sections.diagram", [f"```mermaid\n{mermaid(overview)}\n```"])
    links = [f"[{literal(c.name)}]({name})" for c, name in zip(overview.components, names, strict=True)]
    for part in _ON_THE_INDEX:
        page.section(f"overview.sections.{part}", overview_rows(overview, part, language, page.at, links))
    page.history((), (path for path, _ in overview.hot))
    return page


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
        overview_rows(overview, "entry_points", page.language, page.at),
    )
    if len(page.parts) == 1:
        page.parts.append(i18n.text("wiki.no_commands", page.language))
    return page


def _title(name: str, language: str) -> str:
    return i18n.text(f"wiki.{name.removesuffix('.md').replace('-', '_')}", language)


def _configuration(overview: Overview, page: Page) -> Page:
    """What the code is set by: settings classes, variables of the environment, files. Names, never values."""
    return _data_sections(overview, ("settings", "variable", "config"), page)


def _stored_data(overview: Overview, page: Page) -> Page:
    """Tables and schemas."""
    return _data_sections(overview, ("table", "schema"), page)


def _data_sections(overview: Overview, kinds: Sequence[DataKind], page: Page) -> Page:
    for kind in kinds:
        places = [place for place in overview.data if place.kind == kind]
        rows = [
            f"- {code(p.name)}: {i18n.text('wiki.mentions', page.language, count=p.count)} {page.at(p.path, p.line)}"
            for p in places[:MOST_ROWS]
        ]
        page.section(f"overview.data.{kind}", rows)
    return page


def _errors(index: Index, overview: Overview, page: Page) -> Page:
    """The classes of errors that the components define, each with what it is."""
    own = {path for component in overview.components for path in component.files}
    found: dict[tuple[str, int], Symbol] = {}
    names = set(_ROOTS)
    left = [*_ROOTS]
    while left:
        errors = [error for error in subclasses(index, left.pop()) if error.path in own]
        found |= {(error.path, error.start_line): error for error in errors}
        new = {error.name for error in errors} - names
        names |= new
        left += new
    rows = []
    for _, error in sorted(found.items()):
        said = literal(summary_between(index, error.path, error.start_line, error.end_line))
        rows.append(f"- {code(error.qualified)}{f': {said}' if said else ''} {page.at(error.path, error.start_line)}")
    page.section("wiki.error_classes", rows[:MOST_ROWS])
    return page


def _testing(facts: ComponentFacts, page: Page) -> Page:
    """How tests are run, and which test files use each component."""
    rows = []
    for component, name, tests in zip(facts.overview.components, facts.names, facts.tests, strict=True):
        if tests:
            count = i18n.text("overview.tests", page.language, count=len(tests))
            rows.append(f"- [{literal(component.name)}]({name}): {count} {page.at(tests[0], 1)}")
    if command := facts.overview.commands.get("test") if rows else None:
        page.section("overview.sections.commands", [f"- {code(command.command)} {page.at(command.path, command.line)}"])
    page.section("overview.sections.components", rows)
    return page
