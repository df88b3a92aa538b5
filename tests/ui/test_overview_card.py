"""The overview of a repository as props of its element."""

import json
from dataclasses import replace

import pytest
from support.shop_workspace import workspace_of

from repopilot.agents.overview.compute import overview_of
from repopilot.agents.overview.overview_values import Component, ComponentUse
from repopilot.ui.overview_card import overview_props, starter_rows
from repopilot.ui.overview_picture import picture_props

BODY = "\n".join(f"    total += {n}" for n in range(30))
SHOP = {
    "README.md": "# Shop\n\nShop is a till for <b>small</b> markets.\n",
    "pyproject.toml": '[project]\nname = "shop"\nscripts = {shop = "shop.cli:main"}\n',
    "Makefile": "test:\n\tpytest\n",
    "shop/__init__.py": "",
    "shop/cli.py": f"from shop.orders.book import place\n\n\ndef main():\n    total = 0\n{BODY}\n    place(total)\n",
    "shop/orders/__init__.py": '"""Orders: what customers want."""\n',
    "shop/orders/book.py": f"def place(total):\n{BODY}\n    return total\n",
    "tests/test_orders.py": "from shop.orders.book import place\n\n\ndef test_place():\n    assert place(1)\n",
}


@pytest.mark.slow
def test_every_row_says_where_it_opens_and_components_how_they_are_asked_about(tmp_path):
    index = workspace_of(tmp_path, SHOP).index
    props = json.loads(json.dumps(overview_props(overview_of(index), "en")))
    sections = {section["part"]: section["rows"] for section in props["sections"]}
    assert props["place"]["path"] == "README.md" and "till" in props["purpose"]
    components = {row["name"]: row for row in sections["components"]}
    assert components["orders"]["text"] == "Orders: what customers want."
    assert components["orders"]["place"] == {"path": "shop/orders/__init__.py", "line": 1}
    assert components["orders"]["about"] == "shop/orders · 1 test file uses it"
    assert components["orders"]["ask"] == "What is `shop/orders` for, and how does it work?"
    assert [row["text"] for row in sections["commands"]] == ["Test", "Install (by convention)", "Run"]
    tests = [(row["name"], row["text"]) for row in sections["tests"]]
    assert tests == [("make test", "Test"), ("orders", "1 test file uses it")]
    places = [row["place"] for rows in sections.values() for row in rows if row["place"]]
    assert places and all(place["line"] <= len(index.text(place["path"]).splitlines()) for place in places)
    french = overview_props(overview_of(index), "fr")
    assert [section["part"] for section in french["sections"]] == list(sections)


@pytest.mark.slow
def test_data_is_told_by_kind_where_there_is_any(tmp_path):
    names = [f"SHOP_{n}" for n in range(12)]
    reads = "".join(f'    os.environ["{name}"]\n' for name in names)
    index = workspace_of(tmp_path, SHOP | {"shop/settings.py": f"import os\n\n\ndef read():\n{reads}"}).index
    sections = {each["part"]: each["rows"] for each in overview_props(overview_of(index), "en")["sections"]}
    assert [row["name"] for row in sections["data"]] == ["Environment variables (12)"]
    assert [place[:3] for place in sections["data"][0]["places"][:2]] == [
        ["SHOP_0", "shop/settings.py", 5],
        ["SHOP_1", "shop/settings.py", 6],
    ]
    plain = overview_props(overview_of(workspace_of(tmp_path / "plain", SHOP).index), "fr")
    assert "data" not in [section["part"] for section in plain["sections"]]


@pytest.mark.slow
def test_routes_are_a_row_of_the_entry_points_whose_places_open(tmp_path):
    web = "from flask import Flask\n\napp = Flask('shop')\n\n\n@app.get('/till')\ndef till():\n    return ''\n"
    overview = overview_of(workspace_of(tmp_path, SHOP | {"shop/web.py": web}).index)
    sections = {each["part"]: each["rows"] for each in overview_props(overview, "en")["sections"]}
    assert sections["entry_points"][-1]["name"] == "Routes (1)"
    assert sections["entry_points"][-1]["places"] == [["get /till", "shop/web.py", 6, False]]
    assert "data" not in sections


@pytest.mark.slow
def test_without_code_whose_definitions_are_read_there_is_no_component(tmp_path):
    overview = overview_of(workspace_of(tmp_path, {"README.md": "# Notes\n\nNotes of a journey.\n"}).index)
    assert overview.components == ()


def test_a_starter_opens_the_section_that_answers_it_and_else_asks_its_question():
    with_overview = {label: part for label, _, part in starter_rows({"purpose", "components"}, "en")}
    assert with_overview["Purpose"] == "purpose" and with_overview["Main modules"] == "components"
    assert with_overview["Search"] == with_overview["Tests"] == ""
    assert all(question and not part for _, question, part in starter_rows((), "fr"))


@pytest.mark.slow
def test_components_that_all_use_each_other_stand_side_by_side(tmp_path):
    parts = tuple(Component(f"part{n}", (f"part{n}",), (f"part{n}/a.py",)) for n in range(12))
    uses = tuple(ComponentUse(a, b, 12 - abs(a - b), "a.py", 1) for a in range(12) for b in range(12) if a != b)
    shop = replace(overview_of(workspace_of(tmp_path, SHOP).index), cycles=(tuple(range(12)),))
    picture = picture_props(replace(shop, components=parts, uses=uses))
    assert len({box["y"] for box in picture["boxes"]}) == 3 and len(picture["lines"]) == len(uses)
    sections = {
        s["part"]: s["rows"] for s in overview_props(replace(shop, components=parts, uses=uses), "en")["sections"]
    }
    assert [place[:2] for place in sections["cycles"][0]["places"]] == [[c.name, c.files[0]] for c in parts]
