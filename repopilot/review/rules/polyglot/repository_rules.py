"""Rules that a repository brings in `.repopilot/rules/*.yml`, in the same format as the built-in ones.

They are read only where the setting `repository_rules` allows it, since a repository may be hostile: their number, size
and complexity are bounded, and they run in a process of their own (`rule_worker`) with limits on time and memory. A
file or rule that can't be used becomes a note of the report. Findings carry the rule `repository/<id>` and the source
`repository`, so that they can't be taken for those of a built-in rule.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from repopilot import i18n
from repopilot.errors import SourceError
from repopilot.repo.read import read_raw
from repopilot.repo.walk import walk
from repopilot.review.code import Code
from repopilot.review.findings import DOMAINS
from repopilot.review.rules.polyglot.ast_grep import CONFIG_KEYS, SEVERITIES, languages_of
from repopilot.review.rules.polyglot.parsed_source import LANGUAGES
from repopilot.settings import Settings
from repopilot.types import Finding, Severity, Snapshot

FOLDER = ".repopilot/rules/"
SOURCE = "repository"

_MAX_FILES, _MAX_RULES = 32, 64
_MAX_BYTES = 32 << 10
_MAX_DEPTH, _MAX_PARTS = 16, 200
"""Nesting and number of values of one rule."""
_MAX_TEXT = 500
"""Characters of one pattern or regular expression."""
_MAX_MESSAGE = 200
_SECONDS = 20.0
_ID = re.compile(r"[a-z][a-z0-9-]{0,59}")
_MARKUP = re.compile(r"[<>\[\]|\\]|[^\x20-\x7e\u00a0-\u02af\u2010-\u2026]")


class InvalidRule(ValueError):
    """A rule that can't be used; the text says why, in the words of a `Message`."""


@dataclass(frozen=True, slots=True)
class RepositoryRule:
    """A rule of the repository, checked.

    Attributes:
        id: with the prefix `repository/`.
        config: what ast-grep takes.
    """

    id: str
    domain: str
    severity: Severity
    message: str
    languages: tuple[str, ...]
    config: Mapping[str, Any]


@dataclass(slots=True)
class RepositoryRules:
    """The rules of one repository that can be used, and in words what was left out."""

    rules: list[RepositoryRule] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def find(self, codes: Sequence[Code]) -> list[Finding]:
        """What the rules find. Adds a note where the time was over or a rule failed; the rest is kept.

        Args:
            codes: the files, of any language.

        Returns:
            Findings with the source `repository`.
        """
        wanted = [code for code in codes if any(code.language in rule.languages for rule in self.rules)]
        if not wanted:
            return []
        request = {
            "rules": [{"languages": rule.languages, "config": rule.config} for rule in self.rules],
            "files": [{"text": code.safe, "language": code.language} for code in wanted],
        }
        found, complete = _run(json.dumps(request))
        failed = sorted({self.rules[answer["rule"]].id for answer in found if "error" in answer})
        self.notes += [i18n.message("review.repository.rule_failed", rule=name) for name in failed]
        if not complete:
            self.notes.append(i18n.message("review.repository.stopped", seconds=round(_SECONDS)))
        return list(self._findings(found, wanted))

    def _findings(self, found: Iterable[Mapping[str, Any]], codes: Sequence[Code]) -> Iterator[Finding]:
        for answer in found:
            rule, code = self.rules[answer["rule"]], codes[answer["file"]]
            for line in answer.get("lines", ()):
                yield code.finding(line, rule.severity, rule.domain, rule.id, rule.message, SOURCE)


def load(snapshot: Snapshot, settings: Settings) -> RepositoryRules:
    """The rules a repository brings; none where the setting `repository_rules` is off."""
    if not settings.repository_rules:
        return RepositoryRules()
    paths = sorted(f.path for f in walk(snapshot, settings)[0] if f.path.startswith(FOLDER))
    return parse((path, read_raw(snapshot, path)) for path in paths if path.endswith((".yml", ".yaml")))


