"""Where a question goes. Tiers: a forced command, safety rules, the conversation, a fast classifier fused with rules,
the language model when the margin is low, and a heuristic that always answers."""

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
from repopilot.prompts import render
from repopilot.results import Turn
from repopilot.routing import classifier
from repopilot.routing.features import evidence, scores, signs
from repopilot.routing.normalize import NormalizedQuestion, read, reads_as_latin
from repopilot.routing.safety import harm_score, named_harm, reasons
from repopilot.settings import Settings
from repopilot.types import Intent, Route

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder
    from repopilot.llm.model import Model
    from repopilot.trace import Step

CLEAR_MARGIN = 0.5
"""Above this lead of the best intent over the next, nobody else is asked."""
CERTAIN_HARM = 3.0
"""A harm score nobody needs a classifier for."""
SURE_ENOUGH_TO_REFUSE = {True: 0.5, False: 0.65}
"""Least chance of REFUSE, with and without named evidence of harm: false alarms cost more trust than they save."""
MODEL_WEIGHT = 0.6
MODEL_S = 10.0
"""Longest wait for the router model, in seconds: a slower answer is worth less than the classifier's."""

_GO_ON = re.compile(
    r"^(?:(?:yes|ok|okay|oui|sure|great|good|fine|d'accord)\b[ ,.!]*)*(?:proceed|go ahead|go on|continue|"
    r"carry on|next|do it|do that|"
    r"vas-y|allez-y|on y va|continuer?|fais-le|yes|ok|okay|oui|sure|go)\b(?: (?:with )?(?:it|that|this|"
    r"the plan|part \d+|step \d+|please|then|le plan))*[ .!]*$"
)
_INSIST = re.compile(
    r"\b(?:anyway|just do|do it|educational|research|legal|allowed|permission|promise|pretend|hypothetical\w*|"
    r"joke|it is fine|quand meme|only a test)\b"
)
_ELLIPTICAL = re.compile(
    r"^(?:and|also|same|what about|how about|et|pareil|de meme|for the|pour le|pour la|the other|l'autre)\b|"
    r"^(?:\w+ ){0,2}(?:other|second|first|third|next) (?:one|file|function|class)$"
)
_NO_EVIDENCE = 1.0
_LONGEST_FOLLOW_UP = 8

log = logging.getLogger(__name__)


def classify(question: str, embedder: Embedder | None = None, turns: Sequence[Turn] = ()) -> Route:
    """The route without a language model. Never fails: without usable weights or vectors a simpler tier answers."""
    reading = read(question)
    found = evidence(reading)
    if harm_score(found) >= CERTAIN_HARM and not found["harm_defence"]:
        return Route("REFUSE", 0.97, _why("REFUSE", found), "rules")
    return _by_conversation(question, reading, found, turns) or _by_classifier(reading, found, embedder)


async def route(
    question: str,
    settings: Settings,
    embedder: Embedder | None = None,
    model: Model | None = None,
    turns: Sequence[Turn] = (),
    forced: Intent | None = None,
    step: Step | None = None,
) -> Route:
    """The route, its tier and reason. A forced intent is kept unless it would act on certainly harmful wishes.

    The language model is asked only between the likeliest intents, when the classifier is unsure; never about
    refusing, which small models judge badly. Its failure leaves the classifier's answer and is said in `step`.
    """
    chosen = await asyncio.to_thread(classify, question, embedder, turns)
    if forced is not None:
        harmful = chosen.intent == "REFUSE" and chosen.tier == "rules" and intents.by_id(forced).acts
        return chosen if harmful else Route(forced, 1.0, "You chose it by a command.", "forced")
    if chosen.tier == "heuristic" and step is not None:
        step.degrade("The router's classifier could not be used: routed by rules alone.")
    if model is None or step is None or chosen.intent == "REFUSE" or _margin(chosen) >= CLEAR_MARGIN:
        return chosen
    try:
        async with asyncio.timeout(min(MODEL_S, settings.model_timeout_s)):
            return await _by_model(question, chosen, model, step)
    except (ModelError, TimeoutError) as error:
        step.degrade(f"The model was not asked where the question goes: {error or 'it took too long'}")
        return chosen


