"""How risky a change is, by a formula over evidence.

Points:

- Places that depend on the change, those two hops away counting half and three hops a quarter: 3 or more give 1 point,
  10 or more give 2, 30 or more give 3.
- The change touches one of the most central definitions of the repository: 1.
- The public interface changes, or may change and is used: 1, and 1 more where a package exports it.
- A definition or file that others use is removed: 2.
- A database schema is touched: 2.
- No test reaches the changed code: 2 where something depends on it, else 1. Fewer tests than dependents: 1.
- Of the last ten commits to the changed files, two were fixes: 1; four: 2.

0-1 points are LOW, 2-3 MEDIUM, 4 and more HIGH. Missing evidence can only hide points, so a LOW on incomplete evidence
is given as UNKNOWN.

Measured on changes that were soon fixed or reverted, against others of their size (bench/impact_risk.py), past fixes
are the strongest signal, and a weak one. The other points cover what such fixes don't show: code outside the
repository, stored data, and how far a mistake reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.agents.impact.fix_history import LOOKED_AT
from repopilot.i18n import message
from repopilot.results import RiskReason
from repopilot.types import Risk

_REACHES = ((30, 3), (10, 2), (3, 1))
_FIXES = ((4, 2), (2, 1))
_CITED = 10


@dataclass(frozen=True, slots=True)
class RiskEvidence:
    """What the formula looks at; each tuple holds ids of items of the report.

    Attributes:
        direct, second, third: places of the code that depend on what changes, by hops; neither tests nor examples.
        central: changed files in which one of the most central definitions changes.
        interface: changes of the public interface, None while they are unknown.
        exported: changed files whose changed definitions a package exports.
        removed: definitions and files that are removed.
        used: places that use the changed code directly.
        schema: tables the change touches.
        tests: tests that reach the changed code.
        reaching: how many test functions reach it.
        fixes: how many of the last ten commits to the changed files were fixes.
        changed: the changed files.
        code: whether code other than tests changes.
    """

    direct: tuple[str, ...]
    second: tuple[str, ...]
    third: tuple[str, ...]
    central: tuple[str, ...]
    interface: tuple[str, ...] | None
    exported: tuple[str, ...]
    removed: tuple[str, ...]
    used: tuple[str, ...]
    schema: tuple[str, ...]
    tests: tuple[str, ...]
    reaching: int
    fixes: int
    changed: tuple[str, ...]
    code: bool

    @property
    def reach(self) -> float:
        """How much depends on what changes."""
        return len(self.direct) + len(self.second) / 2 + len(self.third) / 4


def reasons(evidence: RiskEvidence) -> list[RiskReason]:
    """Every point of the formula, with its evidence."""
    return [*_use(evidence), *_interface(evidence), *_tests(evidence), *_history(evidence)]


def _reason(key: str, ids: Sequence[str], points: int, **values: object) -> RiskReason:
    return RiskReason(message(f"impact.risks.{key}", **values), tuple(ids[:_CITED]), points)


def _use(evidence: RiskEvidence) -> list[RiskReason]:
    found = []
    points = next((points for least, points in _REACHES if evidence.reach >= least), 0)
    if points:
        further = len(evidence.second) + len(evidence.third)
        ids = evidence.direct + evidence.second + evidence.third
        key = "dependents_further" if further else "dependents"
        found.append(_reason(key, ids, points, count=len(evidence.direct), further=further))
    if evidence.central:
        found.append(_reason("central", evidence.central, 1))
    return found


def _interface(evidence: RiskEvidence) -> list[RiskReason]:
    found = []
    used = evidence.used
    exported = bool(evidence.exported)
    if evidence.interface is None:
        if used or exported:
            key = "interface_unknown_exported" if exported else "interface_unknown"
            found.append(_reason(key, evidence.exported or used, 2 if exported else 1))
    elif evidence.interface:
        key = "interface_exported" if exported else "interface_used" if used else "interface"
        found.append(_reason(key, evidence.interface + (() if exported else used), 2 if exported else 1))
    if evidence.removed and used:
        found.append(_reason("removed", evidence.removed + used, 2))
    if evidence.schema:
        found.append(_reason("schema", evidence.schema, 2))
    return found


def _tests(evidence: RiskEvidence) -> list[RiskReason]:
    if not evidence.code:
        return []
    if not evidence.tests:
        return [_reason("untested", evidence.changed, 2 if evidence.reach >= 1 else 1)]
    if evidence.reaching < evidence.reach:
        return [_reason("few_tests", evidence.tests, 1, count=evidence.reaching)]
    return []


def _history(evidence: RiskEvidence) -> list[RiskReason]:
    points = next((points for least, points in _FIXES if evidence.fixes >= least), 0)
    if not points:
        return []
    return [_reason("fixed_before", evidence.changed, points, fixes=evidence.fixes, of=LOOKED_AT)]


def level(reasons: Sequence[RiskReason], complete: bool) -> Risk:
    """LOW, MEDIUM or HIGH by the sum of the points; UNKNOWN instead of LOW when evidence is missing."""
    total = sum(reason.points for reason in reasons)
    if total >= 4:
        return "HIGH"
    if total >= 2:
        return "MEDIUM"
    return "LOW" if complete else "UNKNOWN"
