"""Rules that name the evidence for each intent in a request, English and French. They are features of the classifier
and, added up, a score that is fused with its log-probabilities. Pure."""

from __future__ import annotations

import math
import re

from repopilot import intents
from repopilot.i18n import Message, message
from repopilot.routing.normalize import NormalizedQuestion
from repopilot.routing.patterns import RULES
from repopilot.routing.question_shape import PARTICULAR_INTENTS, asked, is_plain, particular
from repopilot.types import Intent

_COMPILED = {name: (intent, weight, re.compile(pattern)) for name, (intent, weight, pattern) in RULES.items()}
CUE_WEIGHT = 3.0
"""What the cue of an intent counts: more than any pattern, as it names the intent outright."""
PLAIN_QUESTION = 2.0
"""What the shape of a plain question counts for EXPLAIN, and against everything else."""
PARTICULAR_QUESTION = 0.8
"""What the shape of a question about a change, a judgement, a plan or tests counts for its intent."""

_MOST_SIGNS = 3
_LIST = re.compile(r",| and | et |;")
_ABOUT_CODE = re.compile(r"^(?:what|which|where|why|who|how (?:does|is|are|do))")


def evidence(reading: NormalizedQuestion) -> dict[str, float]:
    """Every named piece of evidence, 0 to 1, always with the same keys in the same order; cues of the registry last."""
    core = reading.core
    found = {name: float(bool(pattern.search(core))) for name, (_, _, pattern) in _COMPILED.items()}
    words = len(core.split())
    items = len(_LIST.findall(core))
    found |= {
        "length": min(1.0, math.log1p(words) / 4),
        "short": float(words <= 4),
        "empty": float(not core),
        "list_items": min(1.0, items / 5),
        "long_list": float(items >= 3),
        "colon_list": float(":" in core and items >= 2),
        "code": float(reading.code),
        "trace": float(reading.trace),
        "path": float(reading.path),
        "question_mark": float(reading.question_mark),
    }
    found["change_and_wide"] = found["change_verb"] * max(found["wide"], found["migrate"])
    found["plain_question"] = float(is_plain(core))
    about = particular(asked(core))
    found |= {f"asks_for_{intent}": float(about == intent) for intent in PARTICULAR_INTENTS}
    found["asks_about_code"] = float(bool(_ABOUT_CODE.search(core)))
    found |= {f"cue_{s.id}": float(bool(re.search(s.cue, core))) for s in intents.INTENTS if s.cue}
    return found


def scores(found: dict[str, float]) -> dict[Intent, float]:
    """The additive score of each intent, at most 4; without any evidence at all, by the shape of the sentence."""
    total: dict[Intent, float] = dict.fromkeys(intents.routed(), 0.0)
    for name, (intent, weight, _) in _COMPILED.items():
        total[intent] += weight * found[name]
    for intent in total:
        total[intent] += CUE_WEIGHT * found.get(f"cue_{intent}", 0.0)
    total["DECOMPOSE"] += (
        1.3 * found["change_and_wide"] + 1.6 * found["change_verb"] * found["long_list"] + 0.6 * found["colon_list"]
    )
    _settle_trace(found, total)
    _settle_questions(found, total)
    if not any(value > 0 for value in total.values()):
        total["EXPLAIN" if found["question_mark"] else "GENERATE"] += 0.5
    return {intent: max(-2.0, min(4.0, value)) for intent, value in total.items()}


def _settle_trace(found: dict[str, float], total: dict[Intent, float]) -> None:
    """A pasted traceback alone asks what it means; with a request beside it, it asks for a fix."""
    if found["trace"] and found["empty"]:
        total["EXPLAIN"] += 1.5
    elif found["trace"] and not found["question_mark"] and not found["question_word"]:
        total["GENERATE"] += 0.8


def _settle_questions(found: dict[str, float], total: dict[Intent, float]) -> None:
    """A question is an explanation only as long as it shows no sign of something more particular."""
    if found["asks_about_code"] and not found["safe_to"]:
        total["TEST"] -= 1.2
        total["GENERATE"] -= 0.8
    if found["plain_question"]:
        for intent in total:
            total[intent] += PLAIN_QUESTION if intent == "EXPLAIN" else -PLAIN_QUESTION
        return
    for intent in PARTICULAR_INTENTS:
        total[intent] += PARTICULAR_QUESTION * found[f"asks_for_{intent}"]
    if max(total["IMPACT"], total["REVIEW"], total["DECOMPOSE"]) >= 1.1 and not found["explain_verb"]:
        total["EXPLAIN"] -= 1.0


def signs(intent: Intent, found: dict[str, float]) -> list[Message]:
    """The rules that speak for an intent, strongest first, at most three, in words."""
    matched = [(weight, name) for name, (of, weight, _) in _COMPILED.items() if of == intent and found[name]]
    return [message(f"routing.signs.{name}") for _, name in sorted(matched, reverse=True)[:_MOST_SIGNS]]
