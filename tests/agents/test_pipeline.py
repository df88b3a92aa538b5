"""From a task to checked files, compared as trace outlines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from support.scripted_llm import Script
from support.shop_workspace import SHOP, answering, one_of, shop_workspace, traced, workspace_of
from support.small_repo import FILES

from repopilot import trace
from repopilot.agents.generate.pipeline import generate
from repopilot.agents.generate.render import answered, generation_json
from repopilot.errors import ModelError
from repopilot.results import Answer, Generation
from repopilot.workspace import Workspace

pytestmark = pytest.mark.slow

PRICES, CART = FILES["shop/prices.py"], FILES["shop/cart.py"]
CHEAPER = PRICES.replace("95 // 100", "90 // 100")
TASK = "raise the discount in shop/prices.py to ten percent"
NOTHING_WRONG = json.dumps({"issues": [], "test": ""})
RIGHT = json.dumps({"points": [{"quote": "return cents * 90 // 100", "argument": "whole cents"}]})
REMOVE = CART.replace(
    "    def total",
    """    def remove(self, article: str) -> None:
        del self.items[article]

    def total""",
)
REMOVE_TASK = "add a method remove(article) to Cart in shop/cart.py that removes an article"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return shop_workspace(tmp_path_factory.mktemp("orchestrate"))


def call(name: str, **arguments: str) -> str:
    return json.dumps({"name": name, "arguments": arguments})


def written(path: str, text: str) -> str:
    """The call that gives a file of the shop another text."""
    return call("replace_text", path=path, old=FILES[path], new=text)


def replies(calls: Sequence[Script], **others: Script) -> Callable[[str], Script]:
    """An agent model that makes some calls, then finishes, and what it says as a reviewer."""
    left = [*calls]
    reviewers = {"strict reviewer": others.get("critic", NOTHING_WRONG), "You defend": others.get("defender", RIGHT)}

    def reply(prompt: str) -> Script:
        if any(name in prompt for name in reviewers):
            return one_of(reviewers)(prompt)
        return left.pop(0) if left else call("finish", summary="Done.")

    return reply


async def made(shop: Workspace, task: str, *calls: Script, **others: Script) -> tuple[Answer, str, list[trace.Event]]:
    agent = replace(answering(replies(calls, **others)), way="agent")
    return await traced(lambda step: generate(task, replace(shop, model=agent), step))


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
  work with tools
  tests
  debate
    critic
    defender
  controller
  impact
  follow-up edits
  answer"""
OWN_PARTS = ("work with tools", "tests", "controller", "impact")


async def test_from_the_task_to_checked_files(shop: Workspace) -> None:
    answer, outline, _ = await made(shop, TASK, written("shop/prices.py", CHEAPER))
    assert without(outline, *OWN_PARTS) == OUTLINE
    assert [(f.path, f.content) for f in answer.files] == [("shop/prices.py", CHEAPER)]
    assert answer.result.verdict.decision == "MERGE_FEEDBACK"
    assert answer.result.impact.risk in ("LOW", "MEDIUM", "HIGH", "UNKNOWN")
    assert answer.text.startswith("The change: `shop/prices.py` modified (+1 −1).\n\n✓ 18 tests of the repository pass")
    document = json.loads(json.dumps(generation_json(answer.result)))
    assert list(document) == ["calls", "explanation", "assumed", "unrun", "verdict", "tests", "impact", "follow_ups"]
    assert document["verdict"]["decision"] == "MERGE_FEEDBACK"
    assert document["tests"]["passed"] == 18 and not document["tests"]["genuine"]
    answers = TypeAdapter(Answer)
    assert answers.validate_json(answers.dump_json(answer)).result == answer.result


async def test_what_no_test_verifies_is_not_accepted(shop: Workspace) -> None:
    answer, _, _ = await made(shop, REMOVE_TASK, written("shop/cart.py", REMOVE))
    verdict = answer.result.verdict
    assert verdict.score < 8 and verdict.decision == "MERGE_FEEDBACK"
    assert "none of them tests what is new" in "; ".join(verdict.reasons)
    assert "✓ 18 tests of the repository pass" in answer.text and "No test notices" not in answer.text
    assert "kept as written, look it over." in answer.text


async def test_a_script_that_no_test_can_call_is_not_accepted(shop: Workspace) -> None:
    calls = [call("create_file", path="hello.py", content="print('hello')\n")]
    answer, _, _ = await made(shop, "write hello.py that prints hello", *calls)
    assert answer.result.verdict.score == 7.5
    assert "! The tests were not run. " in answer.text
    assert any("no test verifies it" in reason for reason in answer.result.verdict.reasons)


