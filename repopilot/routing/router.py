"""Decide which intent a question has: a command says it, else an agent model, else a classifier learnt from examples.

Where the classifier can't tell whether something is to be done, a question is assumed: an answer changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from repopilot import intents
from repopilot.errors import ModelError
from repopilot.i18n import message, reason
from repopilot.prompts import render
from repopilot.results import Turn
from repopilot.retrieval.query.parse import is_other_language
from repopilot.routing import classifier
from repopilot.types import Intent, Route

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

    from repopilot.llm.model import Model
    from repopilot.trace import Step

SURE_ENOUGH_TO_REFUSE = 0.88
"""Least chance of REFUSE; in cross-validation one in a thousand examples of other intents has more. Refusing an
ordinary task costs more than doing a harmful one, which the sandbox confines."""
SURE_ENOUGH_TO_ACT = 0.7
"""Least chance that something is to be done: written, tested or planned."""
FOLLOW_UP_CHANCE = 0.5
MODEL_S = 20.0
"""Longest wait for the language model once it is loaded, in seconds: a slower answer is worth less than the
classifier's."""
_TURNS_READ = 2
_PROMPT_CHARACTERS = 600
_ANSWER_CHARACTERS = 200


def classify(question: str, turns: Sequence[Turn] = ()) -> Route:
    """Route a question without a language model.

    Args:
        question: as the user wrote it.
        turns: the conversation so far, for follow-up questions.

    Returns:
        The route with up to three alternatives.
    """
    if is_other_language(question):
        return Route("EXPLAIN", 0.4, message("routing.other_language"), "heuristic", (("GENERATE", 0.3),))
    chances = classifier.chances(question)
    followed = _follow_up(chances, turns)
    if followed is not None:
        return followed
    ranked = _ranked({intent: chances.get(intent, 0.0) for intent in intents.routed()})
    intent, confidence = ranked[0]
    why = message("routing.refused") if intent == "REFUSE" else message("routing.by_wording", intent=intent)
    return Route(intent, confidence, why, "classifier", tuple(ranked[1:4]))


def kind_of(piece: str) -> tuple[str, float]:
    """What a sentence or clause asks for by itself, without a language model.

    Args:
        piece: the sentence or clause.

    Returns:
        `act` where something is to be done, REFUSE, or the intent that answers it, with its chance; '' where a fragment
        of a sentence is likelier. REFUSE only where it is sure.
    """
    chances = classifier.chances(piece)
    refusing = chances.get("REFUSE", 0.0)
    if refusing >= SURE_ENOUGH_TO_REFUSE:
        return "REFUSE", refusing
    kinds = {intent: chances.get(intent, 0.0) for intent in intents.answering()}
    kinds["act"] = sum(chances.get(intent, 0.0) for intent in intents.routed() if intents.by_id(intent).acts)
    kinds[""] = chances[classifier.FRAGMENT]
    likeliest, chance = max(kinds.items(), key=lambda pair: pair[1])
    return likeliest, chance / sum(kinds.values())


async def route(
    question: str,
    model: Model | None = None,
    turns: Sequence[Turn] = (),
    allowed: Collection[Intent] = (),
    step: Step | None = None,
) -> Route:
    """Route a question.

    Args:
        question: as the user wrote it.
        model: a language model that is able to judge, None for none. When it fails, the classifier's route stands.
        turns: as for `classify`.
        allowed: the intents to choose between; () for all. A single one comes from a command: nothing overrules it.
        step: where the model's work and fallbacks are recorded; without it the model is not asked.

    Returns:
        The route, its tier and the reason for it.
    """
    if len(allowed) == 1:
        return Route(next(iter(allowed)), 1.0, message("routing.forced"), "forced")
    chosen = None
    if model is not None and step is not None:
        chosen = await _by_model(question, model, turns, step)
    if chosen is None:
        chosen = classify(question, turns)
    return _among(allowed, chosen, step) if allowed else chosen


