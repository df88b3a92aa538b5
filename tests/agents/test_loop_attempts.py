"""Several attempts of an agent model at one change: each on a copy of its own, and tests choose."""

import json
from dataclasses import replace

import pytest
from support.shop_workspace import answering, shop_workspace, traced

from repopilot.agents.coding.agent import LoopEdit, LoopEditor
from repopilot.agents.generate.loop_attempts import Attempt
from repopilot.agents.generate.pipeline import generate
from repopilot.results import TestReport
from repopilot.settings import Settings
from repopilot.types import FileChange, TestRun

FAILING = "from shop.prices import DISCOUNT_FROM\n\n\ndef test_discount_from():\n    assert DISCOUNT_FROM == 6000\n"


def _call(name: str, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


def _set(cents: int) -> str:
    return _call("replace_text", path="shop/prices.py", old="FROM = 5000", new=f"FROM = {cents}")


TASK = "make tests/test_from.py::test_discount_from pass"
CHECK, DONE = _call("changes"), _call("finish", summary="Done.")


@pytest.fixture
def attempted(tmp_path):
    async def run(*values: int, attempts: int):
        replies = [reply for value in values for reply in (_set(value), CHECK, DONE)]
        model = answering(lambda prompt: replies.pop(0) if replies and "What tools return" in prompt else "")
        shop = shop_workspace(tmp_path, {"tests/test_from.py": FAILING})
        settings = shop.settings.model_copy(update={"loop_attempts": attempts})
        agent = replace(shop, model=replace(model, way="agent"), settings=settings)
        answer, outline, _ = await traced(lambda step: generate(TASK, agent, step))
        return answer, outline, replies

    return run


@pytest.mark.slow
async def test_attempts_end_with_the_first_that_tests_prove(attempted):
    answer, outline, left = await attempted(7000, 6000, 8000, attempts=3)
    assert "+DISCOUNT_FROM = 6000" in answer.files[0].diff
    assert answer.result.tests.repaired and len(left) == 3
    assert [call.name for call in answer.result.calls] == ["replace_text", "changes", "finish"]
    tried = [line for line in outline.splitlines() if line.startswith("  attempt")]
    assert tried == ["  attempt 1", "  attempt 2"] and outline.count("    work with tools") == 2


@pytest.mark.slow
async def test_one_attempt_is_no_step_of_its_own(attempted):
    answer, outline, _ = await attempted(7000, attempts=1)
    assert "attempt" not in outline and "\n  work with tools" in outline
    assert "+DISCOUNT_FROM = 7000" in answer.files[0].diff


def _attempt(note: str = "", changed: bool = True, ran: bool = True, genuine: bool = False, **report) -> Attempt:
    edit = LoopEdit((FileChange("a.py", "modified", "", ""),) * changed, (), note, "")
    run = TestRun(1, 0, 0, 0.1, "limits", "", genuine) if ran else None
    return Attempt(edit, LoopEditor("", None), TestReport(run, **report))  # type: ignore[arg-type]


def test_the_better_attempt_breaks_nothing_and_turns_what_it_should():
    ordered = [
        _attempt(changed=False, ran=False),
        _attempt(broken=("a", "b"), repaired=("c",)),
        _attempt(broken=("a",)),
        _attempt(ran=False, note="stopped"),
        _attempt(ran=False),
        _attempt(),
        _attempt(added=("d", "e")),
        _attempt(genuine=True, repaired=("c",)),
    ]
    assert sorted(ordered, key=lambda each: each.rank) == ordered
    assert [each.proved for each in ordered] == [False] * 7 + [True]


def test_there_is_one_attempt_unless_asked_for():
    assert Settings().loop_attempts == 1
