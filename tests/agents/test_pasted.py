"""Code in a message: found, tested and repaired on its own; the demonstration fails first and is then repaired."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.shop_workspace import answering, shop_workspace, traced
from support.small_repo import FILES

from repopilot.agents.testing import demonstration
from repopilot.agents.testing.pasted import pasted_code, stands_alone
from repopilot.assistant import answer
from repopilot.workspace import Workspace

WRONG = "def double(n):\n    return n + n + 1\n"
RIGHT = "def double(n):\n    return n * 2\n"
TESTS = "def test_two():\n    assert double(2) == 4\n\n\ndef test_three():\n    assert double(3) == 6\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return shop_workspace(tmp_path_factory.mktemp("pasted"))


@pytest.mark.parametrize(
    "message",
    [
        f"repair this\n```python\n{WRONG}\n\n{TESTS}```",
        f"repair this\n\n{WRONG}\n\n{TESTS}",
        f"```\n{WRONG}```\nrepair this\n```py\nfrom solution import double\n\n{TESTS}```",
        f"repair this\n```python\n{WRONG}",
    ],
)
def test_code_and_tests_are_told_apart(message: str):
    found = pasted_code(message)
    assert found is not None and found.wish == "repair this" and found.name == "solution.py"
    assert found.code == WRONG
    assert all("import double" in text and "def test_two" in text for text in found.tests.values())


def test_the_module_has_the_name_that_the_tests_import():
    found = pasted_code(demonstration.message("en"))
    assert found is not None and (found.name, found.code) == ("slug.py", demonstration.CODE)
    assert found.tests == {"test_slug.py": demonstration.TESTS}


@pytest.mark.parametrize(
    "message",
    [
        "test this",
        "how does `price_of` work?",
        "test\n```\nx = 1\n```",
        "import the prices = from the shop\n" * 500,
        "it prints this, why?\n```bash\npip install shop\n```",
        "the log says\n```\nerror: def broken(:\n```",
        '```json\n{"a": 1}\n```',
    ],
)
def test_other_messages_hold_no_code(message: str):
    assert pasted_code(message) is None


@pytest.mark.parametrize(
    ("message", "alone"),
    [
        (f"repair this\n```\n{WRONG}```", True),
        (f"add this to shop/cart.py\n```\n{WRONG}```", False),
        (f"add it to the Cart\n```\n{WRONG}```", False),
        (f"repair this\n```\n{FILES['shop/prices.py']}```", False),
        ("repair this\n```python\nfrom shop.cart import Cart\n\ndef filled():\n    return Cart(1)\n```", False),
        ("repair this\n```python\ndef total(n):\n    return n\n```", True),
        ("repair this\n```js\nfunction price_of(n) { return n }\n```", True),
    ],
)
def test_code_of_the_repository_does_not_stand_alone(shop: Workspace, message: str, alone: bool):
    found = pasted_code(message)
    assert found is not None and stands_alone(found, shop.index) is alone


@pytest.mark.slow
@pytest.mark.parametrize("wish", ["test this", "répare ceci"])
async def test_pasted_code_is_repaired_with_its_attempts_as_steps(shop: Workspace, wish: str):
    workspace = replace(shop, model=answering(lambda prompt: f"```python\n{RIGHT}```"))
    done, outline, _ = await traced(lambda step: answer(f"{wish}\n```python\n{WRONG}\n\n{TESTS}```", workspace, step))
    assert done.route.intent == "TEST" and not done.files
    assert done.result.genuine and done.result.code == RIGHT
    assert "2 tests of the message pass" in done.text or "2 tests du message" in done.text
    assert "  iteration 1" in outline and "  iteration 2" in outline
    assert "-    return n + n + 1\n+    return n * 2" in done.text and f"```python\n{RIGHT}```" in done.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wish", "code", "found"),
    [
        ("repair this", "```python\ndef area(w, h)\n    return w * h\n```", "line 1"),
        ("Test this:", "```python\nn = 3\nprint(m)\n```", "Undefined name `m`"),
        ("", "```java\nclass Money {\n    int add(int more) { return more }\n}\n```", "line 2"),
        ("Does it work?", "```js\nfunction double(n) { return n \n```", "line 1"),
        ("what is wrong with this code?", "```js\nfunction double(n) { return n \n```", "line 1"),
    ],
)
@pytest.mark.sampled(8)
async def test_without_tests_and_model_pasted_code_is_checked(shop: Workspace, wish: str, code: str, found: str):
    done, _, _ = await traced(lambda step: answer(f"{wish}\n{code}", shop, step))
    assert done.route.intent == "TEST" and not done.files
    assert "not run" in done.text and "Parser, linters and rules: " in done.text and found in done.text
    assert "shop/" not in done.text


@pytest.mark.slow
async def test_a_question_about_pasted_code_has_it_checked_and_not_the_repository(shop: Workspace):
    message = "what is wrong with this code?\n```python\nn = 3\nprint(m)\n```"
    for options in ({"is_question": True}, {"forced": "REVIEW"}):
        done, outline, _ = await traced(lambda step, options=options: answer(message, shop, step, **options))
        assert done.route.intent == "REVIEW" and "iteration" not in outline
        assert "Undefined name `m`" in done.text and "shop/" not in done.text


async def test_a_question_beside_pasted_code_is_answered_from_the_repository(shop: Workspace):
    message = "Where does the shop compute what an order costs?\n```python\ndef mine(n):\n    return n\n```"
    done, _, _ = await traced(lambda step: answer(message, shop, step))
    assert done.route.intent == "EXPLAIN" and done.evidence


@pytest.mark.slow
async def test_code_that_does_not_parse_is_repaired(shop: Workspace):
    broken = "def double(n)\n    return n * 2\n"
    replies = iter([f"```python\n{TESTS}```", f"```python\n{RIGHT}```"])
    workspace = replace(shop, model=answering(lambda prompt: next(replies)))
    done, _, _ = await traced(lambda step: answer(f"repair this\n```python\n{broken}```", workspace, step))
    assert done.result.genuine and done.result.code == RIGHT


@pytest.mark.slow
async def test_a_question_about_pasted_code_runs_nothing(shop: Workspace):
    message = f"repair this\n```python\n{WRONG}\n\n{TESTS}```"
    done, outline, _ = await traced(lambda step: answer(message, shop, step, is_question=True))
    assert done.route.intent != "TEST" and "iteration" not in outline


@pytest.mark.slow
async def test_pasted_code_that_never_ends_is_stopped_and_said(shop: Workspace):
    settings = shop.settings.model_copy(update={"test_timeout_s": 2})
    message = "test this\n```python\ndef stuck():\n    while True: pass\n\n\ndef test_it():\n    stuck()\n```"
    done, _, _ = await traced(lambda step: answer(message, replace(shop, settings=settings), step))
    assert not done.result.genuine and "2 s" in done.text


@pytest.mark.slow
@pytest.mark.parametrize("model", [None, "useless", "able"])
async def test_the_demonstration_fails_first_and_is_then_repaired(shop: Workspace, model: str | None):
    replies = {"useless": "I can't.", "able": f"```python\n{demonstration.REPAIRED}```", None: ""}
    scripted = answering(lambda prompt: replies[model]) if model else None
    message = demonstration.message("en")
    done, _, _ = await traced(lambda step: answer(message, replace(shop, model=scripted), step, "TEST"))
    first, last = done.result.iterations[0], done.result.iterations[-1]
    assert (first.run.passed, first.run.failed) == (1, 2) and last.run.genuine
    assert done.result.code == demonstration.REPAIRED
    assert ("recorded" in done.text) is (model != "able")


def test_the_demonstration_is_laid_out_for_a_chat_without_a_repository(tmp_path: Path):
    folder = demonstration.folder_with_code(tmp_path)
    assert (folder / "slug.py").read_text() == demonstration.CODE and folder == demonstration.folder_with_code(tmp_path)
