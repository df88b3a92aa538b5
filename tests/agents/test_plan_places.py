"""Where a plan's parts come from: the search, past commits, the code graph, and the task's own words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.git_server import commit
from support.shop_workspace import offline, open_workspace, traced

from repopilot.agents.planning.agent import plan
from repopilot.agents.planning.requirements import goals_of
from repopilot.agents.planning.touched_files import role_of
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


async def test_places_come_from_the_search_and_from_what_similar_commits_touched(money: Workspace) -> None:
    made = await planned(money, "Add caching of a rate, on disk and in memory, with expiry")
    files = [part.files[0] for part in made.parts]
    assert files[0] == "money/rates.py" and made.parts[0].place.startswith("money/rates.py:")
    assert {"tests/test_rates.py", "CHANGES.md"} <= set(files)
    assert "money/mint.py" not in files
    reasons = " ".join(made.parts[files.index("CHANGES.md")].reasons)
    assert "of the 5 commits most like this touched it" in reasons or "commits to `money/rates.py`" in reasons


async def test_conditions_are_accepted_with_a_part_and_are_no_parts(money: Workspace) -> None:
    made = await planned(money, "Add caching of a rate, on disk and in memory, with expiry")
    assert made.parts[0].acceptance == ("on disk", "in memory", "with expiry")
    test = next(part for part in made.parts if part.files == ("tests/test_rates.py",))
    assert test.acceptance == ("on disk", "in memory", "with expiry")
    assert not any("expiry" in part.title for part in made.parts)


async def test_code_comes_before_its_tests_and_those_before_the_change_log(money: Workspace) -> None:
    made = await planned(money, "Add caching of a rate")
    roles = [role_of(part.files[0]) for part in made.parts]
    order = ["source", "exports", "config", "tests", "docs", "changelog"]
    assert [order.index(role) for role in roles] == sorted(order.index(role) for role in roles)
    source = {part.number for part in made.parts if role_of(part.files[0]) == "source"}
    assert all(set(part.depends_on) == source for part in made.parts if role_of(part.files[0]) != "source")


async def test_something_new_is_defined_beside_the_most_similar_name_before_it_is_used(money: Workspace) -> None:
    made = await planned(money, "Add a `StaleRateError` for a rate that is too old")
    first = made.parts[0]
    assert (first.place, first.edit) == ("money/rates.py:RateError", "add_class")
    assert "StaleRateError" in first.title


async def test_a_new_function_goes_beside_a_function(money: Workspace) -> None:
    made = await planned(money, "Add a function `rounded_text` that writes a rate for people")
    first = next(part for part in made.parts if part.edit == "add_function")
    assert first.place in ("money/rates.py:rate", "money/rates.py:fetch", "money/rates.py:more_3")


async def test_a_plain_word_that_is_called_a_function_is_its_place(money: Workspace) -> None:
    made = await planned(money, "plan: add a unit to the fetch function")
    assert made.parts[0].place == "money/rates.py:fetch"


async def test_a_mentioned_place_is_taken(money: Workspace) -> None:
    made = await planned(money, "Accept fractions @money/mint.py:strike_coins")
    assert made.parts[0].place == "money/mint.py:strike_coins"
    assert "the task names it" in made.parts[0].reasons[0]


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


async def test_several_goals_are_planned_one_after_the_other(money: Workspace) -> None:
    made = await planned(money, "first add caching of a rate, then add coins of two sizes to `strike_coins`")
    files = [part.files[0] for part in made.parts]
    assert files.index("money/rates.py") < files.index("money/mint.py")
    assert files.count("CHANGES.md") <= 1
    assert [part.number for part in made.parts] == list(range(1, len(files) + 1))


async def test_without_history_the_plan_says_so(money: Workspace, tmp_path) -> None:
    folder = tmp_path / "plain"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    plain = replace(open_workspace(folder, offline(tmp_path / "home")))
    answer, _, events = await traced(lambda step: plan("Add caching to `rate`", plain, step))
    assert answer.result.parts[0].place == "money/rates.py:rate"
    assert any("there is no history" in str(event) for event in events)


@pytest.mark.parametrize(
    ("task", "goal", "topic", "points"),
    [
        (
            "add response caching, on disk and in memory, with expiry",
            "add response caching",
            "response caching",
            ("on disk", "in memory", "with expiry"),
        ),
        (
            "feat: add support for ETag in res.sendFile",
            "add support for ETag in res.sendFile",
            "ETag in res.sendFile",
            (),
        ),
        ("add vouchers: a table, sums and a page", "add vouchers", "vouchers", ("a table", "sums", "a page")),
        ("Add `a`, `b` and `c` filters", "Add `a`, `b` and `c` filters", "`a`, `b` and `c` filters", ()),
        ("Make it work with pipes", "Make it work with pipes", "Make it work with pipes", ()),
        (
            "plan: add a --dry-run option to insert",
            "add a --dry-run option to insert",
            "a --dry-run option to insert",
            (),
        ),
        ("Plan how to add hooks", "add hooks", "hooks", ()),
        ("Allow hooks\n\nOff by default. I like it.", "Allow hooks", "Allow hooks", ("Off by default",)),
        ("ajoute un cache, sur disque et en mémoire", "ajoute un cache", "un cache", ("sur disque", "en mémoire")),
    ],
)
def test_conditions_are_told_from_the_goal(task: str, goal: str, topic: str, points: tuple[str, ...]) -> None:
    (wanted,) = goals_of(task)
    assert (wanted.goal, wanted.topic, wanted.points) == (goal, topic, points)


@pytest.mark.parametrize(
    ("task", "goals"),
    [
        ("do this:\n- add a model\n- add an api\n- add a page", ["add a model", "add an api", "add a page"]),
        ("first add the model, then the api and finally the page", ["add the model", "add the api", "add the page"]),
        ("rewrite the backend", ["rewrite the backend"]),
    ],
)
def test_a_list_of_things_to_do_has_several_goals(task: str, goals: list[str]) -> None:
    assert [wanted.goal for wanted in goals_of(task)] == goals


@given(st.text(max_size=300))
def test_any_text_has_a_goal(task: str) -> None:
    goals = goals_of(task)
    assert goals and all(wanted.points == tuple(dict.fromkeys(wanted.points)) for wanted in goals)


async def test_the_entry_of_a_changelog_says_what_is_wanted(money: Workspace) -> None:
    made = await planned(money, "plan: add a rate of the week, and document it in the changelog")
    part = next(part for part in made.parts if part.files == ("CHANGES.md",))
    assert part.title == 'Add "Add a rate of the week" to `CHANGES.md`'


async def test_where_the_task_names_a_definition_only_that_and_its_users_are_changed(money: Workspace) -> None:
    made = await planned(money, "plan: let RateError take the currency")
    code = [part.place for part in made.parts if role_of(part.files[0]) == "source"]
    assert code == ["money/rates.py:RateError"]
    made = await planned(money, "plan: let `strike_coins` accept the metal of a rate")
    code = [part.place for part in made.parts if role_of(part.files[0]) == "source"]
    assert code == ["money/mint.py:strike_coins"]
    assert [part.files for part in made.parts if role_of(part.files[0]) == "tests"] == [("tests/test_mint.py",)]


async def test_a_plain_word_behind_a_preposition_that_a_class_is_called_is_a_place(tmp_path) -> None:
    commit(tmp_path / "mint", {"mint.py": "class Coin:\n    pass\n\n\nclass Purse:\n    pass\n"}, "Begin")
    workspace = open_workspace(tmp_path / "mint", offline(tmp_path / "home"))
    made = await planned(workspace, "plan: add a method weigh_all to Purse that takes a list")
    first = made.parts[0]
    assert (first.place, first.edit, first.title) == ("mint.py:Purse", "add_member", "Add `weigh_all` to `Purse`")


async def test_a_plan_repeats_the_wish_without_the_word_plan(money: Workspace) -> None:
    assert (await planned(money, "plan: add inverse rates")).task == "add inverse rates"
