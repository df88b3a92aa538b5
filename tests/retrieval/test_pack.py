"""Context packs: whole symbols where they fit, within the budget, each line exactly as in the repository."""

from __future__ import annotations

import pytest
from support.index_case import instant_index, settings, snapshot, write
from support.small_repo import FILES

from repopilot.retrieval.pack import pack
from repopilot.retrieval.search import search

LONG = "def long_one(items):\n" + "\n".join(f"    step_{n} = prepare(items, {n})" for n in range(300)) + "\n"


def count(text: str) -> int:
    return len(text.split())


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    root = write(tmp_path_factory.mktemp("shop"), {**FILES, "shop/long.py": LONG})
    home = settings(tmp_path_factory.mktemp("home"))
    return instant_index(snapshot(root), home)


def packed(index, query, budget=2000):
    return pack(index, search(index, query, 8).hits, count, budget)


def test_excerpts_are_the_exact_lines_under_consecutive_numbers(index):
    found = packed(index, "validate_token")
    assert [e.number for e in found.excerpts] == list(range(1, len(found.excerpts) + 1))
    for e in found.excerpts:
        assert e.text == index.lines(e.path, e.start_line, e.end_line)
        assert f"{found.mark} [{e.number}] {e.path}" in found.text


def test_a_method_comes_with_its_class_and_the_imports_it_uses(index):
    shown = packed(index, "Cart.total").text
    assert "class Cart" in shown and "from shop.prices import price_of, with_discount" in shown
    assert "def total" in shown


def test_places_of_one_file_that_touch_are_one_excerpt(index):
    places = [(e.path, e.start_line, e.end_line) for e in packed(index, "token validate sign secret").excerpts]
    for path, start, end in places:
        others = [p for p in places if p[0] == path and p != (path, start, end)]
        assert all(s > end + 3 or start > e + 3 for _, s, e in others)


@pytest.mark.parametrize("budget", [60, 120, 400, 2000])
def test_the_budget_holds(index, budget):
    found = packed(index, "long_one prepare items", budget)
    assert found.tokens <= budget and count(found.text) <= budget


def test_what_does_not_fit_keeps_its_head_and_tail(index):
    shown = packed(index, "long_one prepare", 300).text
    assert "def long_one" in shown and "lines left out …" in shown
