"""What follow-ups refer to: pronouns, ranks, corrections; and two turns through the assistant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shop_workspace import answering

from repopilot import trace
from repopilot.agents.follow_up import places_of, resolve
from repopilot.assistant import answer
from repopilot.results import AffectedPlace, Answer, Explanation, ImpactReport, Turn, turn_of
from repopilot.retrieval.query.parse import parse
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


@pytest.mark.parametrize("question", ["what are its limits?", "Où est-ce qu'il écrit ? Et ses tests ?"])
def test_a_pronoun_after_an_overview_is_the_repository(question):
    result = Explanation(origin="code", form="overview")
    understood = resolve(question, [turn("give me an overview", result=result)])
    assert understood.startswith(question) and understood.endswith(("this repository", "ce dépôt"))


@pytest.mark.parametrize(
    ("question", "understood"),
    [
        ("who calls it?", "who calls it? `Client.send`"),
        ("what are its callers?", "what are its callers? `Client.send`"),
        ("what does that function raise?", "what does that function raise? `Client.send`"),
        ("who calls [3]?", "who calls `retry_delay`?"),
        ("difference between [1] and [3]?", "difference between `Client.send` and `retry_delay`?"),
        ("does [3] call [3] or [9]?", "does `retry_delay` call `retry_delay` or [9]?"),
        ("why?", "where are requests sent? why?"),
        ("qui l'appelle ?", "qui l'appelle ? `Client.send`"),
        ("que renvoie-t-elle ?", "que renvoie-t-elle ? `Client.send`"),
        ("comment le remplace-t-il ?", "comment le remplace-t-il ? `Client.send`"),
        ("quels sont ses paramètres ?", "quels sont ses paramètres ? `Client.send`"),
        ("où l'utilise-t-on ?", "où l'utilise-t-on ? `Client.send`"),
        ("where does this project use it?", "where does this project use it? `Client.send`"),
        ("which tests cover it?", "which tests cover it? `Client.send`"),
        ("is it tested?", "is it tested? `Client.send`"),
        ("explain this code", "explain this code `Client.send`"),
        ("does it raise anything?", "does it raise anything? `Client.send`"),
        ("and for the parser?", "where are requests sent? and for the parser?"),
        ("no, the async one", "no, the async one `Client.send`"),
        ("non, pour le client asynchrone", "where are requests sent? non, pour le client asynchrone"),
    ],
)
def test_a_follow_up_is_rewritten_with_what_it_refers_to(question: str, understood: str) -> None:
    found = resolve(question, (turn(),))
    assert found == understood


def test_each_number_in_a_question_is_a_place_whatever_its_name() -> None:
    names = ("App\\Models\\User", r"a\1::\g<0>", "[1]")
    places = tuple(Evidence(n, "a.php", n, n, name, ((n, "x"),)) for n, name in enumerate(names, 1))
    found = resolve("are [3], [1] and [2] the same as [1]?", (turn(evidence=places),))
    assert found == "are `{2}`, `{0}` and `{1}` the same as `{0}`?".format(*names)


@pytest.mark.parametrize(
    "question",
    [
        "where is the retry delay computed for expired tokens?",
        "is it possible to disable the cache of responses?",
        "which class uses `Session` and how does it close it?",
        "no longer supported versions",
        "Which third-party libraries does it use?",
        "How do I install it?",
        "What licence does it have?",
        "Peut-il chiffrer les sauvegardes ?",
        "how does the pool keep its connections alive between requests of clients?",
        "Y a-t-il une option pour désactiver le cache des réponses ?",
        "who calls [9]?",
        "what is the first request of a session?",
        "Give me an overview of the architecture of this project",
        "what is this library for?",
        "What is this repository about?",
        "explain the code",
        "what does this library depend on?",
        "which class parses headers that repeat?",
        "Donne-moi une vue d'ensemble de l'architecture de ce projet",
        "À quoi sert ce dépôt ?",
        "Le code est-il typé ?",
        "Comment l'architecture est-elle organisée ?",
        "Où est l'option de délai ?",
        "Comment Jackson remplace-t-il null ?",
        "Comment les en-têtes répétés sont-ils lus ?",
        "Y a-t-il des tests ?",
        "",
    ],
)
def test_a_question_that_stands_for_itself_is_left_alone(question: str) -> None:
    assert resolve(question, (turn(),)) == question


BEFORE = {
    "an answer about a name": turn("how does `Client.send` work?"),
    "an answer about none": turn(),
    "an overview": turn("give me an overview", result=Explanation(origin="code", form="overview")),
    "a change": turn("rename retry_delay to pause", "GENERATE", evidence=(), citations=()),
    "a review": turn("review my changes", "REVIEW"),
    "an error": Turn("how is the cache cleared?", "The model failed.", "EXPLAIN"),
}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize(
    ("question", "wish"),
    [
        ("what is this?", "overview"),
        ("give me an overview", "overview"),
        ("qu'est-ce que c'est ?", "overview"),
        ("donne-moi une vue d'ensemble", "overview"),
        ("how is it structured?", "structure"),
        ("comment est-ce structuré ?", "structure"),
        ("where does it start?", "entry points"),
        ("où est-ce que ça commence ?", "entry points"),
        ("where should I start reading?", "reading"),
    ],
)
def test_a_question_about_the_whole_is_one_in_any_position_of_a_chat(before: str, question: str, wish: str) -> None:
    query = parse(resolve(question, (BEFORE[before],)))
    assert (query.text, query.kind, query.wish) == (question, "overview", wish)


@pytest.mark.parametrize("question", ["how does it work?", "what does it do?", "what is it for?", "à quoi sert-elle ?"])
def test_what_a_definition_does_is_asked_of_the_last_one_and_else_of_the_whole(question: str) -> None:
    assert resolve(question, (turn(),)) == f"{question} `Client.send`"
    assert parse(resolve(question, (BEFORE["an overview"],))).kind == "overview"
    assert parse(question).kind == "overview"


def test_without_a_turn_or_a_place_nothing_is_guessed() -> None:
    assert resolve("who calls it?", ()) == "who calls it?"
    assert resolve("who calls it?", (Turn("what is this?", "", "EXPLAIN"),)) == "who calls it?"
    assert resolve("who calls it?", (turn(intent="REFUSE"),)) == "who calls it?"


@pytest.mark.parametrize("question", ["what does it raise?", "does it wait longer each time?"])
def test_it_stays_what_the_conversation_is_about(question: str) -> None:
    callers = turn("who calls `retry_delay`?", evidence=PLACES[:2], citations=())
    assert resolve(question, (turn(), callers)) == f"{question} `retry_delay`"


def test_what_is_understood_once_is_understood_the_same_again() -> None:
    overview = turn("give me an overview", result=Explanation(origin="code", form="overview"))
    for before, question in ((overview, "what are its limits?"), (turn(), "who calls it?")):
        once = resolve(question, (before,))
        assert once != question and resolve(once, (before,)) == once


def test_places_come_from_evidence_else_citations_else_the_report() -> None:
    assert [p.symbol for p in places_of(turn())] == ["Client.send", "AsyncClient.send", "retry_delay"]
    assert [p.number for p in places_of(turn(evidence=()))] == [1]
    report = ImpactReport("LOW", affected=(AffectedPlace("A1", "shop/pay.py", "pay"),))
    found = resolve("what does it do?", (turn("what breaks?", "IMPACT", evidence=(), citations=(), result=report),))
    assert found == "what does it do? `pay`"


def test_a_heading_is_named_by_its_file() -> None:
    section = (Evidence(1, "README.md", 3, 9, "Corner shop › Running"),)
    shown = turn(evidence=section, citations=())
    assert "README.md" in resolve("where is it used?", (shown,))


@pytest.mark.slow
@given(st.text(max_size=120), st.text(max_size=80))
def test_any_text_can_follow_any_other(question: str, before: str) -> None:
    assert isinstance(resolve(question, (turn(before),)), str)


async def conversation(workspace: Workspace, questions: Sequence[str]) -> list[Answer]:
    answers: list[Answer] = []
    for question in questions:
        async with trace.root(lambda event: None, "turn") as step:
            done = await answer(question, workspace, step)
        answers.append(done)
        workspace = replace(workspace, turns=(*workspace.turns, turn_of(question, done)))
    return answers


@pytest.mark.slow
@pytest.mark.parametrize("second", ["what does it return?", "que renvoie-t-elle ?", "explain that function"])
async def test_it_is_the_cited_place_of_the_last_answer(shop_with: Shop, second: str) -> None:
    told = "`validate_token` compares the digest with `hmac.compare_digest` [1]."
    first, then = await conversation(shop_with(lambda _: told), ["where are session tokens validated?", second])
    assert first.understood == "" and first.citations[0].path == "shop/auth.py"
    assert "`validate_token`" in then.understood
    assert any(c.path == "shop/auth.py" for c in then.citations)


async def test_a_model_that_uses_tools_gets_the_conversation_and_the_question_as_written(shop_workspace) -> None:
    prompts: list[str] = []

    def reply(prompt: str) -> str:
        prompts.append(prompt)
        return "`Cart` holds lines [shop/cart.py:1-5]." if "Found so far" in prompt else '"explain"'

    model = replace(answering(reply), way="agent")
    workspace = replace(shop_workspace, model=model, turns=(turn(), turn("why?", "REFUSE")))
    async with trace.root(lambda event: None, "turn") as step:
        done = await answer("who else calls it, or [3]?", workspace, step)
    told = next(prompt for prompt in prompts if "The user: where are requests sent?" in prompt)
    assert "who else calls it, or `retry_delay`?\n" in told and "The user: why?" not in told
    assert done.understood == "who else calls it, or `retry_delay`?"


@pytest.mark.slow
async def test_without_a_model_it_is_the_first_place_shown(shop_workspace: Workspace) -> None:
    asked = ["where are session tokens validated?", "who calls it?", "and what does it return?"]
    first, callers, returned = await conversation(shop_workspace, asked)
    shown = places_of(turn_of(asked[0], first))
    assert shown and callers.understood == f"who calls it? {shown[0].name}"
    assert returned.understood == f"and what does it return? {shown[0].name}"
