"""Replies of a fixed shape, from models that keep to it and from models that don't."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.llms import ChatMessage
from pydantic import BaseModel, Field
from support.ollama_server import OllamaServer
from support.scripted_models import scripted_model

from repopilot.errors import ModelError
from repopilot.llm import structured
from repopilot.llm.choice import choose
from repopilot.llm.resources import ModelResources

QUESTION = [ChatMessage(role="user", content="Review this.")]
WORDS = ("EXPLAIN", "GENERATE", "TEST")


class Issue(BaseModel):
    line: int = Field(ge=1)
    text: str


class Review(BaseModel):
    issues: list[Issue]
    verdict: Literal["approve", "reject"] = "approve"


GOOD = '{"issues": [{"line": 3, "text": "off by one"}], "verdict": "reject"}'
EXPECTED = Review(issues=[Issue(line=3, text="off by one")], verdict="reject")


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"Sure! Here is my review:\n\n{GOOD}\n\nLet me know if {{you}} need more.",
        f"{{not json}} {GOOD}",
        f'First {{"a": 1}}, then {GOOD}',
        GOOD[:-1],
        f"```json\n{GOOD}",
        f'{{"issues": []}} would be wrong. My review:\n~~~json\n{GOOD}\n~~~',
    ],
)
def test_a_reply_is_found_in_whatever_surrounds_it(text):
    assert structured.parse(text, Review) == (EXPECTED, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON"),
        ("I approve.", "no JSON"),
        ('{"issues": [{"line": 0, "text": "x"}]}', "issues.0.line"),
        ("[1, 2]", "the whole"),
        ("[" * 5000, ""),
        ("{" * 5000, ""),
    ],
)
def test_what_does_not_fit_is_none_with_the_reason(text, problem):
    value, said = structured.parse(text, Review)
    assert value is None and problem in said


@pytest.mark.slow
@given(st.text(), st.text())
def test_parsing_never_raises_and_finds_a_fenced_reply(before, after):
    structured.parse(before + after, Review)
    value, _ = structured.parse(GOOD + after.replace("{", "").replace("[", ""), Review)
    assert value == EXPECTED


async def test_the_model_gets_one_chance_to_repair(step):
    replies = iter(['{"issues": "none"}', GOOD])
    model = scripted_model(lambda _: next(replies))
    assert await structured.ask(model, QUESTION, Review, step) == EXPECTED
    first, second = model.llm.calls
    assert len(first) == 1 and [message.role.value for message in second] == ["user", "assistant", "user"]
    assert "issues" in second[-1].content and "issues" in step.data["repaired"]


async def test_only_one_chance(step):
    model = scripted_model(lambda _: "no idea")
    assert await structured.ask(model, QUESTION, Review, step) is None
    assert len(model.llm.calls) == 2


async def test_a_model_that_fails_is_an_error_not_a_none(step):
    model = scripted_model(lambda _: [RuntimeError("boom")])
    with pytest.raises(ModelError):
        await structured.ask(model, QUESTION, Review, step)


@pytest.mark.slow
@pytest.mark.parametrize("native", [True, False], ids=["ollama", "openai"])
async def test_the_schema_constrains_the_decoding(native, settings_for, step):
    with OllamaServer(native=native, reply=lambda _: GOOD) as server:
        model = await choose.choose(settings_for(llm_url=server.url), ModelResources())
        assert await structured.ask(model, QUESTION, Review, step) == EXPECTED
        body = next(body for path, body in server.state.requests if "chat" in path)
    schema = body["format"] if native else body["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["issues", "verdict"]


@pytest.mark.slow
async def test_a_server_without_schemas_is_asked_in_words(settings_for, step):
    with OllamaServer(native=False, schemas=False, reply=lambda _: f"Here you are: {GOOD}") as server:
        model = await choose.choose(settings_for(llm_url=server.url), ModelResources())
        assert await structured.ask(model, QUESTION, Review, step) == EXPECTED
        refused, asked = server.state.sent("/v1/chat/completions")
    assert "response_format" in refused and "response_format" not in asked
    assert '"issues"' in asked["messages"][-1]["content"]
    assert any("doesn't support JSON schemas" in said for said in step.data["degraded"])


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        ('"TEST"', "TEST"),
        ("TEST", "TEST"),
        (" test. ", "TEST"),
        ('{"choice": "GENERATE"}', "GENERATE"),
        ("I would EXPLAIN it", "EXPLAIN"),
        ("EXPLAIN or TEST", None),
        ("TESTING", None),
        ("", None),
    ],
)
async def test_a_word_is_chosen(reply, word, step):
    model = scripted_model(lambda _: [reply])
    found, confidence = await structured.choose_word(model, QUESTION, WORDS, step)
    assert found == word and confidence == (0.5 if word else 0.0)


def token(text: str, probability: float, **others: float) -> SimpleNamespace:
    alternatives = {text: probability, **others}
    listed = [SimpleNamespace(token=t, logprob=math.log(p)) for t, p in alternatives.items()]
    return SimpleNamespace(token=text, logprob=math.log(probability), top_logprobs=listed)


def test_confidence_weighs_the_word_against_its_rivals_only():
    tokens = [
        token('"', 0.1, The=0.8),
        token("EX", 0.3, GEN=0.1, Hello=0.5),
        token("PLAIN", 0.9, TRA=0.05),
        token('"', 1),
    ]
    assert structured.confidence_of(tokens, [json.dumps(word) for word in WORDS]) == pytest.approx(0.75)


def test_white_space_before_the_word_hides_no_rival():
    tokens = [token(" \n", 0.5, x=0.1), token('"yes', 0.3, **{'"no': 0.1}), token('"', 1)]
    assert structured.confidence_of(tokens, ['"yes"', '"no"']) == pytest.approx(0.75)


def test_a_sure_word_has_full_confidence():
    assert structured.confidence_of([token('"TEST"', 0.2, other=0.7)], ['"TEST"', '"EXPLAIN"']) == 1.0
