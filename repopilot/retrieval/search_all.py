"""One search over every repository that is indexed on this machine, with one ranking."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from repopilot import i18n
from repopilot.errors import IndexFailed
from repopilot.index.store import Index, IndexStore
from repopilot.retrieval.facets import count_matches
from repopilot.retrieval.query.parse import as_pairs, parse, without_filters
from repopilot.retrieval.result_page import PAGE, example_queries, place_of, query_tokens
from repopilot.retrieval.search import Results, search
from repopilot.types import Hit, SearchReport


@dataclass(frozen=True, slots=True)
class FoundInAll:
    """A search over repositories.

    Attributes:
        hits: each with the index it is from, best first.
        searched: every index with its results.
        notes: what every search says, and which indexes were left out.
        seconds: how long it took.
    """

    hits: tuple[tuple[Hit, Index], ...]
    searched: tuple[tuple[Index, Results], ...]
    notes: tuple[str, ...]
    seconds: float


def search_all(store: IndexStore, text: str, count: int) -> FoundInAll:
    """Search every published index. One that can't be read is left out, which a note says.

    Args:
        store: the indexes.
        text: the query with its filters, as for one repository.
        count: how many hits at most.
    """
    began = time.perf_counter()
    left_out: list[str] = []
    searched = tuple(_searched(store, text, count, left_out))
    found = ((hit, index) for index, results in searched for hit in results.hits)
    passages: dict[tuple, tuple[Hit, Index]] = {}
    for hit, index in sorted(found, key=lambda each: -each[0].score):
        # Of a repository that is indexed at several commits, the same passage is shown once.
        passages.setdefault((index.name, hit.chunk.path, hit.chunk.text), (hit, index))
    said = [results.notes for _, results in searched]
    notes = [note for note in (said[0] if said else ()) if all(note in each for each in said)]
    if left_out:
        notes.append(i18n.message("search.left_out", count=len(left_out), names=", ".join(left_out)))
    return FoundInAll(tuple(passages.values())[:count], searched, tuple(notes), time.perf_counter() - began)


def page_of_all(store: IndexStore, text: str, count: int = PAGE) -> SearchReport:
    """Search every published index, and turn the hits into places to show, as `search_page` does for one.

    Args:
        store: the indexes.
        text: the query with its filters; '' for examples of queries.
        count: how many places at most.
    """
    if not text.strip():
        first = next(filter(None, map(store.open_key, store.stored_keys())), None)
        return SearchReport("", examples=tuple(example_queries(first)) if first else (), repositories=0)
    found = search_all(store, text, count + 1)
    query = parse(text)
    counts = [count_matches(index, results.query) for index, results in found.searched]
    languages = sum((Counter(each.languages) for each in counts), Counter[str]())
    kinds = sum((Counter(each.kinds) for each in counts), Counter[str]())
    places = (replace(place_of(index, query, hit), origin=index.origin) for hit, index in found.hits[:count])
    return SearchReport(
        query=text,
        words=without_filters(text),
        filters=tuple(as_pairs(query.filters)),
        places=tuple(replace(place, number=number) for number, place in enumerate(places, 1)),
        total=sum(each.passages for each in counts) if found.hits else 0,
        files=sum(each.files for each in counts) if found.hits else 0,
        more=len(found.hits) > count,
        languages=tuple(languages.most_common()),
        kinds=tuple(kinds.most_common()),
        tokens=tuple(sorted(query_tokens(query))),
        notes=found.notes,
        seconds=found.seconds,
        repositories=len(found.searched),
    )


def _searched(store: IndexStore, text: str, count: int, left_out: list[str]) -> Iterator[tuple[Index, Results]]:
    """Every index that can be read, with its results; the names of the others are added to `left_out`."""
    for key in store.stored_keys():
        try:
            index = store.open_key(key)
            found = search(index, text, count) if index else None
        except IndexFailed:
            found = None
        if index is None or found is None:
            left_out.append(store.name_of(key))
        else:
            yield index, found
