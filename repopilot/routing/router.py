"""Decide which intent a question has.

The tiers, in order: a command, the conversation, a fast classifier fused with rules, the language model
when the margin is low, and a heuristic that always answers.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from repopilot import intents
from repopilot.errors import ModelError
from repopilot.i18n import Message, joined, message, reason
from repopilot.prompts import render
from repopilot.results import Turn
from repopilot.retrieval.query.parse import is_other_language
from repopilot.routing import classifier
from repopilot.routing.features import evidence, scores, signs
from repopilot.routing.normalize import NormalizedQuestion, fold, read, reads_as_latin
from repopilot.routing.question_shape import asks_only_for_tests
from repopilot.settings import Settings
from repopilot.types import Intent, Route

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder
    from repopilot.llm.model import Model
    from repopilot.trace import Step

CLEAR_MARGIN = 0.5
"""Lead of the best intent over the next from which on the language model is not asked."""
SURE_ENOUGH_TO_REFUSE = 0.95
"""Least chance of REFUSE: refusing an ordinary task costs more than doing a harmful one, which the sandbox confines."""
MODEL_WEIGHT = 0.6
"""Weight of the model's log-probabilities beside those of the classifier."""
MODEL_S = 10.0
"""Longest wait for the language model, in seconds: a slower answer is worth less than the classifier's."""

_PROCEED = re.compile(
    r"^(?:(?:yes|ok|okay|oui|sure|great|good|fine|d'accord)\b[ ,.!]*)*(?:proceed|go ahead|go on|continue|"
    r"carry on|next|do it|do that|"
    r"vas-y|allez-y|on y va|continuer?|fais-le|yes|ok|okay|oui|sure|go)\b(?: (?:with )?(?:it|that|this|"
    r"the plan|anyway|quand meme|part \d+|step \d+|please|then|le plan))*[ .!]*$"
)
_ELLIPTICAL = re.compile(
    r"^(?:and|also|same|what about|how about|et|pareil|de meme|for the|pour le|pour la|the other|l'autre)\b|"
    r"^(?:no|nope|non|wrong)\b(?: ?[,.;:!]|(?= (?:the|i mean|not|celui|celle|pas|je)\b))|^(?:not|pas) (?:that|this|"
    r"celui|celle)|"
    r"^(?:i mean|i meant|je voulais dire|plutot)\b|"
    r"^(?:\w+ ){0,2}(?:other|second|first|third|fourth|fifth|last|next) (?:one|file|function|method|class|place|"
    r"result)[ ?.!]*$|"
    r"^(?:et )?(?:le|la) (?:premier|premiere|deuxieme|seconde?|troisieme|dernier|derniere)(?: \w+)?[ ?.!]*$"
)
_PLANNING = re.compile(r"(?:plan|planifie[rz]?)(?:\s*:|\s+(?:how to|out|comment)\b)")
_LITTLE_EVIDENCE = 1.0
_LONGEST_FOLLOW_UP = 8
_CANDIDATES = 3
_PROMPT_CHARACTERS = 600

log = logging.getLogger(__name__)


def classify(question: str, embedder: Embedder | None = None, turns: Sequence[Turn] = ()) -> Route:
    """Route a question without a language model.

    Never fails: without usable weights or vectors a simpler tier answers.

    Args:
        question: as the user wrote it.
        embedder: for the dense weights; without one the lexical weights decide.
        turns: the conversation so far, for follow-up questions.

    Returns:
        The route with up to three alternatives.
    """
    reading = read(question)
    found = evidence(reading)
    return (
        _by_conversation(question, reading, found, turns)
        or _by_first_words(reading, found)
        or _by_single_word(reading, found)
        or _by_classifier(reading, found, embedder)
    )


