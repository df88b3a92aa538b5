"""Reads the commands that go on with a plan: which parts to work on, skip or do again. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from repopilot.results import Plan

_COMMAND = re.compile(
    r"(?P<verb>proceed|continuer|skip|passer|redo|refaire)(?: with| avec)?"
    r"(?: (?P<all>all|tout)|(?: (?:la )?part(?:s|ies?)?)? (?P<numbers>\d+(?:(?:,| and| et)? ?\d+)*))?[.!]?",
    re.I,
)
_SKIP = ("skip", "passer")
_REDO = ("redo", "refaire")


@dataclass(frozen=True, slots=True)
class GoOn:
    """What a command asks for.

    Attributes:
        numbers: the parts to work on, None for all open ones.
        skipped: the parts to skip.
        redo: whether those to work on are to be done again; with `numbers` None, all that are done or failed.
    """

    numbers: tuple[int, ...] | None
    skipped: tuple[int, ...] = ()
    redo: bool = False


def is_continuation(text: str) -> bool:
    """Whether a text is a command that goes on with the current plan."""
    return _COMMAND.fullmatch(text.strip()) is not None


def wanted_parts(text: str, plan: Plan) -> GoOn:
    """Read which parts to work on, to skip or to do again.

    Args:
        text: `proceed`, `proceed with all`, `proceed with part 2`, `skip part 3`, `skip all`, `redo part 1` or
            `redo all`.
        plan: the plan. Without a number, the next ready part is meant; for `redo`, the last failed one. `all` are all
            open parts; for `redo`, also those that are done or failed.

    Returns:
        What is asked for.
    """
    found = _COMMAND.fullmatch(text.strip())
    verb = found["verb"].lower() if found else ""
    numbers = tuple(map(int, re.findall(r"\d+", found["numbers"] or ""))) if found else ()
    ready = plan.ready()
    following = (ready.number,) if ready else ()
    every = found is not None and found["all"] is not None
    if verb in _SKIP:
        return GoOn((), tuple(p.number for p in plan.parts if p.state == "open") if every else numbers or following)
    if verb in _REDO and not every:
        return GoOn(numbers or tuple(p.number for p in plan.parts if p.state == "failed")[-1:], redo=True)
    return GoOn(None, redo=verb in _REDO) if every else GoOn(numbers or following)
