"""Trace events become steps: nested right, batched, errors visible, long output capped."""

import asyncio
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.waiting import eventually

from repopilot import trace
from repopilot.results import Answer
from repopilot.trace import Finished, Started, Streamed
from repopilot.types import Evidence
from repopilot.ui.trace.step_text import OUTPUT_LIMIT, body, closed, facts_table, finished_title, inert
from repopilot.ui.trace.steps import MOST_PARTS, UPDATES_PER_FLUSH, Receivers, TraceView


class Browser:
    """Keeps what a browser would show."""

    def __init__(self):
        self.steps, self.events, self.answer, self.attached = {}, [], "", {}
        self.evidence, self.published = [], []

    async def send_step(self, step):
        assert step["id"] not in self.steps, "sent twice"
        assert step["parentId"] in self.steps or step["parentId"] == "run", "a child before its parent"
        self.steps[step["id"]] = dict(step)
        self.events.append("send")

    async def update_step(self, step):
        assert step["id"] in self.steps, "updated before it was sent"
        self.steps[step["id"]] = dict(step)
        self.events.append("update")

    async def send_token(self, id, token, is_sequence=False, is_input=False):
        self.steps[id]["output"] += token
        self.events.append("token")

    async def delete_step(self, step):
        gone = {step["id"]}
        while more := {id for id, each in self.steps.items() if each["parentId"] in gone} - gone:
            gone |= more
        self.steps = {id: each for id, each in self.steps.items() if id not in gone}

    async def on_answer(self, text):
        self.answer = text

    async def on_published(self, answer):
        self.published.append(answer)

    async def on_evidence(self, evidence):
        self.evidence.append(evidence)

    async def attach(self, id, name, text):
        self.attached[id] = text

    def named(self, start):
        return next(step for step in self.steps.values() if step["name"].startswith(start))

    def view(self):
        taken = Receivers(self.on_answer, self.on_evidence, self.on_published, self.attach)
        return TraceView(self, "thread", "run", "en", taken)


async def test_of_published_answers_the_newest_is_shown():
    browser = Browser()
    view = browser.view()
    async with trace.root(view.sink, "work") as step:
        step.publish(Answer("first"))
        step.publish(Answer("second"))
        await view.flush()
        step.publish(Answer("third"))
        await view.close()
    assert [answer.text for answer in browser.published] == ["second", "third"]


async def test_parallel_steps_nest_under_their_parents():
    browser = Browser()
    view = browser.view()
    view.start()

    async def reviewer(parent, name):
        async with parent.child(name, "agent") as agent:
            async with agent.child(f"{name} model", "llm") as call:
                for _ in range(20):
                    await call.write("word ")

    async with trace.root(view.sink, "work") as root, root.child("debate") as debate:
        await asyncio.gather(*(reviewer(debate, name) for name in ("critic", "defender")))
    await view.close()

    debate = browser.named("Debate")
    for name in ("Critic", "Defender"):
        agent = browser.named(f"{name} ·")
        assert agent["parentId"] == debate["id"]
        call = browser.named(f"{name.lower()} model ·")
        assert call["parentId"] == agent["id"] and call["output"].count("word") == 20
        assert agent["start"] <= call["start"] <= call["end"] <= agent["end"]
    assert browser.named("Work")["parentId"] == "run"


async def test_a_prompt_is_kept_for_the_panel_and_what_a_tool_works_on_is_shown():
    browser = Browser()
    view = browser.view()
    async with trace.root(view.sink, "work", "agent", "the question") as step:
        async with step.child("think", "llm", "What the repository consists of …"):
            pass
        async with step.child("grep", "tool", "a pattern"):
            pass
    await view.close()
    shown = {name: browser.named(name)["showInput"] for name in ("Think", "Look for lines")}
    assert shown == {"Think": False, "Look for lines": True}


@pytest.mark.slow
async def test_a_fast_model_cannot_flood_the_browser():
    browser = Browser()
    view = browser.view()
    view.start()
    async with trace.root(view.sink, "work") as root, root.child("model", "llm") as call:
        written = 0
        while len(browser.events) < 8 and written < OUTPUT_LIMIT:  # beyond the limit nothing more is sent
            await call.write("x")
            await asyncio.sleep(0)
            written += 1
    await view.close()
    assert browser.named("Model")["output"].count("x") >= min(written, OUTPUT_LIMIT)
    assert len(browser.events) < written / 5, "what comes meanwhile is sent together"