def _follow_up(chances: dict[str, float], turns: Sequence[Turn]) -> Route | None:
    """The route of a follow-up: "proceed" acts on the last answer, "and the other one?" asks the same again."""
    if not turns:
        return None
    last = turns[-1].intent
    if chances[classifier.PROCEED] >= FOLLOW_UP_CHANCE:
        intent: Intent = last if last in ("REFUSE", "DECOMPOSE") else "GENERATE"
        return Route(intent, chances[classifier.PROCEED], message("routing.act"), "classifier")
    if chances[classifier.SAME] >= FOLLOW_UP_CHANCE and last != "REFUSE":
        return Route(last, chances[classifier.SAME], message("routing.continues", intent=last), "classifier")
    return None


def _ranked(chances: dict[Intent, float]) -> list[tuple[Intent, float]]:
    """The intents, the one to take first: a refusal and an action only where they are sure enough."""
    total = sum(chances.values())
    ranked = sorted(((i, round(p / total, 3)) for i, p in chances.items()), key=lambda pair: -pair[1])
    if ranked[0][0] == "REFUSE" and ranked[0][1] < SURE_ENOUGH_TO_REFUSE:
        ranked = [*ranked[1:], ranked[0]]
    acting = sum(p for i, p in ranked if intents.by_id(i).acts)
    asking = sum(p for i, p in ranked if i in intents.answering())
    if intents.by_id(ranked[0][0]).acts and acting < SURE_ENOUGH_TO_ACT * (acting + asking):
        ranked.sort(key=lambda pair: pair[0] != "EXPLAIN")
    return ranked


def _among(allowed: Collection[Intent], chosen: Route, step: Step | None) -> Route:
    """The likeliest of the allowed intents; a note says so where another intent was likelier."""
    likely = {chosen.intent: chosen.confidence} | dict(chosen.alternatives)
    ranked = sorted(((intent, likely.get(intent, 0.0)) for intent in allowed), key=lambda pair: -pair[1])
    if chosen.intent in allowed:
        return replace(chosen, alternatives=tuple(pair for pair in ranked if pair[0] != chosen.intent))
    if step is not None:
        step.degrade(message("routing.question"))
    intent, confidence = ranked[0]
    return replace(
        chosen,
        intent=intent,
        confidence=confidence,
        reason=message("routing.question"),
        alternatives=tuple(ranked[1:]),
    )


async def _by_model(question: str, model: Model, turns: Sequence[Turn], step: Step) -> Route | None:
    """The intent that the model names, None where it fails or names none."""
    from repopilot.llm.choice.choose import warm_up
    from repopilot.llm.structured import choose_word

    words = {intents.by_id(intent).word: intent for intent in intents.routed()}
    try:
        async with step.child("ask the model", "llm", question[:_PROMPT_CHARACTERS]) as asking:
            await warm_up(model)  # how long a model takes to load says nothing about how fast it answers
            async with asyncio.timeout(min(MODEL_S, model.timeout_s)):
                word, sureness = await choose_word(model, _prompt(question, turns), list(words), asking)
    except TimeoutError:
        step.degrade(
            message("routing.model_skipped", why=message("routing.too_slow", seconds=min(MODEL_S, model.timeout_s)))
        )
        return None
    except ModelError as error:
        step.degrade(message("routing.model_skipped", why=reason(error)))
        return None
    if word is None:
        step.degrade(message("routing.no_choice"))
        return None
    why = "routing.refused" if words[word] == "REFUSE" else "routing.by_model"
    return Route(words[word], round(sureness, 3), message(why, word=word), "model")


def _prompt(question: str, turns: Sequence[Turn]) -> list[ChatMessage]:
    """The definitions with their examples, the last turns and the question."""
    from repopilot.llm.stream import prompt_of

    specs = [intents.by_id(intent) for intent in intents.routed()]
    system = render(
        "route_system",
        definitions="\n".join(f"{spec.word}: {spec.definition}" for spec in specs),
        examples="\n".join(f"{shot} -> {spec.word}" for spec in specs for shot in spec.shots),
    )
    spoken = "".join(
        f"{turn.question[:_PROMPT_CHARACTERS]} -> {intents.by_id(turn.intent).word}\n"
        f"(answered: {' '.join(turn.answer[:_ANSWER_CHARACTERS].split())})\n"
        for turn in turns[-_TURNS_READ:]
    )
    words = ", ".join(spec.word for spec in specs)
    asked = render("route_user", words=words, conversation=spoken, question=question[:_PROMPT_CHARACTERS])
    return prompt_of(system, asked)
