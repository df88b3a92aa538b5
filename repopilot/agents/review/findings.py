"""Findings merged, new ones separated from those that were there before, and the score. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence

from repopilot.code.languages import is_test_path
from repopilot.types import Finding, ProofKind

DOMAINS = ("security", "performance", "style")
WEIGHTS = {"critical": 25, "high": 10, "medium": 4, "low": 1}
_ORDER = tuple(WEIGHTS)
_ANALYSERS = ("ruff", "bandit", "checks")
RULES: Mapping[ProofKind, str] = {"proved": "regression", "shown": "defect", "opinion": "opinion"}
"""The rule id of a model's finding, by how well the finding is proved."""
MEASURED = frozenset(("C901", "PLR0913", "PLR0915", "PLR1702"))
"""Rules that measure a function, reported at its first line."""

_DEFECTS = re.compile(r"(?:F|B|E9|PLE|S|ASYNC|YTT)\d|invalid-syntax$")
"""Ruff's classes of rules for faults: pyflakes, bugbear, syntax, pylint's errors, security, async, versions."""

# Rules of different tools for the same fault.
_TOPICS = (
    (re.compile(r"^(B10[567]|secret-.*|hard-coded-credential)$"), "secret"),
    (re.compile(r"^(B608|sql-.*)$"), "sql"),
    (re.compile(r"^(B102|B307|eval|code-injection)$"), "eval"),
    (re.compile(r"^(B602|B604|B605|B609|shell-.*)$"), "shell"),
    (re.compile(r"^(E722|B110|B112|B001|BLE001|SIM105|S110|empty-catch)$"), "swallowed"),
    (re.compile(r"^(B501|tls-off)$"), "tls"),
    (re.compile(r"^(B303|B324|weak-hash)$"), "hash"),
    (re.compile(r"^(B301|B302|B506|unsafe-.*)$"), "unsafe"),
    (re.compile(r"^(syntax-error|invalid-syntax|E9\d\d)$"), "syntax"),
    (re.compile(r"^(C901|PLR0915)$"), "complexity"),
    (re.compile(r"^(B311|weak-random)$"), "random"),
    (re.compile(r"^(ASYNC2\d\d|blocking-call)$"), "blocking"),
)


def weight_order(finding: Finding) -> tuple[int, int]:
    """Sort key for reports: findings that a test proves, that a test shows, opinions of a model, findings of analysers;
    each by severity."""
    kinds = tuple(RULES.values())
    rank = kinds.index(finding.rule) if finding.failure else len(kinds)
    return rank, _ORDER.index(finding.severity)


def topic(rule: str) -> str:
    """What a rule is about, the same for tools that name it differently."""
    return next((name for pattern, name in _TOPICS if pattern.match(rule)), rule)


def score(findings: Iterable[Finding]) -> int:
    """100 − 25 · critical − 10 · high − 4 · medium − 1 · low, not below 0."""
    return max(0, 100 - sum(WEIGHTS[finding.severity] for finding in findings))


def has_severe(findings: Iterable[Finding], least: str | None) -> bool:
    """Whether one of the findings is at least as severe as `least`; False where that is None."""
    return least is not None and any(WEIGHTS[finding.severity] >= WEIGHTS[least] for finding in findings)


def is_likely_defect(finding: Finding, chosen: Container[str]) -> bool:
    """Whether a finding counts: the project has chosen its rule, or the rule is of a class for faults. Other remarks on
    style, speed and measures were nearly all wrong in changes that people later had to fix. Tests do much on purpose
    that would be a fault elsewhere, so only severe findings count there.

    Args:
        finding: from any source; those that aren't from an analyser count.
        chosen: the rules that the project has chosen for itself.
    """
    if finding.source not in _ANALYSERS or finding.rule in chosen:
        return True
    least = "low" if finding.source == "ruff" else "medium"
    fault = finding.source != "ruff" or _DEFECTS.match(finding.rule) is not None
    return fault and has_severe((finding,), "high" if is_test_path(finding.path) else least)


def scores(findings: Sequence[Finding]) -> dict[str, int]:
    """The score of each domain: first the domains of a model's findings, then those of analysers."""
    others = sorted({finding.domain for finding in findings} - {*DOMAINS, ""})
    return {domain: score(f for f in findings if f.domain == domain) for domain in (*others, *DOMAINS)}


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """The most severe finding for each place and topic, sorted by file and line. Of a file's syntax errors only the
    first is kept, since the others mostly follow from it."""
    unique: dict[tuple, Finding] = {}
    for finding in sorted(findings, key=_precedence):
        about = topic(finding.rule)
        key = (finding.path, about) if about == "syntax" else (finding.path, finding.line, about)
        unique.setdefault(key, finding)
    return sorted(unique.values(), key=lambda f: (f.path, f.line, _ORDER.index(f.severity), f.rule))


def identities(findings: Iterable[Finding]) -> list[str]:
    """A key for each finding that stays the same when lines move: file, rule, quoted code, number among equal ones."""
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for finding in findings:
        key = (finding.path, finding.rule, " ".join(finding.quote.split()))
        found.append("\0".join((*key, str(seen[key])) if seen[key] else key))
        seen[key] += 1
    return found


def _precedence(finding: Finding) -> tuple:
    if topic(finding.rule) == "syntax":
        return finding.path, finding.line, 0, finding.rule
    return finding.path, finding.line, _ORDER.index(finding.severity), finding.rule


def new_and_old(
    found: Sequence[Finding], before: Sequence[Finding], changed: Mapping[str, frozenset[int] | None]
) -> tuple[list[Finding], list[Finding]]:
    """Separate the findings that a change introduced from those that were there before.

    A finding on a changed line is new. One on another line is old if the same rule found the same line of code before
    the change, and else new: a use whose import was removed, for example. A measure of a function is old unless it has
    grown by more than a quarter: whoever adds one parameter is not responsible for all of them.

    Args:
        found: findings in the new versions of the files.
        before: findings in the old versions, under the new paths of renamed files.
        changed: the changed lines by path; None for a file all of whose lines count.

    Returns:
        The new findings and the old ones.
    """
    known = Counter((f.path, f.rule, f.quote) for f in before)
    measures = {_measured_function(f): _amount(f) for f in before if f.rule in MEASURED}
    new = []
    old = []
    for finding in found:
        lines = changed.get(finding.path)
        key = (finding.path, finding.rule, finding.quote)
        if (
            lines is not None
            and finding.rule in MEASURED
            and _amount(finding) <= 1.25 * measures.get(_measured_function(finding), 0)
        ):
            old.append(finding)
        elif lines is None or finding.line in lines:
            new.append(finding)
        elif known[key] > 0:
            known[key] -= 1
            old.append(finding)
        else:
            new.append(finding)
    return new, old


def _measured_function(finding: Finding) -> tuple[str, str, str]:
    """The measured function: the one whose `def` is quoted, else the first word of the message."""
    head = re.search(r"\bdef (\w+)", finding.quote)
    return finding.path, finding.rule, head[1] if head else finding.message.partition(" ")[0]


def _amount(finding: Finding) -> int:
    number = re.search(r"[ (](\d+)\b", finding.message)
    return int(number[1]) if number else 0
