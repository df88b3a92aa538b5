"""Plans: how their parts are ordered and worked on, and how a conversation goes on with them."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from support.index_case import write
from support.shop_workspace import offline, open_workspace, traced

from repopilot import trace
from repopilot.agents.planning.agent import plan
from repopilot.agents.planning.continuation import GoOn, is_continuation, wanted_parts
from repopilot.agents.planning.execution import proceed
from repopilot.agents.planning.render import plan_markdown
from repopilot.agents.wishes.likely_places import ordered
from repopilot.errors import UsageError
from repopilot.results import Answer, Plan, PlanPart, PlanQuestion, Turn
from repopilot.workspace import Workspace

FILES = {
    "limits.py": "MOST = 10\nLEAST = 1\n\n\ndef allowed(count):\n    return LEAST <= count <= MOST\n",
    "shop.py": "from limits import allowed\n\n\ndef order(count):\n    return allowed(count)\n",
    "notes.md": "# Notes\n\nAt most ten.\n",
}
PARTS = Plan(
    "other limits",
    (
        PlanPart(1, "rename allowed to permitted", ("limits.py",), "LOW"),
        PlanPart(2, "rename permitted to possible", ("limits.py",), "LOW", (1,)),
        PlanPart(3, "set NOTHING_LIKE_IT to 30", ("limits.py",), "LOW"),
    ),
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A small repository. Its parts are exact edits, which need no model."""
    tmp = tmp_path_factory.mktemp("plan")
    return open_workspace(write(tmp / "shop", FILES), offline(tmp / "home"))


def texts(answer: Answer) -> dict[str, str]:
    return {file.path: file.content for file in answer.files}


def states(answer: Answer) -> list[str]:
    assert isinstance(answer.result, Plan)
    return [part.state for part in answer.result.parts]


async def going_on(shop: Workspace, said: str, *before: Answer) -> Answer:
    turns = (Turn(PARTS.task, "", "DECOMPOSE", result=PARTS),)
    turns += tuple(Turn("proceed", answer.text, "DECOMPOSE", answer.files, answer.result) for answer in before)
    answer, *_ = await traced(lambda step: plan(said, replace(shop, turns=turns), step))
    return answer


@pytest.mark.slow
async def test_each_part_sees_those_before_it_and_the_whole_is_one_change(shop: Workspace, tmp_path: Path) -> None:
    answer, outline, _ = await traced(lambda step: proceed(PARTS, shop, step))
    assert states(answer) == ["done", "done", "failed"]
    assert "def possible(" in texts(answer)["limits.py"] and "import possible" in texts(answer)["shop.py"]
    named = [line.strip() for line in outline.split("\n") if line.startswith("  part")]
    assert named == ["part 1", "part 2", "part 3"]
    folder = write(tmp_path / "shop", FILES)
    (tmp_path / "all.diff").write_text("".join(file.diff for file in answer.files))
    subprocess.run(["git", "apply", "../all.diff"], cwd=folder, check=True)
    assert (folder / "shop.py").read_text() == texts(answer)["shop.py"]
    assert (shop.snapshot.root / "limits.py").read_text() == FILES["limits.py"], "the repository itself was changed"


@pytest.mark.slow
async def test_a_part_says_what_it_came_to_or_why_it_failed(shop: Workspace) -> None:
    answer, *_ = await traced(lambda step: proceed(PARTS, shop, step))
    done, _, failed = answer.result.parts
    assert "`limits.py`" in done.note and "no files" in failed.note
    assert failed.note in answer.text


@pytest.mark.slow
async def test_a_stop_keeps_the_finished_parts(shop: Workspace) -> None:
    published: list[Answer] = []

    async def work() -> None:
        def sink(event: trace.Event) -> None:
            if isinstance(event, trace.Published):
                published.append(event.answer)
            if isinstance(event, trace.Started) and event.name == "part 2":
                raise asyncio.CancelledError

        async with trace.root(sink, "turn") as step:
            await proceed(PARTS, shop, step)

    with pytest.raises(asyncio.CancelledError):
        await work()
    assert states(published[-1]) == ["done", "open", "open"]
    assert "def permitted(" in texts(published[-1])["limits.py"]
    assert ["running", "open", "open"] in [states(answer) for answer in published]
    assert all(isinstance(answer.result, Plan) for answer in published), "a part published its own answer"


@pytest.mark.slow
async def test_a_part_that_waits_for_a_failed_one_is_not_done(shop: Workspace) -> None:
    first = replace(PARTS.parts[0], title="set NOTHING_LIKE_IT to 30")
    answer, *_ = await traced(lambda step: proceed(replace(PARTS, parts=(first, *PARTS.parts[1:])), shop, step))
    assert states(answer) == ["failed", "open", "failed"]


async def test_an_unknown_part_is_wrong_use(shop: Workspace) -> None:
    with pytest.raises(UsageError):
        await traced(lambda step: proceed(PARTS, shop, step, [7]))


@pytest.mark.parametrize("said", ["skip part 99", "skip parts 1 and 99", "redo part 99", "proceed with part 99"])
async def test_a_command_that_names_an_unknown_part_is_wrong_use(shop: Workspace, said: str) -> None:
    with pytest.raises(UsageError, match="99"):
        await going_on(shop, said)


