"""The pages of the wiki: the overview, one for each component, a glossary, how-tos. Sync."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import get_args

import numpy as np

from repopilot import i18n
from repopilot.agents.overview.best_commands import ranked_commands
from repopilot.agents.overview.overview_values import Component, Overview
from repopilot.agents.overview.render import code, command_text, overview_rows, shares_text
from repopilot.agents.overview.uses import sure_uses
from repopilot.agents.wiki.component_page import ComponentFacts, component_page, more_row, summary_of
from repopilot.agents.wiki.reader_lists import telling
from repopilot.agents.wiki.readme_example import readme_example
from repopilot.agents.wiki.subjects import SUBJECTS, subject_page
from repopilot.agents.wiki.wiki_page import COMMIT, Page
from repopilot.code.chunks.text_spans import doc_spans
from repopilot.code.graph.nodes import Node
from repopilot.code.languages import is_test_path
from repopilot.foreign_text import code_block, literal
from repopilot.i18n.format import list_row
from repopilot.index.store import Index
from repopilot.project.project_commands import Purpose

INDEX = "index.md"
GLOSSARY = "glossary.md"
HOW_TO = "how-to.md"
_DEVICES = ("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)))
"""Names that no file may have on Windows, whatever its suffix."""
LONGEST_NAME = 50
TERMS_OF_A_COMPONENT = 5
TESTS_OF_A_COMPONENT = 3
MOST_ENTRIES = 5
"""Entry points in the question to a model."""
MOST_GUIDES = 20
"""Documents that are listed as guides."""
LEAST_ROWS = 3
"""A subject with fewer rows has a section on the overview instead of a page."""
MOST_SECTIONS = 6
"""Sections that are listed of a document."""
_CODE_BLOCK = re.compile(r"^ *(?:```|~~~|\.\. code)|::$")
_TESTS = ("function", "method")
_PAST = re.compile(r"change|history|news|release", re.IGNORECASE)
"""Documents about the past."""
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
    names = page_names(overview.components)
    facts = ComponentFacts(index, overview, names)

    def empty(name: str) -> Page:
        return Page(name, links, language)

    subjects = [subject_page(subject, facts, empty(f"{subject}.md")) for subject in SUBJECTS]
    whole = [page for page in subjects if _rows(page) >= LEAST_ROWS]
    small = [page for page in subjects if page.parts and page not in whole]
    writers: dict[str, Writer] = {
        INDEX: partial(_index_page, facts, (GLOSSARY, HOW_TO, *(page.name for page in whole)), small, empty(INDEX)),
        **{name: partial(component_page, facts, number, empty(name)) for number, name in enumerate(names)},
        GLOSSARY: partial(_glossary, index, overview, empty(GLOSSARY)),
        HOW_TO: partial(_how_to, facts, empty(HOW_TO)),
        **{page.name: partial(_titled, page) for page in whole},
    }
    return {name: partial(_signed, write) for name, write in writers.items()}


def _rows(page: Page) -> int:
    return sum(row.startswith("- ") for part in page.parts for row in part.split("\n"))


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


def _index_page(facts: ComponentFacts, others: Sequence[str], small: Iterable[Page], page: Page) -> Page:
    """The overview, with the README's example, a model's words on the way through all of it, links to the pages of
    components, and the subjects too small for a page."""
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
    links = [f"[{literal(c.name)}]({name})" for c, name in zip(overview.components, facts.names, strict=True)]
    told = tuple(term for term in overview.terms if telling(term.name, term.note))
    shown = replace(overview, terms=told)
    for part in _ON_THE_INDEX:
        page.section(f"overview.sections.{part}", overview_rows(shown, part, language, page.at, links))
        if part == "components" and overview.uses:
            page.section("overview.sections.diagram", overview_rows(overview, "diagram", language, page.at))
    for subject in small:
        page.folded(
            _title(subject.name, language), ["\n\n".join(f"#{part}" for part in subject.parts)]
        )  # a level lower
        page.files |= subject.files
    for part in ("edges", "cycles", "flows"):
        rows = overview_rows(overview, part, language, page.at, links)
        page.folded(i18n.text(f"overview.sections.{part}", language), rows, covered=part == "flows")
    return page


def _asks_of_all(overview: Overview, language: str) -> str:
    """The question to a model for the words on the index."""
    entries = (
        code(f"@{each.path}:{each.symbol}" if each.symbol else f"@{each.path}") for each in overview.entry_points
    )
    parts = ", ".join(code(component.name) for component in overview.components)
    asked = {"name": code(overview.name), "entries": ", ".join(islice(entries, MOST_ENTRIES)), "parts": parts}
    return i18n.text("wiki.asks_whole", language, **asked)


def _glossary(index: Index, overview: Overview, page: Page) -> Page:
    """The terms of the overview and the most used names of each component, as far as documentation says what they
    are."""
    used = [place for c in overview.components for place in c.symbols[:TERMS_OF_A_COMPONENT]]
    said = [replace(place, note=summary_of(index, place)) for place in used]
    terms = {(t.name, t.path): t for t in (*overview.terms, *said) if telling(t.name, t.note)}
    rows = sorted(terms.values(), key=lambda term: (term.name.casefold(), term.path))
    page.parts = [f"# {i18n.text('wiki.glossary', page.language)}"]
    if not rows:
        page.parts.append(i18n.text("wiki.no_terms", page.language))
    else:
        page.parts.append("\n".join(f"- {code(t.name)}: {literal(t.note)} {page.at(t.path, t.line)}" for t in rows))
    return page


def _how_to(facts: ComponentFacts, page: Page) -> Page:
    """Which commands do what with the repository, which documents show how, and how tests use it."""
    index, overview = facts.index, facts.overview
    page.parts = [f"# {i18n.text('wiki.how_to', page.language)}"]
    for purpose in get_args(Purpose):
        found = ranked_commands(index, overview.entry_points, purpose)
        rows = [f"- {command_text(c, page.at)}" for c in found]
        page.section(f"overview.purposes.{purpose}", rows)
    page.section(
        "overview.sections.entry_points",
        overview_rows(overview, "entry_points", page.language, page.at),
    )
    page.section("wiki.guides", _guides(index, page))
    page.section("wiki.used_by_tests", _used_by_tests(facts, page))
    if len(page.parts) == 1:
        page.parts.append(i18n.text("wiki.no_commands", page.language))
    return page


def _title(name: str, language: str) -> str:
    return i18n.text(f"wiki.{_key(name)}", language)


def _key(name: str) -> str:
    return name.removesuffix(".md").replace("-", "_")


def _guides(index: Index, page: Page) -> list[str]:
    """The sections of documents that show how something is done: with code in a block of its own."""
    documents = [path for path, info in index.files.items() if info.kind == "doc" and not index.is_foreign(path)]
    told = [path for path in documents if not _PAST.match(path.rpartition("/")[2])]
    found: dict[str, dict[str, int]] = {}  # a long section is several chunks
    for path in sorted(told, key=lambda path: (path.count("/"), path)):
        lines = (index.text(path) or "").split("\n")
        for span in doc_spans(lines, index.files[path].language):
            if span.symbol and any(map(_CODE_BLOCK.search, lines[span.start - 1 : span.end])):
                title = span.symbol.rpartition(" > ")[2]  # short sections before it are joined to it
                at = next((n for n in range(span.start, span.end) if title in lines[n - 1]), span.start)
                found.setdefault(path, {}).setdefault(title, at)
    rows = []
    for path, sections in islice(found.items(), MOST_GUIDES):
        shown = ", ".join(page.linked(literal(t), path, at) for t, at in islice(sections.items(), MOST_SECTIONS))
        more = f" +{len(sections) - MOST_SECTIONS}" if len(sections) > MOST_SECTIONS else ""
        rows.append(list_row(page.whole(path), f"{shown}{more}", page.language))
    return [*rows, *more_row(len(found) - len(rows), page)]


def _used_by_tests(facts: ComponentFacts, page: Page) -> list[str]:
    """For each of the most used names, the shortest test that is sure to use it."""
    graph = facts.graph
    sure = sure_uses(graph)
    shown: dict[tuple[str, int], tuple[str, list[str]]] = {}
    for place in (place for c in facts.overview.components for place in c.symbols[:TESTS_OF_A_COMPONENT]):
        inside = graph.inside(graph.by_path[place.path])
        defined = [node for node in inside if graph.nodes[node].line == place.line]
        users = graph.sources[sure & np.isin(graph.targets, defined)].tolist()
        tests = [
            test for test in map(graph.nodes.__getitem__, users) if is_test_path(test.path) and test.kind in _TESTS
        ]
        if tests:
            found = min(tests, key=_as_example)
            shown.setdefault((found.path, found.line), (found.name, []))[1].append(code(place.name))
    return [f"- {', '.join(used)}: {code(name)} {page.at(*at)}" for at, (name, used) in shown.items()]


def _as_example(test: Node) -> tuple[bool, int, str, int]:
    """Orders tests by how well they show a use: those named as tests before helpers, then short ones first."""
    is_test = test.name.rpartition(".")[2].lower().startswith("test")
    return not is_test, test.end_line - test.line, test.path, test.line
