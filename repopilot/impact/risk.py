"""How risky a change is, by a formula over evidence.

Points: how many other files depend on what changes within two hops (3 or more: 1, 10 or more: 2); the public interface
changes and somebody in the repository uses it (2), or nobody does (1), or can't be known yet while it is used (1);
something others use is removed (1 more); a database schema is touched (2); code changes that no test
reaches (1; tests of the same file count only when all of the file changes). 0–1 points are LOW, 2–3 MEDIUM, 4 and more
HIGH. Missing evidence can only hide points, so a LOW on incomplete evidence is given as UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.i18n import message
from repopilot.results import RiskReason
from repopilot.types import Risk

_FEW, _MANY = 3, 10
_CITED = 10


@dataclass(frozen=True, slots=True)
class RiskEvidence:
    """What the formula looks at; each tuple holds ids of items of the report.

    Attributes:
        dependent_files: the nearest dependent place of each file within two hops.
        interface: changes of the public interface, None while they are unknown.
        removed: definitions and files that are removed.
        used: places that use what changes directly.
        schema: tables the change touches.
        tests: tests that reach the changed code.
        changed: the changed files.
        code: whether code changes that is no test.
    """

    dependent_files: tuple[str, ...]
    interface: tuple[str, ...] | None
    removed: tuple[str, ...]
    used: tuple[str, ...]
    schema: tuple[str, ...]
    tests: tuple[str, ...]
    changed: tuple[str, ...]
    code: bool


def reasons(evidence: RiskEvidence) -> list[RiskReason]:
    """Every point of the formula, with its evidence."""
    found: list[RiskReason] = []

    def add(key: str, ids: tuple[str, ...], points: int, **values: object) -> None:
        found.append(RiskReason(message(f"impact.risks.{key}", **values), ids[:_CITED], points))

    used = evidence.used
    depending = len(evidence.dependent_files)
    if depending >= _FEW:
        add("dependents", evidence.dependent_files, 2 if depending >= _MANY else 1, count=depending)
    if evidence.interface is None:
        if used:
            add("interface_unknown", used, 1)
    elif evidence.interface:
        add("interface_used" if used else "interface", evidence.interface + used, 2 if used else 1)
    if evidence.removed and used:
        add("removed", evidence.removed + used, 1)
    if evidence.schema:
        add("schema", evidence.schema, 2)
    if evidence.code and not evidence.tests:
        add("untested", evidence.changed, 1)
    return found


def level(reasons: Sequence[RiskReason], complete: bool) -> Risk:
    """LOW, MEDIUM or HIGH by the sum of the points; UNKNOWN instead of LOW when evidence is missing."""
    total = sum(reason.points for reason in reasons)
    if total >= 4:
        return "HIGH"
    if total >= 2:
        return "MEDIUM"
    return "LOW" if complete else "UNKNOWN"