async def route(
    question: str,
    settings: Settings,
    embedder: Embedder | None = None,
    model: Model | None = None,
    turns: Sequence[Turn] = (),
    allowed: Collection[Intent] = (),
    step: Step | None = None,
) -> Route:
    """Route a question.

    The language model chooses only between the likeliest intents, when the classifier is unsure; never about
    refusing, which small models judge badly. When it fails, the classifier's route stands.

    Args:
        question: as the user wrote it.
        settings: for the model's timeout.
        embedder: as for `classify`.
        model: the language model, None for none.
        turns: as for `classify`.
        allowed: the intents to choose between; () for all. One alone is that of a command, which nothing overrules;
            where only tests are to be generated, that is the work of the agent for tests.
        step: where the model's work and fallbacks are recorded; without it the model is not asked.

    Returns:
        The route, its tier and the reason for it.
    """
    if [*allowed] == ["GENERATE"] and asks_only_for_tests(question):
        return Route("TEST", 1.0, message("routing.tests_alone"), "forced")
    if len(allowed) == 1:
        return Route(next(iter(allowed)), 1.0, message("routing.forced"), "forced")
    chosen = await asyncio.to_thread(classify, question, embedder, turns)
    if allowed:
        chosen = _among(allowed, chosen, step)
    if chosen.tier == "heuristic" and step is not None:
        step.degrade(message("routing.rules_only"))
    if model is None or step is None or chosen.intent == "REFUSE" or _margin(chosen) >= CLEAR_MARGIN:
        return chosen
    try:
        async with asyncio.timeout(min(MODEL_S, settings.model_timeout_s)):
            return await _by_model(question, chosen, model, step)
    except TimeoutError:
        step.degrade(message("routing.model_skipped", why=message("routing.too_slow")))
    except ModelError as error:
        step.degrade(message("routing.model_skipped", why=reason(error)))
    return chosen


def _by_conversation(
    question: str, reading: NormalizedQuestion, found: dict[str, float], turns: Sequence[Turn]
) -> Route | None:
    """Follow-ups that mean nothing on their own: "proceed", "and the other one?", "do it anyway"."""
    if not turns or len(reading.core.split()) > _LONGEST_FOLLOW_UP:
        return None
    last = turns[-1].intent
    folded = " ".join(fold(question).split())
    if _PROCEED.match(folded):
        if last == "REFUSE":
            return Route(last, 0.9, message("routing.refused"), "rules")
        if last == "DECOMPOSE":
            return Route("DECOMPOSE", 0.9, message("routing.next_part"), "rules")
        return Route("GENERATE", 0.9, message("routing.act"), "rules")
    own = max(value for intent, value in scores(found).items() if intent != last)
    if last != "REFUSE" and _ELLIPTICAL.match(folded) and own < _LITTLE_EVIDENCE:
        return Route(last, 0.8, message("routing.continues", intent=last), "rules")
    return None


def _by_first_words(reading: NormalizedQuestion, found: dict[str, float]) -> Route | None:
    """ "Plan: …" and "plan how to …" say what is wanted, whatever the task itself reads like."""
    if not _PLANNING.match(reading.core):
        return None
    return Route("DECOMPOSE", 0.9, _why("DECOMPOSE", found), "rules", (("GENERATE", 0.1),))


def _by_single_word(reading: NormalizedQuestion, found: dict[str, float]) -> Route | None:
    """A word alone names what to look up, unless it is one that asks for work ("review", "tests")."""
    asked_for, evidence_for = max(scores(found).items(), key=lambda pair: pair[1])
    only_a_word = evidence_for < _LITTLE_EVIDENCE or (asked_for == "GENERATE" and found["question_mark"] > 0)
    is_word = len(reading.core.split()) == 1 and reads_as_latin(reading.core)
    if not is_word or not only_a_word or found["code"] or found["trace"]:
        return None
    return Route("EXPLAIN", 0.7, message("routing.single_word"), "rules", (("GENERATE", 0.2),))


def _by_classifier(reading: NormalizedQuestion, found: dict[str, float], embedder: Embedder | None) -> Route:
    chances, tier, remark = _chances(reading, found, embedder)
    ranked = list(chances.items())
    if is_other_language(reading.raw) and scores(found)[ranked[0][0]] < _LITTLE_EVIDENCE and not found["trace"]:
        return Route("EXPLAIN", 0.4, message("routing.other_language"), "heuristic", (("GENERATE", 0.3),))
    if ranked[0][0] == "REFUSE" and ranked[0][1] < SURE_ENOUGH_TO_REFUSE:
        ranked[0], ranked[1] = ranked[1], ranked[0]
    intent, confidence = ranked[0]
    why = joined(filter(None, (_why(intent, found), remark)))
    return Route(intent, round(confidence, 3), why, tier, _rounded(ranked[1:4]))


def _chances(
    reading: NormalizedQuestion, found: dict[str, float], embedder: Embedder | None
) -> tuple[dict[Intent, float], str, str]:
    """The chances by intent, the tier that gave them, and a remark on what it had to do without ('' for nothing)."""
    try:
        remark = "" if classifier.suits(embedder) else message("routing.without_vectors")
        return classifier.probabilities(reading, found, embedder), "classifier", remark
    except ModelError as error:
        remark = message("routing.vectors_failed", why=reason(error))
        return classifier.probabilities(reading, found, None), "classifier", remark
    except (OSError, ValueError, KeyError) as error:
        log.warning("routing without weights: %s", error)
        return classifier.rules_only(found), "heuristic", ""