async def test_what_the_task_removes_is_not_missed(shop: Workspace) -> None:
    less = FILES["shop/auth.py"].partition("\n\n\ndef validate_token")[0] + "\n"
    answer, *_ = await made(shop, "remove validate_token from shop/auth.py", written("shop/auth.py", less))
    reasons = answer.result.verdict.reasons
    assert answer.files[0].content == less and not any("public names" in reason for reason in reasons)
    # Another file still imports it.
    assert any("broken-use" in reason for reason in reasons)
    assert answer.result.verdict.decision == "MERGE_FEEDBACK"


@pytest.mark.thorough
async def test_comments_need_no_test(shop: Workspace) -> None:
    answer, *_ = await made(shop, "add a comment to shop/prices.py", written("shop/prices.py", "# Cents.\n" + PRICES))
    assert not any("no test verifies it" in reason for reason in answer.result.verdict.reasons)


@pytest.mark.thorough
async def test_a_french_task_is_answered_in_french(shop: Workspace) -> None:
    task = "ajoute une méthode remove(article) à la classe Cart dans shop/cart.py pour enlever un article du panier"
    answer, *_ = await made(shop, task, written("shop/cart.py", REMOVE))
    assert "`shop/cart.py` modifié (+3 −0).\n\n✓ 18 tests du dépôt réussissent" in answer.text
    assert "! **7,5/10**, gardé tel quel, à relire." in answer.text


WRONG = CART.replace("self.items.get(article, 0) + count", "count + 1")


def block(path: str, old: str, new: str) -> str:
    return json.dumps({"blocks": [{"path": path, "search": old, "replace": new}]})


BROKEN = block(
    "shop/cart.py",
    "        self.items[article] = self.items.get(article, 0) + count",
    "        self.items[article] = count + 1",
)
EDIT = "say more in EmptyCart in shop/cart.py: the articles are added and counted by add, and nothing to pay for"


async def edited(shop: Workspace, reply: Script, critic: str = NOTHING_WRONG):
    """A small model's edit, and what it says as a reviewer."""
    says = one_of(
        {"strict reviewer": critic, "You defend": RIGHT, "You read a request": '{"tool": "other"}', "": reply}
    )
    workspace = replace(shop, model=answering(says))
    return await traced(lambda step: generate(EDIT, workspace, step))


async def test_covering_tests_of_the_repository_decide(shop: Workspace) -> None:
    """A broken cart fails tests/test_cart.py, which is said; the small model isn't asked again."""
    answer, outline, events = await edited(shop, BROKEN)
    (controller,) = [n for n in _nodes(trace.tree(events)) if n["name"].startswith("controller")]
    assert controller["data"]["decision"] == "REQUEST_REVISION"
    assert "the repository's tests fail" in controller["output"]
    assert "not good enough" in answer.text and [f.content for f in answer.files] == [WRONG]
    assert answer.result.tests.protected and answer.result.tests.broken
    assert "\n  debate\n    critic" in outline


@pytest.mark.thorough
async def test_the_few_lines_of_a_small_model_are_debated_beside_their_tests(shop: Workspace) -> None:
    quote = "self.items[article] = count + 1"
    critic = json.dumps({"issues": [{"quote": quote, "problem": "forgets what is there", "severity": "high"}]})
    answer, outline, _ = await edited(shop, BROKEN, critic=critic)
    assert "  debate\n    critic\n    defender" in outline
    assert "forgets what is there" in answer.text
    assert "-0.5 1 objection that quotes the code" in answer.result.verdict.reasons


async def test_a_debate_that_a_small_model_has_no_time_for_is_said(shop: Workspace) -> None:
    answer, outline, events = await edited(shop, [BROKEN[:-1], 0.5, BROKEN[-1:]])
    assert "debate" in outline and "critic" not in outline and answer.result.verdict
    assert any("the critic had no time to reply" in said for said in trace.degraded(events))


async def test_exact_edits_of_commands_are_not_debated(shop: Workspace) -> None:
    workspace = replace(shop, model=answering(lambda prompt: "no"))
    answer, outline, _ = await traced(lambda step: generate("/rename with_discount discounted", workspace, step))
    assert answer.files and "debate" not in outline


@pytest.mark.thorough
async def test_an_exact_edit_that_a_small_model_read_in_the_task_is_left_for_the_user_to_accept(
    shop: Workspace,
) -> None:
    """Tests that pass as before show that a rename is right, not that a rename was asked for."""
    call = json.dumps({"tool": "rename_symbol", "name": "with_discount", "new_name": "discounted"})
    workspace = replace(shop, model=answering(lambda prompt: call))
    answer, *_ = await traced(lambda step: generate("Rename `with_discount`, say `discounted`", workspace, step))
    assert answer.files and answer.result.verdict.decision == "MERGE_FEEDBACK" and not answer.result.by_code
    assert "a small model interpreted the task" in answer.text and "without a model" not in answer.text


