"""From a task to checked files, compared as trace outlines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from support.scripted_llm import Script
from support.shop_workspace import SHOP, answering, fenced, one_of, shop_workspace, traced
from support.small_repo import FILES

from repopilot import trace
from repopilot.agents.generate.pipeline import generate
from repopilot.agents.generate.render import generation_json
from repopilot.errors import ModelError
from repopilot.results import Answer
from repopilot.workspace import Workspace

pytestmark = pytest.mark.slow

PRICES = FILES["shop/prices.py"]
CHEAPER = PRICES.replace("95 // 100", "90 // 100")
BROKEN = PRICES.replace("PRICES[article]", "PRICES[article] + 1")
TASK = "raise the discount in shop/prices.py to ten percent"
NOTHING_WRONG = json.dumps({"issues": [], "test": ""})
RIGHT = json.dumps({"points": [{"quote": "return cents * 90 // 100", "argument": "whole cents"}]})
OWN_TESTS = """```python
from shop.prices import with_discount

def test_large():
    assert with_discount(10000) == 9000
"""
OWN_TESTS += "".join(f"\ndef test_{n}():\n    assert with_discount({n}) == {n}\n" for n in range(8)) + "```"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return shop_workspace(tmp_path_factory.mktemp("orchestrate"))


def replies(write: Script = "", **others: Script) -> Callable[[str], Script]:
    said = {
        "strict reviewer": others.get("critic", NOTHING_WRONG),
        "You defend": others.get("defender", RIGHT),
        "Write pytest tests": others.get("tests", ""),
        "must be corrected": others.get("revise", ""),
        "Reply with code only": "",  # a placed edit, which test_placed.py is about: whole files are written then
        "careful programmer": write or fenced("shop/prices.py", CHEAPER),
        "": others.get("rest", ""),
    }
    return one_of(said)


async def run(shop: Workspace, reply, **more) -> tuple[Answer, str, list[trace.Event]]:
    workspace = replace(shop, model=answering(reply), **more)
    return await traced(lambda step: generate(TASK, workspace, step))


def without(outline: str, *names: str) -> str:
    """The outline without the lower levels of parts that others own."""
    kept, skip = [], None
    for line in outline.split("\n"):
        depth = len(line) - len(line.lstrip())
        if skip is not None and depth > skip:
            continue
        skip = depth if line.strip().split(" ✗")[0] in names else None
        kept.append(line)
    return "\n".join(kept)


OUTLINE = """\
turn
  retrieve
  read
  generate
    find the lines
    replace lines
    replace lines
    replace lines
    choose files
    write
    check syntax
  tests
  debate
    critic
    defender
  controller
  impact
  follow-up edits
  answer"""
OWN_PARTS = ("tests", "tests 2", "controller", "impact")


async def test_from_the_task_to_checked_files(shop: Workspace) -> None:
    answer, outline, _ = await run(shop, replies(tests=OWN_TESTS))
    assert without(outline, *OWN_PARTS) == OUTLINE
    assert [(f.path, f.content) for f in answer.files] == [("shop/prices.py", CHEAPER)]
    assert answer.result.verdict.decision == "ACCEPT_ORIGINAL"
    assert answer.result.impact.risk in ("LOW", "MEDIUM", "HIGH", "UNKNOWN")
    assert answer.text.startswith(
        "The change: `shop/prices.py` modified (+1 −1).\n\n✓ 9 tests written for this change pass.  \n"
        "✓ Verified: the same tests fail when their assertions are inverted.  \n✓ **9.5/10**, accepted as written."
    )
    document = json.loads(json.dumps(generation_json(answer.result)))
    assert list(document) == ["verdict", "tests", "impact", "follow_ups"]
    assert document["verdict"]["decision"] == "ACCEPT_ORIGINAL"
    assert document["tests"]["genuine"] and document["tests"]["genuine_pass"] and document["tests"]["passed"] == 9
    assert document["tests"]["iterations"][0]["number"] == 1 and document["tests"]["written"] is None
    answers = TypeAdapter(Answer)
    assert answers.validate_json(answers.dump_json(answer)).result == answer.result


