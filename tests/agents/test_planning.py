"""Plans: drafts checked against the repository, fallbacks, and the work on their parts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from support.shop_workspace import answering, fenced, one_of, shop_workspace, traced

from repopilot.agents.planning.agent import plan, proceed, wanted_parts
from repopilot.agents.planning.parts import ordered
from repopilot.agents.planning.render import plan_markdown
from repopilot.errors import UsageError
from repopilot.results import Answer, Plan, PlanPart, PlanQuestion, Turn
from repopilot.workspace import Workspace

TASK = "add vouchers: a table, checkout support and a page"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return shop_workspace(tmp_path_factory.mktemp("plan"))


async def planned(shop: Workspace, reply, question: str = TASK, turns: tuple[Turn, ...] = ()):
    model = answering(reply if callable(reply) else lambda prompt: reply)
    workspace = replace(shop, model=model, turns=turns)
    return await traced(lambda step: plan(question, workspace, step))


PARTS = Plan(
    TASK,
    (
        PlanPart(1, "Write a", ("a.py",), "LOW"),
        PlanPart(2, "Write b", ("b.py",), "LOW", (1,)),
        PlanPart(3, "Write c", ("c.py",), "LOW"),
    ),
)
WRITER = one_of(
    {
        r"Write c\n": "I can't.",
        r"Write a\n": fenced("a.py", "A = 1\n"),
        r"Write b\n": fenced("b.py", "B = 2\n"),
    }
)


async def test_parts_are_worked_on_one_by_one(shop: Workspace) -> None:
    workspace = replace(shop, model=answering(WRITER))
    answer, outline, _ = await traced(lambda step: proceed(PARTS, workspace, step))
    states = [p.state for p in answer.result.parts]
    assert states == ["done", "done", "failed"]
    assert {f.path: f.content for f in answer.files} == {"a.py": "A = 1\n", "b.py": "B = 2\n"}
    assert [line.strip() for line in outline.split("\n") if "part" in line] == ["part 1", "part 2", "part 3 ✗"]


async def test_it_stops_between_parts_when_asked(shop: Workspace) -> None:
    async def only_one(current: Plan) -> bool:
        return not any(p.state == "done" for p in current.parts)

    workspace = replace(shop, model=answering(WRITER))
    answer, *_ = await traced(lambda step: proceed(PARTS, workspace, step, keep_going=only_one))
    assert [p.state for p in answer.result.parts] == ["done", "open", "open"]


async def test_a_part_that_waits_for_a_failed_one_is_not_done(shop: Workspace) -> None:
    workspace = replace(shop, model=answering(lambda prompt: "no"))
    answer, *_ = await traced(lambda step: proceed(PARTS, workspace, step))
    assert [p.state for p in answer.result.parts] == ["failed", "open", "failed"]


async def test_an_unknown_part_is_wrong_use(shop: Workspace) -> None:
    with pytest.raises(UsageError):
        await traced(lambda step: proceed(PARTS, shop, step, [7]))


async def test_the_conversation_carries_the_plan(shop: Workspace) -> None:
    turns = (Turn(TASK, "", "DECOMPOSE", result=PARTS),)
    first, *_ = await planned(shop, WRITER, "proceed", turns)
    assert [p.state for p in first.result.parts] == ["done", "open", "open"]
    turns = (*turns, Turn("proceed", first.text, "DECOMPOSE", first.files, first.result))
    second, *_ = await planned(shop, WRITER, "skip part 3 and go on", turns)
    assert [p.state for p in second.result.parts] == ["done", "done", "skipped"]
    assert [f.path for f in second.files] == ["a.py", "b.py"]


@pytest.mark.parametrize(
    ("said", "numbers", "skipped"),
    [
        ("proceed", [1], []),
        ("proceed with all", None, []),
        ("do part 2", [2], []),
        ("go on with parts 1 and 3", [1, 3], []),
        ("skip part 1", [], [1]),
        ("skip part 1 and continue", [3], [1]),
        ("vas-y", [1], []),
    ],
)
def test_what_a_go_on_asks_for(said: str, numbers: list[int] | None, skipped: list[int]) -> None:
    parts = replace(PARTS, parts=(PARTS.parts[0], replace(PARTS.parts[1], state="done"), PARTS.parts[2]))
    assert wanted_parts(said, parts) == (numbers, skipped)


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


@given(st.lists(MADE, max_size=8, unique_by=lambda p: p.number))
def test_ordering_ends_and_respects_dependencies(parts: list[PlanPart]) -> None:
    result = ordered(parts)
    assert [p.number for p in result] == list(range(1, len(parts) + 1))
    assert all(d < p.number for p in result for d in p.depends_on)


@given(st.lists(MADE, min_size=1, max_size=5, unique_by=lambda p: p.number))
def test_a_plan_is_data_that_survives_json(parts: list[PlanPart]) -> None:
    made = Plan("a task", ordered(parts), (PlanQuestion("which?", ("a", "b")),), "Part 1 is done.")
    assert ANSWERS.validate_json(ANSWERS.dump_json(Answer("x", result=made))).result == made


def test_a_plan_is_said_in_both_languages() -> None:
    made = replace(PARTS, questions=(PlanQuestion("Which?", ("a", "b")),), note="Done.")
    assert plan_markdown(made, "en") == (
        "Done.\n\n**Plan:** add vouchers: a table, checkout support and a page\n\n1. [ ] Write a — `a.py` (LOW risk)\n"
        "2. [ ] Write b — `b.py` (LOW risk, after 1)\n3. [ ] Write c — `c.py` (LOW risk)\n\n"
        "Worth deciding first (or skip by proceeding):\n- Which? (a / b)\n\n"
        'Say "proceed" for the next part, "proceed with all", "proceed with part 2" or "skip part 3".'
    )
    assert "`b.py` (risque faible, après 1)" in plan_markdown(made, "fr")
