"""What users of a component look up: subclasses of a base, and options. Sync."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.overview.overview_values import NamedPlace
from repopilot.agents.overview.own_code import documents
from repopilot.agents.overview.render import code
from repopilot.agents.overview.repository_parts import subclasses
from repopilot.agents.wiki.component_facts import ComponentFacts
from repopilot.agents.wiki.wiki_page import Page
from repopilot.code.syntax import parse
from repopilot.foreign_text import literal
from repopilot.i18n.format import list_row
from repopilot.index.store import Index
from repopilot.index.tokens import NAME_PART
from repopilot.retrieval.places.checked_docs import is_deprecated, said_of
from repopilot.types import Symbol

FEWEST_WORDS = 3
"""A sentence with fewer words beside the name of what it describes says nothing."""
PARSE_S = 2.0
MOST_BASES = 4
MOST_OPTIONS = 40
ERROR = re.compile(r"(?:Error|Exception|Warning)$")
_OPTIONS = re.compile(r"(?:Option|Config|Setting|Param|Prop|Flag)s?$|Configuration$")
"""The names of types whose fields are options, by the convention of most languages."""
_HAS_OPTIONS = re.compile(rb"\bhelp\s*=|[\"']--?\w")
_FLAGS = re.compile(r"-{1,2}\w[\w-]*(?:[ ,=]+(?:-{1,2}\w[\w-]*|[<\[][^>\]]*[>\]]|[A-Z_]+))*")
_NAME = re.compile(r"[A-Za-z_]\w+")
_PROSE = re.compile(r"\w+ +\(?\w+ +\S")


def telling(name: str, said: str) -> str:
    """A sentence about a definition; '' where it does little more than repeat its name.

    Args:
        name: the name of the definition.
        said: the sentence.
    """
    own = set(map(str.lower, NAME_PART.findall(name)))
    return said if sum(word.lower() not in own for word in NAME_PART.findall(said)) >= FEWEST_WORDS else ""


def described(index: Index, symbol: Symbol) -> NamedPlace:
    """A definition with the first sentence of its documentation; kept with the index, since pages tell it again."""
    known = index.derived(_descriptions)
    if symbol not in known:
        said = telling(symbol.name, said_of(index, symbol))
        deprecated = is_deprecated(index, symbol)
        known[symbol] = NamedPlace(symbol.qualified, symbol.path, symbol.start_line, said, deprecated)
    return known[symbol]


def _descriptions(_: Index) -> dict[Symbol, NamedPlace]:
    return {}


def note_of(place: NamedPlace, language: str) -> str:
    """What is said of a definition, as Markdown, and whether it is deprecated."""
    mark = i18n.text("wiki.deprecated", language) if place.is_deprecated else ""
    return ": ".join(filter(None, (mark, literal(place.note))))


def variants(facts: ComponentFacts, files: Iterable[str], page: Page) -> list[str]:
    """The classes in some files of which users choose a subclass, those with most subclasses first: one folder holds
    several public subclasses that documents name.

    Args:
        facts: the facts about the repository.
        files: the files of the base classes.
        page: the page of the rows.
    """
    named = facts.index.derived(_names_in_documents)
    classes = (s for path in files for s in facts.index.outline(path) if (path, s.start_line) in facts.bases)
    rows = []
    for base in (each for each in classes if each.kind == "class" and not ERROR.search(each.name)):
        own = (s for s in subclasses(facts.index, base.name) if s.path in facts.component_of)
        heirs = {s.qualified: s for s in sorted(own, key=_place, reverse=True)}  # the first of each name
        told = [heir for heir in sorted(heirs.values(), key=_place) if heir.name in named and facts.is_public(heir)]
        often = Counter(posixpath.dirname(heir.path) for heir in told)
        links = [
            page.linked(code(s.qualified), s.path, s.start_line) for s in told if often[posixpath.dirname(s.path)] > 1
        ]
        if links:
            name = page.linked(code(base.qualified), base.path, base.start_line)
            rows.append((-len(links), list_row(name, ", ".join(links), page.language)))
    return [row for _, row in sorted(rows)[:MOST_BASES]]


def _place(symbol: Symbol) -> tuple[str, int]:
    return symbol.path, symbol.start_line


def _names_in_documents(index: Index) -> frozenset[str]:
    """The words of documents."""
    return frozenset(word for path in documents(index) for word in _NAME.findall(index.text(path) or ""))


def options(index: Index, files: Iterable[str], page: Page) -> list[str]:
    """The options of command lines with their help, and the fields of types for options with their documentation;
    deprecated ones come last.

    Args:
        index: the repository.
        files: the files that declare them.
        page: the page of the rows.
    """
    declared = (each for path in files for each in (*_of_command_line(index, path), *_fields(index, path)) if each.note)
    found = list({each.name: each for each in declared}.values())
    shown = sorted(found[:MOST_OPTIONS], key=lambda each: each.is_deprecated)
    return [f"- {code(o.name)}: {note_of(o, page.language)} {page.at(o.path, o.line)}" for o in shown]


def _fields(index: Index, path: str) -> Iterator[NamedPlace]:
    for symbol in index.outline(path):
        owner, _, name = symbol.qualified.rpartition(".")
        if symbol.kind in ("field", "variable") and _OPTIONS.search(owner):
            yield replace(described(index, symbol), name=f"{owner}: {symbol.signature or name}")


def _of_command_line(index: Index, path: str) -> Iterator[NamedPlace]:
    """What calls declare with a flag and its help: of argparse, click, optparse, commander and the like."""
    text = (index.text(path) or "").encode()
    tree = parse(text, index.files[path].language, PARSE_S) if _HAS_OPTIONS.search(text) else None
    for given in _arguments(tree.root_node) if tree else ():
        texts = [text for each in given.named_children for text in _texts(each)]
        flags = [text for text in texts if _FLAGS.fullmatch(text)]
        helps = [t for each in given.named_children if (each.text or b"").startswith(b"help") for t in _texts(each)]
        said = "".join(helps) or next((text for text in texts if _PROSE.search(text) and text not in flags), "")
        if said and (flags or helps):
            names = flags or _texts(given.named_children[0])
            yield NamedPlace(", ".join(names), path, given.start_point.row + 1, said)


def _arguments(node: Node) -> Iterator[Node]:
    """The arguments of the calls in a node, in order."""
    given = node.child_by_field_name("arguments") if "call" in node.type else None
    if given is not None:
        yield given
    for each in node.named_children:
        yield from _arguments(each)


def _texts(node: Node) -> list[str]:
    """The strings in a node, without those in calls."""
    if node.type in ("string_content", "string_fragment"):
        return [(node.text or b"").decode(errors="replace")]
    return [text for each in node.named_children if "call" not in node.type for text in _texts(each)]
