"""A search as the browser, the command line and MCP clients show it: ranked places with the lines that matter."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.index.tokens import expand, words
from repopilot.retrieval.facets import count_matches, useless_filters
from repopilot.retrieval.places.focus import best_lines, clipped, matched_spans
from repopilot.retrieval.places.place_symbol import place_symbol
from repopilot.retrieval.query.parse import Query, as_pairs, without_filters
from repopilot.retrieval.search import Results, search
from repopilot.types import Hit, MarkedLine, RankedPlace, SearchReport, Symbol

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder
    from repopilot.index.store import Index

PAGE = 10
MOST_PLACES = 100
"""Most places that the browser lists: after so many, a user needs a narrower query."""
SHOWN_LINES = 8
LinesWith = Callable[[str], Iterable[tuple[str, int, str]]]
"""Gives path, number and text of the lines with a name."""
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_AROUND = 120
"""Characters of a long line on each side of the name."""
_EXAMPLE_FILES = 40


def place_of(index: Index, query: Query, hit: Hit) -> RankedPlace:
    """A hit of a search for a query, as a place to show."""
    return next(_places(index, (hit,), query_tokens(query), query.names))


def search_page(
    index: Index,
    text: str,
    count: int = PAGE,
    *,
    embedder: Embedder | None = None,
    documentation: bool = False,
    beyond: LinesWith | None = None,
) -> SearchReport:
    """Search, and turn the hits into places to show.

    Args:
        index: the index to search.
        text: the query with its filters, as `retrieval.search.search` takes it; '' for examples of queries.
        count: how many places at most.
        embedder: for dense retrieval; None for lexical retrieval alone.
        documentation: as `retrieval.search.search` takes it.
        beyond: searches the files that the index skips for a name; called if the query is a name that no indexed file
            has.

    Returns:
        The places with their lines, what else matches, and notes on what doesn't.

    Raises:
        IndexFailed: the index is damaged.
    """
    started = time.perf_counter()
    if not text.strip():
        return SearchReport("", commit=index.commit, examples=tuple(example_queries(index)))
    results = search(index, text, count + 1, embedder=embedder, documentation=documentation)
    query = results.query
    shown = results.hits[:count]
    counts = count_matches(index, query)
    tokens = query_tokens(query)
    skipped = list(_skipped_places(index, text.strip(), beyond)) if beyond is not None else []
    return SearchReport(
        query=text,
        words=without_filters(text),
        filters=tuple(as_pairs(query.filters)),
        places=_numbered([*skipped, *_places(index, shown, tokens, results.query.names)])[:count],
        total=(max(counts.passages, len(shown)) if shown else 0) + len(skipped),
        files=(max(counts.files, len({hit.chunk.path for hit in shown})) if shown else 0)
        + len({place.path for place in skipped}),
        more=len(results.hits) > count,
        languages=tuple(counts.languages.items()),
        kinds=tuple(counts.kinds.items()),
        tokens=tuple(sorted(tokens)),
        notes=_notes(index, results),
        seconds=time.perf_counter() - started,
        commit=index.commit,
    )


def _skipped_places(index: Index, name: str, beyond: LinesWith) -> Iterator[RankedPlace]:
    """The lines with a name in files outside of the index; none if an indexed file has the name."""
    if not _NAME.fullmatch(name) or index.symbols(name) or index.references(name):
        return
    for path, number, line in beyond(name):
        at = line.find(name)
        window = line[max(0, at - _AROUND) : at + len(name) + _AROUND].strip()
        marked = MarkedLine(number, window, tuple(matched_spans(window, {name.lower()})))
        yield RankedPlace(0, path, number, number, "", "", "", "", "", 0.0, {}, (marked,), window)


def _numbered(places: Sequence[RankedPlace]) -> tuple[RankedPlace, ...]:
    return tuple(replace(place, number=number) for number, place in enumerate(places, 1))


def place_lines(place: RankedPlace, tokens: Sequence[str]) -> list[MarkedLine]:
    """All lines of a place, with the words of the query marked.

    Args:
        place: the place.
        tokens: the index tokens of the query.
    """
    wanted = set(tokens)
    return [_marked(number, line, wanted) for number, line in enumerate(place.text.split("\n"), place.start_line)]


def example_queries(index: Index) -> Iterator[tuple[str, str]]:
    """Queries that show the syntax with names of this repository: (what it shows, the query)."""
    symbol = _sample_symbol(index)
    if symbol is None:
        path = next(iter(index.files), "")
        yield from (("file", f"file:{path}"),) if path else ()
        return
    about = " ".join(word.lower() for word in words(symbol.name.replace("_", " ")))
    folder = symbol.path.rpartition("/")[0]
    yield "words", about
    yield "symbol", f"symbol:{symbol.name}"
    yield "file", f"{about} file:{folder}/*" if folder else f"{about} file:{symbol.path}"
    yield "lang", f"{about} lang:{index.files[symbol.path].language}"
    yield "kind", f"{about} kind:{'class' if symbol.kind == 'class' else 'function'}"
    yield "phrase", f'"{symbol.signature.partition("(")[0] or symbol.name}"'


def _sample_symbol(index: Index) -> Symbol | None:
    """A definition that shows how queries are written: public, its name of several words where there is one."""
    lexical = index.lexical
    own = [path for path, roles in zip(lexical.files, lexical.roles.tolist(), strict=True) if not roles]
    own.sort(key=lambda path: "/" not in path)
    symbols = [s for path in own[:_EXAMPLE_FILES] for s in index.outline(path) if _is_sample(s)]
    return next((s for s in symbols if "_" in s.name), symbols[0] if symbols else None)


def _is_sample(symbol: Symbol) -> bool:
    return symbol.kind in ("function", "method", "class") and not symbol.name.startswith("_")


def query_tokens(query: Query) -> set[str]:
    """The tokens to mark: the search terms, and the tokens of names in `symbol:` filters."""
    named = (token for name in query.filters.symbols for word in words(name) for token in expand(word))
    return {*query.terms, *named}


def _places(index: Index, hits: Sequence[Hit], tokens: set[str], names: Collection[str]) -> Iterator[RankedPlace]:
    for number, hit in enumerate(hits, 1):
        chunk = hit.chunk
        numbers = best_lines(hit.lines, chunk.start_line, chunk.end_line, SHOWN_LINES)
        lines = chunk.text.split("\n")
        best = hit.lines[0][0] if hit.lines else chunk.start_line
        symbol = place_symbol(index.outline(chunk.path), chunk, best, names)
        yield RankedPlace(
            number,
            chunk.path,
            chunk.start_line,
            chunk.end_line,
            chunk.symbol,
            symbol.qualified if symbol else chunk.symbol,
            symbol.short_signature if symbol else "",
            chunk.language,
            chunk.kind,
            hit.score,
            hit.why,
            tuple(_marked(n, lines[n - chunk.start_line], tokens) for n in numbers),
            chunk.text,
            hit.history,
        )


def _marked(number: int, line: str, tokens: set[str]) -> MarkedLine:
    text, spans = clipped(line, matched_spans(line, tokens))
    return MarkedLine(number, text, tuple(spans))


def _notes(index: Index, results: Results) -> tuple[str, ...]:
    """The notes of the search, with a note on each useless filter instead of the general one."""
    filters = list(_filter_notes(index, results.query))
    general = i18n.message("retrieval.filters_match_nothing")
    said = [note for note in results.notes if not (filters and note == general)]
    return tuple(dict.fromkeys((*said, *filters)))


def _filter_notes(index: Index, query: Query) -> Iterator[str]:
    """Notes on filters that nothing in the repository satisfies, with the values there are."""
    known = {"lang": index.lexical.languages, "kind": index.lexical.kinds}
    for name, value in useless_filters(index, query.filters) if len(index.lexical) else ():
        if name in known:
            values = ", ".join(sorted(known[name]))
            yield i18n.message("search.unknown_value", filter=f"{name}:{value}", known=values)
        else:
            yield i18n.message("search.useless_filter", filter=f"{name}:{value}")
