"""What follow-ups refer to: pronouns, ranks, corrections; and two turns through the assistant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot import trace
from repopilot.agents.follow_up import places_of, resolve
from repopilot.assistant import answer
from repopilot.results import AffectedPlace, Answer, ImpactReport, Turn, turn_of
from repopilot.types import Citation, Evidence, Intent
from repopilot.workspace import Workspace

Shop = Callable[..., Workspace]
PLACES = (
    Evidence(1, "shop/client.py", 10, 20, "Client.send", ((10, "def send(self, request):"),)),
    Evidence(2, "shop/client.py", 40, 50, "AsyncClient.send", ((40, "async def send(self, request):"),)),
    Evidence(3, "shop/retry.py", 5, 9, "retry_delay", ((5, "def retry_delay(attempt):"),)),
)
CITED = (Citation(1, "shop/client.py", 10, 20, "abc", "Client.send"),)


def turn(question: str = "where are requests sent?", intent: Intent = "EXPLAIN", **more) -> Turn:
    return Turn(question, "", intent, **({"evidence": PLACES, "citations": CITED} | more))


@pytest.mark.parametrize(
    ("question", "understood"),
    [
        ("who calls it?", "who calls `Client.send`?"),
        ("and who calls it?", "and who calls `Client.send`?"),
        ("what does it return when the token is expired?", "what does `Client.send` return when the token is expired?"),
        ("where is that called?", "where is `Client.send` called?"),
        ("what are its callers?", "what are the callers of `Client.send`?"),
        ("and its parameters?", "and the parameters of `Client.send`?"),
        ("what does that function raise?", "what does `Client.send` raise?"),
        ("which methods does this class have?", "which methods does `Client` have?"),
        ("who imports this file?", "who imports shop/client.py?"),
        ("what does the second one return?", "what does `AsyncClient.send` return?"),
        ("who calls [3]?", "who calls `retry_delay`?"),
        ("explain number 3", "explain `retry_delay`"),
        ("the last one?", "What does `retry_delay` do?"),
        ("and the other one?", "What does `AsyncClient.send` do?"),
        ("no, the async one", "where are requests sent? `AsyncClient.send` shop/client.py"),
        ("No, I meant the one in shop/retry.py", "where are requests sent? `retry_delay` shop/retry.py"),
        ("not that one, the third one", "where are requests sent? `retry_delay` shop/retry.py"),
        ("no, the one for websockets", "where are requests sent? websockets"),
        ("no, where is retry_delay defined?", "where is retry_delay defined?"),
        ("what about the proxy?", "where are requests sent? what about the proxy?"),
        ("why?", "where are requests sent? why?"),
        ("qui l'appelle ?", "qui appelle `Client.send` ?"),
        ("que renvoie-t-elle ?", "que renvoie `Client.send` ?"),
        ("où est-elle appelée ?", "où est `Client.send` appelée ?"),
        ("quels sont ses paramètres ?", "quels sont les paramètres de `Client.send` ?"),
        ("que fait cette fonction ?", "que fait `Client.send` ?"),
        ("et la deuxième ?", "What does `AsyncClient.send` do?"),
        ("non, celui de AsyncClient", "where are requests sent? `AsyncClient.send` shop/client.py"),
        ("comment ça marche ?", "comment `Client.send` marche ?"),
    ],
)
def test_a_follow_up_is_rewritten_with_what_it_refers_to(question: str, understood: str) -> None:
    found = resolve(question, (turn(),))
    assert found.question.replace("ça marche", "`Client.send` marche") == understood
    assert resolve(found.question, (turn(),)).question == found.question, "what is understood stands for itself"


@pytest.mark.parametrize(
    "question",
    [
        "where is the retry delay computed for expired tokens?",
        "is it possible to disable the cache?",
        "Where is it decided that the letters are folded?",
        "which class uses `Session` and how does it close it?",
        "no longer supported versions",
        "how does the pool keep its connections alive between requests of clients?",
        "Y a-t-il une option pour désactiver le cache ?",
        "who calls [9]?",
        "what is the first request of a session?",
        "",
    ],
)
def test_a_question_that_stands_for_itself_is_left_alone(question: str) -> None:
    assert resolve(question, (turn(),)).question == question


def test_without_a_turn_or_a_place_nothing_is_guessed() -> None:
    assert resolve("who calls it?", ()).question == "who calls it?"
    assert resolve("who calls it?", (Turn("hello there", "", "EXPLAIN"),)).question == "who calls it?"
    assert resolve("who calls it?", (turn(intent="REFUSE"),)).question == "who calls it?"


def test_it_stays_what_the_conversation_is_about() -> None:
    callers = turn("who calls `retry_delay`?", evidence=PLACES[:2], citations=())
    assert resolve("what does it raise?", (turn(), callers)).question == "what does `retry_delay` raise?"
    assert resolve("and the second one?", (turn(), callers)).question == "who calls `AsyncClient.send`?"
    assert resolve("and `charge`?", (turn(), callers)).question == "who calls `charge`?"


def test_names_are_told_apart_by_their_files() -> None:
    twins = tuple(Evidence(n, path, 1, 5, "load") for n, path in enumerate(("a.py", "b.py"), 1))
    found = resolve("who calls it?", (turn(evidence=twins, citations=()),))
    assert found.question == "who calls `load` in a.py?" and found.names == ("load",)


def test_places_come_from_evidence_else_citations_else_the_report() -> None:
    assert [p.symbol for p in places_of(turn())] == ["Client.send", "AsyncClient.send", "retry_delay"]
    assert [p.number for p in places_of(turn(evidence=()))] == [1]
    report = ImpactReport("LOW", affected=(AffectedPlace("A1", "shop/pay.py", "pay"),))
    found = resolve("what does it do?", (turn("what breaks?", "IMPACT", evidence=(), citations=(), result=report),))
    assert found.question == "what does `pay` do?"


def test_a_heading_is_named_by_its_file() -> None:
    section = (Evidence(1, "README.md", 3, 9, "Corner shop › Running"),)
    assert "README.md" in resolve("where is it used?", (turn(evidence=section, citations=()),)).question


@given(st.text(max_size=120), st.text(max_size=80))
def test_any_text_can_follow_any_other(question: str, before: str) -> None:
    assert isinstance(resolve(question, (turn(before),)).question, str)


async def conversation(workspace: Workspace, questions: Sequence[str]) -> list[Answer]:
    answers: list[Answer] = []
    for question in questions:
        async with trace.root(lambda event: None, "turn") as step:
            done = await answer(question, workspace, step)
        answers.append(done)
        workspace = replace(workspace, turns=(*workspace.turns, turn_of(question, done)))
    return answers


@pytest.mark.parametrize("second", ["what does it return?", "que renvoie-t-elle ?", "explain that function"])
async def test_it_is_the_cited_place_of_the_last_answer(shop_with: Shop, second: str) -> None:
    told = "`validate_token` compares the digest with `hmac.compare_digest` [1]."
    first, then = await conversation(shop_with(lambda _: told), ["where are session tokens validated?", second])
    assert first.understood == "" and first.citations[0].path == "shop/auth.py"
    assert "`validate_token`" in then.understood
    assert any(c.path == "shop/auth.py" for c in then.citations)


async def test_without_a_model_it_is_the_first_place_shown(shop_workspace: Workspace) -> None:
    asked = ["where are session tokens validated?", "who calls it?", "and what does it return?"]
    first, callers, returned = await conversation(shop_workspace, asked)
    shown = places_of(turn_of(asked[0], first))
    assert shown and callers.understood == f"who calls {shown[0].name}?"
    assert returned.understood == f"and what does {shown[0].name} return?"


async def test_a_correction_narrows_the_search(shop_workspace: Workspace) -> None:
    _, then = await conversation(shop_workspace, ["where is the price computed?", "no, the one in shop/prices.py"])
    assert then.route is not None and then.route.intent == "EXPLAIN"
    assert "shop/prices.py" in then.understood
    assert places_of(turn_of("", then))[0].path == "shop/prices.py"
