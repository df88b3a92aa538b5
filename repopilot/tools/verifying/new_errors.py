"""Errors that a change brings into a Python file, by ruff: undefined and redefined names, wrong format strings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from repopilot.code.file_version import Code
from repopilot.code.languages import language_of
from repopilot.sandbox.linter_runs import AnalyserFailed, ruff_items

_OPTIONS = ("--target-version=py313", "--select=F502,F503,F504,F522,F524,F63,F7,F811,F82")


def new_errors(path: str, before: str, after: str) -> list[str]:
    """Undefined and redefined names, and the like, that a file didn't have before, by ruff.

    Args:
        path: the file; only Python is looked at.
        before: its text before the change.
        after: its text after it.

    Returns:
        The messages of ruff; [] without ruff.
    """
    old, new = ([said for _, said in errors_in({path: text}).get(path, ())] for text in (before, after))
    return [said for said in dict.fromkeys(new) if new.count(said) > old.count(said)]


def errors_in(texts: Mapping[str, str | None]) -> dict[str, list[tuple[int, str]]]:
    """What ruff says of files of Python, by path: lines and messages; {} without ruff."""
    plain = {path: text.replace("\r\n", "\n") for path, text in texts.items() if text is not None}
    codes = [Code(path, text, text, "python") for path, text in plain.items() if language_of(path) == "python"]
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    try:
        for code, item in ruff_items(codes, _OPTIONS):
            found[code.path].append((item["location"]["row"], item["message"]))
    except AnalyserFailed:
        return {}
    return found
