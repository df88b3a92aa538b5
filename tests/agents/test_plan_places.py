"""Where a plan's parts come from: the search, past commits, the code graph, and the task's own words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.git_server import commit
from support.shop_workspace import offline, open_workspace, traced

from repopilot.agents.planning.agent import plan
from repopilot.agents.wishes.touched_files import role_of
from repopilot.results import Plan
from repopilot.workspace import Workspace

CLI = "from .rates import rate\n\n\ndef main(argv):\n    parser = make_parser()\n    return rate(parser.parse(argv))\n"
RATES = (
    '"""Exchange rates."""\n\n\nclass RateError(Exception):\n    """A rate is unknown."""\n\n\n'
    "def rate(currency):\n    return fetch(currency)\n\n\ndef fetch(currency):\n    raise RateError(currency)\n"
)
FILES = {
    "money/__init__.py": "from .rates import rate\n",
    "money/rates.py": RATES,
    "money/cli.py": CLI,
    "money/paper.py": "def print_notes(count):\n    return ['note'] * count\n",
    "money/mint.py": "def strike_coins(count):\n    return ['coin'] * count\n",
    "tests/test_rates.py": "from money.rates import rate\n\n\ndef test_rate():\n    assert rate\n",
    "tests/test_mint.py": "from money.mint import strike_coins\n\n\ndef test_coins():\n    assert strike_coins(1)\n",
    "docs/guide.md": "# Guide\n\n## Rates\n\nA rate is fetched from the exchange.\n\n## Coins\n\nCoins are struck.\n",
    "CHANGES.md": "# Changes\n\n## Unreleased\n\n- First.\n",
}


@pytest.fixture(scope="module")
def money(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A package whose past features on rates always touched rates, its tests and the change log."""
    tmp = tmp_path_factory.mktemp("money")
    folder = tmp / "money"
    commit(folder, FILES, "Begin")
    for number, what in enumerate(
        ("Add rounding of a rate", "Add inverse rate", "Add rate of a past day", "Add rate unit")
    ):
        commit(
            folder,
            {
                "money/rates.py": RATES + f"\n\ndef more_{number}():\n    return {number}\n",
                "tests/test_rates.py": f"{FILES['tests/test_rates.py']}# {number}\n",
                "CHANGES.md": f"{FILES['CHANGES.md']}- {what}.\n",
            },
            what,
        )
    commit(
        folder, {"money/mint.py": "def strike_coins(count):\n    return ['coin'] * int(count)\n"}, "Accept whole coins"
    )
    return open_workspace(folder, offline(tmp / "home"))


async def planned(workspace: Workspace, task: str) -> Plan:
    answer, *_ = await traced(lambda step: plan(task, workspace, step))
    assert isinstance(answer.result, Plan)
    return answer.result


@pytest.mark.slow
async def test_places_come_from_the_search_and_from_what_similar_commits_touched(money: Workspace) -> None:
    made = await planned(money, "Add caching of a rate, on disk and in memory, with expiry")
    files = [part.files[0] for part in made.parts]
    assert files[0] == "money/rates.py" and made.parts[0].place.startswith("money/rates.py:")
    assert {"tests/test_rates.py", "CHANGES.md"} <= set(files)
    assert "money/mint.py" not in files
    reasons = " ".join(made.parts[files.index("CHANGES.md")].reasons)
    assert "of the 5 most similar commits touched it" in reasons or "commits to `money/rates.py`" in reasons


@pytest.mark.slow
async def test_code_comes_before_its_tests_and_those_before_the_change_log(money: Workspace) -> None:
    made = await planned(money, "Add caching of a rate")
    roles = [role_of(part.files[0]) for part in made.parts]
    order = ["source", "exports", "config", "tests", "docs", "changelog"]
    assert [order.index(role) for role in roles] == sorted(order.index(role) for role in roles)
    source = {part.number for part in made.parts if role_of(part.files[0]) == "source"}
    assert all(set(part.depends_on) == source for part in made.parts if role_of(part.files[0]) != "source")


async def test_a_mentioned_place_is_taken(money: Workspace) -> None:
    made = await planned(money, "Accept fractions @money/mint.py:strike_coins")
    assert made.parts[0].place == "money/mint.py:strike_coins"
    assert "the task names it" in made.parts[0].reasons[0]


@pytest.mark.slow
async def test_a_plan_says_how_far_its_places_are_to_be_trusted(money: Workspace, tmp_path) -> None:
    made = await planned(money, "Add the currency of a rate")
    assert made.note.startswith("Search, past commits and the words in the file agree")
    folder = tmp_path / "young"
    commit(folder, FILES, "Begin")
    young = open_workspace(folder, offline(tmp_path / "home"))
    assert (await planned(young, "Add caching of a rate")).note.startswith("No place is certain")
    assert not (await planned(money, "Accept fractions @money/mint.py:strike_coins")).note


@pytest.mark.parametrize("task", ["Improve it", "Add quantum teleportation of zebras", "add support"])
async def test_what_names_nothing_here_is_asked_with_places_to_choose(money: Workspace, task: str) -> None:
    answer, *_ = await traced(lambda step: plan(task, money, step))
    made = answer.result
    assert isinstance(made, Plan) and made.parts == ()
    (question,) = made.questions
    assert len(question.options) >= 2 and all(option.startswith("@money/") for option in question.options)
    assert "1." not in answer.text, "a plan-shaped text"
    chosen = await planned(money, f"{task} {question.options[0]}")
    assert chosen.parts[0].files[0] in question.options[0]


@pytest.mark.slow
async def test_without_history_the_plan_says_so(money: Workspace, tmp_path) -> None:
    folder = tmp_path / "plain"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    plain = replace(open_workspace(folder, offline(tmp_path / "home")))
    answer, _, events = await traced(lambda step: plan("Add caching to `rate`", plain, step))
    assert answer.result.parts[0].place == "money/rates.py:rate"
    assert any("there is no history" in str(event) for event in events)


@pytest.mark.slow
async def test_where_the_task_names_a_definition_only_that_and_its_users_are_changed(money: Workspace) -> None:
    made = await planned(money, "plan: let RateError take the currency")
    code = [part.place for part in made.parts if role_of(part.files[0]) == "source"]
    assert code == ["money/rates.py:RateError"]
    made = await planned(money, "plan: let `strike_coins` accept the metal of a rate")
    code = [part.place for part in made.parts if role_of(part.files[0]) == "source"]
    assert code == ["money/mint.py:strike_coins"]
    assert [part.files for part in made.parts if role_of(part.files[0]) == "tests"] == [("tests/test_mint.py",)]
