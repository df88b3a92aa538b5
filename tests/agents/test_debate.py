"""Debate and Controller: quotes that exist, parallel reviewers, and a score in which evidence outranks opinion."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scripted_models import scripted_model
from support.shop_workspace import answering, offline, traced

from repopilot import i18n, trace
from repopilot.agents.generate import scoring
from repopilot.agents.generate.debate import (
    CriticPoint,
    TriedTest,
    code_shown,
    debate,
    place_of,
    quoted_issues,
    try_objection,
)
from repopilot.agents.generate.evidence import ChangeContext
from repopilot.agents.generate.scoring import ChangeEvidence, Issue, Opinions, decision, judge
from repopilot.agents.testing.render import run_points
from repopilot.results import TestReport
from repopilot.tools.file_change import change as file_change
from repopilot.types import Failure, FileChange, Finding, TestRun
from repopilot.workspace import Workspace

CODE = "def half(n):\n    return n // 2\n\n\ndef double(n):\n    return n * 3\n"
CHANGES = (FileChange("maths.py", "added", "", CODE),)
CRITIQUE = {"issues": [{"quote": "return n * 3", "problem": "triples", "severity": "high"}], "test": ""}
DEFENCE = {"points": [{"quote": "return n // 2", "argument": "whole numbers"}]}


def workspace(tmp_path, critic, defender, **options) -> Workspace:
    """Both reviewers by one scripted model, told apart by their prompts; the debate needs no index."""
    model = answering(lambda prompt: critic if "strict reviewer" in prompt else defender, **options)
    return Workspace(None, None, offline(tmp_path), model=model)  # type: ignore[arg-type]


async def debated(tmp_path, critic, defender, **options):
    reviewed = workspace(tmp_path, critic, defender, **options)
    return await traced(lambda step: debate("double a number", CHANGES, reviewed, step))


async def test_what_quotes_the_code_is_kept(tmp_path) -> None:
    critique = {**CRITIQUE, "issues": [*CRITIQUE["issues"], {"quote": "return n + 1", "problem": "invented"}]}
    said, outline, _ = await debated(tmp_path, json.dumps(critique), json.dumps(DEFENCE))
    assert said.issues == (Issue("maths.py", 6, "return n * 3", "triples", "high"),)
    assert said.defended == ("whole numbers",) and said.dropped == 1
    assert outline == "turn\n  critic\n  defender"


@pytest.mark.parametrize(
    "reply", ["", "Looks good to me.", '{"issues": "none"}', '{"issues": [{"quo', "[1, 2]", "null"]
)
async def test_replies_that_do_not_fit_are_said(tmp_path, reply: str) -> None:
    said, _, events = await debated(tmp_path, reply, json.dumps(DEFENCE))
    assert said.unread == ("critic",) or said.issues == ()
    if said.unread:
        assert any("the critic's reply could not be read" in s for s in trace.degraded(events))
        assert "the critic's reply could not be read: scored without it" in judge(ChangeEvidence(), said).reasons


async def test_json_amid_prose_and_in_fences_is_read(tmp_path) -> None:
    critic = f"Here is my review:\n```json\n{json.dumps(CRITIQUE)}\n```\nHope it helps."
    said, *_ = await debated(tmp_path, critic, f"Sure! {json.dumps(DEFENCE)}")
    assert len(said.issues) == 1 and said.defended and not said.unread


@pytest.mark.slow
async def test_an_endless_reply_is_cut(tmp_path) -> None:
    def endless():
        while True:
            yield "spam "

    said, *_ = await debated(tmp_path, endless(), json.dumps(DEFENCE))
    assert said.unread == ("critic",)


async def test_a_reviewer_that_is_late_costs_only_its_own_points(tmp_path) -> None:
    def endless():
        while True:
            yield "{"
            yield 0.01

    reviewed = workspace(tmp_path, json.dumps(CRITIQUE), endless())
    said, _, events = await traced(lambda step: debate("t", CHANGES, reviewed, step, ends=time.monotonic() + 1.0))
    assert len(said.issues) == 1 and not said.defended and not said.unread
    assert "the defender had no time to reply: scored without it" in trace.degraded(events)


async def test_a_reviewer_is_not_asked_for_a_reply_that_its_last_one_says_it_has_no_time_for(tmp_path) -> None:
    reviewed = workspace(tmp_path, *(["{", 0.5, json.dumps(each)[1:]] for each in (CRITIQUE, DEFENCE)))
    await traced(lambda step: debate("t", CHANGES, reviewed, step))
    said, outline, events = await traced(lambda step: debate("t", CHANGES, reviewed, step, ends=time.monotonic() + 15))
    assert "critic" not in outline and not said.unread
    assert "the critic had no time to reply: scored without it" in trace.degraded(events)


async def test_reviewers_work_at_the_same_time(tmp_path) -> None:
    """Both have begun before either is done."""
    events: list[trace.Event] = []
    reviewed = workspace(tmp_path, [0.05, json.dumps(CRITIQUE)], [0.05, json.dumps(DEFENCE)])
    async with trace.root(events.append, "turn") as step:
        await debate("t", CHANGES, reviewed, step)
    started = [e for e in events if isinstance(e, trace.Started)]
    finished = [e for e in events if isinstance(e, trace.Finished)]
    assert max(e.at for e in started) < min(e.at for e in finished)


@pytest.mark.slow
async def test_reviewers_see_the_diff_first_and_files_whole_where_the_window_has_room() -> None:
    long = FileChange("long.py", "modified", "@@ the diff of long @@", "x = 1\n" * 2000)
    short = FileChange("short.py", "modified", "@@ the diff of short @@", "whole = True\n")
    shown = code_shown((long, short, *CHANGES), scripted_model(lambda messages: "", context_window=4096))
    assert all(part in shown for part in (long.diff, short.diff, short.content, CODE)) and long.content not in shown
    assert long.content in code_shown((long, short), scripted_model(lambda messages: "", context_window=65536))


@pytest.mark.slow
async def test_of_a_file_that_is_too_long_reviewers_see_the_changed_functions() -> None:
    """Whole, also where the hunk shows only the line that changed."""
    body = "".join(f"        step_{n}()\n" for n in range(30))
    text = (
        f"class Box:\n    def size(self):\n{body}        return 1\n\n\n"
        + "y = 1\n" * 2000
        + "\n\ndef other():\n    more()\n"
    )
    change = file_change("long.py", text.replace("return 1", "return 2"), text)
    shown = code_shown((change,), scripted_model(lambda messages: "", context_window=4096))
    assert "long.py:2-33, as it is now\n    def size(self):\n        step_0()" in shown
    assert "more()" not in shown and "y = 1\n" * 10 not in shown


async def test_reviewers_see_the_program_before_tests_and_documents_and_only_the_program_whole() -> None:
    news = FileChange("CHANGELOG.md", "modified", "@@ the diff of news @@", "- Everything since 1999.\n")
    test = FileChange("tests/test_a.py", "modified", "@@ the diff of the test @@", "def test_all(): ...\n")
    code = FileChange("zebra.py", "modified", "@@ the diff of zebra @@", "whole = True\n")
    shown = code_shown((news, test, code), scripted_model(lambda messages: "", context_window=65536))
    assert shown.index(code.diff) < min(shown.index(news.diff), shown.index(test.diff))
    assert code.content in shown and news.content not in shown and test.content not in shown


async def test_a_second_model_is_the_critic(tmp_path) -> None:
    first, second = [], []
    model = scripted_model(lambda m: first.append(m[0].content) or json.dumps(DEFENCE))
    reviewer = scripted_model(lambda m: second.append(m[0].content) or json.dumps(CRITIQUE))
    reviewed = replace(workspace(tmp_path, "", ""), model=model, reviewer=reviewer)
    await traced(lambda step: debate("t", CHANGES, reviewed, step))
    assert len(first) == len(second) == 1
    assert "strict reviewer" in second[0] and "You defend" in first[0]


@pytest.mark.parametrize("reply", ["It is fine.", ["{", 3600.0], ""], ids=["nonsense", "slow", "empty"])
async def test_the_first_model_takes_the_place_of_a_second_one_that_is_of_no_use(tmp_path, reply) -> None:
    reviewed = workspace(tmp_path, json.dumps(CRITIQUE), json.dumps(DEFENCE))
    hasty = reviewed.settings.model_copy(update={"edit_timeout_s": 1.0})
    reviewed = replace(reviewed, reviewer=replace(scripted_model(lambda m: reply), name="other:4b"), settings=hasty)
    said, outline, events = await traced(lambda step: debate("t", CHANGES, reviewed, step))
    assert len(said.issues) == 1 and not said.unread and outline.count("  critic") == 2
    assert any("the second model, other:4b, gave no opinion" in note for note in trace.degraded(events))


@pytest.mark.parametrize(
    ("quote", "place"),
    [
        ("return n * 3", ("maths.py", 6)),
        ("   return   n * 3", ("maths.py", 6)),
        ("+    return n * 3", ("maths.py", 6)),
        ("return n * 3\nreturn 4", ("maths.py", 6)),
        ("n", None),
        ("", None),
        ("return n * 4", None),
    ],
)
def test_places_of_quotes(quote: str, place) -> None:
    assert place_of(quote, CHANGES) == place


def test_a_place_counts_once() -> None:
    points = [CriticPoint(quote="return n * 3", problem=str(n)) for n in range(3)]
    assert len(quoted_issues(points, CHANGES)[0]) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "before", "shown"),
    [
        ("from maths import double\n\ndef test_it():\n    assert double(2) == 4\n", {}, "fails"),
        ("from maths import half\n\ndef test_it():\n    assert half(2) == 1\n", {}, "refuted"),
        (
            "from maths import double\n\ndef test_it():\n    assert double(2) == 4\n",
            {"maths.py": CODE.replace("* 3", "* 2")},
            "regression",
        ),
        (
            "from maths import double\n\ndef test_it():\n    assert double(2) == 4\n",
            {"maths.py": "def half(n):\n    return n // 2\n"},
            "fails",
        ),
        (
            "from maths import half\n\ndef test_it():\n    assert half(2) == 2\n",
            {"maths.py": CODE},
            "fails before",
        ),
        (
            "from maths import double, half\n\ndef test_it():\n    assert double(2) == 4\n\n"
            "def test_half():\n    assert half(2) == 2\n",
            {"maths.py": CODE.replace("* 3", "* 2")},
            "regression",
        ),
        ("from maths import nothing\n\ndef test_it():\n    assert nothing\n", {}, "not run"),
        ("def test_it(:\n", {}, "not run"),
        ("", {}, "none"),
    ],
)
@pytest.mark.sampled(3)
async def test_an_executable_objection_is_decided_by_the_sandbox(tmp_path, test: str, before: dict, shown: str) -> None:
    context = ChangeContext("", Workspace(None, None, offline(tmp_path)))  # type: ignore[arg-type]
    written = TriedTest(test=test, path="test_maths_review.py")
    result, *_ = await traced(lambda step: try_objection(written, CHANGES, before, context, step))
    assert result.shown == shown


def run(passed: int = 0, failed: int = 0, errors: int = 0, genuine: bool = False) -> TestRun:
    failures = tuple(Failure(f"t{n}", "assert 1 == 2") for n in range(failed))
    return TestRun(passed, failed, errors, 0.1, "limits", "", genuine, failures=failures)


GENUINE, FAILING = run(3, genuine=True), run(1, 2)
PASSED, FAILED = TestReport(GENUINE), TestReport(FAILING)
NOT_RUN = TestReport(run(errors=1))
UNFINISHED = (
    *(
        replace(run(passed), ended=how)
        for passed in (0, 3)
        for how in ("timeout", "memory", "processes", "output", "disk")
    ),
    run(errors=2),
    run(),
)
HARSH = Opinions(tuple(Issue("a.py", n, "x", "bad", "critical") for n in range(4)))
WRONG_TYPE = Finding("a.py", 3, "high", "mypy", "Too few arguments", "mypy", "types")
SERIOUS = Finding("a.py", 1, "high", "S602", "shell", "bandit")


@pytest.mark.parametrize(
    ("evidence", "opinions", "expected"),
    [
        (ChangeEvidence(), Opinions(), "ACCEPT_ORIGINAL"),
        (ChangeEvidence(problem="line 1"), Opinions(), "REQUEST_REVISION"),
        (ChangeEvidence(report=PASSED), HARSH, "ACCEPT_ORIGINAL"),
        (ChangeEvidence(report=FAILED), Opinions(defended=("a", "b", "c")), "REQUEST_REVISION"),
        (ChangeEvidence(), HARSH, "MERGE_FEEDBACK"),
        (ChangeEvidence(findings=(SERIOUS,)), Opinions(), "MERGE_FEEDBACK"),
        (ChangeEvidence(report=PASSED, by_code=True, left=("a.py:3",)), Opinions(), "MERGE_FEEDBACK"),
        (ChangeEvidence(report=PASSED, interpreted=True, refactored=True), Opinions(), "MERGE_FEEDBACK"),
        (
            ChangeEvidence(report=PASSED, by_code=True, findings=(WRONG_TYPE,)),
            Opinions(),
            "MERGE_FEEDBACK",
        ),
        (ChangeEvidence(objection="regression", findings=(SERIOUS,)), Opinions(), "REQUEST_REVISION"),
        (ChangeEvidence(objection="refuted"), Opinions(), "ACCEPT_ORIGINAL"),
        (ChangeEvidence(objection="fails before", report=PASSED), Opinions(), "ACCEPT_ORIGINAL"),
        (ChangeEvidence(report=FAILED, missing=("numpy",)), Opinions(), "ACCEPT_ORIGINAL"),
        *((ChangeEvidence(report=TestReport(each), by_code=True), Opinions(), "MERGE_FEEDBACK") for each in UNFINISHED),
        (
            ChangeEvidence(report=NOT_RUN, by_code=True, missing=("numpy",)),
            Opinions(),
            "ACCEPT_ORIGINAL",
        ),
        (
            ChangeEvidence(report=PASSED, by_code=True, generated=("a_pb2.py",)),
            Opinions(),
            "MERGE_FEEDBACK",
        ),
        (ChangeEvidence(report=PASSED, automatic=("conftest.py",)), Opinions(), "MERGE_FEEDBACK"),
        (ChangeEvidence(refactored=True, changed=("f",)), Opinions(), "ACCEPT_ORIGINAL"),
        (ChangeEvidence(removed=("Cart",)), Opinions(), "MERGE_FEEDBACK"),
        (ChangeEvidence(changed=("f",)), Opinions(), "MERGE_FEEDBACK"),
        (ChangeEvidence(changed=("f",), by_code=True), Opinions(), "ACCEPT_ORIGINAL"),
        (ChangeEvidence(report=PASSED, changed=("f",)), Opinions(), "ACCEPT_ORIGINAL"),
        (
            ChangeEvidence(report=TestReport(GENUINE, unexercised=("g",)), changed=("f", "g")),
            Opinions(),
            "ACCEPT_ORIGINAL",
        ),
    ],
)
def test_the_controller(evidence: ChangeEvidence, opinions: Opinions, expected: str) -> None:
    assert judge(evidence, opinions).decision == expected


@pytest.mark.slow
@given(st.sets(st.sampled_from("fgh"), min_size=1), st.integers(1, 9))
def test_without_a_test_of_the_change_nothing_is_accepted(names: set[str], passed: int) -> None:
    changed = tuple(sorted(names))
    evidence = ChangeEvidence(report=TestReport(run(passed)), changed=changed, objection="refuted")
    verdict = judge(evidence, Opinions())
    assert verdict.score < 8 and "no test verifies it" in verdict.reasons[-1]


SEVERITIES = st.sampled_from(["critical", "high", "medium", "low"])
OPINIONS = st.builds(
    Opinions,
    st.lists(st.builds(Issue, st.just("a.py"), st.integers(1, 9), st.just("x"), st.just("y"), SEVERITIES)).map(tuple),
    st.lists(st.just("fine")).map(tuple),
)


@pytest.mark.slow
@given(OPINIONS)
def test_prose_never_overrules_a_run(opinions: Opinions) -> None:
    failing = judge(ChangeEvidence(report=FAILED), opinions)
    passing = judge(ChangeEvidence(report=PASSED), opinions)
    assert failing.score < 5 and passing.score >= 8
    assert judge(ChangeEvidence(), opinions).score >= scoring.START - 1.5


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (10, "ACCEPT_ORIGINAL"),
        (8, "ACCEPT_ORIGINAL"),
        (7.9, "MERGE_FEEDBACK"),
        (5, "MERGE_FEEDBACK"),
        (4.9, "REQUEST_REVISION"),
    ],
)
def test_thresholds(score: float, expected: str) -> None:
    assert decision(score) == expected


def test_the_reasons_are_said_in_french() -> None:
    evidence = ChangeEvidence(report=FAILED, findings=(SERIOUS,), removed=("Cart",))
    verdict = judge(evidence, Opinions(unread=("critic",)))
    assert [i18n.translated(reason, "fr") for reason in verdict.reasons] == [
        "8 points\u202f: la syntaxe est correcte",
        "-4,0 les tests du dépôt échouent (2, le premier étant t0)",
        "-1,5 1 nouveau constat\u202f: S602 dans a.py:1\u202f: shell",
        "-1,5 des noms publics ont disparu\u202f: Cart",
        "la réponse du critique est illisible\u202f: noté sans elle",
    ]


def test_reasons_that_leave_the_score_are_not_decisive() -> None:
    evidence = ChangeEvidence(report=FAILED, missing=("numpy",))
    missing = "+0.0 the repository's tests could not run: missing in the sandbox: numpy"
    assert judge(evidence, Opinions()).reasons == ("8 points: it parses", missing)
    assert scoring.decisive_reasons(evidence, Opinions()) == ("8 points: it parses",)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_turned_tests_count_where_a_limit_stopped_the_others(language: str) -> None:
    verdict = judge(ChangeEvidence(report=TestReport(GENUINE, reached=(97, 106)), changed=("f",)), Opinions())
    assert verdict.decision == "ACCEPT_ORIGINAL"
    assert scoring.START < verdict.score < judge(ChangeEvidence(report=PASSED, changed=("f",)), Opinions()).score
    assert any(
        "97" in i18n.translated(why, language) and "106" in i18n.translated(why, language) for why in verdict.reasons
    )
    seen = replace(GENUINE, outcomes=dict.fromkeys("tuv", "passed"), inverted=tuple("tuv"))
    said = run_points(TestReport(seen, protected=True, compared=True, repaired=("t",), reached=(97, 106)), language)
    assert [point.mark for point in said] == ["ok", "ok", "look"]
    assert "97" in said[-1].text and "106" in said[-1].text and " 9 " in said[-1].text


@pytest.mark.parametrize("id", ["pom.xml", "Cargo.toml", "tests/test_a.py"])
def test_a_run_that_never_starts_is_no_failing_test(id: str) -> None:
    """Such as a build whose plugin is missing: it isn't the change's doing, and no test of the repository ended."""
    run = replace(GENUINE, passed=0, errors=1, genuine=False, outcomes={id: "error"})
    seen = TestReport(run, protected=True, compared=True, red_before=(id,))
    (said,) = run_points(seen, "en")
    assert said.mark == "look" and "were not run" in said.text and "with the change or without it" in said.text
    assert run_points(replace(seen, red_before=(), broken=(id,)), "en")[0].mark == "bad"
