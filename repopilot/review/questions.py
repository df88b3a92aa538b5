"""The questions a language model is asked about changed code, each answered with yes or no.

Asked openly for faults, models up to 3B invent them; asked a narrow question, from 1.5B on, the odds of "yes" tell
faulty code from right code for some faults (`python -m bench.review --questions` shows for which). `least` is the
confidence that clean code stayed below, `billions` the smallest model for which the answer is worth anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from repopilot.types import Severity

LEFT_OUT = {
    "security": "style, naming, speed, documentation, and anything that needs no attacker",
    "performance": "style, naming, security, and differences too small to measure",
    "style": "security, speed, formatting, and matters of taste",
}
"""What each domain is told not to comment on."""

_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s*b(?![a-z])", re.IGNORECASE)
_UNKNOWN_SIZE = 100.0  # a server of somebody's own choice


@dataclass(frozen=True, slots=True)
class Question:
    """`asks` completes "Does this code …?"; `message` is what the finding says of the line."""

    rule: str
    domain: str
    asks: str
    message: str
    severity: Severity
    least: float
    billions: float = 1.0


QUESTIONS = (
    Question("model-secret", "security", "contain a password, key or token, or write one to a log",
             "A password, key or token may be written down here.", "medium", 0.62),
    Question("model-crypto", "security", "use a weak hash, cipher or random number for a secret, or compare secrets "
             "with ==", "A secret may be made or compared in a weak way here.", "medium", 0.42),
    Question("model-query", "performance", "run a database query or a network request in each turn of a loop",
             "Each turn of a loop may ask the database or the network (N+1).", "medium", 0.35),
    Question("model-quadratic", "performance", "search a list, or loop over all elements again, for each element of a "
             "loop", "The work may grow with the square of the number of elements.", "medium", 0.55),
    Question("model-repeated", "performance", "do work in each turn of a loop that could be done once before it",
             "Work may be repeated in each turn of a loop.", "low", 0.52),
    Question("model-injection", "security", "put a value from outside into an SQL query, shell command, template or "
             "other code by pasting strings", "A value from outside may become code here.", "medium", 0.8, 7.0),
    Question("model-access", "security", "change or return data without checking that the user may do so",
             "The right to do this may not be checked.", "medium", 0.8, 7.0),
    Question("model-swallowed", "style", "catch an error and hide it", "An error may be hidden here.",
             "low", 0.8, 7.0),
    Question("model-contradiction", "style", "have a name, comment or docstring that contradicts what the code does",
             "The code may do something else than this says.", "low", 0.8, 7.0),
    Question("model-dead", "style", "contain a statement or condition that has no effect or can never run",
             "This may have no effect.", "low", 0.8, 7.0),
)  # fmt: skip


def questions_for(domain: str, model: str) -> tuple[Question, ...]:
    """What a model of this name may be asked in a domain; a name without a size counts as large."""
    sizes = [float(size) for size in _SIZE.findall(model)]
    billions = max(sizes, default=_UNKNOWN_SIZE)
    return tuple(q for q in QUESTIONS if q.domain == domain and q.billions <= billions)