async def test_all_open_parts_are_skipped(shop: Workspace) -> None:
    assert states(await going_on(shop, "skip all")) == ["skipped"] * 3


@pytest.mark.slow
@pytest.mark.thorough
async def test_all_parts_are_done_again(shop: Workspace) -> None:
    first = await going_on(shop, "proceed with all")
    assert states(first) == ["done", "done", "failed"]
    again = await going_on(shop, "redo all", first)
    assert states(again) == ["done", "done", "failed"] and "`limits.py`" in again.result.note
    assert again.result.note.count("Part ") == 3, again.result.note


@pytest.mark.slow
async def test_the_conversation_carries_the_plan_and_its_drafts(shop: Workspace) -> None:
    first = await going_on(shop, "proceed")
    assert states(first) == ["done", "open", "open"]
    second = await going_on(shop, "skip part 3", first)
    assert states(second) == ["done", "open", "skipped"]
    assert "def permitted(" in texts(second)["limits.py"]


@pytest.mark.slow
@pytest.mark.thorough
async def test_a_part_that_is_done_again_takes_along_what_was_built_on_it(shop: Workspace) -> None:
    first = await going_on(shop, "proceed")
    second = await going_on(shop, "proceed", first)
    assert states(second) == ["done", "done", "open"]
    again = await going_on(shop, "redo part 1", first, second)
    assert states(again) == ["done", "open", "open"]
    assert "def permitted(" in texts(again)["limits.py"]


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("proceed", GoOn((1,))),
        ("proceed with all", GoOn(None)),
        ("proceed with part 2", GoOn((2,))),
        ("proceed with parts 1 and 3", GoOn((1, 3))),
        ("skip part 1", GoOn((), (1,))),
        ("skip", GoOn((), (1,))),
        ("skip all", GoOn((), (1, 3))),
        ("Passer tout", GoOn((), (1, 3))),
        ("skip parts 1, 3", GoOn((), (1, 3))),
        ("redo part 2", GoOn((2,), redo=True)),
        ("redo", GoOn((), redo=True)),
        ("redo all", GoOn(None, redo=True)),
        ("Refaire tout.", GoOn(None, redo=True)),
        ("Continuer avec la partie 1", GoOn((1,))),
    ],
)
def test_what_a_go_on_asks_for(said: str, wanted: GoOn) -> None:
    parts = replace(PARTS, parts=(PARTS.parts[0], replace(PARTS.parts[1], state="done"), PARTS.parts[2]))
    assert is_continuation(said)
    assert wanted_parts(said, parts) == wanted


ANSWERS = TypeAdapter(Answer)
TITLES = st.text(st.characters(categories=["L", "N", "P"], exclude_characters="`()—\n"), min_size=1).filter(str.strip)
MADE = st.builds(
    PlanPart,
    st.integers(1, 9),
    TITLES,
    st.lists(st.sampled_from(["a.py", "src/b c.js", "é.md"]), unique=True).map(tuple),
    st.sampled_from(["LOW", "MEDIUM", "HIGH", "UNKNOWN"]),
    st.lists(st.integers(1, 12), max_size=3).map(tuple),
    st.sampled_from(["open", "done", "failed", "skipped"]),
)


@pytest.mark.slow
@given(st.lists(MADE, max_size=8, unique_by=lambda p: p.number))
def test_ordering_ends_and_respects_dependencies(parts: list[PlanPart]) -> None:
    result = ordered(parts)
    assert [p.number for p in result] == list(range(1, len(parts) + 1))
    assert all(d < p.number for p in result for d in p.depends_on)


@pytest.mark.slow
@given(st.lists(MADE, min_size=1, max_size=5, unique_by=lambda p: p.number))
def test_a_plan_is_data_that_survives_json(parts: list[PlanPart]) -> None:
    made = Plan("a task", ordered(parts), (PlanQuestion("which?", ("a", "b")),), "Part 1 is done.")
    assert ANSWERS.validate_json(ANSWERS.dump_json(Answer("x", result=made))).result == made


def test_a_plan_is_said_in_both_languages() -> None:
    first = PlanPart(
        1, "Write a", ("a.py",), "LOW", place="a.py:A", reasons=("it is named",), acceptance=("it is fast",)
    )
    parts = (first, PlanPart(2, "Write b", ("b.py",), "LOW", (1,)))
    made = Plan("add a\nand b", parts, (PlanQuestion("Which?", ("a", "b")),), "Done.")
    assert plan_markdown(made, "en") == (
        "Done.\n\n**Plan:** add a and b\n\n1. [ ] Write a — `a.py:A` (LOW risk)\n   - because it is named\n"
        "   - acceptance criteria: it is fast\n2. [ ] Write b — `b.py` (LOW risk, after 1)\n\n"
        "Worth deciding first (or skip by proceeding):\n- Which? (a / b)\n\n"
        'Say "proceed" for the next part, "proceed with all", "proceed with part 2", "skip part 3" or "redo part 1".'
    )
    assert "`b.py` (risque faible, après 1)" in plan_markdown(made, "fr")