async def test_closing_while_a_slow_browser_takes_updates_sends_each_once():
    browser = Browser()
    quick = browser.send_step

    async def slow(step):
        await asyncio.sleep(0.02)
        await quick(step)

    browser.send_step = slow
    view = browser.view()
    view.start()
    for number in range(12):
        view.sink(Started(str(number), None, f"step {number}", "tool", "", 0.0))
    await asyncio.sleep(0.2)
    await view.close()
    assert len(browser.steps) == 12 and browser.events.count("send") == 12


async def test_of_very_many_steps_the_latest_are_shown():
    browser, root = Browser(), Started("a", None, "explain", "agent", "", 0.0)
    view = browser.view()
    view.sink(root)
    for number in range(500):
        call, part = f"c{number}", f"p{number}"
        view.sink(Started(call, "a", "read", "tool", "", 1.0))
        view.sink(Started(part, call, "model", "llm", "", 1.0))
        view.sink(Finished(part, "ok", "", "", 2.0, {}))
        view.sink(Finished(call, "ok", str(number), "", 2.0, {}))
        if number % 7 == 0:
            await view.flush()
    view.sink(Finished("a", "ok", "", "", 9.0, {}))
    await view.close()
    calls = [int(step["output"]) for id, step in browser.steps.items() if id.startswith("c")]
    assert sorted(calls) == list(range(500 - MOST_PARTS, 500))
    assert {step["parentId"] for step in browser.steps.values()} <= {*browser.steps, "run"}
    assert browser.steps["a"]["name"].endswith(f"latest {MOST_PARTS} steps")
    assert len(browser.events) < 1000, "what is not shown is not sent"


async def test_what_comes_after_a_pause_is_sent_at_once(monkeypatch):
    browser = Browser()
    monkeypatch.setattr("repopilot.ui.trace.steps.FLUSH_S", 3600)
    view = browser.view()
    view.start()
    await asyncio.sleep(0.3)
    view.sink(Started("a", None, "explain", "agent", "", 0.0))
    await eventually(lambda: "a" in browser.steps)
    await view.close()


async def test_one_flush_sends_a_few_updates_and_close_sends_all():
    browser = Browser()
    view = browser.view()
    for number in range(30):
        view.sink(Started(str(number), None, f"step {number}", "tool", "", 0.0))
    await view.flush()
    assert len(browser.events) == UPDATES_PER_FLUSH
    await view.close()
    assert len(browser.steps) == 30


async def test_answer_text_streams_into_the_message_and_not_into_the_step():
    browser = Browser()
    view = browser.view()
    async with trace.root(view.sink, "work") as root, root.child("answer", "answer") as answer:
        await answer.write("Hello ")
        await answer.write("there")
        answer.note(model="qwen", tokens=2)
    await view.close()
    assert browser.answer == "Hello there"
    step = browser.named("Answer · qwen · 2 tokens")
    assert "Hello" not in step["output"] and step["type"] == "llm"


async def test_a_failed_step_says_so_and_stays_open():
    browser = Browser()
    view = browser.view()
    with pytest.raises(ValueError):
        async with trace.root(view.sink, "work") as root:
            async with root.child("tests", "tool") as tests:
                await tests.write("collected 3")
                raise ValueError("the sandbox is gone")
    await view.close()
    failed = browser.named("Tests ✗")
    assert failed["isError"] and failed["defaultOpen"] and not failed["autoCollapse"]
    assert "the sandbox is gone" in failed["output"] and "collected 3" in failed["output"]


async def test_a_stopped_step_ends_without_being_an_error():
    browser = Browser()
    view = browser.view()

    async def work():
        async with trace.root(view.sink, "work") as root, root.child("model", "llm") as call:
            await call.write("partial")
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await view.close()
    stopped = browser.named("Model ■")
    assert stopped["end"] and not stopped["isError"] and "partial" in stopped["output"]


