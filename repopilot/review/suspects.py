"""Faults that only judgement can confirm: what to ask a language model about them, and the lines that look like them.

Asked openly for faults, models up to 3B invent them. Asked a narrow question about a line that code has picked, how
sure a 1.5B model is of "yes" tells some faults from right code, but on code it hadn't been tuned on that found nothing
more and brought a false alarm or two; the 0.5B model's answers tell nothing (`python -m bench.review --model --anyway
--questions`). So larger ones alone are asked, and nothing of style. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repopilot.types import Severity

SMALLEST = 3.0
"""Billions of parameters below which a model isn't asked: measured up to 1.5."""
LARGE = 7.0
"""Billions of parameters from which on a plain "yes" is believed where the model doesn't tell how sure it is."""
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
class Kind:
    """A kind of fault. `asks` completes "does this code …?", `message` is said of the line, `looks` is what such a
    line looks like. `least` and `holds`: the confidence of "yes" about the code and about the line that no clean code
    reached; with `least` 0 only lines are asked about."""

    rule: str
    domain: str
    asks: str
    message: str
    severity: Severity
    looks: re.Pattern[str]
    in_loop: bool
    least: float
    holds: float


KINDS = (
    Kind("model-secret", "security", "contain a password, key or token, or write one to a log",
         "A password, key or token may be exposed or handled unsafely here.", "medium",
         re.compile(rf"{_SECRET}", re.IGNORECASE), False, 0.82, 0.87),
    Kind("model-crypto", "security", "use a weak hash, cipher or random number for a secret, or compare "
                                     "secrets with ==",
         "A secret may be made or compared in a weak way here.", "medium",
         re.compile(rf"{_SECRET}.*{_WEAK}|{_WEAK}.*{_SECRET}", re.IGNORECASE), False, 0.0, 0.86),
    Kind("model-injection", "security", "put a value from outside into a query, a command or other code by pasting "
         "strings", "A value from outside may become part of a query or a command here.", "medium",
         re.compile(rf"(?:{_PASTED}).*{_QUERIED}|{_QUERIED}.*(?:{_PASTED})", re.IGNORECASE), False, 0.0, 0.866),
    Kind("model-query", "performance", "run a database query or a network request on each iteration of a loop",
         "Each iteration of the loop may query the database or the network (N+1).", "medium",
         re.compile(rf"\b{_ASKED}|^\s*[^(]*\w\.\w+\.\w+[^(]*$|\(\w+\.\w+\.\w+\)", re.IGNORECASE), True, 0.5, 0.8),
    Kind("model-quadratic", "performance", "search a list, or loop over all elements again, for each element of a loop",
         "The work may grow with the square of the number of elements.", "medium",
         re.compile(r"^\s*for\b.*[:{]\s*$|\bif\b.*\bin\b|\.(?:index|includes|contains|count|remove|some|indexOf|sort)\s*\("),
         True, 0.66, 0.8),
    Kind("model-repeated", "performance", "do work on each iteration of a loop that could be done once before it",
         "Work may be repeated on each iteration of the loop.", "low",
         re.compile(r"sort|compile|copy|open|load|read|parse|connect", re.IGNORECASE), True, 0.0, 0.79),
)  # fmt: skip


def suspected_lines(kind: Kind, changed: Mapping[int, str], text: Sequence[str]) -> list[int]:
    """The changed lines (number → text) of a file, given whole as `text`, that look like a kind of fault."""
    found = [n for n in sorted(changed) if _looks(kind, n, changed[n], text)]
    return found[:MOST_LINES]


def _looks(kind: Kind, number: int, line: str, text: Sequence[str]) -> bool:
    if _NO_CODE.match(line) or len(line.strip()) > 300 or not kind.looks.search(line) or _HEAD.match(line):
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