@pytest.mark.thorough
async def test_a_change_is_shown_before_its_tests_and_says_that_they_are_still_to_come(shop: Workspace) -> None:
    answer, _, events = await traced(lambda step: generate("/rename with_discount discounted", shop, step))
    shown = [each.answer for each in events if isinstance(each, trace.Published)]
    assert shown[0].files and "Not tested yet." in shown[0].text and shown[0].result.tests is None
    assert answer.result.verdict and "Not tested yet." not in answer.text


@pytest.mark.thorough
async def test_a_place_that_a_follow_up_edits_is_not_left_for_the_user_as_well(tmp_path: Path) -> None:
    manual = "# Use\n\nCall `with_discount`.\n\nOr `with_discount(3)`.\n"
    shop = shop_workspace(tmp_path, {"docs/use.md": manual, "menu.yml": "run: with_discount\n"})
    answer, *_ = await traced(lambda step: generate("/rename with_discount discounted", shop, step))
    (edit,) = answer.result.follow_ups
    assert edit.change.content == manual.replace("with_discount", "discounted")
    assert [each.path for each in answer.result.open_references] == ["menu.yml"]
    assert answer.text.count("docs/use.md") == 1


async def test_a_small_model_without_a_usable_edit_says_what_would_do_it(shop: Workspace) -> None:
    answer, outline, _ = await edited(shop, "I can't.")
    assert answer.files == () and "generate ✗" in outline
    assert "**Nothing was changed.**" in answer.text and "calls tools" in answer.text
    assert answer.result.verdict is None and answer.result.failure


@pytest.mark.thorough
async def test_a_failing_reviewer_is_said_and_costs_nothing_else(shop: Workspace) -> None:
    calls = [written("shop/prices.py", CHEAPER)]
    answer, outline, events = await made(shop, TASK, *calls, critic=[ModelError("gone")], defender="no JSON")
    assert "critic ✗" in outline and answer.files
    said = trace.degraded(events)
    assert sum("reply could not be read" in s for s in said) == 2
    assert "the critic's reply could not be read: scored without it" in answer.result.verdict.reasons


async def test_without_a_model_it_is_said(shop: Workspace) -> None:
    answer, *_ = await traced(lambda step: generate(TASK, shop, step))
    assert answer.files == () and "No language model is available" in answer.text


async def test_a_change_that_no_test_reaches_is_checked_but_not_accepted(shop: Workspace) -> None:
    text = FILES["web/basket.js"].replace("<li>", "<li class='x'>")
    answer, _, events = await made(shop, "add a class in web/basket.js", written("web/basket.js", text))
    assert answer.files[0].content == text
    assert answer.result.verdict.score == 7.5
    assert "No test in the repository was found that reaches the change." in trace.degraded(events)


@pytest.mark.thorough
async def test_the_critics_own_test_is_run(shop: Workspace) -> None:
    test = "from shop.prices import with_discount\n\ndef test_half():\n    assert with_discount(10000) == 9500\n"
    critic = json.dumps({"issues": [], "test": test})
    answer, *_ = await made(shop, TASK, written("shop/prices.py", CHEAPER), critic=critic)
    assert any("passes on the old code and fails on the new" in r for r in answer.result.verdict.reasons)


async def test_cancelling_stops_every_model_call(shop: Workspace) -> None:
    started = asyncio.Event()

    def endless():
        started.set()
        while True:
            yield "x "
            yield 0.01

    workspace = replace(shop, model=replace(answering(replies([endless()])), way="agent"))
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


async def test_lines_that_a_refusal_quotes_are_code(tmp_path: Path) -> None:
    files = {
        "lib/shop.rb": 'autoload :Cart, "#{dir}/shop/cart"\n',
        "lib/shop/cart.rb": "class Cart\n  def sum\n  end\nend\n",
    }
    workspace = workspace_of(tmp_path, files)
    found, *_ = await traced(lambda step: generate("/rename Cart Basket", workspace, step))
    assert found.text.startswith("**Nothing was changed.**")
    assert '\n- `lib/shop.rb:1 autoload :Cart, "#{dir}/shop/cart"`' in found.text


def test_what_a_model_says_of_a_change_that_it_did_not_make_stays_markdown():
    said = "It can't be done.\n\n- *One* reason."
    assert f"**Nothing was changed.** {said}" in answered((), Generation(failure=said), "en").text
