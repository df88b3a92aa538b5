"""Faults that only judgement can confirm: what to ask a language model about them, and the lines that look like them.

Asked openly for faults, models up to 3B invent them. Asked a narrow question about a line that code has picked, how
confident a 1.5B model is of "yes" separates some faults from correct code. But on code that the thresholds were not
tuned on, it found nothing that the analysers had missed, and raised one or two false alarms; the answers of the 0.5B
model were no better than chance (`python -m bench.review --model --anyway --questions`). So only larger models are
asked, and nothing about style. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repopilot.types import Severity

SMALLEST = 3.0
"""Billions of parameters below which a model isn't asked: measured up to 1.5."""
LARGE = 7.0
"""Billions of parameters from which on a plain "yes" is believed where the model doesn't report its confidence."""
MOST_LINES = 4
"""Lines of one kind that are put to the model in one passage."""

_LOOP = re.compile(r"^\s*(?:async\s+)?(?:for|while|foreach|loop)\b|\.(?:forEach|map|each)\s*\(")
_NO_CODE = re.compile(r"^\s*(?:#|//|/\*|\*|--|\"\"\"|'''|import\b|from\b|use\b|using\b)")
_HEAD = re.compile(r"^\s*(?:async\s+)?(?:def|func|function|fn|public|private|protected|static)\b.*\(")
_SECRET = r"(?:passw|pwd|secret|token|api_?key|credential|signature|private_key|otp|session)"
_PASTED = r"f[\"'].*\{|[\"']\s*\+|\+\s*[\"']|%\s*[\w(]|\.format\(|\$\{|Sprintf"
_QUERIED = r"(?:select|insert|update|delete|where|filter|query|sql|exec|system|popen|shell|command|cmd|ldap|xpath|eval)"
_ASKED = (
    r"(?:session|db|database|cursor|conn|client|api|http|requests|objects|query|repo)\w*\.\w|(?:fetch|load|find)_?\w*\("
)
_WEAK = r"(?:==|!=|random|md5|sha1|hash|uuid|time)"


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of fault that the model is asked about.

    Attributes:
        rule: the id of its findings; their message is in the catalogue under `review.suspected.<rule>`.
        domain: `security` or `performance`.
        severity: of its findings.
        in_loop: whether only lines inside of a loop count.
        passage_threshold: the confidence of "yes", 0 to 1, that no clean code reached when asked about a passage; 0
            where only lines are asked about.
        line_threshold: the same for the question about a line.
        description: completes "does this code …?".
        pattern: matches the lines that look like the fault.
    """

    rule: str
    domain: str
    severity: Severity
    in_loop: bool
    passage_threshold: float
    line_threshold: float
    description: str
    pattern: re.Pattern[str]


# fmt: off
KINDS = (
    FaultKind(
        "model-secret", "security", "medium", False, 0.82, 0.87,
        "contain a password, key or token, or write one to a log",
        re.compile(rf"{_SECRET}", re.IGNORECASE)
    ),
    FaultKind(
        "model-crypto", "security", "medium", False, 0.0, 0.86,
        "use a weak hash, cipher or random number for a secret, or compare secrets with ==",
        re.compile(rf"{_SECRET}.*{_WEAK}|{_WEAK}.*{_SECRET}", re.IGNORECASE)
    ),
    FaultKind(
        "model-injection", "security", "medium", False, 0.0, 0.866,
        "put a value from outside into a query, a command or other code by pasting strings",
        re.compile(rf"(?:{_PASTED}).*{_QUERIED}|{_QUERIED}.*(?:{_PASTED})", re.IGNORECASE)
    ),
    FaultKind(
        "model-query", "performance", "medium", True, 0.5, 0.8,
        "run a database query or a network request on each iteration of a loop",
        re.compile(rf"\b{_ASKED}|^\s*[^(]*\w\.\w+\.\w+[^(]*$|\(\w+\.\w+\.\w+\)", re.IGNORECASE)
    ),
    FaultKind(
        "model-quadratic", "performance", "medium", True, 0.66, 0.8,
        "search a list, or loop over all elements again, for each element of a loop",
        re.compile(
            r"^\s*for\b.*[:{]\s*$|\bif\b.*\bin\b|\.(?:index|includes|contains|count|remove|some|indexOf|sort)\s*\("
        ),
    ),
    FaultKind(
        "model-repeated", "performance", "low", True, 0.0, 0.79,
        "do work on each iteration of a loop that could be done once before it",
        re.compile(r"sort|compile|copy|open|load|read|parse|connect", re.IGNORECASE)
    ),
)
# fmt: on


def suspected_lines(kind: FaultKind, changed: Mapping[int, str], text: Sequence[str]) -> list[int]:
    """The changed lines of a file that look like a kind of fault.

    Args:
        kind: the kind of fault.
        changed: the changed lines by their numbers.
        text: all lines of the file.

    Returns:
        The numbers of the lines in order, at most MOST_LINES.
    """
    found = [n for n in sorted(changed) if _looks_like(kind, n, changed[n], text)]
    return found[:MOST_LINES]


def _looks_like(kind: FaultKind, number: int, line: str, text: Sequence[str]) -> bool:
    if _NO_CODE.match(line) or len(line.strip()) > 300 or not kind.pattern.search(line) or _HEAD.match(line):
        return False
    return not kind.in_loop or _inside_loop(number, text)


def _inside_loop(number: int, text: Sequence[str]) -> bool:
    """Whether a less indented line above, up to the head of the function, begins a loop."""
    depth = _indent(text[number - 1])
    for above in range(number - 2, -1, -1):
        line = text[above]
        if not line.strip() or _NO_CODE.match(line) or _indent(line) >= depth:
            continue
        depth = _indent(line)
        if _LOOP.search(line):
            return True
        if _HEAD.match(line) or depth == 0:
            return False
    return False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
