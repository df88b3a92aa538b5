"""What a repository doesn't have is said, and only then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shop_workspace import shop_workspace as opened_shop

from repopilot import trace
from repopilot.agents.explain.absence import absent_technologies
from repopilot.agents.explain.agent import explain
from repopilot.results import Answer, Explanation
from repopilot.retrieval.query.technologies import technologies_in
from repopilot.workspace import Workspace

Shop = Callable[..., Workspace]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which class keeps the carts in Redis?", ["Redis"]),
        ("Where are the JSON web tokens verified?", ["JWT"]),
        ("Which function checks it against a JSON Schema?", ["JSON Schema"]),
        ("which middleware throttles clients?", ["throttling"]),
        ("Où est le disjoncteur (circuit breaker) ?", ["circuit breaker"]),
        ("How does the cart react to an empty price?", []),
        ("How do I use it from React?", ["React"]),
        ("", []),
    ],
)
def test_technologies_that_a_question_names(question: str, names: list[str]) -> None:
    assert [named.name for named in technologies_in(question)] == names


@given(st.text(max_size=200))
def test_any_text_can_be_read_for_technologies(text: str) -> None:
    found = technologies_in(text)
    assert len(set(found)) == len(found)


async def asked(workspace: Workspace, question: str) -> tuple[Answer, Explanation]:
    async with trace.root(lambda event: None, "explain") as step:
        done = await explain(question, workspace, step)
    assert isinstance(done.result, Explanation)
    return done, done.result


async def test_a_technology_named_nowhere_is_absent_and_the_nearest_places_are_shown(shop_with: Shop) -> None:
    done, result = await asked(shop_with(lambda messages: "never asked"), "Which class keeps the carts in Redis?")
    assert result.origin == "absent" and "Redis" in result.lead and done.evidence


@pytest.mark.parametrize(
    ("path", "text", "absent"),
    [
        ("shop/store.py", "import redis\n", False),
        ("shop/store.py", "class AioRedisStore:\n    pass\n", False),
        ("redis/store.py", "class Store:\n    pass\n", False),
        ("tests/test_store.py", "def test_it():\n    assert 'redis'\n", True),
        ("Makefile", "run:\n\tdocker run redis\n", True),
    ],
)
def test_what_the_program_names_anywhere_is_there(tmp_path: Path, path: str, text: str, absent: bool) -> None:
    index = opened_shop(tmp_path, {path: text}).index
    assert absent_technologies("Which class keeps the carts in Redis?", index) == (["Redis"] if absent else [])


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Where does the cart send its lines to Frobnicator?", ["Frobnicator"]),
        ("Where does the cart answer a CORS preflight?", []),  # the stem of a name is another word
        ("What differs on Windows?", []),
        ("Which Class Sends Every Frobnicator Out?", []),
        ("Is there a test of the store in Redis?", []),
    ],
)
def test_proper_names(tmp_path: Path, question: str, names: list[str]) -> None:
    extra = {"shop/cors.py": "class CORSLayer:\n    pass\n", "tests/test_store.py": "STORE = 'redis'\n"}
    assert absent_technologies(question, opened_shop(tmp_path, extra).index) == names


@pytest.mark.parametrize("text", ["class RateLimiter:\n    pass\n", "RATE_LIMIT = 3\n", "# a rate limit\nx = 1\n"])
def test_a_name_of_several_words_is_found_however_it_is_written(tmp_path: Path, text: str) -> None:
    index = opened_shop(tmp_path, {"shop/limits.py": text}).index
    assert absent_technologies("Where is the throttling of clients?", index) == []


async def test_few_words_found_are_called_weak_evidence(shop_workspace: Workspace) -> None:
    _, result = await asked(shop_workspace, "Where does the token get polished before its wedding anniversary banquet?")
    assert result.origin == "extractive" and result.lead.startswith("Best match")