CART = FILES["shop/cart.py"]
REMOVE = CART.replace(
    "    def total",
    """    def remove(self, article: str) -> None:
        del self.items[article]

    def total""",
)
TAKES_ONE = REMOVE.replace("del self.items[article]", "self.items[article] -= 1")
REMOVE_TASK = "add a method remove(article) to Cart in shop/cart.py that removes an article"
REMOVE_TESTS = """```python
from shop.cart import Cart

def test_remove():
    cart = Cart()
    cart.add("apple", 2)
    cart.remove("apple")
    assert cart.items == {}

def test_remove_of_two():
    cart = Cart()
    cart.add("apple")
    cart.add("milk")
    cart.remove("milk")
    assert cart.items == {"apple": 1}
"""
EMPTIED = "    cart = Cart()\n    cart.add('milk', {n})\n    cart.remove('milk')\n    assert cart.items == {{}}\n"
REMOVE_TESTS += "".join(f"\ndef test_{n}():\n{EMPTIED.format(n=n)}" for n in range(2, 9)) + "```"


async def added(shop: Workspace, cart: str, task: str = REMOVE_TASK, **others: Script):
    workspace = replace(shop, model=answering(replies(fenced("shop/cart.py", cart), **others)))
    return await traced(lambda step: generate(task, workspace, step))


async def test_tests_that_do_not_touch_the_change_prove_nothing(shop: Workspace) -> None:
    answer, outline, _ = await added(shop, REMOVE)
    verdict = answer.result.verdict
    assert verdict.score < 8 and verdict.decision == "MERGE_FEEDBACK"
    reasons = "; ".join(verdict.reasons)
    assert (
        "+0.3 the repository's tests pass, verified by assertion inversion (9), but they don't exercise what is new: "
        "Cart.remove" in reasons
    )
    assert "not exercised by any test: Cart.remove" in reasons
    assert "✓ 9 tests of the repository pass" in answer.text and "! No test covers `Cart.remove`." in answer.text
    assert "kept as written, look it over." in answer.text
    assert answer.result.tests.unexercised == ("Cart.remove",)
    assert "merge feedback" not in outline and "generate 2" not in outline
    assert [f.content for f in answer.files] == [REMOVE]


async def test_what_is_new_gets_tests_of_its_own(shop: Workspace) -> None:
    answer, outline, _ = await added(shop, REMOVE, tests=REMOVE_TESTS)
    assert answer.result.verdict.decision == "ACCEPT_ORIGINAL"
    assert answer.result.tests.protected and answer.result.tests.written.genuine
    assert answer.result.tests.unexercised == ()
    assert "  tests\n" in outline and "  tests of what is new\n" in outline
    assert "✓ 9 tests of the repository pass" in answer.text
    assert "✓ 9 tests written for this change pass." in answer.text


async def test_tests_of_its_own_find_what_the_repositorys_miss(shop: Workspace) -> None:
    answer, *_ = await added(shop, TAKES_ONE, tests=REMOVE_TESTS, revise="no", rest=f"```python\n{REMOVE}```")
    assert [f.content for f in answer.files] == [REMOVE], "repaired by what the tests written for it showed"
    assert answer.result.verdict.score >= 8


async def test_a_repair_that_breaks_the_repositorys_tests_is_not_kept(shop: Workspace) -> None:
    breaking = REMOVE.replace("return with_discount(plain)", "return 0")
    answer, outline, _ = await added(shop, TAKES_ONE, tests=REMOVE_TESTS, revise="no", rest=f"```python\n{breaking}```")
    assert "tests again" in outline
    assert [f.content for f in answer.files] == [TAKES_ONE]
    assert answer.result.verdict.score < 8 and "so it was dropped" in answer.text


async def test_tests_that_come_with_the_change_are_run(shop: Workspace) -> None:
    own = REMOVE_TESTS.removeprefix("```python\n").removesuffix("```")
    both = fenced("shop/cart.py", REMOVE) + "\n" + fenced("tests/test_remove.py", own)
    workspace = replace(shop, model=answering(replies(both)))
    task = f"{REMOVE_TASK}, with tests in tests/test_remove.py"
    answer, *_ = await traced(lambda step: generate(task, workspace, step))
    assert {f.path for f in answer.files} == {"shop/cart.py", "tests/test_remove.py"}
    assert answer.result.tests.written.run.passed == 9 and answer.result.verdict.score >= 8


async def test_a_script_that_no_test_can_call_is_not_accepted(shop: Workspace) -> None:
    workspace = replace(shop, model=answering(replies(fenced("hello.py", "print('hello')\n"))))
    answer, outline, _ = await traced(lambda step: generate("write hello.py that prints hello", workspace, step))
    assert answer.result.verdict.score == 7.5 and "merge feedback" not in outline
    assert "! The tests were not run. The change has no named function or class that a test" in answer.text
    assert "! No test covers `hello.py`." in answer.text


