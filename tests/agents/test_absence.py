"""What a repository doesn't have is said, and only then."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from support.shop_workspace import shop_workspace as opened_shop

from repopilot import trace
from repopilot.agents.explain.agent import explain
from repopilot.agents.explain.grounding import absent_names, absent_proper_names, files_holding, indexed_holding
from repopilot.results import Answer, Explanation
from repopilot.retrieval.search import search
from repopilot.workspace import Workspace

Shop = Callable[..., Workspace]


async def asked(workspace: Workspace, question: str) -> tuple[Answer, Explanation]:
    async with trace.root(lambda event: None, "explain") as step:
        done = await explain(question, workspace, step)
    assert isinstance(done.result, Explanation)
    return done, done.result


async def test_a_proper_name_that_occurs_nowhere_is_absent_and_the_nearest_places_are_shown(shop_with: Shop) -> None:
    done, result = await asked(shop_with(lambda messages: "never asked"), "Which class keeps the carts in Redis?")
    assert result.origin == "absent" and "Redis" in result.lead and done.evidence


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text", "absent"),
    [
        ("shop/store.py", "import redis\n", False),
        ("shop/store.py", "class AioRedisStore:\n    pass\n", False),
        ("redis/store.py", "class Store:\n    pass\n", False),
        ("shop/store.py", "class Store:\n    pass\n", True),
    ],
)
def test_what_the_repository_names_anywhere_is_there(tmp_path: Path, path: str, text: str, absent: bool) -> None:
    index = opened_shop(tmp_path, {path: text}).index
    assert absent_proper_names("Which class keeps the carts in Redis?", index) == (["Redis"] if absent else [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Where does the cart send its lines to Frobnicator?", ["Frobnicator"]),
        ("Where does the cart answer a CORS preflight?", []),  # the stem of a name is another word
        ("What differs on Windows?", ["Windows"]),
        ("Which Class Sends Every Frobnicator Out?", []),
        ("Is there a test of the store in Redis?", []),
    ],
)
def test_proper_names(tmp_path: Path, question: str, names: list[str]) -> None:
    extra = {"shop/cors.py": "class CORSLayer:\n    pass\n", "tests/test_store.py": "STORE = 'redis'\n"}
    assert absent_proper_names(question, opened_shop(tmp_path, extra).index) == names


async def test_few_words_found_are_called_weak_evidence(shop_workspace: Workspace) -> None:
    _, result = await asked(shop_workspace, "Where does the token get polished before its wedding anniversary banquet?")
    assert result.origin == "extractive" and result.lead.startswith("Best match")


NOTES = {
    "docs/limits.md": "# Limits\n\nThe `MAX_CART_LINES` of a cart is a number of lines.\n",
    "shop/limits.py": "# read from CART_LIMIT_FILE at the start\nLIMIT = 5\n",
    "out/made.py": "GENERATED_LIMIT = 1\n",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "absent"),
    [("MAX_CART_LINES", False), ("CART_LIMIT_FILE", False), ("CART_LIMIT_FOLDER", True), ("GENERATED_LIMIT", True)],
)
def test_a_name_is_absent_only_where_no_indexed_file_holds_it(tmp_path: Path, name: str, absent: bool) -> None:
    workspace = opened_shop(tmp_path, NOTES)
    for holding in (partial(files_holding, workspace.resolver), partial(indexed_holding, workspace.index)):
        results = search(workspace.index, "cart")
        question = f"Where does the cart read `{name}`?"
        assert absent_names(question, workspace.index, results, holding) == ([name] if absent else [])