def _by_conversation(
    question: str, reading: NormalizedQuestion, found: dict[str, float], turns: Sequence[Turn]
) -> Route | None:
    """Follow-ups that mean nothing on their own: "proceed", "and the other one?", "do it anyway"."""
    if not turns or len(reading.core.split()) > _LONGEST_FOLLOW_UP:
        return None
    last = turns[-1].intent
    folded = " ".join(question.lower().split())
    if last == "REFUSE" and (_INSIST.search(folded) or _GO_ON.match(folded)):
        return Route("REFUSE", 0.9, "it insists on what was refused before.", "rules")
    if _GO_ON.match(folded):
        onward: Intent = "DECOMPOSE" if last == "DECOMPOSE" else "GENERATE"
        return Route(
            onward, 0.9, "It goes on with the plan." if last == "DECOMPOSE" else "It acts on the last answer.", "rules"
        )
    own = max(value for intent, value in scores(found).items() if intent != last)
    if last != "REFUSE" and _ELLIPTICAL.match(folded) and own < _NO_EVIDENCE:
        return Route(last, 0.8, f"It continues the last question ({last}).", "rules")
    return None


def _by_classifier(reading: NormalizedQuestion, found: dict[str, float], embedder: Embedder | None) -> Route:
    if not reads_as_latin(reading.core) and not any(found.get(name) for name in ("code", "trace")):
        return Route("EXPLAIN", 0.4, "It is in a script the router doesn't read.", "heuristic", (("GENERATE", 0.3),))
    tier, remark = "classifier", "" if classifier.suits(embedder) else " Judged without embedding vectors."
    try:
        chances = classifier.probabilities(reading, found, embedder)
    except ModelError as error:
        chances, remark = classifier.probabilities(reading, found, None), f" Judged without vectors: {error}"
    except (OSError, ValueError, KeyError) as error:
        log.warning("router without weights: %s", error)
        chances, tier = classifier.rules_only(found), "heuristic"
    ranked = list(chances.items())
    if ranked[0][0] == "REFUSE" and ranked[0][1] < SURE_ENOUGH_TO_REFUSE[bool(named_harm(found))]:
        ranked[0], ranked[1] = ranked[1], ranked[0]
    intent, confidence = ranked[0]
    return Route(intent, round(confidence, 3), _why(intent, found) + remark, tier, _rounded(ranked[1:4]))


async def _by_model(question: str, chosen: Route, model: Model, step: Step) -> Route:
    from llama_index.core.llms import ChatMessage

    from repopilot.llm.structured import choose_word

    likely = _candidates(chosen)
    words = {intents.by_id(intent).word: intent for intent, _ in likely}
    messages = [
        ChatMessage(role="system", content=_instructions(words.values())),
        ChatMessage(
            role="user", content=render("route_user", words=", ".join(words), question=read(question).raw[:600])
        ),
    ]
    async with step.child("ask the model", "llm", question[:600]) as asking:
        word, sure = await choose_word(model, messages, list(words), asking)
    if word is None:
        step.degrade("The model named no route: the classifier's is kept.")
        return chosen
    rest = max(1e-3, 1 - sure) / max(1, len(words) - 1)
    fused = {
        i: math.log(max(p, 1e-4)) + MODEL_WEIGHT * math.log(max(1e-3, sure) if words[word] == i else rest)
        for i, p in likely
    }
    total = sum(math.exp(value) for value in fused.values())
    ranked = sorted(((i, math.exp(value) / total) for i, value in fused.items()), key=lambda pair: -pair[1])
    intent, confidence = ranked[0]
    reason = f"The classifier was unsure ({chosen.intent} {chosen.confidence:.2f}); the model said {word}."
    return replace(
        chosen,
        intent=intent,
        confidence=round(confidence, 3),
        reason=reason,
        tier="model",
        alternatives=_rounded(ranked[1:]),
    )


def _candidates(chosen: Route) -> list[tuple[Intent, float]]:
    """What the model chooses between: the likeliest intents, and those the classifier has never seen."""
    likely = [(chosen.intent, chosen.confidence), *(pair for pair in chosen.alternatives if pair[0] != "REFUSE")][:3]
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


def _why(intent: Intent, found: dict[str, float]) -> str:
    if intent == "REFUSE":
        return reasons(found)
    named = signs(intent, found)
    return f"It reads as {intent} ({'; '.join(named)})." if named else f"It reads as {intent} by its wording."


def _margin(chosen: Route) -> float:
    return chosen.confidence - max((p for _, p in chosen.alternatives), default=0.0)


def _rounded(ranked: Sequence[tuple[Intent, float]]) -> tuple[tuple[Intent, float], ...]:
    return tuple((intent, round(p, 3)) for intent, p in ranked)
