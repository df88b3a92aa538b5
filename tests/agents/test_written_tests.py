"""Tests written for a named definition: where they go, what is kept of them, and what is said when nothing runs."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.shop_workspace import answering, shop_workspace, traced

from repopilot import trace
from repopilot.agents.testing.agent import test as answer_test
from repopilot.agents.testing.writing.placing import place_of
from repopilot.agents.testing.writing.subjects import named_subjects
from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.workspace import Workspace

pytestmark = pytest.mark.slow

EXTRA = {
    "shop/_rates.py": '''"""Exchange rates."""

RATES = {"EUR": 1, "DKK": 7}


def convert(cents: int, currency: str) -> int:
    """Cents in another currency.

    >>> convert(10, "DKK")
    70
    """
    if currency not in RATES:
        raise LookupError(currency)
    return cents * RATES[currency]


def rounded(cents: int, step: int = 5) -> int:
    """To the nearest multiple of a step."""
    return (cents + step // 2) // step * step


class Purse:
    """Coins."""

    def __init__(self) -> None:
        self.coins: list[int] = []

    def put(self, coin: int) -> int:
        """Put a coin in, and count them."""
        if coin <= 0:
            raise ValueError("no coin")
        self.coins.append(coin)
        return len(self.coins)

    def size(self) -> int:
        """How many coins there are."""
        return len(self.coins)
''',
    "tests/conftest.py": (
        "import pytest\nfrom shop._rates import Purse\n\n\n@pytest.fixture\ndef purse():\n    return Purse()\n"
    ),
    "tests/test_rates.py": '''"""Rates."""

from shop._rates import rounded


def test_rounded():
    assert rounded(12) == 10


def test_last():
    assert 1 + 1 == 2


class TestPurse:
    def test_put(self, purse):
        assert purse.put(1) == 1

    def test_unrelated(self):
        assert True
''',
    "tests/test_rates_extra.py": "def test_extra():\n    assert 2 == 2\n",
    "shop/remote.py": (
        "import left_out_of_the_sandbox\n\n\ndef fetch(count: int) -> int:\n"
        "    return left_out_of_the_sandbox.get() + count\n"
    ),
    "shop/legacy.py": "def total(items):\n    return sum(items)\n",
    "tests/test_legacy.py": (
        "import unittest\n\nfrom shop.legacy import total\n\n\nclass LegacyTest(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(total([1]), 1)\n"
    ),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return shop_workspace(tmp_path_factory.mktemp("written"), EXTRA)


async def asked(shop: Workspace, question: str, replies: dict[str, str], otherwise: str = "    pass\n"):
    """The answer where the model writes the body whose key is in the name of the test."""
    prompts: list[str] = []

    def reply(prompt: str) -> str:
        prompts.append(prompt)
        name = re.findall(r"def (test_\w+)\(", prompt)[-1]
        return next((body for key, body in replies.items() if re.fullmatch(key, name)), otherwise)

    workspace = replace(shop, model=answering(reply))
    answer, outline, events = await traced(lambda step: answer_test(question, workspace, step))
    return answer, outline, prompts, events


async def test_tests_go_where_the_neighbours_are_tested_with_what_they_import(shop: Workspace) -> None:
    replies = {
        "test_convert": '    assert convert(2, "DKK") == 14\n',
        "test_convert_raises_.*": '    with pytest.raises(LookupError):\n        convert(2, "XXX")\n',
    }
    answer, outline, prompts, _ = await asked(shop, "write tests for convert", replies)
    (change,) = answer.files
    assert change.path == "tests/test_rates.py" and change.change == "modified" and answer.result.genuine
    assert "from shop._rates import convert" in change.content and "import pytest" in change.content
    assert change.content.index("def test_last") < change.content.index("def test_convert")
    assert answer.result.run.passed == len(answer.result.additions) == 2
    assert outline.split("\n")[1:4] == ["  place", "  mutants", "  runs"]
    assert "def rounded" not in prompts[0] and "assert rounded(12) == 10" in prompts[0]
    assert prompts[0].endswith("def test_convert():\n")


async def test_every_test_that_is_kept_notices_a_mutant_and_says_which(shop: Workspace) -> None:
    replies = {"test_rounded.*": "    assert rounded(13) == 15\n"}
    answer, *_ = await asked(shop, "write tests for `rounded`", replies)
    report = answer.result
    assert [test.name for test in report.additions] == ["test_rounded_2"]
    caught = [m for m in report.mutants if m.caught_by]
    assert caught and all(m.caught_by == ("test_rounded_2",) and m.path == "shop/_rates.py" for m in caught)
    assert any(m.caught_before for m in report.mutants)
    assert "`test_rounded_2` catches" in answer.text and "line 19" in answer.text


async def test_a_test_that_notices_nothing_and_a_copy_are_not_kept(shop: Workspace) -> None:
    replies = {"test_rounded_2": "    assert rounded(12) == 10\n"}
    answer, *_ = await asked(shop, "write tests for rounded()", replies, "    assert rounded(1) is not None or 1\n")
    assert answer.files == () and answer.result.run is None and answer.result.additions == ()
    assert dict(answer.result.rejected).keys() == {"copy", "notices_nothing"}
    assert "No test both passed and caught a fault" in answer.text and "Not kept:" in answer.text


async def test_a_wrong_expectation_is_marked_as_characterisation(shop: Workspace) -> None:
    answer, *_ = await asked(shop, "write tests for rounded()", {"test_rounded_2": "    assert rounded(18) == 18\n"})
    (test,) = answer.result.additions
    assert test.expected == "18" and answer.result.genuine
    assert "# Characterisation" in answer.files[0].content and "assert rounded(18) == 20" in answer.files[0].content
    assert "only states what the code does today: the model expected `18`" in answer.text


async def test_methods_are_tested_in_their_class_with_its_fixtures(shop: Workspace) -> None:
    replies = {
        "test_put_2": "    assert purse.put(3) == 1\n    assert purse.size() == 1\n",
        "test_put_raises_value_error": "    with pytest.raises(ValueError):\n        purse.put(0)\n",
    }
    answer, _, prompts, _ = await asked(shop, "write tests for Purse.put", replies)
    content = answer.files[0].content
    assert "    def test_put_raises_value_error(self, purse):\n" in content and "import Purse" in content
    assert content.index("test_put_raises") < content.index("def test_unrelated")
    assert all(test.name.startswith("TestPurse::") for test in answer.result.additions)
    assert "def test_put_2(self, purse):" in prompts[0]


async def test_what_the_code_imports_its_tests_import_alike(tmp_path: Path) -> None:
    code = "from datetime import date\n\n\ndef day(number: int) -> date:\n    return date(2026, 1, number + 1)\n"
    shop = shop_workspace(tmp_path, {"shop/days.py": code})
    answer, *_ = await asked(shop, "write tests for day()", {"test_day": "    assert day(3) == date(2026, 1, 4)\n"})
    assert "from datetime import date\n" in answer.files[0].content and answer.result.genuine


async def test_a_unittest_class_gets_its_own_style(shop: Workspace) -> None:
    answer, *_ = await asked(
        shop, "write tests for total in shop/legacy.py", {"test_total_2": "assert total([1, 2]) == 3"}
    )
    assert "    def test_total_2(self):\n        self.assertEqual(total([1, 2]), 3)\n" in answer.files[0].content
    assert answer.result.genuine


async def test_nothing_is_called_tested_where_nothing_could_run(shop: Workspace) -> None:
    answer, *_ = await asked(shop, "write tests for fetch", {"test_fetch.*": "    assert fetch(2) == 3\n"})
    report = answer.result
    assert report.run is None and not report.genuine and not report.mutants
    assert "left_out_of_the_sandbox" in answer.text and "environment is needed" in answer.text
    assert "have not been run" in answer.text and answer.files[0].path == "tests/test_remote.py"
    assert "from shop.remote import fetch" in answer.files[0].content


async def test_docstring_examples_need_no_model(shop: Workspace) -> None:
    answer, _, events = await traced(lambda step: answer_test("write tests for convert", shop, step))
    assert 'assert convert(10, "DKK") == 70' in answer.files[0].content and answer.result.genuine
    assert answer.result.additions[0].origin == "doctest" and "examples in the docstring" in answer.text
    assert any("no model" in said for said in trace.degraded(events))
    with pytest.raises(GenerationFailed):
        await traced(lambda step: answer_test("write tests for rounded()", shop, step))


async def test_stop_leaves_what_is_finished(shop: Workspace) -> None:
    events: list[trace.Event] = []

    def reply(prompt: str):
        return ["    assert ", 600.0]

    async def work() -> None:
        async with trace.root(events.append, "turn") as step:
            await answer_test("write tests for convert", replace(shop, model=answering(reply)), step)

    def published() -> list:
        return [event.answer for event in events if isinstance(event, trace.Published)]

    task = asyncio.create_task(work())
    for _ in range(600):
        if published():
            break
        await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert "test_convert_examples" in published()[0].files[0].content


async def test_the_file_alone_means_what_is_not_tested_yet(shop: Workspace) -> None:
    subjects = named_subjects("write tests for shop/_rates.py", shop)
    assert [subject.symbol for subject in subjects] == ["convert", "Purse.size", "rounded"]


def test_a_name_that_nothing_has_is_said(shop: Workspace) -> None:
    with pytest.raises(GenerationFailed, match="called roundedd") as refused:
        named_subjects("write tests for roundedd()", shop)
    assert "rounded" in refused.value.hint


@pytest.mark.parametrize(
    "question, symbols",
    [
        ("write tests for `Purse`", ["Purse"]),
        ("test Purse.put and rounded()", ["Purse.put", "rounded"]),
        ("@shop/_rates.py:Purse.size add tests", ["Purse.size"]),
        ("écris des tests pour la méthode Purse.size", ["Purse.size"]),
        ("write tests for web/basket.js", []),
        ("write tests for the checkout of carts", ["checkout"]),
    ],
)
def test_what_a_request_names(shop: Workspace, question: str, symbols: list[str]) -> None:
    assert [s.symbol for s in named_subjects(question, shop)] == symbols


def test_a_name_of_several_definitions_is_asked_about(tmp_path: Path) -> None:
    shop = shop_workspace(
        tmp_path, {"a/one.py": "def twice(x):\n    return 2 * x\n", "b/two.py": "def twice():\n    pass\n"}
    )
    with pytest.raises(PlaceAmbiguous) as refused:
        named_subjects("write tests for twice()", shop)
    assert set(refused.value.choices) == {"a/one.py:twice", "b/two.py:twice"}
    (chosen,) = named_subjects("write tests for twice() @b/two.py:twice", shop)
    assert chosen.path == "b/two.py"
    place = place_of(chosen, shop)
    assert (place.path, place.exists, place.import_line) == ("tests/test_two.py", False, "from b.two import twice")
