"""Rules written in ast-grep's YAML: their format, and the search of a file for what they describe.

A file holds one document per rule, in the format of ast-grep (https://ast-grep.github.io/reference/yaml.html):

- `id`, `severity` (`error`, `warning`, `info`, `hint`), `rule`, `constraints`, `utils`, `transform` as there.
- `language`, or `languages` for a rule that serves several.
- `message`: a key of the catalogue.
- `metadata.domain`, and `metadata.cwe`, the number of a weakness.
- `metadata.mentions`: words of which a file must contain one to be searched at all.
- `metadata.examples`: `bad` and `good` source texts, with `languages` where they are not for all of the rule's.

A match is reported at its first line, or at that of the metavariable `$AT`. Utility rules shared by several files are
in `utils.yml`, one document per utility, as in a folder of ast-grep's `utilDirs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, cast

import yaml
from ast_grep_py import Config

from repopilot.agents.review.rules.polyglot.parsed_source import parse_source
from repopilot.agents.review.rules.rule import Match, Rule
from repopilot.code.file_version import Code
from repopilot.types import Severity

_SEVERITIES: dict[str, Severity] = {"error": "critical", "warning": "high", "info": "medium", "hint": "low"}
_CONFIG_KEYS = ("rule", "constraints", "utils", "transform")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's, eight times as fast
_UTILITIES = "utils.yml"
_UTILITY = re.compile(r"'matches': '([\w-]+)'")


@dataclass(frozen=True, slots=True)
class Pattern:
    """What ast-grep looks for in files of one language.

    Attributes:
        config: `rule`, `constraints`, `utils` and `transform`, as ast-grep takes them.
        mentions: words of which a file must contain one; empty for every file.
    """

    config: Mapping[str, Any]
    mentions: tuple[str, ...] = ()

    def matches(self, code: Code) -> Iterator[Match]:
        """The lines of a file that match, each once.

        Raises:
            RuntimeError, TypeError: ast-grep does not accept the configuration.
        """
        if self.mentions and not any(word in code.safe for word in self.mentions):
            return
        root = parse_source(code)
        if root is None:
            return
        nodes = root.find_all(cast(Config, self.config))
        lines = {(node.get_match("AT") or node).range().start.line + 1 for node in nodes}
        yield from map(Match, sorted(lines))


def _built_in_rules() -> tuple[Rule, ...]:
    """Every rule of the YAML files beside this module, in the order of the file names; one for each language.

    Raises:
        KeyError: a rule lacks a field, or an example in one of its languages.
    """
    names = sorted(entry.name for entry in resources.files(__package__).iterdir() if entry.name.endswith(".yml"))
    rows = (row for name in names if name != _UTILITIES for row in _documents(name))
    utilities = _shared_utilities()
    return tuple(rule for row in rows for rule in _expanded(row, utilities))


def _documents(name: str) -> Iterator[dict[str, Any]]:
    return yaml.load_all(resources.files(__package__).joinpath(name).read_text("utf-8"), _LOADER)


def _languages_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The languages of a rule, in lower case as in `code.languages`."""
    return tuple(str(name).lower() for name in row.get("languages") or [row["language"]])


def _pattern_for(row: Mapping[str, Any], utilities: Mapping[str, Any]) -> Pattern:
    """The pattern that a document describes, with the utilities that it uses."""
    config = {key: row[key] for key in _CONFIG_KEYS if key in row}
    used = _used(config, utilities)
    if used:
        config["utils"] = used | config.get("utils", {})
    return Pattern(config, tuple(row.get("metadata", {}).get("mentions", ())))


def _expanded(row: Mapping[str, Any], utilities: Mapping[str, Mapping[str, Any]]) -> Iterator[Rule]:
    metadata = row["metadata"]
    for language in _languages_of(row):
        pattern = _pattern_for(row, utilities.get(language, {}))
        for example in metadata["examples"]:
            if language not in example.get("languages", (language,)):
                continue
            yield Rule(
                id=row["id"],
                domain=metadata["domain"],
                severity=_SEVERITIES[row["severity"]],
                languages=(language,),
                find=pattern.matches,
                bad=example["bad"],
                good=example["good"],
                cwe=metadata.get("cwe"),
                key=row["message"],
            )
            break
        else:
            raise KeyError(f"{row['id']} has no example in {language}")


def _used(config: Mapping[str, Any], utilities: Mapping[str, Any]) -> dict[str, Any]:
    """The utilities that a configuration refers to, directly and through other utilities."""
    used: dict[str, Any] = {}
    pending = [config]
    while pending:
        for name in _UTILITY.findall(str(pending.pop())):
            if name in utilities and name not in used:
                used[name] = utilities[name]
                pending.append(utilities[name])
    return used


def _shared_utilities() -> dict[str, dict[str, Any]]:
    """The utility rules that several files use, by language and name."""
    utilities: dict[str, dict[str, Any]] = {}
    for row in _documents(_UTILITIES):
        for language in _languages_of(row):
            utilities.setdefault(language, {})[row["id"]] = row["rule"]
    return utilities


RULES = _built_in_rules()
"""Every rule of the YAML files beside this module."""
