"""Words that the model suggests to search with: found by them, shown, and never in the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from repopilot import trace
from repopilot.agents.explain.agent import explain
from repopilot.agents.explain.suggested_words import LONGEST_QUESTION, MOST_WORDS, words_of
from repopilot.errors import ModelError
from repopilot.llm.model_speed import Speed
from repopilot.results import Answer
from repopilot.workspace import Workspace

PROBLEM = "Which piece makes sure a visitor is who he pretends to be?"
KNOWN = "where are session tokens validated?"
Shop = Callable[..., Workspace]


async def asked(workspace: Workspace, question: str = PROBLEM) -> tuple[Answer, list[trace.Event]]:
    events: list[trace.Event] = []
    async with trace.root(events.append, "explain") as step:
        return await explain(question, workspace, step), events


def suggesting(shop_with: Shop, reply: object) -> Workspace:
    """The shop with a model that suggests this, and answers nothing else."""

    def replies(messages):
        if "Six words" not in messages[0].content:
            return ""
        if isinstance(reply, Exception):
            raise reply
        return reply

    workspace = shop_with(replies)
    return replace(workspace, settings=workspace.settings.model_copy(update={"suggest_words": True}))


async def test_a_place_is_found_by_words_that_the_question_hasnt(shop_with: Shop) -> None:
    before, _ = await asked(shop_with(lambda messages: ""))
    done, events = await asked(suggesting(shop_with, "token, validate, session, digest, compare_digest, zebra"))
    assert before.evidence[:1] != done.evidence[:1]
    assert (done.evidence[0].path, done.evidence[0].symbol) == ("shop/auth.py", "validate_token")
    assert trace.outline(events).startswith("explain\n  retrieve\n  read\n  suggest words\n  retrieve\n  read\n")


async def test_the_evidence_of_the_question_alone_is_noted_before_the_model_is_asked(shop_with: Shop) -> None:
    _, events = await asked(suggesting(shop_with, "token, validate"), KNOWN)
    noted = next(n for n, e in enumerate(events) if isinstance(e, trace.Finished) and "evidence" in e.data)
    assert noted < next(n for n, e in enumerate(events) if isinstance(e, trace.Streamed))


async def test_a_model_that_fails_is_said_and_costs_nothing(shop_with: Shop) -> None:
    done, events = await asked(suggesting(shop_with, ModelError("it broke")), KNOWN)
    alone, _ = await asked(shop_with(lambda messages: ""), KNOWN)
    assert done.evidence == alone.evidence
    assert any("only with the words of the question" in note for note in trace.degraded(events))


async def test_words_that_the_repository_hasnt_change_nothing(shop_with: Shop) -> None:
    done, _ = await asked(suggesting(shop_with, "zebra, quokka, aardvark"), KNOWN)
    alone, _ = await asked(shop_with(lambda messages: ""), KNOWN)
    assert done.evidence == alone.evidence


async def test_the_model_isnt_asked_where_code_is_sure_or_it_is_too_slow(shop_with: Shop) -> None:
    workspace = suggesting(shop_with, "token")
    slow = replace(workspace, model=replace(workspace.model, speed=Speed(prompt=10.0, generation=2.0)))
    for case, question in (
        (workspace, "what is the call path from `checkout` to `price_of`?"),
        (workspace, "validate_token"),
        (workspace, f"{KNOWN} {'and why ' * LONGEST_QUESTION}"),
        (slow, KNOWN),
    ):
        _, events = await asked(case, question)
        assert "suggest words" not in trace.outline(events), question[:60]


@given(st.text(max_size=300))
def test_any_reply_is_read(reply: str) -> None:
    found = words_of(reply)
    assert len(found) <= MOST_WORDS and len(set(found)) == len(found)
    assert all(word in reply for word in found)


def test_a_reply_in_its_form_is_read_whole() -> None:
    assert words_of("=> retry, max_attempts, Retry.delay, retry\n") == ("retry", "max_attempts", "Retry.delay")
