"""Typed commands: what is one, what they do, and that no model is asked on the way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shop_workspace import answering, shop_workspace, traced

from repopilot.agents.coding.typed_commands import FORMS, is_command, read_command
from repopilot.assistant import answer
from repopilot.errors import UsageError
from repopilot.ui.messages import parse_message


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    def refuse(prompt: str) -> str:
        raise AssertionError(f"a model was asked: {prompt[:200]}")

    return replace(shop_workspace(tmp_path_factory.mktemp("commands")), model=answering(refuse))


@pytest.mark.parametrize(
    ("typed", "tool", "arguments"),
    [
        ("rename a to b", "rename_symbol", {"name": "a", "new_name": "b"}),
        ("rename `a` to `b`", "rename_symbol", {"name": "a", "new_name": "b"}),
        ("Rename a to b.", "rename_symbol", {"name": "a", "new_name": "b"}),
        ("Rename `Cart.a()` to `b()`", "rename_symbol", {"name": "Cart.a", "new_name": "b"}),
        ("renomme a en b", "rename_symbol", {"name": "a", "new_name": "b"}),
        ("Renommer la méthode `Cart.a` en «b».", "rename_symbol", {"name": "Cart.a", "new_name": "b"}),
        ("Renomme a dans shop/a.py en b", "rename_symbol", {"name": "a", "path": "shop/a.py", "new_name": "b"}),
        ("mets LIMIT à 5", "set_value", {"name": "LIMIT", "value": "5"}),
        ("Déplace la fonction total vers shop/sums.py.", "move_symbol", {"name": "total", "to_path": "shop/sums.py"}),
        ("rename a → b", "rename_symbol", {"name": "a", "new_name": "b"}),
        ("refactor(core)!: rename the function a into b", "rename_symbol", {"name": "a", "new_name": "b"}),
        ("[Feature] Rename method “a” -> “b”", "rename_symbol", {"name": "a", "new_name": "b"}),
        ("rename class A to B in `shop/a.py`.", "rename_symbol", {"name": "A", "path": "shop/a.py", "new_name": "B"}),
        ("rename `A` in shop/a.py to `B`", "rename_symbol", {"name": "A", "path": "shop/a.py", "new_name": "B"}),
        (
            "Move total in `shop/a.py` to shop/b.py.",
            "move_symbol",
            {"name": "total", "path": "shop/a.py", "to_path": "shop/b.py"},
        ),
        ("set LIMIT in shop/a.py to 5", "set_value", {"name": "LIMIT", "path": "shop/a.py", "value": "5"}),
        ("rename a::B::c to d", "rename_symbol", {"name": "a::B::c", "new_name": "d"}),
        ("rename `B#c` to `B#d` in lib/b.rb", "rename_symbol", {"name": "B.c", "path": "lib/b.rb", "new_name": "B#d"}),
        ("rename function to method", "rename_symbol", {"name": "function", "new_name": "method"}),
        ("chore: Set `LIMIT` to 5.", "set_value", {"name": "LIMIT", "value": "5"}),
        ("Move total to shop/sums.py.", "move_symbol", {"name": "total", "to_path": "shop/sums.py"}),
        (
            "/rename shop/cart.py:Cart.total sum",
            "rename_symbol",
            {"name": "Cart.total", "path": "shop/cart.py", "new_name": "sum"},
        ),
        ("set LIMIT to 5", "set_value", {"name": "LIMIT", "value": "5"}),
        ('set NAME to "two words"', "set_value", {"name": "NAME", "value": '"two words"'}),
        ("/set LIMIT 3 * 60", "set_value", {"name": "LIMIT", "value": "3 * 60"}),
        ("move total to shop/sums.py", "move_symbol", {"name": "total", "to_path": "shop/sums.py"}),
        (
            "/signature f +a=1 -b c:d",
            "change_signature",
            {"name": "f", "add": [{"name": "a", "default": "1"}], "remove": ["b"], "rename": {"c": "d"}},
        ),
        ("/imports shop/cart.py", "organize_imports", {"path": "shop/cart.py"}),
        ("/callers Cart.total", "callers", {"name": "Cart.total"}),
        (r"/grep \bdef\s+\w+ \(", "grep", {"pattern": r"\bdef\s+\w+ \(", "glob": "*", "regex": True}),
        ("/grep -F -g src/*.py f(x", "grep", {"pattern": "f(x", "glob": "src/*.py", "regex": False}),
        ('/grep -i "it\'s two  words"', "grep", {"pattern": "(?i)it's two  words", "glob": "*", "regex": True}),
        ("/grep -i -F a.b", "grep", {"pattern": r"(?i)a\.b", "glob": "*", "regex": True}),
        ("/grep -x", "grep", {"pattern": "-x", "glob": "*", "regex": True}),
        ("/signature src/a.cpp:B::c -d", "change_signature", {"name": "B.c", "path": "src/a.cpp", "remove": ["d"]}),
        ("/history shop/cart.py", "history", {"path": "shop/cart.py"}),
    ],
)
def test_a_command_is_a_tool_with_its_arguments(typed, tool, arguments):
    command = read_command(typed)
    assert (command.tool, command.arguments) == (tool, arguments)


@pytest.mark.parametrize(
    "text",
    [
        "rename the cart to basket please",
        "set the limit to five in the config",
        "renomme le panier en corbeille s'il te plaît",
        "déplace total vers le bas",
        "who calls total?",
        "/explain it",
        "move on to x",
        "refactor: rename a to b and adapt the docs",
        "rename a in a.py to b in b.py",
        "set a in the box to b",
        "please look: rename a to b is not what I want",
    ],
)
def test_other_sentences_are_none(text):
    assert read_command(text) is None


@pytest.mark.parametrize("text", ["/rename a", "/rename a b c", "/set", "/signature f x", "/imports", "/callers a b"])
def test_a_command_that_lacks_something_says_how_it_is_typed(text):
    with pytest.raises(UsageError) as caught:
        read_command(text)
    assert caught.value.hint.startswith(text.split()[0]) and is_command(text)


@given(st.text(max_size=60))
def test_any_text_is_a_command_or_none(text):
    assert is_command(text) in (True, False)


@pytest.mark.slow
async def test_a_rename_shows_its_diff_without_asking_a_model(shop):
    done, outline, _ = await traced(lambda step: answer("rename price_of to cost_of", shop, step))
    assert done.route.intent == "GENERATE" and done.route.tier == "forced"
    assert "+def cost_of" in "".join(file.diff for file in done.files)
    assert "think" not in outline and "classify" not in outline


@pytest.mark.slow
async def test_callers_are_listed_with_their_lines(shop):
    done, outline, _ = await traced(lambda step: answer("/callers price_of", shop, step))
    assert done.text.startswith("What calls or uses `price_of`:")
    assert "shop/cart.py" in {place.path for place in done.evidence}
    assert all("price_of" in place.lines[0][1] for place in done.evidence if place.path == "shop/cart.py")
    assert "callers" in outline and done.citations[0].supported


async def test_a_history_names_who_and_when(shop):
    done, *_ = await traced(lambda step: answer("/history shop/cart.py", shop, step))
    assert done.text.startswith("The last commits that changed `shop/cart.py`")


async def test_a_name_that_is_unknown_is_said_with_near_ones(shop):
    with pytest.raises(UsageError) as caught:
        await traced(lambda step: answer("/callers price_off", shop, step))
    assert "price_off" in caught.value.message


@pytest.mark.parametrize("name", FORMS)
def test_a_command_chosen_in_the_browser_is_the_one_typed(name):
    parsed = parse_message("a b", name, ())
    assert (parsed.kind, parsed.text, parsed.command) == ("question", f"/{name} a b", "")
    assert parse_message(f"/{name} a b", "", ()) == parsed
