"""Extracts failed tests, their assertions and the lines of code around them from a run's report. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath

from repopilot.code.source_positions import rows_of
from repopilot.redaction.redact import redacted
from repopilot.sandbox.output.plain_text import plain
from repopilot.sandbox.verdict import TestOutcome
from repopilot.types import Failure, TestRun

_AROUND = 2
_MAX_ASSERTION = 2_000
MOST_FAILURES = 500
"""Failures described at most; the rest are only counted."""
_MISSING = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'")
_ERROR = re.compile(
    r"(?:E +)?(?:Uncaught )?([\w.$]*(?:Error|Exception|Failure|Failed))\b(?: \[\w+\])?(?=:|$)", re.MULTILINE
)
_NAMES_ERROR = re.compile(r"\b\w*(?:Error|Exception)\b")
_LONGEST_ERROR = 300
_PLACE = re.compile(r"^(?P<path>[^\s:][^:\n]*\.py):(?P<line>\d{1,7}): ", re.MULTILINE)


def failures(outcomes: Iterable[TestOutcome], sources: Mapping[str, str]) -> tuple[Failure, ...]:
    """The first failed outcomes, in order. `sources`: the texts of the run's files by path, for the lines."""
    failed = islice((outcome for outcome in outcomes if outcome.outcome == "failed"), MOST_FAILURES)
    split: dict[str, list[str]] = {}
    return tuple(_failure(outcome, sources, split) for outcome in failed)


def missing_modules(run: TestRun, files: Iterable[str] = ()) -> tuple[str, ...]:
    """Top-level modules that the run could not import and that none of `files` (its own paths) would provide."""
    own = {name for path in files for name in _modules_of(path)}
    texts = [run.output, *(failure.assertion for failure in run.failures)]
    names = (name.partition(".")[0] for text in texts for name in _MISSING.findall(text))
    return tuple(dict.fromkeys(name for name in names if name not in own))


def last_error(output: str) -> str:
    """The last line of an output that names an error, '' for none."""
    errors = [line.removeprefix("E ").strip() for line in output.splitlines() if _NAMES_ERROR.search(line)]
    return plain(errors[-1], _LONGEST_ERROR).rstrip(".") if errors else ""


def _modules_of(path: str) -> set[str]:
    pure = PurePosixPath(path)
    return {*pure.parts[:-1], pure.stem}


def _failure(outcome: TestOutcome, sources: Mapping[str, str], split: dict[str, list[str]]) -> Failure:
    path, line = _place(outcome, sources)
    assertion = outcome.message or _last_errors(outcome.text)
    if path and path not in split:
        split[path] = rows_of(redacted(sources[path]))
    around = _numbered(split.get(path, ()), line)
    return Failure(outcome.id, assertion[:_MAX_ASSERTION].strip(), path, line, around, _error(outcome))


def _error(outcome: TestOutcome) -> str:
    """The name of the exception that a test ended with; runners put it at the start of the message or of the stack."""
    if outcome.message.startswith("assert "):  # pytest's wording of a plain assertion
        return "AssertionError"
    found = _ERROR.match(outcome.message.lstrip()) or _ERROR.match(outcome.text.lstrip())
    return found[1].rpartition(".")[2] if found else ""


def _place(outcome: TestOutcome, sources: Mapping[str, str]) -> tuple[str, int]:
    """Path and line of the innermost frame in a file of the run; collection errors name it only in their text."""
    if outcome.path in sources:
        return outcome.path, outcome.line
    found = [(m["path"], int(m["line"])) for m in _PLACE.finditer(outcome.text) if m["path"] in sources]
    return found[-1] if found else ("", 0)


def _last_errors(text: str) -> str:
    marked = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    return "\n".join(marked) or "\n".join(text.splitlines()[-3:])


def _numbered(lines: Sequence[str], line: int) -> str:
    if not line:
        return ""
    first = max(1, line - _AROUND)
    numbered = enumerate(lines[first - 1 : line + _AROUND], start=first)
    return "\n".join(f"{number}{'>' if number == line else ' '} {plain(text)}" for number, text in numbered)
