"""A context pack: what a reader or another model needs of a repository for a question, within a token budget.

`folder_pack.py` makes packs of whole folders. Packs of the same commit, question and budget are byte-identical.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from xml.sax.saxutils import escape, quoteattr

from repopilot import i18n
from repopilot.code.graph import graph as graphs
from repopilot.errors import RepoPilotError, UsageError
from repopilot.foreign_text import fence_of, suffix_of
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.redaction.redact import redacted
from repopilot.retrieval.pack import LEAST, CountTokens, fitted_lines, places_of
from repopilot.types import Evidence, Excerpt, Hit, overlap

QUERY_BUDGET = 4000
OUTLINE_SHARE = 0.15
"""Share of the budget for the outline: the files of the pack and of further places, with the names they define."""
OVERVIEW_SHARE = 0.25
"""Largest share of the budget for the overview of the repository."""
SHARES = (0.22, 0.16, 0.12, 0.09, 0.07)
"""Largest shares of the budget for the first excerpts; the last share also holds for each further excerpt."""
NEIGHBOURS = 8
NAMES = 10
_CALLABLE = ("function", "class", "method")
SURE = 0.6
"""Least confidence of a link that is followed."""
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 can't hold."""


@dataclass(frozen=True, slots=True)
class ContextPack:
    """A pack.

    Attributes:
        repository, commit, query, budget: what the pack was made from and for.
        tokens: of the rendered text, at most `budget`.
        overview: lines that say what the repository is; () where nobody asked for them.
        outline: a line for each file: its path and the names it defines.
        excerpts: best first, neighbours in the code graph last.
        left_out: how many places did not fit.
        folders, tree, files, notes: for a pack of whole folders: the folders, the tree of their files with the tokens
            of each, these tokens by path, and what was left out and skipped.
    """

    repository: str
    commit: str
    query: str
    budget: int
    tokens: int
    overview: tuple[str, ...]
    outline: tuple[str, ...]
    excerpts: tuple[Excerpt, ...]
    left_out: int = 0
    folders: tuple[str, ...] = ()
    tree: tuple[str, ...] = ()
    files: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@cache
def real_tokenizer() -> CountTokens:
    """Counts tokens as GPT models do, with the vocabulary that comes with LlamaIndex."""
    from llama_index.core.utils import get_tokenizer

    encode = get_tokenizer()
    return lambda text: len(encode(text))


def empty_pack(
    index: Index, query: str, budget: int, count_tokens: CountTokens, overview: Sequence[str] = ()
) -> ContextPack:
    """A pack without places.

    Args:
        index: the index that its places will come from.
        query: the question, '' for a pack of folders.
        budget: tokens of the whole pack; 0 for no limit.
        count_tokens: counts the tokens of a text.
        overview: lines that say what the repository is, the first of which are kept within OVERVIEW_SHARE.
    """
    left = budget * OVERVIEW_SHARE or math.inf
    costs = itertools.accumulate(count_tokens(f"- {line}\n") for line in overview)
    kept = tuple(line for line, cost in zip(overview, costs, strict=True) if cost <= left)
    return ContextPack(index.name, index.commit, query, budget, 0, kept, (), ())


def context_pack(
    index: Index,
    hits: Sequence[Hit],
    empty: ContextPack,
    count_tokens: CountTokens,
    first: Sequence[Excerpt] = (),
    form: str = "markdown",
) -> ContextPack:
    """Make a pack of the hits of a search.

    Args:
        index: the index that the hits come from.
        hits: best first.
        empty: the pack without places, see `empty_pack`.
        count_tokens: counts the tokens of a text.
        first: excerpts that come before those of the hits.
        form: `markdown`, `xml` or `json`, which the pack is to be rendered in.

    Raises:
        UsageError: no place fits.
    """
    places = places_of(index, hits)
    budget = empty.budget
    left = budget - count_tokens(rendered(empty, form))
    outline, cost = _outline(index, [each.path for each in (*first, *places)], count_tokens, int(left * OUTLINE_SHARE))
    left -= cost
    chosen: list[Excerpt] = []
    for place in (*first, *places, *_neighbours(index, places)):
        if left < LEAST:
            break
        if any(overlap(each, place) for each in chosen):
            continue
        share = SHARES[min(len(chosen), len(SHARES) - 1)]
        text, tokens = fitted_lines(place, count_tokens, min(left, max(LEAST, int(budget * share))))
        if text:
            chosen.append(_numbered(place, len(chosen) + 1, text))
            left -= tokens
    left_out = len(first) + len(places) - len(chosen)
    made = replace(empty, outline=outline, excerpts=tuple(chosen), left_out=max(0, left_out))
    while (counted := with_tokens(made, count_tokens, form)).tokens > budget and chosen:  # headings cost a little, too
        chosen.pop()
        made = replace(made, excerpts=tuple(chosen), left_out=made.left_out + 1)
    if chosen:
        return counted
    if places or first:
        raise UsageError(i18n.message("retrieval.pack_too_small", budget=budget))
    return with_tokens(replace(made, notes=(i18n.text("retrieval.pack_empty", "en"),)), count_tokens, form)


def pack_of(index: Index, query: str, places: Sequence[Evidence], count_tokens: CountTokens) -> ContextPack:
    """The pack of exactly these places, with all their lines.

    Args:
        index: the index that the places come from.
        query: the question.
        places: the places of an answer.
        count_tokens: counts the tokens of a text.
    """
    texts = ((each, index.lines(each.path, each.start_line, each.end_line) or "") for each in places)
    excerpts = tuple(
        _numbered(Excerpt(0, each.path, each.start_line, each.end_line, each.symbol, text), each.number, text)
        for each, text in texts
        if text
    )
    return with_tokens(ContextPack(index.name, index.commit, query, 0, 0, (), (), excerpts), count_tokens)


