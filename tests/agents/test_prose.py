"""What the model writes, from the request to the sentences shown, with servers of every kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.ollama_server import OllamaServer
from support.shop_workspace import drafted

from repopilot import trace
from repopilot.agents.explain.agent import explain
from repopilot.agents.explain.prose import complete_sentences, sentences_of_json
from repopilot.agents.explain.sentence_check import ClaimContext, check_sentence
from repopilot.llm.choice import choose
from repopilot.llm.resources import ModelResources
from repopilot.results import Answer
from repopilot.settings import Settings
from repopilot.workspace import Workspace

QUESTION = "where are session tokens validated?"
TRUE = "`validate_token` compares the digest with `hmac.compare_digest`"
FALSE = "Tokens are encrypted with elliptic curves and rotated weekly"
Shop = Callable[..., Workspace]


def as_json(*sentences: tuple[str, int]) -> str:
    return json.dumps({"sentences": [{"text": text, "citation": number} for text, number in sentences]})


async def asked(workspace: Workspace, question: str = QUESTION) -> tuple[Answer, list[trace.Event]]:
    events: list[trace.Event] = []
    async with trace.root(events.append, "explain") as step:
        done = await explain(question, workspace, step)
    return done, events


def shown(events: list[trace.Event]) -> list[str]:
    """What was written into the answer, piece by piece."""
    answers = {e.id for e in events if isinstance(e, trace.Started) and e.kind == "answer"}
    return [e.text for e in events if isinstance(e, trace.Streamed) and e.id in answers]


@pytest.mark.slow
async def test_nothing_is_shown_before_it_is_complete_and_checked(shop_with: Shop) -> None:
    reply = f"{TRUE} [1]. {FALSE} [1]. It is [ [1]. `sign_token` builds the digest of the token [2]."
    done, events = await asked(shop_with(lambda messages: reply))
    assert drafted(done) == f"{TRUE} [1]. `sign_token` builds the digest of the token [2]."
    assert done.result.draft == "".join(shown(events)[1:])
    raw = [e for e in events if isinstance(e, trace.Finished) and e.output.startswith(TRUE)]
    assert any(FALSE in e.output for e in raw), "the trace keeps what the model wrote"


async def test_an_answer_of_which_nothing_holds_is_the_evidence(shop_with: Shop) -> None:
    done, events = await asked(shop_with(lambda messages: f"{FALSE} [1]."))
    assert shown(events) == [done.result.lead] and done.result.origin == "extractive" and done.evidence


@pytest.mark.slow
@pytest.mark.parametrize("native", [True, False])
async def test_a_server_with_schemas_writes_objects_that_are_shown_as_text(
    shop_workspace: Workspace, tmp_path, native: bool
) -> None:
    reply = as_json((TRUE + ".", 1), (FALSE + ".", 1))
    with OllamaServer(native=native, reply=lambda messages: reply) as server:
        model = await choose.choose(Settings(home=tmp_path, llm_url=server.url, ollama_url=""), ModelResources())
        done, events = await asked(replace(shop_workspace, model=model))
        body = next(body for path, body in server.state.requests if "chat" in path)
    schema = body["format"] if native else body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["sentences"]["items"]["properties"]["citation"]["enum"][0] == 1
    assert drafted(done) == f"{TRUE} [1]." and drafted(done) in shown(events)[-1]


@pytest.mark.slow
async def test_a_server_that_refuses_schemas_writes_freely_and_that_is_said(
    shop_workspace: Workspace, tmp_path
) -> None:
    with OllamaServer(native=False, schemas=False, reply=lambda messages: f"{TRUE} [1].") as server:
        model = await choose.choose(Settings(home=tmp_path, llm_url=server.url, ollama_url=""), ModelResources())
        done, events = await asked(replace(shop_workspace, model=model))
    assert drafted(done) == f"{TRUE} [1]."
    assert any("neither a grammar nor a JSON schema" in note for note in trace.degraded(events))


@pytest.mark.slow
async def test_a_server_that_ignores_the_schema_is_read_as_text(shop_workspace: Workspace, tmp_path) -> None:
    with OllamaServer(reply=lambda messages: f"{TRUE} [1].") as server:
        model = await choose.choose(Settings(home=tmp_path, llm_url=server.url, ollama_url=""), ModelResources())
        done, _ = await asked(replace(shop_workspace, model=model))
    assert drafted(done) == f"{TRUE} [1]."


async def test_a_server_that_fails_leaves_the_evidence(shop_workspace: Workspace, tmp_path) -> None:
    with OllamaServer(behaviour="500") as server:
        model = await choose.choose(Settings(home=tmp_path, llm_url=server.url, ollama_url=""), ModelResources())
        done, events = await asked(replace(shop_workspace, model=model))
    assert done.result.interrupted and done.evidence and any("cut off" in note for note in trace.degraded(events))


TEXTS = st.lists(
    st.sampled_from(
        [
            "It works",
            ".",
            " ",
            "\n",
            "[1]",
            " [2]",
            "e.g. ",
            "- ",
            "`a.b`",
            "see foo.py",
            "!",
            "...",
            "```\n",
            "| x |\n",
            ": ",
        ]
    ),
    max_size=16,
).map("".join)


@pytest.mark.slow
@given(TEXTS, st.integers(0, 80))
def test_a_sentence_taken_while_streaming_is_never_changed_by_what_follows(text: str, cut: int) -> None:
    early = complete_sentences(text[:cut], ended=False)
    assert complete_sentences(text, ended=True)[: len(early)] == early


@pytest.mark.slow
@given(st.lists(st.tuples(st.text(max_size=30), st.integers(1, 12)), max_size=4), st.integers(0, 300))
def test_objects_are_read_while_they_stream(sentences: list[tuple[str, int]], cut: int) -> None:
    reply = as_json(*sentences)
    every = sentences_of_json(reply)
    assert every == [f"{text.strip()} [{number}]" for text, number in sentences]
    early = sentences_of_json(reply[:cut])
    assert every[: len(early)] == early


@pytest.mark.slow
@given(st.text(max_size=80))
def test_any_reply_is_read(text: str) -> None:
    sentences_of_json(text)
    complete_sentences(text, ended=False)


@pytest.mark.slow
def test_json_nested_without_end_is_no_sentence() -> None:
    assert sentences_of_json("[" + '{"text": ' + "[" * 100_000) == []


@pytest.mark.parametrize("unit", ["-", "9", ".", "a.", "a-", "A", "_", "e.g. ", "www.", "a/", "[1]", "` "])
def test_a_reply_that_goes_round_in_circles_is_checked_in_linear_time(unit: str) -> None:
    reply = "x " + unit * (400_000 // len(unit)) + " x."  # quadratic, this takes longer than a test may
    for sentence in complete_sentences(reply, ended=True)[:30]:
        check_sentence(sentence, ClaimContext(()))


NO_ANSWER = {
    "nothing": " \n",
    "form": '{"answer": "The digest is compared."}',
    "mismatch": as_json((FALSE + ".", 1), ("Les jetons sont chiffrés par des courbes et renouvelés.", 1)),
}
SAID = {
    "nothing": ("The model returned nothing.", "Le modèle n’a rien renvoyé."),
    "form": ("The model’s answer isn’t in the form", "La réponse du modèle n’a pas la forme demandée"),
    "mismatch": ("The model’s answer didn’t match the code", "La réponse du modèle ne correspondait pas au code"),
}
