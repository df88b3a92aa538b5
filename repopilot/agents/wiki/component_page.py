"""The page of a component: what it is for, its interface, how it works, what uses it, its tests. Sync."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice

from repopilot import i18n
from repopilot.agents.overview.flows import flows
from repopilot.agents.overview.overview_values import UNSURE, Component, Flow, NamedPlace, Overview
from repopilot.agents.overview.own_code import called_by_name
from repopilot.agents.overview.render import code, overview_rows
from repopilot.agents.overview.repository_parts import needed_places, tests_of
from repopilot.agents.wiki.code_matches import matches_of
from repopilot.agents.wiki.reader_lists import described, options, variants
from repopilot.agents.wiki.wiki_page import Page
from repopilot.code.graph.graph import Graph
from repopilot.code.graph.import_resolver import family
from repopilot.code.languages import is_public
from repopilot.foreign_text import literal
from repopilot.i18n.format import list_row
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.retrieval.places.doc_summary import without_markup
from repopilot.types import Symbol

MOST_INTERFACE = 40
FEWEST_INTERFACE = 6
"""Where fewer definitions are documented, the most used of the others are shown with their signatures, too."""
MOST_NAMES = 60
"""Further names, which are folded."""
FEWEST_STEPS = 3
"""A shorter call path says nothing that the list of definitions doesn't."""
MOST_PATHS = 12
MOST_PITFALLS = 10
MOST_ASKED = 5
"""Names in the question to a model; they find the places that it begins with."""
LINES_OF_A_COMMENT = 4
LONGEST_COMMENT = 240
_MARKS = ("FIXME", "BUG", "XXX", "HACK", "DANGER", "WARNING", "CAUTION", "SAFETY", "NOTE")
"""The words that begin a warning in a comment, the most urgent first."""
_WARNING = re.compile(rf"(?:#|//|/\*|\*|--|;)[!/*]*[ \t]*({'|'.join(_MARKS)})(?:\([^)\n]*\))?:")
_COMMENT_MARK = re.compile(r"^\s*(?:#|//|/?\*(?!/)|--|;)[!/*]*\s*")
_EXPORT = re.compile(r"^export\b", re.M)
_PRIVATE = re.compile(r"(?:^|/)_(?!_)")
"""A file or a folder that the project keeps for itself, by its name."""
_CONSTRUCTORS = ("__init__", "constructor", "initialize")
_LEFT_OUT = {"variable", "field", "declaration", "module", "import"}


@dataclass
class ComponentFacts:
    """What the pages of all components are written from; `names` are the files of the pages."""

    index: Index
    overview: Overview
    names: Sequence[str]

    def __post_init__(self) -> None:
        self.graph: Graph = graph_of(self.index)
        self.tests: list[list[str]] = tests_of(self.graph, self.overview.components)
        self.component_of: dict[str, int] = {
            path: number for number, component in enumerate(self.overview.components) for path in component.files
        }
        self.needed: Counter[tuple[str, int]] = needed_places(self.graph, self.component_of)
        self.called: Counter[str] = self.index.derived(called_by_name)


def component_page(facts: ComponentFacts, number: int, page: Page) -> Page:
    """Write the page of a component.

    Args:
        facts: the facts about the repository.
        number: the number of the component in the overview.
        page: an empty page, which is filled.
    """
    component = facts.overview.components[number]
    uses = facts.overview.uses
    source = component.source
    said = f"{literal(component.summary)} {page.at(source.path, source.line)}" if source else ""
    own = component.files
    more = f" +{len(component.paths) - MOST_PATHS}" if len(component.paths) > MOST_PATHS else ""
    paths = ", ".join(map(code, component.paths[:MOST_PATHS]))
    page.parts = [
        f"# {literal(component.name)}",
        said,
        paths + more,
        f"[{literal(facts.overview.name)}](index.md)",
    ]
    page.words_at = len(page.parts)
    entries = tuple(entry for entry in facts.overview.entry_points if entry.path in own)
    data = tuple(place for place in facts.overview.data if place.path in own)
    of_its_own = replace(facts.overview, entry_points=entries, data=data)
    page.section("overview.sections.entry_points", overview_rows(of_its_own, "entry_points", page.language, page.at))
    # Mentioned with their files: others may have the same names.
    symbols = ", ".join(code(f"@{symbol.path}:{symbol.name}") for symbol in component.symbols[:MOST_ASKED])
    asked = {"name": code(component.name), "paths": paths, "symbols": symbols}
    page.asks = i18n.text("wiki.asks" if symbols else "wiki.asks_alone", page.language, **asked)
    _interface(facts, component, page)
    page.section("wiki.variants", variants(facts.index, own, facts.component_of, page))
    page.section("wiki.options", options(facts.index, own, page))
    page.section("overview.sections.data", overview_rows(of_its_own, "data", page.language, page.at))
    page.section("wiki.pitfalls", _pitfalls(facts.index, component, page))
    around = [
        *_used("wiki.uses", facts, (use.target for use in uses if use.source == number), page),
        *_used("wiki.users", facts, (use.source for use in uses if use.target == number), page),
    ]
    if tests := facts.tests[number]:
        count = f"{i18n.text('overview.tests', page.language, count=len(tests))} ({page.whole(tests[0])})"
        around.append(list_row(i18n.text("wiki.tests", page.language), count, page.language))
    page.section("wiki.around", around)
    page.folded(i18n.text("wiki.flow", page.language), _flows(facts, component, page), covered=True)
    return page


