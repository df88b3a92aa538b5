"""The registry of intents: what is listed in it is all that router, prompts, browser and command line need."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.shop_workspace import shop_workspace

from repopilot import i18n, intents, trace
from repopilot.assistant import answer
from repopilot.intents import IntentSpec
from repopilot.llm.scripted import scripted_model
from repopilot.results import Answer
from repopilot.routing.router import classify, route
from repopilot.settings import Settings
from repopilot.types import Route
from repopilot.ui.answer.answer_view import alternatives
from repopilot.ui.messages import ParsedMessage, parse_message

UNSURE = "the session code and its callers in general"
SUMMARISE = IntentSpec(
    id="SUMMARISE",
    word="summarise",
    definition="a short account of the whole repository",
    shots=("sum this repository up", "the project in ten lines"),
    command="summarise",
    icon="scroll-text",
    agent="summaries:summarise",
    cue=r"\bin (?:a nutshell|ten lines)\b",
)
WORDS = {"label": "Summarise", "description": "Sum the repository up", "example": "What is this in ten lines?"}


@pytest.fixture
def summarise(monkeypatch: pytest.MonkeyPatch) -> IntentSpec:
    """An intent added as the recipe says: an entry, an agent, words. There are no training examples of it."""

    async def agent(question, workspace, step):
        return Answer(f"In short: {question}")

    module = ModuleType("summaries")
    module.summarise = agent  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "summaries", module)
    monkeypatch.setattr(intents, "INTENTS", (*intents.INTENTS, SUMMARISE))
    for name, text in WORDS.items():
        monkeypatch.setitem(i18n._catalogue("en"), f"intents.summarise.{name}", text)
    return SUMMARISE


def test_ids_are_those_of_the_json_contract() -> None:
    assert intents.ids() == ("EXPLAIN", "GENERATE", "TEST", "REVIEW", "IMPACT", "DECOMPOSE", "REFUSE")


def test_commands_are_what_users_type() -> None:
    assert tuple(intents.commands()) == ("explain", "generate", "test", "review", "impact", "plan")
    assert intents.commands()["plan"] == "DECOMPOSE"


@pytest.mark.parametrize("spec", intents.INTENTS, ids=lambda spec: spec.id)
@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_every_intent_has_words(spec: IntentSpec, language: str) -> None:
    assert spec.label(language) and spec.description(language) and spec.example(language)


@pytest.mark.parametrize("spec", [s for s in intents.INTENTS if s.command], ids=lambda spec: spec.id)
def test_every_command_has_an_agent_an_icon_and_a_definition(spec: IntentSpec) -> None:
    assert callable(spec.load_agent()) and spec.icon and spec.definition and len(spec.shots) == 4


@pytest.mark.parametrize("spec", intents.INTENTS, ids=lambda spec: spec.id)
@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_the_example_of_an_intent_goes_to_it(spec: IntentSpec, language: str) -> None:
    assert classify(spec.example(language)).intent == spec.id


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("/plan move it", ("plan", "move it")),
        ("/PLAN\nmove it", ("plan", "move it")),
        ("/plan", ("plan", "")),
        ("/planet x", ("", "/planet x")),
        ("/usr/src", ("", "/usr/src")),
        ("plan x", ("", "plan x")),
    ],
)
def test_a_typed_command_is_split_off(text: str, split: tuple[str, str]) -> None:
    assert intents.split_command(text, intents.commands()) == split


def test_an_unknown_intent_is_an_error() -> None:
    with pytest.raises(KeyError, match="SUMMARISE"):
        intents.by_id("SUMMARISE")


def test_a_new_intent_is_offered_by_command_and_label(summarise: IntentSpec) -> None:
    assert parse_message("/summarise the whole", "", intents.commands()) == ParsedMessage(
        "question", "the whole", "summarise"
    )
    assert summarise.label() == "Summarise" and summarise.description() == WORDS["description"]
    near = Route("EXPLAIN", 0.5, "", "classifier", (("SUMMARISE", 0.45),))
    assert [command for _, command in alternatives(Answer("", route=near), "en")] == ["summarise"]


async def test_the_command_of_a_new_intent_reaches_its_agent(summarise: IntentSpec, tmp_path: Path) -> None:
    async with trace.root(lambda event: None, "turn") as step:
        done = await answer("the shop", shop_workspace(tmp_path), step, intents.commands()["summarise"])
    assert done.text == "In short: the shop"
    assert done.route is not None and (done.route.intent, done.route.tier) == ("SUMMARISE", "forced")


def test_the_cue_of_a_new_intent_decides_without_examples(summarise: IntentSpec) -> None:
    chosen = classify("this project in ten lines")
    assert chosen.intent == "SUMMARISE" and chosen.tier == "classifier"


@pytest.mark.parametrize("question", ["where do we validate tokens", "write unit tests for cart.py", "plan the move"])
def test_a_new_intent_changes_no_other_route(question: str, request: pytest.FixtureRequest) -> None:
    before = classify(question)
    request.getfixturevalue("summarise")
    assert classify(question) == before


async def test_the_model_can_choose_a_new_intent(summarise: IntentSpec) -> None:
    model = scripted_model(lambda messages: '"summarise"')
    async with trace.root(lambda event: None, "turn") as step:
        await route(UNSURE, Settings(), model=model, step=step)
    (prompt,) = ["\n".join(m.content or "" for m in call) for call in model.llm.calls]
    assert f"\nsummarise: {SUMMARISE.definition}\n" in prompt
    assert "\nsum this repository up -> summarise\n" in prompt
    assert re.search(r"Choose from: .*\bsummarise\b", prompt)