async def test_what_the_task_removes_is_not_missed(shop: Workspace) -> None:
    less = FILES["shop/auth.py"].partition("\n\n\ndef validate_token")[0] + "\n"
    workspace = replace(shop, model=answering(replies(fenced("shop/auth.py", less))))
    answer, *_ = await traced(lambda step: generate("remove validate_token from shop/auth.py", workspace, step))
    reasons = answer.result.verdict.reasons
    assert answer.files[0].content == less and not any("public names" in reason for reason in reasons)
    # Another file still imports it.
    assert any("broken-use" in reason for reason in reasons)
    assert answer.result.verdict.decision == "MERGE_FEEDBACK"


async def test_comments_need_no_test(shop: Workspace) -> None:
    workspace = replace(shop, model=answering(replies(fenced("shop/prices.py", "# Cents.\n" + PRICES))))
    answer, *_ = await traced(lambda step: generate("add a comment to shop/prices.py", workspace, step))
    assert answer.result.verdict.score == 8 and "Not exercised" not in answer.text


async def test_a_french_task_is_answered_in_french(shop: Workspace) -> None:
    task = "ajoute une méthode remove(article) à la classe Cart dans shop/cart.py pour enlever un article du panier"
    answer, *_ = await added(shop, REMOVE, task)
    assert "`shop/cart.py` modifié (+3 −0).\n\n✓ 9 tests du dépôt réussissent." in answer.text
    assert "! Aucun test ne couvre `Cart.remove`.  \n! **7,5/10**, gardé tel quel, à relire." in answer.text


async def test_covering_tests_of_the_repository_decide(shop: Workspace) -> None:
    """A broken cart fails tests/test_cart.py: revised with the failing assertion, and the right version is kept."""
    cart = FILES["shop/cart.py"]
    wrong = cart.replace("self.items.get(article, 0) + count", "count + 1")
    right = cart.replace('raise EmptyCart("nothing to pay for")', 'raise EmptyCart("an empty cart")')
    reply = replies(
        fenced("shop/cart.py", wrong),
        revise=fenced("shop/cart.py", right),
        rest=f"```python\n{wrong}```",
    )
    workspace = replace(shop, model=answering(reply))
    answer, _, events = await traced(lambda step: generate("say more in EmptyCart in shop/cart.py", workspace, step))
    controllers = [n for n in _nodes(trace.tree(events)) if n["name"].startswith("controller")]
    assert controllers[0]["data"]["decision"] == "REQUEST_REVISION"
    assert "the repository's tests fail" in controllers[0]["output"]
    assert controllers[-1]["data"]["score"] >= 8
    assert [f.content for f in answer.files] == [right]
    assert answer.result.tests.genuine and answer.result.tests.protected
    assert "of the repository pass" in answer.text and "✓ Verified: " in answer.text


async def test_useless_revisions_end(shop: Workspace) -> None:
    wrong = FILES["shop/cart.py"].replace("self.items.get(article, 0) + count", "count + 1")
    reply = replies(fenced("shop/cart.py", wrong), revise=fenced("shop/cart.py", wrong), rest=f"```python\n{wrong}```")
    workspace = replace(shop, model=answering(reply))
    answer, _, events = await traced(lambda step: generate("count twice in shop/cart.py", workspace, step))
    assert answer.result.verdict.decision == "REQUEST_REVISION"
    assert any(said == "revision 1 returned the same code" for said in trace.degraded(events))
    assert "not good enough" in answer.text and answer.files


async def test_no_revision_begins_when_the_time_for_them_has_gone_by(shop: Workspace) -> None:
    wrong = FILES["shop/cart.py"].replace("self.items.get(article, 0) + count", "count + 1")
    reply = replies(fenced("shop/cart.py", wrong), rest=f"```python\n{wrong}```")
    settings = shop.settings.model_copy(update={"revise_within_s": 0.0})
    workspace = replace(shop, model=answering(reply), settings=settings)
    answer, outline, events = await traced(lambda step: generate("count twice in shop/cart.py", workspace, step))
    assert answer.result.verdict.decision == "REQUEST_REVISION" and answer.files
    assert "no further revision: the task has reached its time limit" in trace.degraded(events)
    assert "controller 2" not in outline


QUOTE = "return cents * 90 // 100 if cents >= DISCOUNT_FROM else cents"
ISSUE = json.dumps({"issues": [{"quote": QUOTE, "problem": "negative cents", "severity": "high"}]})