def _among(allowed: Collection[Intent], chosen: Route, step: Step | None) -> Route:
    """The likeliest of the intents that answer a question; a note says so where another was likelier."""
    likely = {chosen.intent: chosen.confidence} | dict(chosen.alternatives)
    chances = {intent: likely.get(intent, 0.0) for intent in allowed}
    ranked = sorted(chances.items(), key=lambda pair: -pair[1])
    if ranked[0][0] == chosen.intent:
        return replace(chosen, alternatives=tuple(ranked[1:]))
    if step is not None:
        step.degrade(message("routing.question"))
    return replace(
        chosen,
        intent=ranked[0][0],
        confidence=ranked[0][1],
        reason=message("routing.question"),
        alternatives=tuple(ranked[1:]),
    )


async def _by_model(question: str, chosen: Route, model: Model, step: Step) -> Route:
    from llama_index.core.llms import ChatMessage

    from repopilot.llm.structured import choose_word

    likely = _candidates(chosen)
    words = {intents.by_id(intent).word: intent for intent, _ in likely}
    asked = render("route_user", words=", ".join(words), question=read(question).raw[:_PROMPT_CHARACTERS])
    messages = [
        ChatMessage(role="system", content=_instructions(words.values())),
        ChatMessage(role="user", content=asked),
    ]
    async with step.child("ask the model", "llm", question[:_PROMPT_CHARACTERS]) as asking:
        word, probability = await choose_word(model, messages, list(words), asking)
    if word is None:
        step.degrade(message("routing.no_choice"))
        return chosen
    ranked = _fused(likely, words[word], probability)
    intent, confidence = ranked[0]
    why = message("routing.by_model", intent=chosen.intent, confidence=f"{chosen.confidence:.2f}", word=word)
    return replace(
        chosen,
        intent=intent,
        confidence=round(confidence, 3),
        reason=why,
        tier="model",
        alternatives=_rounded(ranked[1:]),
    )


def _fused(likely: Sequence[tuple[Intent, float]], named: Intent, probability: float) -> list[tuple[Intent, float]]:
    """The classifier's probabilities weighted with the model's choice, likeliest first; their sum is 1."""
    rest = max(1e-3, 1 - probability) / max(1, len(likely) - 1)
    by_model = {intent: rest for intent, _ in likely} | {named: max(1e-3, probability)}
    fused = {i: math.log(max(p, 1e-4)) + MODEL_WEIGHT * math.log(by_model[i]) for i, p in likely}
    total = sum(math.exp(value) for value in fused.values())
    return sorted(((intent, math.exp(value) / total) for intent, value in fused.items()), key=lambda pair: -pair[1])


def _candidates(chosen: Route) -> list[tuple[Intent, float]]:
    """What the model chooses between: the likeliest intents, and those the classifier has never seen."""
    likely = [(chosen.intent, chosen.confidence), *(pair for pair in chosen.alternatives if pair[0] != "REFUSE")]
    likely = likely[:_CANDIDATES]
    unseen = set(classifier.untrained() if chosen.tier == "classifier" else ()) - {intent for intent, _ in likely}
    return [*likely, *((intent, classifier.UNTRAINED_CHANCE) for intent in sorted(unseen))]


def _instructions(candidates: Collection[Intent]) -> str:
    """The router's prompt with definitions and examples of the candidates only: each token costs time on a CPU."""
    listed = [spec for spec in intents.INTENTS if spec.id in candidates]
    return render(
        "route_system",
        definitions="\n".join(f"{spec.word}: {spec.definition}" for spec in listed),
        examples="\n".join(f"{shot} -> {spec.word}" for spec in listed for shot in spec.shots),
    )


def _why(intent: Intent, found: dict[str, float]) -> Message:
    if intent == "REFUSE":
        return message("routing.refused")
    named = signs(intent, found)
    if not named:
        return message("routing.by_wording", intent=intent)
    return message("routing.by_signs", intent=intent, signs=joined(named, ", "))


def _margin(chosen: Route) -> float:
    return chosen.confidence - max((p for _, p in chosen.alternatives), default=0.0)


def _rounded(ranked: Sequence[tuple[Intent, float]]) -> tuple[tuple[Intent, float], ...]:
    return tuple((intent, round(p, 3)) for intent, p in ranked)