def summary_of(index: Index, place: NamedPlace) -> str:
    """What the documentation of a definition says first.

    Args:
        index: the repository.
        place: the place of the definition.
    """
    symbol = next((s for s in index.outline(place.path) if s.start_line == place.line), None)
    return described(index, symbol).note if symbol else ""


def more_row(count: int, page: Page) -> list[str]:
    """A row that says how many more there are; [] where there are none."""
    return [f"- {i18n.text('wiki.more', page.language, count=count)}"] if count > 0 else []


def _interface(facts: ComponentFacts, component: Component, page: Page) -> None:
    """Add its definitions that are public, or that other components use: with their signatures those that are
    documented, those that others, tests and documents use most before others; the names of further ones are folded. A
    component without any shows its public constants."""
    index = facts.index
    used = {(place.path, place.line) for place in component.symbols}
    every = [s for path in component.files for s in index.outline(path)]
    known = [s for s in every if s.kind not in _LEFT_OUT and s.name not in _CONSTRUCTORS]
    functions = {(s.path, s.qualified): s for s in known if s.kind in ("function", "method")}
    shown = [
        s
        for s in known
        if (s.path, s.start_line) in facts.needed or (_is_public(index, s) and not _is_local(s, functions))
    ]
    shown = shown or [s for s in known if (s.path, s.start_line) in used]
    shown = shown or [s for s in every if s.kind == "variable" and "." not in s.qualified and _is_public(index, s)]
    namesakes = Counter((s.path, s.qualified) for s in shown)
    first = list({(s.path, s.qualified): s for s in reversed(shown)}.values())[::-1]
    weight: Counter[tuple[str, str]] = Counter()
    for symbol in first:  # a class weighs as much as its most used member, and so comes before it
        for name in accumulate(symbol.qualified.split("."), "{}.{}".format):
            weight[symbol.path, name] = max(
                weight[symbol.path, name],
                facts.needed[symbol.path, symbol.start_line] + facts.called[symbol.name],
            )
    first.sort(key=lambda s: (-weight[s.path, s.qualified], s.qualified.count(".")))
    told = list(islice((s for s in first if described(index, s).note), MOST_INTERFACE))
    bare = [s for s in first if s not in told][: max(0, FEWEST_INTERFACE - len(told))]
    telling = [*told, *bare]
    kept = sorted(telling, key=lambda s: (s.path, s.start_line))
    rest = [s for s in first if s not in telling]
    page.section("wiki.interface", _members(index, kept, namesakes, page))
    names = (page.linked(code(s.qualified), s.path, s.start_line) for s in rest[:MOST_NAMES])
    more = f" +{len(rest) - MOST_NAMES}" if len(rest) > MOST_NAMES else ""
    title = i18n.text("wiki.more", page.language, count=len(rest))
    page.folded(title, [f"{', '.join(names)}{more}"] if rest else [])


def _is_local(symbol: Symbol, functions: Mapping[tuple[str, str], Symbol]) -> bool:
    """Whether a definition stands inside a function, so that only the function can use it."""
    owner = functions.get((symbol.path, symbol.qualified.rpartition(".")[0]))
    return owner is not None and owner.start_line < symbol.start_line <= owner.end_line


def _is_public(index: Index, symbol: Symbol) -> bool:
    if _PRIVATE.search(symbol.path) or not is_public(symbol.qualified, symbol.signature, symbol.path):
        return False
    text = (index.text(symbol.path) or "") if family(index.files[symbol.path].language) == "js" else ""
    name = re.escape(symbol.qualified.partition(".")[0])
    exported = rf"^export\b[^\n]*(?<![\w$]){name}(?![\w$])|^export\s*\{{[^}}]*(?<![\w$]){name}(?![\w$])"
    return not _EXPORT.search(text) or re.search(exported, text, re.M) is not None


