"""The registry of intents: what is listed in it is all that router, prompts, browser and command line need."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.scripted_models import scripted_model
from support.shop_workspace import shop_workspace

from repopilot import i18n, intents, trace
from repopilot.assistant import answer
from repopilot.intents import IntentSpec
from repopilot.results import Answer
from repopilot.routing.router import classify, route
from repopilot.types import Route
from repopilot.ui.answer.answer_view import alternatives
from repopilot.ui.messages import ParsedMessage, parse_message

CONDENSE = IntentSpec(
    id="CONDENSE",
    word="condense",
    definition="a short account of the whole repository",
    shots=("sum this repository up", "the project in ten lines"),
    command="condense",
    icon="scroll-text",
    agent="summaries:condense",
)
WORDS = {"label": "Condense", "description": "Sum the repository up", "example": "What is this in ten lines?"}


@pytest.fixture
def condense(monkeypatch: pytest.MonkeyPatch) -> IntentSpec:
    """An intent added as the recipe says: an entry, an agent, words. There are no training examples of it."""

    async def agent(question, workspace, step):
        return Answer(f"In short: {question}")

    module = ModuleType("summaries")
    module.condense = agent  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "summaries", module)
    monkeypatch.setattr(intents, "INTENTS", (*intents.INTENTS, CONDENSE))
    for name, text in WORDS.items():
        monkeypatch.setitem(i18n._catalogue("en"), f"intents.condense.{name}", text)
    return CONDENSE


CONTRACT = {
    "explain": "EXPLAIN",
    "generate": "GENERATE",
    "test": "TEST",
    "review": "REVIEW",
    "impact": "IMPACT",
    "plan": "DECOMPOSE",
}
"""Commands and ids that users and programs rely on; more may come, none may go."""


def test_the_ids_and_commands_of_the_contract_are_there() -> None:
    assert CONTRACT.items() <= intents.commands().items()
    assert {*CONTRACT.values(), "REFUSE"} <= set(intents.ids())


def test_ids_words_and_commands_are_unique() -> None:
    for values in ([s.id for s in intents.INTENTS], [s.word for s in intents.INTENTS]):
        assert len(values) == len(set(values))
    assert len(intents.commands()) == sum(bool(s.command) for s in intents.INTENTS)


@pytest.mark.parametrize("spec", intents.INTENTS, ids=lambda spec: spec.id)
@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_every_intent_has_words(spec: IntentSpec, language: str) -> None:
    assert spec.label(language) and spec.description(language) and spec.example(language)


@pytest.mark.parametrize("spec", [s for s in intents.INTENTS if s.command], ids=lambda spec: spec.id)
def test_every_command_has_an_agent_and_an_icon(spec: IntentSpec) -> None:
    assert callable(spec.load_agent()) and spec.icon


@pytest.mark.parametrize("spec", [s for s in intents.INTENTS if not s.lookup], ids=lambda spec: spec.id)
def test_every_intent_the_model_may_choose_has_a_definition(spec: IntentSpec) -> None:
    assert spec.definition and len(spec.shots) == 4


@pytest.mark.parametrize("spec", [s for s in intents.INTENTS if not s.lookup], ids=lambda spec: spec.id)
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


@pytest.mark.parametrize("question", ["search", "search for the parser", "find the retry timeout", "cherche le panier"])
def test_a_look_up_is_chosen_by_its_command_alone(question: str) -> None:
    assert intents.lookups() == {"search"} and "SEARCH" not in intents.routed()
    chosen = classify(question)
    assert "SEARCH" not in (chosen.intent, *(intent for intent, _ in chosen.alternatives))


async def test_a_command_that_writes_nothing_is_not_classified(tmp_path: Path) -> None:
    chosen = await route("write ransomware", allowed=("SEARCH",))
    assert (chosen.intent, chosen.tier) == ("SEARCH", "forced")


def test_an_unknown_intent_is_an_error() -> None:
    with pytest.raises(KeyError, match="CONDENSE"):
        intents.by_id("CONDENSE")


def test_a_new_intent_is_offered_by_command_and_label(condense: IntentSpec) -> None:
    assert parse_message("/condense the whole", "", intents.commands()) == ParsedMessage(
        "question", "the whole", "condense"
    )
    assert condense.label() == "Condense" and condense.description() == WORDS["description"]
    near = Route("EXPLAIN", 0.5, "", "classifier", (("CONDENSE", 0.45),))
    assert [command for _, command in alternatives(Answer("", route=near), "en")] == ["condense"]


@pytest.mark.slow
async def test_the_command_of_a_new_intent_reaches_its_agent(condense: IntentSpec, tmp_path: Path) -> None:
    async with trace.root(lambda event: None, "turn") as step:
        done = await answer("the shop", shop_workspace(tmp_path), step, intents.commands()["condense"])
    assert done.text == "In short: the shop"
    assert done.route is not None and (done.route.intent, done.route.tier) == ("CONDENSE", "forced")


@pytest.mark.parametrize("question", ["where do we validate tokens", "write unit tests for cart.py", "plan the move"])
def test_a_new_intent_changes_no_other_route(question: str, request: pytest.FixtureRequest) -> None:
    before = classify(question)
    request.getfixturevalue("condense")
    assert classify(question) == before


async def test_the_model_can_choose_a_new_intent(condense: IntentSpec) -> None:
    model = scripted_model(lambda messages: '"condense"')
    async with trace.root(lambda event: None, "turn") as step:
        chosen = await route("this project in ten lines", model=model, step=step)
    assert chosen.intent == "CONDENSE"
    (prompt,) = ["\n".join(m.content or "" for m in call) for call in model.llm.calls]
    assert f"\ncondense: {CONDENSE.definition}\n" in prompt
    assert "\nsum this repository up -> condense\n" in prompt
    assert re.search(r"Choose from: .*\bcondense\b", prompt)


@pytest.mark.parametrize(
    ("near", "offered"),
    [
        ((("IMPACT", 0.44), ("REVIEW", 0.02)), ["impact"]),
        ((("GENERATE", 0.4), ("TEST", 0.35)), ["generate", "test"]),
        ((("REFUSE", 0.45),), []),
        ((("IMPACT", 0.2),), []),
    ],
)
def test_a_near_second_intent_is_offered_as_a_button(near: tuple, offered: list[str]) -> None:
    unsure = Route("EXPLAIN", 0.5, "", "classifier", near)
    assert [command for _, command in alternatives(Answer("", route=unsure), "en")] == offered
