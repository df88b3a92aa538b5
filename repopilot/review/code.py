"""What a review looks at: files, with the lines that count as changed and the text before the change."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True, slots=True)
class ReviewTarget:
    """A file under review. `changed` are the line numbers that count, None for all; `old` is it before the change."""

    new: Code
    changed: frozenset[int] | None = None
    old: Code | None = None


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


@contextmanager
def temporary_copies(codes: Sequence[Code]) -> Iterator[dict[str, Code]]:
    """Copy code to a temporary folder of its own, for tools; yields the code by the paths of the copies."""
    with tempfile.TemporaryDirectory(prefix="repopilot-review-", ignore_cleanup_errors=True) as folder:
        root = Path(os.path.realpath(folder))
        copies: dict[str, Code] = {}
        for number, item in enumerate(codes):
            copy = root / "code" / _safe_copy_path(item.path, number, item.language)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(item.safe, encoding="utf-8", newline="\n")
            copies[str(copy)] = item
        yield copies


def _safe_copy_path(path: str, number: int, language: str) -> str:
    """The path of a copy: its own, which some rules depend on, unless it could escape the folder; `.py` for Python."""
    parts = path.split("/")
    plain = path.isprintable() and all(p and p not in (".", "..") and len(p) < 200 for p in parts)
    name = path if plain else f"file{number}"
    return f"{name}.py" if language == "python" and not name.endswith((".py", ".pyi")) else name
