"""What a review rule is: a fault with an id, how it is found, and a bad and a good example of it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from repopilot import i18n
from repopilot.code.file_version import Code
from repopilot.types import Finding, Severity


@dataclass(frozen=True, slots=True)
class Match:
    """A place where a rule found its fault.

    Attributes:
        line: line of the file, from 1.
        values: one for each placeholder of the rule's message.
        variant: which of a rule's messages applies, where it has several; '' where it has one.
        severity: where it differs from the rule's own.
    """

    line: int
    values: Mapping[str, object] = field(default_factory=dict)
    variant: str = ""
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A fault that can be found in one file by itself.

    Rules of different languages that find the same fault share an id, and with it domain, CWE and message.

    Attributes:
        id: stable, in kebab case: users see it, and SARIF files and suppressions refer to it.
        domain: `security`, `performance` or `style`.
        severity: of its findings, unless a match says otherwise.
        languages: names as in `code.languages`; the examples are in the first.
        find: gives the matches in one file. It may call anything: a function over a syntax tree, a pattern, ast-grep.
        bad: source text in which the rule finds its fault.
        good: source text that looks alike and is right.
        cwe: number of the weakness in the Common Weakness Enumeration, None where there is none.
        key: of its message in the catalogue, where it is not `rules.<id>`; where there are several, they are under
            `<key>.<variant>`.
    """

    id: str
    domain: str
    severity: Severity
    languages: tuple[str, ...]
    find: Callable[[Code], Iterable[Match]]
    bad: str
    good: str
    cwe: int | None = None
    key: str = ""

    def findings(self, code: Code) -> list[Finding]:
        """The findings of this rule in one file, whatever its language.

        Raises:
            KeyError: the message is missing from the catalogue, or a match lacks a value for it.
        """
        return [self._finding(code, match) for match in self.find(code)]

    def _finding(self, code: Code, match: Match) -> Finding:
        key = self.key or f"rules.{self.id}"
        key = f"{key}.{match.variant}" if match.variant else key
        severity = match.severity or self.severity
        return code.finding(match.line, severity, self.domain, self.id, i18n.message(key, **match.values), "checks")
