"""Faults that a function or a loop of another language than Python shows by what its text holds and what it lacks: the
rules of `text_rules.toml`, and their engine."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from repopilot.review.code import Code
from repopilot.types import Finding, Severity

LONGEST = 20_000
"""Characters of a function above which it was made by a program, and would be read for minutes."""
_LONGEST_FILE = 300_000


@dataclass(frozen=True, slots=True)
class TextRule:
    """A fault where `when` matches in a function or loop (`scope`), unless `unless` matches in the function; `needs`
    have to match in the function, `also` in the loop or function itself, `declared` anywhere in the file. In those,
    {name} stands for what the group of that name in `when` matched. `named`: on the name of the function."""

    rule: str
    domain: str
    severity: Severity
    message: str
    scope: str
    languages: frozenset[str]
    when: re.Pattern[str]
    needs: tuple[str, ...]
    also: str
    declared: str
    unless: str
    named: re.Pattern[str] | None


@cache
def rules(language: str, scope: str) -> tuple[TextRule, ...]:
    """The rules of a language for functions, loops or the parts of a file outside of functions."""
    text = resources.files("repopilot.review.rules.polyglot").joinpath("text_rules.toml").read_text("utf-8")
    table = tomllib.loads(text)
    groups = table["groups"]
    return tuple(
        _rule(row, groups[row["languages"]], table["words"])
        for row in table["rule"]
        if row["scope"] == scope and language in groups[row["languages"]]
    )


def _rule(row: dict, languages: list[str], words: dict[str, str]) -> TextRule:
    def full(pattern: str) -> str:
        for word, meaning in words.items():
            pattern = pattern.replace(f"<{word}>", meaning)
        return pattern

    return TextRule(
        row["rule"], row["domain"], row["severity"], row["message"], row["scope"], frozenset(languages),
        re.compile(full(row["when"]), re.M), tuple(map(full, row.get("needs", ()))),
        full(row.get("also", "")), full(row.get("declared", "")),
        full(row.get("unless", "")), re.compile(full(row["named"])) if "named" in row else None,
    )  # fmt: skip


def found_in(
    code: Code, scope: str, text: str, first_line: int, function: str, name: str, whole: str
) -> Iterator[Finding]:
    """Findings in the text of one function or loop that begins at a line. `function` is the text of the function
    around, `whole` that of the file, both without comments."""
    if len(text) > LONGEST or len(function) > LONGEST or len(whole) > _LONGEST_FILE:
        return
    for rule in rules(code.language, scope):
        if rule.named is not None and not rule.named.search(name):
            continue
        if rule.also and not re.search(rule.also, text):
            continue
        match = next((m for m in rule.when.finditer(text) if _holds(rule, m, function, whole)), None)
        if match is not None:
            line = first_line + text.count("\n", 0, match.start("at" if "at" in rule.when.groupindex else 0))
            yield code.finding(line, rule.severity, rule.domain, rule.rule, rule.message, "checks")


def _holds(rule: TextRule, match: re.Match[str], function: str, whole: str) -> bool:
    groups = {name: re.escape(value or "") for name, value in match.groupdict().items()}

    def filled(pattern: str) -> str:
        for name, value in groups.items():
            pattern = pattern.replace("{" + name + "}", value)
        return pattern

    if rule.unless and re.search(filled(rule.unless), function, re.M):
        return False
    if rule.declared and not re.search(filled(rule.declared), whole, re.M):
        return False
    return all(re.search(filled(need), function, re.M) for need in rule.needs)
