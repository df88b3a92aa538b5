"""Reads what tox.ini declares: the requirements of its test environments. Pure."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from itertools import islice

from repopilot.project.declaration_parts import DeclarationParts, is_for_tests, lines
from repopilot.project.setup_files import config_sections

_REFERENCE = re.compile(r"\{\[([^\]]+)\]([\w-]+)\}")
_OTHER_TESTS = re.compile(r"(?:docs?|mypy|types?|typing|lint)\b", re.I)
"""Environments that test the documentation or types."""
_OURS = re.compile(rf"py|py3|py3\.?{sys.version_info.minor}|tests?")
"""What the name of our environment is made of: the tests, with the Python that runs us."""
_PYTHON = re.compile(r"(?:py|pypy|cpython|jython)[\d.]*")
_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST_ALTERNATIVES = 1_000
_MOST_LINES = 1_000
"""Lines read of one option, including those that it takes from other sections."""


def read_tox(text: str) -> DeclarationParts:
    """The requirements, extras and groups of tox's test environments."""
    groups: dict[str, tuple[str, ...]] = {}
    wanted: list[str] = []
    sections = config_sections(text)
    for name, options in sections.items():
        environment = name.removeprefix("testenv:")
        plain = name == "testenv" or re.match(r"(?:py|pypy|\{?py)[\w.{},-]*$", environment) or is_for_tests(environment)
        if not name.startswith("testenv") or not plain or _OTHER_TESTS.match(environment):
            continue
        groups[f"tests-{environment}"] = _declared(options.get("deps", ""), sections)
        for option in ("extras", "dependency_groups"):
            wanted += _declared(options.get(option, "").replace(",", "\n"), sections)
    return DeclarationParts(groups=groups, wanted=tuple(dict.fromkeys(wanted)))


def _declared(text: str, sections: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    """What an option names for our environment; lines with braces are left out, as only tox can tell what they are."""
    found = map(_unconditional, islice(_expanded(text, sections), _MOST_LINES))
    return tuple(line for line in found if line and "{" not in line)


def _expanded(text: str, sections: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """The lines of an option, with those that it takes from other sections by `{[section]option}`, each once."""
    waiting = [*reversed(lines(text))]
    taken: set[str] = set()
    while waiting:
        line = waiting.pop()
        elsewhere = _REFERENCE.fullmatch(line)
        if elsewhere is None:
            yield line
        elif line not in taken:
            taken.add(line)
            waiting += reversed(lines(sections.get(elsewhere[1], {}).get(elsewhere[2], "")))


def _unconditional(line: str) -> str:
    """A line of tox without its condition (`py311: pytest`); '' where it applies to other environments only."""
    condition, colon, rest = line.partition(":")
    if not colon or rest.startswith("//") or not re.fullmatch(r"[\w.{},!-]{1,1000}", condition):
        return line
    return rest.strip() if any(map(_is_ours, islice(_alternatives(condition), _MOST_ALTERNATIVES))) else ""


def _alternatives(condition: str) -> Iterator[list[str]]:
    """The factors of each alternative of a condition: `py{311,312}-x,!y` is `py311-x`, `py312-x`, or no `y`."""
    waiting = [condition]
    while waiting:
        text = waiting.pop()
        if braces := _BRACES.search(text):
            waiting += (f"{text[: braces.start()]}{each}{text[braces.end() :]}" for each in braces[1].split(","))
        else:
            yield from (alternative.split("-") for alternative in text.split(","))


def _is_ours(factors: list[str]) -> bool:
    """Whether one alternative of a condition applies: no other Python, none of ours excluded, something of ours named.

    Factors that we don't know (`py311-django42`) don't exclude it.
    """
    excluded = [factor[1:] for factor in factors if factor.startswith("!")]
    named = [factor for factor in factors if not factor.startswith("!")]
    others = [factor for factor in named if _PYTHON.fullmatch(factor) and not _OURS.fullmatch(factor)]
    if others or any(map(_OURS.fullmatch, excluded)):
        return False
    return bool(excluded) or any(map(_OURS.fullmatch, named))