async def test_feedback_is_merged_when_nothing_gets_worse(shop: Workspace) -> None:
    merged = CHEAPER.replace("if cents >=", "if cents > 0 and cents >=")
    answer, outline, _ = await run(
        shop, replies(critic=ISSUE, defender='{"points": []}', revise=fenced("shop/prices.py", merged))
    )
    assert answer.result.verdict.decision == "MERGE_FEEDBACK"
    assert answer.files[0].content == merged
    assert "merge feedback" in outline


@pytest.mark.parametrize(
    ("merged", "why"),
    [
        ("def with_discount(cents):\n    return cents\n", "loses DISCOUNT_FROM"),
        ("no code at all", "can't be used"),
        (
            f"import subprocess\n{CHEAPER}\n\ndef run(c):\n    return subprocess.run(c, shell=True)\n",
            "analysers find more",
        ),
    ],
)
async def test_a_worse_merge_is_not_taken(shop: Workspace, merged: str, why: str) -> None:
    block = fenced("shop/prices.py", merged) if "def" in merged else merged
    answer, _, events = await run(shop, replies(critic=ISSUE, defender='{"points": []}', revise=block))
    assert answer.files[0].content == CHEAPER
    said = trace.degraded(events)
    assert any("original is kept" in s and why in s for s in said), said


async def test_a_failing_reviewer_is_said_and_costs_nothing_else(shop: Workspace) -> None:
    answer, outline, events = await run(shop, replies(critic=[ModelError("gone")], defender="no JSON"))
    assert "critic ✗" in outline and answer.files
    said = trace.degraded(events)
    assert sum("reply could not be read" in s for s in said) == 2
    assert "the critic's reply could not be read: scored without it" in answer.result.verdict.reasons


async def test_without_usable_code_the_answer_says_why(shop: Workspace) -> None:
    answer, outline, _ = await run(shop, replies("I can't."))
    assert answer.files == () and "generate ✗" in outline
    assert "**Nothing was changed.**" in answer.text and "code can't be used" in answer.text
    assert answer.result.verdict is None and answer.result.failure


async def test_without_a_model_it_is_said(shop: Workspace) -> None:
    answer, *_ = await traced(lambda step: generate(TASK, shop, step))
    assert answer.files == () and "No language model is available" in answer.text


async def test_a_change_that_no_test_reaches_is_checked_but_not_accepted(shop: Workspace) -> None:
    text = FILES["web/basket.js"].replace("<li>", "<li class='x'>")
    workspace = replace(shop, model=answering(replies(fenced("web/basket.js", text, "js"))))
    answer, _, events = await traced(lambda step: generate("add a class in web/basket.js", workspace, step))
    assert answer.files[0].content == text
    assert answer.result.verdict.score < 8 and "No test covers `web/basket.js`." in answer.text
    assert "No test in the repository was found that reaches the change." in trace.degraded(events)


async def test_the_critics_own_test_is_run(shop: Workspace) -> None:
    test = "from shop.prices import with_discount\n\ndef test_half():\n    assert with_discount(10000) == 9500\n"
    answer, *_ = await run(shop, replies(critic=json.dumps({"issues": [], "test": test})))
    assert any("passes on the old code and fails on the new" in r for r in answer.result.verdict.reasons)


async def test_cancelling_stops_every_model_call(shop: Workspace) -> None:
    started = asyncio.Event()

    def endless():
        started.set()
        while True:
            yield "x "
            yield 0.01

    workspace = replace(shop, model=answering(replies(write=endless())))
    events: list[trace.Event] = []

    async def work() -> None:
        async with trace.root(events.append, "turn") as step:
            await generate(TASK, workspace, step)

    task = asyncio.create_task(work())
    await started.wait()
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert all(n["state"] in ("ok", "stopped") for n in _nodes(trace.tree(events)))
    stopped = [n for n in _nodes(trace.tree(events)) if n["state"] == "stopped" and n["data"].get("model")]
    assert workspace.model.llm.abandoned == len(stopped) >= 1


def _nodes(nodes: list[dict]) -> list[dict]:
    return [inner for node in nodes for inner in (node, *_nodes(node["children"]))]


def test_the_snapshot_is_untouched(shop: Workspace) -> None:
    root: Path = shop.snapshot.root
    assert all((root / path).read_text() == text for path, text in FILES.items() if path not in SHOP)
