"""One call of a tool by a small model: accepted where the index knows its arguments, whatever the model says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.shop_workspace import answering, offline, open_workspace, traced, workspace_of, write

from repopilot.agents.coding.editor import edit_with_model
from repopilot.agents.coding.grounded import grounded_call
from repopilot.agents.coding.new_definition import definition_in
from repopilot.errors import GenerationFailed, PlaceAmbiguous

FILES = {
    "store/cart.py": (
        "from store.prices import price\n\nMAX_ITEMS = 20\n\n\nclass Cart:\n    def __init__(self):\n"
        "        self.items = []\n\n    def add(self, item, amnt=1):\n        self.items.append((item, amnt))\n\n"
        "    def total(self):\n        return sum(price(item) * n for item, n in self.items)\n"
    ),
    "store/prices.py": (
        'LIMIT = 3\n\n\ndef price(item):\n    """See it."""\n    return {"tea": 3}.get(item, 0)\n\n\n'
        'HELP = "unknwon item"\n'
    ),
    "store/other.py": "LIMIT = 4\n",
    "tests/test_cart.py": "from store.cart import Cart\n\n\ndef test_total():\n    assert Cart().total() == 0\n",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory):
    return workspace_of(tmp_path_factory.mktemp("store"), FILES)


async def read(task: str, said: dict, workspace):
    model = answering(lambda prompt: json.dumps(said))
    call, _, _ = await traced(lambda step: grounded_call(task, replace(workspace, model=model), step))
    return call and (call.tool, call.arguments)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "said", "call"),
    [
        (
            "`price` hides a look-up, say look_up_price",
            {"tool": "rename_symbol", "name": "price", "new_name": "look_up_price"},
            (
                "rename_symbol",
                {"name": "price", "new_name": "look_up_price", "path": "store/prices.py", "everywhere": False},
            ),
        ),
        (
            "more than MAX_ITEMS = 50 never fit",
            {"tool": "set_value", "name": "MAX_ITEMS", "value": "50"},
            ("set_value", {"name": "MAX_ITEMS", "value": "50", "path": "store/cart.py"}),
        ),
        (
            "LIMIT of prices.py should be 5, it is 3",
            {"tool": "set_value", "name": "LIMIT", "value": "5"},
            ("set_value", {"name": "LIMIT", "value": "5", "path": "store/prices.py"}),
        ),
        (
            "amnt is no word, call that parameter item_count",
            {"tool": "rename_parameter", "name": "amnt", "new_name": "item_count"},
            ("change_signature", {"name": "Cart.add", "rename": {"amnt": "item_count"}, "path": "store/cart.py"}),
        ),
        (
            "nobody passes amnt, drop it from add",
            {"tool": "remove_parameter", "name": "amnt"},
            ("change_signature", {"name": "Cart.add", "remove": ["amnt"], "path": "store/cart.py"}),
        ),
        (
            "move price() to store/other.py",
            {"tool": "move_symbol", "name": "price", "to_path": "store/other.py"},
            ("move_symbol", {"name": "price", "to_path": "store/other.py", "path": "store/prices.py"}),
        ),
        (
            "store/other.py devrait s'appeler limits.py",
            {"tool": "move_file", "path": "store/other.py", "new_path": "limits.py"},
            ("move_file", {"path": "store/other.py", "new_path": "store/limits.py"}),
        ),
        (
            "it says 'unknwon item' where 'unknown item' is meant",
            {"tool": "replace_text", "old": "unknwon item", "new": "unknown item"},
            (
                "replace_text",
                {"path": "store/prices.py", "old": "unknwon item", "new": "unknown item", "count": 1},
            ),
        ),
    ],
)
async def test_a_call_that_the_index_bears_out_is_accepted(store, task, said, call):
    assert await read(task, said, store) == call


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("swap the arguments of price", {"tool": "rename_symbol", "name": "price", "new_name": "swap"}),
        ("price should raise KeyError", {"tool": "rename_symbol", "name": "price", "new_name": "KeyError"}),
        ("price needs a `Cart`", {"tool": "rename_symbol", "name": "price", "new_name": "Cart"}),
        ("Cart and add_all", {"tool": "rename_symbol", "name": "Cart", "new_name": "add_all"}),
        (
            "the argument amnt of add should be renamed, the CLI has a better word",
            {"tool": "rename_parameter", "name": "amnt", "new_name": "CLI"},
        ),
        ("MAX_ITEMS is 20", {"tool": "set_value", "name": "MAX_ITEMS", "value": "20"}),
        ("Cart needs `total`", {"tool": "new_definition", "name": "total", "place": "Cart"}),
        ("Cart.total is slow", {"tool": "other"}),
        ("Cart.total is slow", {"tool": "delete_symbol", "name": "no_such"}),
    ],
)
async def test_what_the_index_does_not_bear_out_is_not(store, task, said):
    assert await read(task, said, store) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "said"),
    [
        (
            "Add a function `quote(item)` to prices.py that takes the price of an item and rounds it up",
            {"tool": "rename_symbol", "name": "price", "new_name": "quote"},
        ),
        ("Cart.add should raise ValueError where amnt is 0", {"tool": "remove_parameter", "name": "amnt"}),
        ("Add `store/tax.py` with the rate for tea", {"tool": "move_file", "path": "x.py", "new_path": "store/tax.py"}),
    ],
)
async def test_what_the_task_does_not_ask_for_is_not_done(store, task, said):
    assert await read(task, said, store) is None


@pytest.mark.slow
async def test_a_path_that_ends_like_several_files_is_no_new_one(tmp_path: Path):
    files = {"a/toc.py": "def slug(text):\n    return text\n", "b/toc.py": "X = 1\n", "util.py": "Y = 1\n"}
    workspace = open_workspace(write(tmp_path / "it", files), offline(tmp_path / "home"))
    task = "Move `slug` from toc.py to util.py"
    assert await read(task, {"tool": "move_symbol", "name": "slug", "to_path": "toc.py"}, workspace) is None
    assert await read(task, {"tool": "move_symbol", "name": "slug", "to_path": "util.py"}, workspace)


@pytest.mark.slow
async def test_of_several_places_the_user_is_asked(store):
    with pytest.raises(PlaceAmbiguous) as error:
        await read("LIMIT should be 7", {"tool": "set_value", "name": "LIMIT", "value": "7"}, store)
    assert error.value.choices == ("store/other.py:LIMIT", "store/prices.py:LIMIT")


async def edited(task: str, replies: dict[str, str], workspace):
    def reply(prompt: str) -> str:
        return next(text for key, text in replies.items() if key in prompt)

    model = answering(reply)
    done, _, _ = await traced(lambda step: edit_with_model(task, replace(workspace, model=model), step))
    return done


CALL = json.dumps({"tool": "new_definition", "name": "is_empty", "place": "Cart"})
TASK = "Cart needs an is_empty method that says whether nothing is in it"


@pytest.mark.slow
async def test_a_new_method_is_written_by_the_model_and_placed_by_code(store):
    written = "```python\nclass Cart:\n    def is_empty(self):\n        return not self.items\n```\n"
    done = await edited(TASK, {"as one call": CALL, "Write `is_empty`": written}, store)
    assert done.changes[0].content.endswith(
        "for item, n in self.items)\n\n    def is_empty(self):\n        return not self.items\n"
    )
    assert not done.by_code and "is_empty" in done.notes[0]


@pytest.mark.slow
async def test_a_definition_may_be_called_as_one_of_another_class_or_of_python(store):
    said = {"tool": "new_definition", "name": "enumerate", "place": "Cart"}
    called = ("new_definition", {"path": "store/cart.py", "anchor": "Cart", "name": "enumerate"})
    assert await read("Cart could use an `enumerate(start=0)` method", said, store) == called


@pytest.mark.slow
async def test_a_reply_that_defines_something_else_is_never_shown(store):
    wrong = "```python\ndef empty(self):\n    return not self.items\n```\n"
    with pytest.raises(GenerationFailed):
        await edited(TASK, {"as one call": CALL, "Write `is_empty`": wrong, "SEARCH/REPLACE": "nothing"}, store)


@pytest.mark.slow
async def test_a_definition_is_removed_with_the_gap_before_it(store):
    said = json.dumps({"tool": "delete_symbol", "name": "Cart.total"})
    done = await edited("Cart.total is used nowhere, get rid of it", {"as one call": said}, store)
    assert done.changes[0].content.endswith("        self.items.append((item, amnt))\n")


def test_the_definition_is_found_in_what_was_written():
    code = "import os\n\n\n@cache\ndef f():\n    pass\n\n\nprint(f())"
    assert definition_in(code, "f", "a.py", "python") == "@cache\ndef f():\n    pass"
    assert definition_in(code, "g", "a.py", "python") == ""