def parse(files: Iterable[tuple[str, bytes]]) -> RepositoryRules:
    """Checks rule files.

    Args:
        files: path and content of each.

    Returns:
        The rules that can be used; every file and rule that can't is said in the notes.
    """
    loaded = RepositoryRules()
    for number, (path, data) in enumerate(files):
        if number >= _MAX_FILES:
            loaded.notes.append(i18n.message("review.repository.many_files", count=_MAX_FILES))
            break
        try:
            for row in _documents(data):
                if len(loaded.rules) >= _MAX_RULES:
                    loaded.notes.append(i18n.message("review.repository.many_rules", count=_MAX_RULES))
                    return loaded
                loaded.rules.append(_checked(row))
        except (InvalidRule, SourceError) as error:
            loaded.notes.append(i18n.message("review.repository.left_out", path=path, reason=error.args[0]))
    return loaded


def _documents(data: bytes) -> list[Any]:
    """The documents of a file. Anchors are refused: a few of them can stand for billions of values."""
    if len(data) > _MAX_BYTES:
        raise InvalidRule(i18n.message("review.repository.too_large", size=_MAX_BYTES >> 10))
    try:
        text = data.decode("utf-8")
        for depth in _depths(text):
            if depth > 2 * _MAX_DEPTH:
                raise InvalidRule(i18n.message("review.repository.too_complex"))
        return [row for row in yaml.safe_load_all(text) if row is not None]
    except (UnicodeDecodeError, yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, InvalidRule):
            raise
        raise InvalidRule(i18n.message("review.repository.unreadable")) from error


def _depths(text: str) -> Iterator[int]:
    """How deep each event of a YAML text is nested."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise InvalidRule(i18n.message("review.repository.alias"))
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        yield depth


def _checked(row: Any) -> RepositoryRule:
    if not isinstance(row, dict) or not isinstance(row.get("rule"), dict):
        raise InvalidRule(i18n.message("review.repository.without", field="rule"))
    config = {key: row[key] for key in CONFIG_KEYS if key in row}
    _check_size(config)
    name, message = str(row.get("id", "")), str(row.get("message", ""))
    if not _ID.fullmatch(name):
        raise InvalidRule(i18n.message("review.repository.without", field="id"))
    given = row.get("metadata")
    metadata = given if isinstance(given, dict) else {}
    domain = metadata.get("domain", "style")
    severity = SEVERITIES.get(str(row.get("severity", "hint")))
    if domain not in DOMAINS or severity is None:
        raise InvalidRule(i18n.message("review.repository.without", field="domain, severity"))
    try:
        languages = languages_of(row)
    except (KeyError, TypeError):
        languages = ()
    if not languages or not set(languages) <= {"python", *LANGUAGES}:
        raise InvalidRule(i18n.message("review.repository.without", field="language"))
    text = " ".join(_MARKUP.sub(" ", message).split())[:_MAX_MESSAGE]
    return RepositoryRule(f"{SOURCE}/{name}", domain, severity, text or name, languages, config)


def _check_size(config: Mapping[str, Any]) -> None:
    """Refuses rules that are nested too deeply, too large, or no plain data."""
    pending: list[tuple[Any, int]] = [(config, 1)]
    parts = 0
    while pending:
        value, depth = pending.pop()
        parts += 1
        if depth > _MAX_DEPTH or parts > _MAX_PARTS:
            raise InvalidRule(i18n.message("review.repository.too_complex"))
        if isinstance(value, dict):
            pending += [(part, depth + 1) for pair in value.items() for part in pair]
        elif isinstance(value, list):
            pending += [(part, depth + 1) for part in value]
        elif not isinstance(value, str | int | bool) or len(str(value)) > _MAX_TEXT:
            raise InvalidRule(i18n.message("review.repository.too_complex"))


def _run(request: str) -> tuple[list[dict[str, Any]], bool]:
    """The answers of the worker, and whether it came to its end in time."""
    command = [sys.executable, "-I", str(Path(__file__).with_name("rule_worker.py"))]
    try:
        done = subprocess.run(command, input=request.encode(), capture_output=True, timeout=_SECONDS, check=False)
        output, complete = done.stdout, done.returncode == 0
    except subprocess.TimeoutExpired as error:
        output, complete = error.stdout or b"", False
    lines = output.decode("utf-8", "replace").split("\n")[:-1]
    return [json.loads(line) for line in lines], complete