def _members(
    index: Index, symbols: Sequence[Symbol], namesakes: Mapping[tuple[str, str], int], page: Page
) -> list[str]:
    """A row for each definition, with how many others have its name; members are indented below their class, where the
    class has a row."""
    rows = []
    owners: list[str] = []
    path = ""
    made_by = {
        (s.path, s.qualified.rpartition(".")[0]): s
        for path in {symbol.path for symbol in symbols}
        for s in index.outline(path)
        if s.name in _CONSTRUCTORS and s.kind in ("function", "method")
    }
    for symbol in symbols:
        owners = owners if symbol.path == path else []
        path = symbol.path
        while owners and not symbol.qualified.startswith(f"{owners[-1]}."):
            owners.pop()
        said = literal(described(index, symbol).note)
        of = f"{code(symbol.qualified)}: " if "." in symbol.qualified and not owners else ""
        made = made_by.get((path, symbol.qualified))
        signature = code(symbol.short_signature or symbol.qualified)
        signature += f" {code(made.short_signature)}" if made else ""
        place = page.at(symbol.path, symbol.start_line)
        others = namesakes[path, symbol.qualified] - 1
        more = f" ({i18n.text('wiki.namesakes', page.language, count=others)})" if others else ""
        rows.append(f"{'  ' * len(owners)}- {of}{signature}{more}{f' — {said}' if said else ''} {place}")
        owners.append(symbol.qualified)
    return rows


def _flows(facts: ComponentFacts, component: Component, page: Page) -> list[str]:
    """The component's steps in the flows of the repository; where it has none, the first flow inside it."""
    files = set(component.files)
    found = [row for flow in facts.overview.flows for row in _steps(flow, files, page)]
    inside = () if found else flows(facts.graph, (), component.files, {})[:1]
    rows = found or [row for flow in inside for row in _steps(flow, files, page)]
    return [*rows, "", i18n.text("overview.static_calls", page.language)] if rows else []


def _steps(flow: Flow, files: Collection[str], page: Page) -> list[str]:
    """The numbered steps of a flow, from the one before its first in some files to the one after its last in them."""
    inside = [n for n, step in enumerate(flow.path) if step.path in files]
    first = max(0, inside[0] - 1) if inside else 0
    shown = list(enumerate(flow.path, 1))[first : inside[-1] + 2] if inside else []
    steps = [
        f"  {n}. {'⇢ ' if step.note == UNSURE else ''}{code(step.name)} {page.at(step.path, step.line)}"
        for n, step in shown
    ]
    return [f"- {code(flow.title)}", *steps] if len(steps) >= FEWEST_STEPS else []


def _used(key: str, facts: ComponentFacts, others: Iterable[int], page: Page) -> list[str]:
    """A row of the components at the other end of uses."""
    names = [f"[{literal(facts.overview.components[other].name)}]({facts.names[other]})" for other in others]
    return [list_row(i18n.text(key, page.language), ", ".join(names), page.language)] if names else []


def _pitfalls(index: Index, component: Component, page: Page) -> list[str]:
    """The warnings in its comments."""
    found = [
        (_MARKS.index(warning[1]), path, line)
        for path in component.files
        for warning, line in matches_of(index, path, _WARNING, "comment")
    ]
    rows = [f"- {literal(_comment(index, path, line))} {page.at(path, line)}" for _, path, line in sorted(found)]
    return [*rows[:MOST_PITFALLS], *more_row(len(rows) - MOST_PITFALLS, page)]


def _comment(index: Index, path: str, line: int) -> str:
    """The text of a comment from a line on, to the end of its paragraph, at most LINES_OF_A_COMMENT lines."""
    rows = (index.lines(path, line, line + LINES_OF_A_COMMENT - 1) or "").split("\n")
    first = _WARNING.search(rows[0])
    said = [rows[0][first.start(1) if first else 0 :]]
    for row in rows[1:]:
        text = _COMMENT_MARK.sub("", row)
        if text == row or not text.strip():
            break
        said.append(text)
    whole = " ".join(without_markup(" ".join(said).removesuffix("*/")).split())
    return whole if len(whole) <= LONGEST_COMMENT else f"{whole[:LONGEST_COMMENT].rsplit(' ', 1)[0]}…"
