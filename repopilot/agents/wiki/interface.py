"""What users of a component can call: its public definitions with their signatures and their documentation. Sync."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate

from repopilot import i18n
from repopilot.agents.overview.overview_values import Component
from repopilot.agents.overview.render import code
from repopilot.agents.wiki.component_facts import ComponentFacts
from repopilot.agents.wiki.reader_lists import described, note_of
from repopilot.agents.wiki.wiki_page import Page
from repopilot.i18n.format import listed
from repopilot.index.store import Index
from repopilot.index.tokens import NAME_PART
from repopilot.types import Symbol

MOST_INTERFACE = 40
FEWEST_INTERFACE = 6
"""So many of the most used definitions are shown whether they are documented or not."""
MOST_NAMES = 60
"""Further names, which are folded."""
LEAST_FAMILY = 6
"""So many definitions that differ in the rest of their name, such as setters, have one row."""
_CONSTRUCTORS = ("__init__", "__construct", "constructor", "initialize")
_LEFT_OUT = {"variable", "field", "declaration", "module", "import"}
_PARAMETERS = re.compile(r"\(.*\)", re.S)


def interface(facts: ComponentFacts, component: Component, page: Page) -> None:
    """Add its public definitions, those that are documented or used most, members below their class, and the names of
    further ones, folded; then what other components use besides.

    A part without anything that users can name shows what other components use, else its constants.

    Args:
        facts: the facts about the repository.
        component: the component.
        page: its page.
    """
    every = [s for path in component.files for s in facts.index.outline(path)]
    known = [s for s in every if s.kind not in _LEFT_OUT and s.name not in _CONSTRUCTORS and s.name[:2] != "__"]
    needed = _ranked(facts, [s for s in known if (s.path, s.start_line) in facts.needed])
    public = _ranked(facts, filter(facts.is_public, known)) if facts.is_imported or not needed else []
    constants = (s for s in every if s.kind == "variable" and "." not in s.qualified and facts.is_public(s))
    notes = {s: described(facts.index, s).note for s in public or needed or constants}
    once = {(s.name, note) if note else (s.path, s.qualified): s for s, note in reversed(notes.items())}
    shown = list(filter({*once.values()}.__contains__, notes))  # an override says what the overridden says
    told = {*[s for s in shown if notes[s]][:MOST_INTERFACE], *shown[:FEWEST_INTERFACE]}
    owners = {(s.path, s.qualified.rpartition(".")[0]) for s in told if s.kind != "class"}
    kept = [s for s in shown if s in told or (s.path, s.qualified) in owners]
    page.section("wiki.interface" if public else "wiki.needed", _rows(facts.index, kept, page))
    rest = [s for s in shown if s not in kept and "." not in s.qualified]
    title = i18n.text("wiki.more", page.language, count=len(rest))
    page.folded(title, [_names(rest, page)] if rest else [])
    besides = [s for s in needed if "." not in s.qualified and not facts.is_public(s)] if public else []
    page.section("wiki.needed", [f"- {_names(besides, page)}"] if besides else [])


def _ranked(facts: ComponentFacts, symbols: Iterable[Symbol]) -> list[Symbol]:
    """Definitions, an overload only once, those that others, tests and documents use most first."""
    first = list({(s.path, s.qualified): s for s in reversed(list(symbols))}.values())[::-1]
    weight: defaultdict[tuple[str, str], float] = defaultdict(float)
    often = Counter(symbol.name for symbol in first)  # which of them is called isn't known
    for symbol in first:  # a class weighs as much as its most used member, and so comes before it
        used = facts.needed[symbol.path, symbol.start_line] + facts.called[symbol.name] / often[symbol.name]
        for name in accumulate(symbol.qualified.split("."), "{}.{}".format):
            weight[symbol.path, name] = max(weight[symbol.path, name], used)
    return sorted(first, key=lambda s: (-weight[s.path, s.qualified], s.qualified.count(".")))


def _names(symbols: Sequence[Symbol], page: Page) -> str:
    return listed(symbols, MOST_NAMES, lambda s: page.linked(code(s.qualified), s.path, s.start_line))


def _family(symbol: Symbol) -> tuple[str, str, str, str]:
    """What the definitions of a family have in common: owner, first word of the name, and form."""
    word = next(iter(NAME_PART.findall(symbol.name)), symbol.name)
    form = _PARAMETERS.sub("()", symbol.signature.replace(symbol.name, ""))
    return symbol.path, symbol.qualified.rpartition(".")[0], word, form


def _rows(index: Index, symbols: Sequence[Symbol], page: Page) -> list[str]:
    """A row for each definition, or for a family of them, by file and line, deprecated ones last; members are indented
    below their class, where the class has a row."""
    late = {(s.path, s.qualified) for s in symbols if described(index, s).is_deprecated}
    line = {(s.path, s.qualified): s.start_line for s in reversed(symbols)}
    ordered = sorted(
        symbols,
        key=lambda s: (
            any((s.path, name) in late for name in accumulate(s.qualified.split("."), "{}.{}".format)),
            s.path,
            line.get((s.path, s.qualified.partition(".")[0]), 0),
            s.start_line,
        ),
    )
    families: dict[tuple[str, str, str, str], list[Symbol]] = {}
    for symbol in ordered:
        families.setdefault(_family(symbol), []).append(symbol)
    rows = []
    owners: list[str] = []
    path = ""
    for symbol in ordered:
        family = families[_family(symbol)]
        owners = owners if symbol.path == path else []
        path = symbol.path
        while owners and not symbol.qualified.startswith(f"{owners[-1]}."):
            owners.pop()
        of = f"{code(symbol.qualified)}: " if "." in symbol.qualified and not owners else ""
        row = f"{of}{_row(index, symbol, page)}" if len(family) < LEAST_FAMILY else _names(family, page)
        if symbol is family[0] or len(family) < LEAST_FAMILY:
            rows.append(f"{'  ' * len(owners)}- {row}")
        owners.append(symbol.qualified)
    return rows


def _row(index: Index, symbol: Symbol, page: Page) -> str:
    """A definition with its signature and that of its constructor, and what its documentation says."""
    inside = (s for s in index.outline(symbol.path) if s.qualified.rpartition(".")[0] == symbol.qualified)
    made = [s.short_signature for s in inside if s.name in _CONSTRUCTORS and s.kind in ("function", "method")][:1]
    said = note_of(described(index, symbol), page.language)
    signature = " ".join(
        map(code, (symbol.short_signature if symbol.name in symbol.signature else symbol.qualified, *made))
    )
    return f"{signature}{f' — {said}' if said else ''} {page.at(symbol.path, symbol.start_line)}"
