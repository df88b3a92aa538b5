"""The pages of the wiki: the overview, one for each component, a glossary, how-tos. Sync."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from repopilot import i18n
from repopilot.agents.overview.flows import sure_flows
from repopilot.agents.overview.overview_values import Component, Overview
from repopilot.agents.overview.own_code import documents
from repopilot.agents.overview.render import code, overview_rows, shares_text
from repopilot.agents.wiki.component_facts import ComponentFacts
from repopilot.agents.wiki.component_page import component_page
from repopilot.agents.wiki.reader_lists import ERROR, described, telling
from repopilot.agents.wiki.readme_example import readme_example
from repopilot.agents.wiki.subjects import SUBJECTS
from repopilot.agents.wiki.wiki_page import COMMIT, Page
from repopilot.code.chunks.text_spans import doc_spans
from repopilot.foreign_text import code_block, literal
from repopilot.i18n.format import list_row, listed
from repopilot.index.store import Index

INDEX = "index.md"
GLOSSARY = "glossary.md"
HOW_TO = "how-to.md"
_DEVICES = ("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)))
"""Names that no file may have on Windows, whatever its suffix."""
LONGEST_NAME = 50
TERMS_OF_A_COMPONENT = 5
_FUNCTIONS = ("function", "method")
MOST_ENTRIES = 5
"""Entry points in the question to a model."""
MOST_GUIDES = 20
"""Documents that are listed as guides."""
LEAST_ROWS = 3
"""A subject with fewer rows has no page: those of components say as much."""
MOST_SECTIONS = 6
"""Sections that are listed of a document."""
_CODE_BLOCK = re.compile(r"^ *(?:```|~~~|\.\. code)|::$")
_ON_THE_INDEX = ("components", "entry_points", "commands", "reading", "terms")


Writer = Callable[[], Page]


def pages_of(overview: Overview, index: Index, links: str, language: str) -> list[Page]:
    """Write the wiki.

    Args:
        overview: the overview of the repository.
        index: the repository.
        links: how places are linked, see `wiki_page.link_template`.
        language: the readers' language.

    Returns:
        Its pages, in order.
    """
    return [write() for write in page_writers(overview, index, links, language).values()]


def page_writers(overview: Overview, index: Index, links: str, language: str) -> dict[str, Writer]:
    """A function for each page that writes it, by the page's name, in order; see `pages_of`."""
    overview = replace(overview, flows=sure_flows(overview.flows))
    names = page_names(overview.components)
    facts = ComponentFacts(index, overview, names)

    def empty(name: str) -> Page:
        return Page(name, links, language)

    subjects = [empty(f"{subject}.md") for subject in SUBJECTS]
    for page, write in zip(subjects, SUBJECTS.values(), strict=True):
        write(facts, page)
    how_to = empty(HOW_TO)
    how_to.section("wiki.guides", _guides(index, how_to))
    lists = (_glossary(index, overview, empty(GLOSSARY)), how_to)
    whole = [
        *(page for page in lists if page.parts),
        *(page for page in subjects if sum(part.count("\n- ") for part in page.parts) >= LEAST_ROWS),
    ]
    writers: dict[str, Writer] = {
        INDEX: partial(_index_page, facts, [page.name for page in whole], empty(INDEX)),
        **{name: partial(component_page, facts, number, empty(name)) for number, name in enumerate(names)},
        **{page.name: partial(_titled, page) for page in whole},
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
    """The file of each component's page: named after the component, or after its path where that name is taken.

    Args:
        components: the components of the overview.
    """
    short = [_slug(component.name) for component in components]
    often = Counter(short)
    taken = {name.removesuffix(".md") for name in (INDEX, GLOSSARY, HOW_TO)} | {*SUBJECTS, *_DEVICES}
    names = []
    for component, name in zip(components, short, strict=True):
        wanted = _slug(component.paths[0]) if often[name] > 1 or name in taken else name
        wanted = next(n for n in (wanted, *(f"{wanted}-{m}" for m in range(2, 99))) if n not in taken)
        taken.add(wanted)
        names.append(f"{wanted}.md")
    return names


def _slug(name: str) -> str:
    """A name that any file system and host accepts: some site generators leave out files that begin with `_`."""
    plain = unicodedata.normalize("NFC", name.lower())
    return re.sub(r"[^\w.]+", "-", plain)[:LONGEST_NAME].strip("-._") or "part"


def _index_page(facts: ComponentFacts, others: Sequence[str], page: Page) -> Page:
    """The overview, with the README's example, a model's words on how the whole works, and links to the pages of
    components."""
    language, overview = page.language, facts.overview
    purpose = overview.purpose_source
    licence = i18n.text("overview.licence", language, licence=literal(overview.licence)) if overview.licence else ""
    page.parts = [
        f"# {literal(overview.name)}",
        f"{literal(overview.purpose)} {page.at(purpose.path, purpose.line)}" if purpose and overview.purpose else "",
        " · ".join(filter(None, (shares_text(overview), licence))),
        "" if overview.components else i18n.text("overview.none", language),
        " · ".join(f"[{_title(name, language)}]({name})" for name in others),
    ]
    if example := readme_example(facts.index):
        block = code_block(example.text, example.label)
        page.section("wiki.example", [block, "", page.at(example.path, example.start, example.end)])
    page.words_at = len(page.parts)
    page.asks = _asks_of_all(overview, language) if overview.components else ""
    told = tuple(term for term in overview.terms if telling(term.name, term.note) and not ERROR.search(term.name))
    shown = replace(overview, terms=told)
    for part in _ON_THE_INDEX:
        page.section(f"overview.sections.{part}", overview_rows(shown, part, language, page.at, facts.links))
        if part == "components" and overview.uses:
            page.section("overview.sections.diagram", overview_rows(overview, "diagram", language, page.at))
    flows = overview_rows(overview, "flows", language, page.at)
    page.folded(i18n.text("overview.sections.flows", language), flows, covered=True)
    return page


def _asks_of_all(overview: Overview, language: str) -> str:
    """The question that a model is asked for its words on the index page."""
    entries = (
        code(f"@{each.path}:{each.symbol}" if each.symbol else f"@{each.path}") for each in overview.entry_points
    )
    parts = ", ".join(code(component.name) for component in overview.components)
    asked = {"name": code(overview.name), "entries": ", ".join(islice(entries, MOST_ENTRIES)), "parts": parts}
    return i18n.text("wiki.asks_whole", language, **asked)


def _glossary(index: Index, overview: Overview, page: Page) -> Page:
    """The terms of the overview and the most used types of each component, as far as documentation says what they
    are."""
    used = [place for c in overview.components for place in c.symbols[:TERMS_OF_A_COMPONENT]]
    types = [(place, s) for place in used for s in index.outline(place.path) if s.start_line == place.line]
    said = [replace(place, note=described(index, s).note) for place, s in types if s.kind not in _FUNCTIONS]
    terms = {(t.name, t.path): t for t in (*overview.terms, *said) if telling(t.name, t.note)}
    rows = sorted(terms.values(), key=lambda term: (term.name.casefold(), term.path))
    page.parts = (
        ["\n".join(f"- {code(t.name)}: {literal(t.note)} {page.at(t.path, t.line)}" for t in rows)] if rows else []
    )
    return page


def _title(name: str, language: str) -> str:
    return i18n.text(f"wiki.{name.removesuffix('.md').replace('-', '_')}", language)


def _guides(index: Index, page: Page) -> list[str]:
    """The sections of documents that show how something is done: with code in a block of its own."""
    found: dict[str, dict[str, int]] = {}  # a long section is several chunks
    for path in sorted(documents(index), key=lambda path: (path.count("/"), path)):
        lines = index.rows(path)
        for span in doc_spans(lines, index.files[path].language):
            if span.symbol and any(map(_CODE_BLOCK.search, lines[span.start - 1 : span.end])):
                title = span.symbol.rpartition(" > ")[2]  # short sections before it are joined to it
                at = next((n for n in range(span.start, span.end) if title in lines[n - 1]), span.start)
                found.setdefault(path, {}).setdefault(title, at)
    rows = []
    for path, sections in islice(found.items(), MOST_GUIDES):
        links = [page.linked(literal(title), path, at) for title, at in sections.items()]
        rows.append(list_row(page.whole(path), listed(links, MOST_SECTIONS, str), page.language))
    if len(found) > len(rows):
        rows.append(f"- {i18n.text('wiki.more', page.language, count=len(found) - len(rows))}")
    return rows
