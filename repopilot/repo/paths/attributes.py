"""Linguist's attributes in `.gitattributes`: which files are generated and which are vendored. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from repopilot.code.generated import generated_by_convention, generated_name, probably_generated
from repopilot.repo.paths.git_patterns import git_pattern

FILE = ".gitattributes"
_SETTING = re.compile(r"(-|!)?linguist-(generated|vendored)(?:=(\S+))?")


class _Rule(NamedTuple):
    pattern: GitIgnoreSpecPattern
    settings: dict[str, bool | None]


class LinguistAttributes:
    """The attributes `linguist-generated` and `linguist-vendored` of a repository's files.

    Args:
        read: returns the text of a file by its path, None if there is none.
    """

    def __init__(self, read: Callable[[str], str | None]) -> None:
        self._read = read
        self._rules: dict[str, list[_Rule]] = {}

    def says(self, name: str, path: str) -> bool | None:
        """Whether an attribute is set for a file; None if no line sets or unsets it. The last such line of the nearest
        `.gitattributes` counts.

        Args:
            name: `generated` or `vendored`.
            path: of the file.
        """
        parts = path.split("/")
        for depth in range(len(parts) - 1, -1, -1):
            folder = "".join(f"{part}/" for part in parts[:depth])
            for rule in reversed(self._rules_of(folder)):
                if name in rule.settings and _matches(rule.pattern, path.removeprefix(folder)):
                    return rule.settings[name]
        return None

    def reason(self, path: str) -> str | None:
        """The message key for a file that is marked as generated or vendored, None for another."""
        names = ("generated", "vendored")
        return next((f"repo.skip.marked_{name}" for name in names if self.says(name, path)), None)

    def is_generated(self, path: str, text: str) -> bool:
        """Whether a file is generated: by its attribute, else by its name or its text."""
        said = self.says("generated", path)
        if said is not None:
            return said
        return generated_name(path) or generated_by_convention(text) or probably_generated(text)

    def _rules_of(self, folder: str) -> list[_Rule]:
        if folder not in self._rules:
            text = self._read(f"{folder}{FILE}") or ""
            self._rules[folder] = [rule for line in text.split("\n") if (rule := _rule(line)) is not None]
        return self._rules[folder]


def _rule(line: str) -> _Rule | None:
    words = re.match(r"\s*(\"(?:\\.|[^\"\\])*\"|\S+)\s+(.*)", line)
    if words is None or words[1].startswith(("#", "[attr]", "!")):
        return None
    found = (_SETTING.fullmatch(word) for word in words[2].split())
    settings = {each[2]: None if each[1] == "!" else _is_set(each[1], each[3]) for each in found if each is not None}
    return _Rule(git_pattern(words[1].strip('"')), settings) if settings else None


def _is_set(sign: str | None, value: str | None) -> bool:
    return sign != "-" and (value or "true").lower() not in ("false", "no", "0")


def _matches(pattern: GitIgnoreSpecPattern, path: str) -> bool:
    """Whether a pattern matches a file itself: unlike in `.gitignore`, matching the file's folder isn't enough."""
    found = pattern.regex.match(path) if pattern.regex is not None else None
    return found is not None and not found.groupdict().get("ps_d")
