"""A context pack: within its budget, the same every time, in three forms, without secrets."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from support import git_server
from support.shop_workspace import offline, open_workspace

from repopilot.errors import UsageError
from repopilot.retrieval.context_pack import context_pack, empty_pack, real_tokenizer, rendered
from repopilot.retrieval.search import search
from repopilot.types import Excerpt

FORMATS = ("markdown", "xml", "json")
SECRET = "ghp_" + "a1B2" * 9
FILES = {
    "shop/prices.py": f'TOKEN = "{SECRET}"\nRATE = 2\n\n\ndef price(count):\n    return taxed(count * RATE)\n\n\n'
    + "def taxed(amount):\n    return amount * 1.2\n",
    "shop/cart.py": "from shop.prices import price\n\n\ndef total(items):\n    return sum(price(n) for n in items)\n",
    "shop/long.py": "def price_of_everything():\n" + "".join(f"    x{n} = {n}  # price\n" for n in range(900)),
    "README.md": "# Shop\n\nPrices & <carts>.\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pack")
    git_server.commit(folder / "shop", FILES)
    return open_workspace(folder / "shop", offline(folder / "home")).index


def packed(index, query="how is the price computed?", budget=1500, form="markdown", overview=()):
    empty = empty_pack(index, query, budget, real_tokenizer(), overview)
    return context_pack(index, search(index, query, 30).hits, empty, real_tokenizer(), form=form)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("budget", [300, 1500, 8000])
def test_the_whole_pack_stays_within_its_budget(index, budget, form):
    found = packed(index, budget=budget, form=form)
    assert real_tokenizer()(rendered(found, form)) == found.tokens <= budget and found.excerpts


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("budget", [300, 1500])
def test_an_overview_leads_the_pack_within_its_budget_and_leaves_room_for_places(index, budget, form):
    lines = [f"shop/part{n}: sells <{n}> & more" for n in range(10)]
    found = packed(index, budget=budget, form=form, overview=lines)
    text = rendered(found, form)
    assert real_tokenizer()(text) == found.tokens <= budget and found.excerpts
    assert found.overview == tuple(lines[: len(found.overview)]) and (len(found.overview) == 10) == (budget == 1500)
    assert text.index("part0") < text.index("def price(count)")
    tree = ET.fromstring(rendered(found, "xml"))
    assert tree.find("overview").text.strip().split("\n") == json.loads(rendered(found, "json"))["overview"]


@pytest.mark.slow
def test_a_pack_without_a_place_says_why(index):
    with pytest.raises(UsageError, match="No place fits into 40 tokens"):
        packed(index, budget=40)
    assert "Nothing was found" in rendered(packed(index, "zyxxyz qwvvwq"), "markdown")
    odd = replace(packed(index), excerpts=(Excerpt(1, "a.py", 1, 1, "", "a\ufffe\x00b"),))
    assert ET.fromstring(rendered(odd, "xml")).find("excerpt").text.strip() == "a\ufffd\ufffdb"


@pytest.mark.slow
def test_the_same_question_gives_the_same_bytes(index):
    for form in FORMATS:
        assert rendered(packed(index), form) == rendered(packed(index), form)


@pytest.mark.slow
def test_every_form_holds_the_same(index):
    found = packed(index)
    places = [(each.path, each.start_line) for each in found.excerpts]
    read = json.loads(rendered(found, "json"))
    assert [(each["path"], each["start_line"]) for each in read["excerpts"]] == places
    tree = ET.fromstring(rendered(found, "xml"))
    assert [(each.get("path"), int(each.get("start"))) for each in tree.findall("excerpt")] == places
    assert tree.get("commit") == read["commit"] == index.commit
    text = rendered(found, "markdown")
    assert all(f"## {path}:{line}-" in text for path, line in places) and text.count("```") % 2 == 0


def test_no_lines_are_in_it_twice_and_one_long_place_leaves_room(index):
    found = packed(index, budget=2000)
    seen = [(each.path, line) for each in found.excerpts for line in range(each.start_line, each.end_line + 1)]
    assert len(seen) == len(set(seen)) and len({each.path for each in found.excerpts}) >= 3


@pytest.mark.slow
def test_neighbours_in_the_code_graph_fill_what_is_left(index):
    found = packed(index, query="total", budget=3000)
    assert any("def price(count)" in each.text for each in found.excerpts)


@pytest.mark.slow
def test_no_secret_is_in_it(index):
    for form in FORMATS:
        assert SECRET not in rendered(packed(index, "TOKEN prices"), form)
