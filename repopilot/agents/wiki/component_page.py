"""The page of a component: what it is for, its interface, how it works, what uses it, its tests. Sync."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.overview.flows import flows
from repopilot.agents.overview.overview_values import Component, Flow
from repopilot.agents.overview.render import code, overview_rows
from repopilot.agents.wiki.comment_warnings import comment_warnings
from repopilot.agents.wiki.component_facts import ComponentFacts
from repopilot.agents.wiki.interface import interface
from repopilot.agents.wiki.reader_lists import options, variants
from repopilot.agents.wiki.wiki_page import Page
from repopilot.foreign_text import literal
from repopilot.i18n.format import list_row, listed

FEWEST_STEPS = 3
"""A shorter call path says nothing that the list of definitions doesn't."""
MOST_PATHS = 12
MOST_ASKED = 5
"""Names in the question to a model; they find the places that it begins with."""


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
    page.parts = [
        f"# {literal(component.name)}",
        said,
        listed(component.paths, MOST_PATHS, code),
        f"[{literal(facts.overview.name)}](index.md)",
    ]
    page.words_at = len(page.parts)
    entries = tuple(entry for entry in facts.overview.entry_points if entry.path in own)
    data = tuple(found for place in facts.overview.data if (found := place.within(own)))
    of_its_own = replace(facts.overview, entry_points=entries, data=data)
    page.section("overview.sections.entry_points", overview_rows(of_its_own, "entry_points", page.language, page.at))
    paths = ", ".join(map(code, component.paths[:MOST_PATHS]))
    # Mentioned with their files: others may have the same names.
    symbols = ", ".join(code(f"@{symbol.path}:{symbol.name}") for symbol in component.symbols[:MOST_ASKED])
    asked = {"name": code(component.name), "paths": paths, "symbols": symbols}
    page.asks = i18n.text("wiki.asks" if symbols else "wiki.asks_alone", page.language, **asked)
    interface(facts, component, page)
    page.section("wiki.variants", variants(facts, own, page))
    page.section("wiki.options", options(facts.index, own, page))
    page.section("overview.sections.data", overview_rows(of_its_own, "data", page.language, page.at))
    around = [
        *_used("wiki.uses", facts, (use.target for use in uses if use.source == number), page),
        *_used("wiki.users", facts, (use.source for use in uses if use.target == number), page),
    ]
    if tests := facts.tests[number]:
        count = f"{i18n.text('overview.tests', page.language, count=len(tests))} ({page.whole(tests[0])})"
        around.append(list_row(i18n.text("wiki.tests", page.language), count, page.language))
    page.section("wiki.around", around)
    page.folded(i18n.text("wiki.flow", page.language), _flows(facts, component, page), covered=True)
    page.folded(i18n.text("wiki.pitfalls", page.language), comment_warnings(facts.index, own, page))
    return page


def _flows(facts: ComponentFacts, component: Component, page: Page) -> list[str]:
    """The component's steps in the flows of the repository; where it has none, the first flow inside it, searched among
    sure calls: the best of all, cut at its first unsure call, may end before the work is done."""
    files = set(component.files)
    found = [row for flow in facts.overview.flows for row in _steps(flow, files, page)]
    inside = () if found else flows(facts.index, facts.graph, (), component.files, {}, sure=True)[:1]
    rows = found or [row for flow in inside for row in _steps(flow, files, page)]
    return [*rows, "", i18n.text("overview.static_calls", page.language)] if rows else []


def _steps(flow: Flow, files: Collection[str], page: Page) -> list[str]:
    """The numbered steps of a flow, from the one before its first in some files to the one after its last in them."""
    inside = [n for n, step in enumerate(flow.path) if step.path in files]
    first = max(0, inside[0] - 1) if inside else 0
    shown = list(enumerate(flow.path, 1))[first : inside[-1] + 2] if inside else []
    steps = [f"  {n}. {code(step.name)} {page.at(step.path, step.line)}" for n, step in shown]
    return [f"- {code(flow.title)}", *steps] if len(steps) >= FEWEST_STEPS else []


def _used(key: str, facts: ComponentFacts, others: Iterable[int], page: Page) -> list[str]:
    """A row of the components at the other end of uses."""
    links = ", ".join(facts.links[other] for other in others)
    return [list_row(i18n.text(key, page.language), links, page.language)] if links else []
