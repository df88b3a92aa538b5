"""One search over every repository that is indexed on this machine, with one ranking."""

from __future__ import annotations

import heapq
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass

from repopilot.errors import IndexFailed
from repopilot.index.store import Index, IndexStore
from repopilot.results import RankedPlace
from repopilot.retrieval.result_page import place_of
from repopilot.retrieval.search import search

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FoundInAll:
    """A search over repositories.

    Attributes:
        places: (the repository's name, the commit, the place), best first.
        repositories: how many were searched.
        seconds: that it took.
    """

    places: tuple[tuple[str, str, RankedPlace], ...]
    repositories: int
    seconds: float


def search_all(store: IndexStore, query: str, count: int) -> FoundInAll:
    """Search every published index. A damaged one is left out, with a warning in the log.

    Args:
        store: the indexes.
        query: with filters, as for one repository.
        count: how many places at most.
    """
    began = time.perf_counter()
    indexes = list(_opened(store))
    found = [(hit, index) for index in indexes for hit in search(index, query, count).hits]
    best = heapq.nlargest(count, found, key=lambda each: each[0].score)
    # Their lines are looked up for those alone that are shown.
    places = tuple((index.name, index.commit, place_of(index, query, hit)) for hit, index in best)
    return FoundInAll(places, len(indexes), time.perf_counter() - began)


def _opened(store: IndexStore) -> Iterator[Index]:
    for key in store.stored_keys():
        try:
            index = store.open_key(key)
        except IndexFailed as error:
            log.warning("the index %s is left out: %s", key, error)
            continue
        if index is not None:
            yield index
