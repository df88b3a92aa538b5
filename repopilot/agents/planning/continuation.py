"""Reads requests to go on with a plan: which parts to work on, skip or do again. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from repopilot.results import Plan

_GO_ON = re.compile(
    r"^\W*(?:(?:yes|ok|okay|oui|sure|please|now|then|and)\b\W*)*(?:$|(?:proceed|go ahead|go on|continu\w*|carry on|"
    r"next|do (?:it|parts?|all|everything)|vas-y|allez-y|skip|saute|passe|start|work on parts?|redo|again|try again|"
    r"retry|refais|recommence)\b)",
    re.I,
)
_NUMBERS = re.compile(r"\b(?:parts?|steps?|parties?|étapes?)\s+((?:\d+(?:\s*(?:,|and|et|&)\s*)?)+)", re.I)
_SKIP = re.compile(r"\b(?:skip|saute|passe|leave out)\b", re.I)
_REDO = re.compile(r"\b(?:redo|again|retry|refais|recommence)\b", re.I)
_ALL = re.compile(r"\b(?:all|everything|the rest|tout|toutes)\b", re.I)
_MORE = re.compile(r"\b(?:and|then|et)\b.*\b(?:go on|continue|proceed|next)", re.I)


@dataclass(frozen=True, slots=True)
class GoOn:
    """What a request to go on asks for.

    Attributes:
        numbers: the parts to work on, None for all open ones.
        skipped: the parts to skip.
        redo: whether those to work on are to be done again.
    """

    numbers: tuple[int, ...] | None
    skipped: tuple[int, ...] = ()
    redo: bool = False


def is_continuation(question: str) -> bool:
    """Whether a question asks to go on with the current plan, rather than for a new one."""
    return len(question.split()) <= 12 and _GO_ON.match(question) is not None


def wanted_parts(question: str, plan: Plan) -> GoOn:
    """Read which parts to work on, to skip or to do again from a request to go on.

    Args:
        question: the request, for example "skip part 1 and continue".
        plan: the plan; without a number the next ready part is meant, to do again the last failed one.

    Returns:
        What is asked for.
    """
    numbers = tuple(int(n) for group in _NUMBERS.findall(question) for n in re.findall(r"\d+", group))
    if _SKIP.search(question):
        return _skipping(numbers or _next(plan), bool(_MORE.search(question)), plan)
    if _REDO.search(question):
        failed = tuple(p.number for p in plan.parts if p.state == "failed")
        return GoOn(numbers or failed[-1:], redo=True)
    if numbers:
        return GoOn(numbers)
    return GoOn(None) if _ALL.search(question) else GoOn(_next(plan))


def _skipping(skipped: tuple[int, ...], more: bool, plan: Plan) -> GoOn:
    for number in skipped:
        plan = plan.with_state(number, "skipped")
    return GoOn(_next(plan) if more else (), skipped)


def _next(plan: Plan) -> tuple[int, ...]:
    ready = plan.ready()
    return (ready.number,) if ready else ()
