"""The finished parts of a plan: their drafts, and what doing one again undoes. Pure."""

from __future__ import annotations

from dataclasses import replace

from repopilot.results import Plan, PlanPart
from repopilot.types import FileChange


def drafts_of(plan: Plan) -> tuple[FileChange, ...]:
    """The files as the finished parts leave them; of parts that wrote the same file, the one finished last counts."""
    done = sorted((part for part in plan.parts if part.state == "done"), key=lambda part: part.order)
    return tuple({file.path: file for part in done for file in part.drafts}.values())


def reopened(plan: Plan, number: int) -> Plan:
    """The plan with a part to be done again, and with it those that were built on it.

    Args:
        plan: the plan.
        number: the number of the part; one that the plan doesn't have changes nothing.

    Returns:
        The plan, where the part is open, and so are those finished after it that depend on it or wrote the same files.
    """
    part = plan.part(number)
    if part is None:
        return plan
    again = {number}
    paths = {file.path for file in part.drafts}
    later = sorted((p for p in plan.parts if p.state == "done" and p.order > part.order), key=lambda p: p.order)
    for other in later if part.state == "done" else ():
        own = {file.path for file in other.drafts}
        if again & set(other.depends_on) or paths & own:
            again.add(other.number)
            paths |= own
    return replace(plan, parts=tuple(_open(p) if p.number in again else p for p in plan.parts))


def with_part(plan: Plan, part: PlanPart) -> Plan:
    """The plan with a part as it came out."""
    return replace(plan, parts=tuple(part if p.number == part.number else p for p in plan.parts))


def finished(plan: Plan, part: PlanPart, drafts: tuple[FileChange, ...], note: str) -> Plan:
    """The plan with a part that is done.

    Args:
        plan: the plan.
        part: the part.
        drafts: the files as it leaves them.
        note: the result of the part, a message.
    """
    order = 1 + max((p.order for p in plan.parts), default=0)
    return with_part(plan, replace(part, state="done", drafts=drafts, note=note, order=order))


def _open(part: PlanPart) -> PlanPart:
    return replace(part, state="open", note="", drafts=(), order=0)
