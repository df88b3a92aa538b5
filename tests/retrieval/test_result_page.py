"""A search as it is shown: places with their lines, what else matches, and notes on what doesn't."""

from __future__ import annotations

import pytest
from support.shop_workspace import shop_workspace

from repopilot.index.store import Index
from repopilot.retrieval.facets import as_filters, as_pairs
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.result_page import SHOWN_LINES, place_lines, search_page
from repopilot.retrieval.search import search

LONG = "def checkout(cart):\n" + "".join(f"    step_{n}(cart)\n" for n in range(30)) + "    refuse_expired(cart)\n"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return shop_workspace(tmp_path_factory.mktemp("pages"), {"shop/checkout.py": LONG}).index


@pytest.mark.slow
def test_a_place_shows_the_lines_that_matter_with_their_words_marked(index: Index) -> None:
    place = search_page(index, "refuse expired").places[0]
    assert (place.number, place.path, place.title) == (1, "shop/checkout.py", "checkout")
    assert place.signature.startswith("def checkout")
    (line,) = place.lines
    assert line.number == 32 and [line.text[a:b] for a, b in line.marks] == ["refuse", "expired"]
    everything = place_lines(place, search_page(index, "refuse expired").tokens)
    assert [each.number for each in everything] == list(range(place.start_line, place.end_line + 1))
    assert everything[-1].marks == line.marks


@pytest.mark.parametrize("query", ["validate token", "cart", "where is the total computed?", "kind:doc", "file:shop/*"])
def test_places_are_the_hits_of_the_search(index: Index, query: str) -> None:
    page, hits = search_page(index, query, 5), search(index, query, 5).hits
    assert [(p.path, p.start_line, p.score) for p in page.places] == [
        (h.chunk.path, h.chunk.start_line, h.score) for h in hits
    ]
    assert all(1 <= len(place.lines) <= SHOWN_LINES for place in page.places)
    text = index.text(page.places[0].path)
    assert text is not None
    assert all(text.split("\n")[line.number - 1] == line.text for line in page.places[0].lines)


def test_more_places_begin_with_the_same(index: Index) -> None:
    few, many = search_page(index, "cart", 2), search_page(index, "cart", 6)
    assert few.more and few.total == many.total >= len(many.places)
    assert [place.path for place in few.places] == [place.path for place in many.places[:2]]
    everything = search_page(index, "cart", 500)
    assert not everything.more and len(everything.places) <= everything.total


@pytest.mark.parametrize("query", ["cart", "cart lang:python", "cart kind:function kind:doc", "token file:shop/*"])
def test_a_count_is_what_its_filter_gives(index: Index, query: str) -> None:
    found = search_page(index, query)
    for name, counts in (("lang", found.languages), ("kind", found.kinds)):
        others = [f'{n}:"{v}"' for n, v in found.filters if n != name]
        for value, count in counts:
            narrowed = search_page(index, " ".join([found.words, *others, f"{name}:{value}"]), 500)
            assert 0 < len(narrowed.places) <= narrowed.total == count, (name, value)


def test_filters_are_told_apart_from_words(index: Index) -> None:
    found = search_page(index, 'lang:Python cart file:"shop/*" symbol:Cart')
    assert found.words == "cart"
    assert found.filters == (("file", "shop/*"), ("lang", "python"), ("symbol", "Cart"))
    filters = parse("x kind:doc lang:go lang:rust").filters
    assert as_filters(as_pairs(filters)) == filters


def test_a_filter_that_nothing_satisfies_is_named_with_what_there_is(index: Index) -> None:
    found = search_page(index, "cart lang:pyhton")
    assert found.places == () and found.total == 0
    (note,) = found.notes
    assert "lang:pyhton" in note and "python" in note
    assert "python" in dict(found.languages), "another language can be chosen"
    assert "symbol:NoSuchThing" in search_page(index, "cart symbol:NoSuchThing").notes[0]


@pytest.mark.parametrize("query", ["what is in .env", "file:.env", "secrets in .env?"])
def test_a_skipped_file_that_is_asked_for_says_why(index: Index, query: str) -> None:
    assert any(note.startswith(".env ") for note in search_page(index, query).notes)


def test_a_search_that_says_nothing_shows_how_queries_are_written(index: Index) -> None:
    found = search_page(index, "  ")
    assert found.places == () and [what for what, _ in found.examples][:2] == ["words", "symbol"]
    for what, query in found.examples:
        assert search_page(index, query).places, f"the example of {what} finds nothing: {query}"
