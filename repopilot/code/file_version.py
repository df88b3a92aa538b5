"""One version of a file, with its secrets redacted, and findings in it."""

from __future__ import annotations

from dataclasses import dataclass

from repopilot.redaction.redact import redact
from repopilot.types import Finding, Severity


@dataclass(frozen=True, slots=True)
class Code:
    """One version of one file. `text` is as stored (LF); `safe` the same with secrets redacted, line for line."""

    path: str
    text: str
    safe: str
    language: str

    def line(self, number: int) -> str:
        """A line with secrets redacted, without leading and trailing space; '' beyond the end of the file."""
        lines = self.safe.split("\n")
        return lines[number - 1].strip() if 1 <= number <= len(lines) else ""

    def finding(self, line: int, severity: Severity, domain: str, rule: str, message: str, source: str) -> Finding:
        """A finding at a line of this file, which it quotes.

        Args:
            line: from 1.
            severity: `critical` to `low`.
            domain: `security`, `performance` or `style`.
            rule: the id of the rule.
            message: what is wrong.
            source: the name of the tool, or `model`.

        Returns:
            The finding.
        """
        return Finding(self.path, line, severity, rule, message, source, domain, self.line(line))


def code(path: str, text: str, language: str) -> Code:
    """A version of a file.

    Args:
        path: of the file.
        text: as stored; secrets are redacted in the `safe` version of it, which is what users and models see.
        language: a name as in `code.languages`, '' for none.

    Returns:
        The version.
    """
    return Code(path, text, redact(text)[0], language)
