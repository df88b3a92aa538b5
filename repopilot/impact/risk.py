"""How risky a change is, by a formula over evidence.

Points: how many other files depend on what changes within two hops (3 or more: 1, 10 or more: 2); the public interface
changes and somebody in the repository uses it (2), or nobody does (1), or can't be known yet while it is used (1);
something others use is removed (1 more); a database schema is touched (2); code changes that no test
reaches (1; tests of the same file count only when the whole file changes). 0–1 points are LOW, 2–3 MEDIUM, 4 and more
HIGH. Missing evidence can only hide points, so a LOW on incomplete evidence is given as UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.types import Risk

_FEW, _MANY = 3, 10


@dataclass(frozen=True, slots=True)
class RiskEvidence:
    """What the formula looks at; each tuple holds ids of items of the report. `interface` is None while unknown."""

    dependent_files: tuple[str, ...]
    interface: tuple[str, ...] | None
    removed: tuple[str, ...]
    used: tuple[str, ...]
    schema: tuple[str, ...]
    tests: tuple[str, ...]
    changed: tuple[str, ...]
    code: bool
    gaps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """A risk the formula sees, with the ids of its evidence and the points it costs."""

    text: str
    evidence: tuple[str, ...]
    points: int


def reasons(evidence: RiskEvidence) -> list[Reason]:
    """Every point of the formula, with its evidence."""
    found: list[Reason] = []
    depending = len(evidence.dependent_files)
    if depending >= _FEW:
        points = 2 if depending >= _MANY else 1
        found.append(Reason(f"{depending} other files depend on what changes.", evidence.dependent_files[:10], points))
    if evidence.interface is None:
        if evidence.used:
            text = "The public interface may change; parts of it are used elsewhere."
            found.append(Reason(text, evidence.used[:10], 1))
    elif evidence.interface:
        used = bool(evidence.used)
        text = "The public interface changes and is used elsewhere." if used else "The public interface changes."
        found.append(Reason(text, (evidence.interface + evidence.used)[:10], 2 if used else 1))
    if evidence.removed and evidence.used:
        found.append(Reason("Something that others use is removed.", (evidence.removed + evidence.used)[:10], 1))
    if evidence.schema:
        found.append(
            Reason("The database schema is touched: stored data may need a migration.", evidence.schema[:10], 2)
        )
    if evidence.code and not evidence.tests:
        found.append(Reason("No test was found that reaches the changed code.", evidence.changed[:10], 1))
    return found


def level(points: Sequence[Reason], complete: bool) -> Risk:
    """LOW, MEDIUM or HIGH by the sum of the points; UNKNOWN instead of LOW when evidence is missing."""
    total = sum(reason.points for reason in points)
    if total >= 4:
        return "HIGH"
    if total >= 2:
        return "MEDIUM"
    return "LOW" if complete else "UNKNOWN"