async def test_long_output_is_capped_and_attached_whole():
    browser = Browser()
    view = browser.view()
    text = "y" * (OUTPUT_LIMIT * 3)
    async with trace.root(view.sink, "work") as root, root.child("build log", "tool") as log:
        for at in range(0, len(text), 1000):
            await log.write(text[at : at + 1000])
    await view.close()
    step = browser.named("build log")
    assert len(step["output"]) < OUTPUT_LIMIT + 500
    assert browser.attached[step["id"]] == text


def test_hits_are_a_table_with_places_scores_and_reasons():
    data = {
        "kind": "symbol",
        "hits": [
            {"path": "src/a|b.py", "start_line": 3, "end_line": 9, "score": 1.5, "why": {"bm25": 1.0, "name": 0.5}}
        ],
    }
    table = facts_table(data, "en")
    assert "| kind | symbol |" in table
    assert "| `src/a\\|b.py:3-9` | 1.5 | bm25 1 · name 0.5 |" in table


def test_titles_carry_the_facts_that_matter():
    started = Started("1", None, "tests", "tool", "", 10.0)
    finished = Finished("1", "ok", "", "", 12.5, {"passed": 3, "failed": 1, "errors": 1})
    assert finished_title(started, finished, "en") == "Tests · 3 passed, 2 failed · 2.5 s"


def test_a_review_is_of_a_hundred():
    started = Started("1", None, "review", "agent", "", 10.0)
    finished = Finished("1", "ok", "", "", 12.5, {"health": 19, "findings": 1})
    assert finished_title(started, finished, "en") == "Review · 19/100 · 1 finding · 2.5 s"


def test_steps_down_are_said_first():
    finished = Finished("1", "ok", "", "", 1.0, {"degraded": ["no vectors yet"]})
    assert body(finished, "text", "en")[0].startswith("⚠ no vectors yet")


@given(st.text(alphabet="![]()`~\nab", max_size=60))
def test_no_image_survives_outside_of_code(text):
    # A Markdown parser sees an image only in `![`, and code only between back-ticks or fences.
    shown = inert(text)
    assert shown.replace("\\", "") == text.replace("\\", "")
    if "`" not in text and "~" not in text:
        assert "![" not in shown


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=10), json_values, max_size=6))
def test_any_facts_can_be_shown(data):
    finished = Finished("1", "ok", "", "", 1.0, data)
    body(finished, "", "en")
    assert finished_title(Started("1", None, "x", "tool", "", 0.0), finished, "en")


def test_a_delta_of_an_unknown_step_is_a_programming_error():
    with pytest.raises(KeyError):
        Browser().view().sink(Streamed("nobody", "x"))


def test_a_colon_before_a_word_is_kept():
    assert (
        inert("Class:method and `a:b` at http://x/y, std::sort")
        == "Class\\:method and `a:b` at http://x/y, std\\:\\:sort"
    )


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("a\n```py\nx", "a\n```py\nx\n```"),
        ("```\nx\n```\ny", "```\nx\n```\ny"),
        ("~~~\n```", "~~~\n```\n~~~"),
        ("a", "a"),
    ],
)
def test_an_open_code_block_is_closed(text, whole):
    assert closed(text) == whole


async def test_evidence_is_shown_once_and_before_any_text():
    browser = Browser()
    view = browser.view()
    found = Evidence(1, "a.py", 1, 2, "f", ((1, "def f():"),), "def f()", "", (1,))
    async with trace.root(view.sink, "work") as root:
        async with root.child("read", "tool") as reading:
            reading.note(evidence=[asdict(found)])
        await view.flush()
        assert browser.evidence == [(found,)]
        async with root.child("answer", "answer") as answering:
            await answering.write("It is `f` [1].")
    await view.close()
    assert browser.evidence == [(found,)] and browser.answer == "It is `f` [1]."


async def test_better_evidence_replaces_what_was_shown():
    browser = Browser()
    view = browser.view()
    first = Evidence(1, "a.py", 1, 2, "f", ((1, "def f():"),), "def f()", "", (1,))
    better = Evidence(1, "b.py", 7, 7, "g", ((7, "def g():"),), "def g()", "", (7,))
    async with trace.root(view.sink, "work") as root:
        for place in (first, better):
            async with root.child("read", "tool") as reading:
                reading.note(evidence=[asdict(place)])
            await view.flush()
    await view.close()
    assert browser.evidence == [(first,), (better,)]