def with_tokens(pack: ContextPack, count_tokens: CountTokens, form: str = "markdown") -> ContextPack:
    """The pack with the token count of its text. The text contains the count, so a second round counts its digits."""
    for _ in range(2):
        pack = replace(pack, tokens=count_tokens(rendered(pack, form)))
    return pack


def rendered(pack: ContextPack, form: str) -> str:
    """The pack in `markdown`, `xml` or `json`."""
    if form == "json":
        return json.dumps(asdict(pack), ensure_ascii=False, indent=1)
    return {"markdown": pack_markdown, "xml": pack_xml}[form](pack)


def pack_markdown(pack: ContextPack) -> str:
    """The pack as Markdown."""
    facts = {"name": pack.repository, "commit": pack.commit, "tokens": pack.tokens, "budget": pack.budget}
    source = i18n.text("retrieval.pack_source_budget" if pack.budget else "retrieval.pack_source", "en", **facts)
    folders = (pack.repository if folder == "." else folder for folder in pack.folders)
    parts = [f"# {pack.query or ', '.join(folders)}", source, *(f"- {note}" for note in pack.notes), ""]
    if pack.overview:
        parts += ["## Overview", *(f"- {line}" for line in pack.overview), ""]
    if pack.outline:
        parts += ["## Outline", *(f"- {line}" for line in pack.outline), ""]
    if pack.tree:
        parts += ["## Tokens", "```", *pack.tree, "```", ""]
    return "\n".join([*parts, *map(_markdown, pack.excerpts)])


def piece(excerpt: Excerpt, form: str) -> str:
    """An excerpt, rendered as in a pack of this form."""
    if form == "json":
        return json.dumps(asdict(excerpt), ensure_ascii=False, indent=1)
    return (_xml if form == "xml" else _markdown)(excerpt)


def _markdown(excerpt: Excerpt) -> str:
    symbol = f" ({excerpt.symbol})" if excerpt.symbol else ""
    heading = f"## {excerpt.path}:{excerpt.start_line}-{excerpt.end_line}{symbol}"
    fence = fence_of(excerpt.text)
    return "\n".join((heading, f"{fence}{suffix_of(excerpt.path)}", excerpt.text, fence, ""))


def pack_xml(pack: ContextPack) -> str:
    """The pack as XML."""
    head = f"<context repository={quoteattr(pack.repository)} commit={quoteattr(pack.commit)}"
    parts = [f'{head} budget="{pack.budget}" tokens="{pack.tokens}">', f"<query>{escape(pack.query)}</query>"]
    parts += [f"<folder>{escape(folder)}</folder>" for folder in pack.folders]
    parts += [f"<note>{escape(note)}</note>" for note in pack.notes]
    if pack.overview:
        parts += ["<overview>", *(escape(line) for line in pack.overview), "</overview>"]
    parts += ["<outline>", *(escape(line) for line in pack.outline), "</outline>"]
    parts += ["<tree>", *(escape(line) for line in pack.tree), "</tree>"] if pack.tree else []
    return "\n".join([*parts, *map(_xml, pack.excerpts), "</context>"])


def _xml(excerpt: Excerpt) -> str:
    place = f'path={quoteattr(excerpt.path)} start="{excerpt.start_line}" end="{excerpt.end_line}"'
    symbol = f" symbol={quoteattr(excerpt.symbol)}" if excerpt.symbol else ""
    text = escape(_NO_XML.sub("\ufffd", excerpt.text))
    return f"<excerpt {place}{symbol}>\n{text}\n</excerpt>"


def _numbered(place: Excerpt, number: int, text: str) -> Excerpt:
    return Excerpt(number, place.path, place.start_line, place.end_line, place.symbol, redacted(text))


def _outline(index: Index, paths: Sequence[str], count_tokens: CountTokens, budget: int) -> tuple[tuple[str, ...], int]:
    """A line for each file, as many as fit, and their tokens."""
    lines = []
    spent = 0
    for path in dict.fromkeys(paths):
        found = [each for each in (index.outline(path) if path in index.files else ()) if each.kind in _CALLABLE]
        names = [
            each.qualified for each in sorted(found, key=lambda each: (each.qualified.count("."), each.start_line))
        ]
        line = f"{path}: {', '.join(dict.fromkeys(names[:NAMES]))}" if names else path
        cost = count_tokens(f"- {line}\n")
        if spent + cost > budget:
            continue
        lines.append(line)
        spent += cost
    return tuple(lines), spent


def _neighbours(index: Index, places: Sequence[Excerpt]) -> list[Excerpt]:
    """The definitions that the best places call or are called by, as far as the graph is sure."""
    try:
        graph = graph_of(index)
    except RepoPilotError:
        return []
    found: dict[tuple[str, int], Excerpt] = {}
    for place in places[:3]:
        for node in graphs.find(graph, f"{place.path}:{place.symbol}") if place.symbol else []:
            for link in (*graphs.callees(graph, node), *graphs.callers(graph, node)):
                other = graph.nodes[link.node]
                sure = link.confidence >= SURE and other.kind in ("function", "class")
                if sure and (text := index.text(other.path)) is not None:
                    lines = text.split("\n")[other.line - 1 : other.end_line]
                    key = (other.path, other.line)
                    found.setdefault(key, Excerpt(0, *key, other.line + len(lines) - 1, other.name, "\n".join(lines)))
    return list(found.values())[:NEIGHBOURS]
