"""Completes names as the user types: files and symbols of a repository, matched fuzzily, the likeliest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process

from repopilot.code.languages import is_test_path

if TYPE_CHECKING:
    from repopilot.index.store import Index

SHOWN = 12
_CONSIDERED = 60


@dataclass(frozen=True, slots=True)
class Name:
    """A possible completion: `value` is the whole name, `short` what a user begins to type, `detail` its place."""

    value: str
    short: str
    kind: str
    detail: str = ""
    in_tests: bool = False


def completions(index: Index, typed: str, *, mention: bool) -> list[dict]:
    """The names of an index that fit, best first: {value, label, kind, detail}.

    Args:
        index: of the repository.
        typed: the part of the name that was typed.
        mention: whether the user types a mention, which names a symbol together with its file.
    """
    found = ranked(index.derived(_names), typed.strip())
    changes = [
        Name(value, value, "change") for value in ("diff", "commit") if mention and value.startswith(typed.lower())
    ]
    found = [*(changes if typed else ()), *found, *(() if typed else changes)][:SHOWN]
    return [
        {"value": _written(each, mention), "label": each.value, "kind": each.kind, "detail": each.detail}
        for each in found
    ]


def ranked(names: Sequence[Name], typed: str) -> list[Name]:
    """The names that fit best: those that begin with the typed text, then those that contain it, then similar ones.
    Pure."""
    if not typed:
        return [each for each in names if each.kind == "file"][:SHOWN]
    wanted = typed.lower()
    near = process.extract(
        wanted, [each.short.lower() for each in names], scorer=fuzz.WRatio, limit=_CONSIDERED, score_cutoff=55
    )
    held = [at for at, each in enumerate(names) if wanted in each.value.lower()][:500]
    scores = {at: score for _, score, at in near}

    def order(at: int) -> tuple:
        name = names[at]
        short = name.short.lower()
        value = name.value.lower()
        begins = short.startswith(wanted)
        likeness = len(short) if begins else -scores.get(at, 0)
        return (short != wanted, not begins, wanted not in value, name.in_tests, likeness, len(value), value)

    return [names[at] for at in sorted({*scores, *held}, key=order)[:SHOWN]]


def _names(index: Index) -> list[Name]:
    """Every file and every definition of an index."""
    found = []
    for path in index.files:
        tests = is_test_path(path)
        found.append(Name(path, PurePosixPath(path).name, "file", in_tests=tests))
        for each in index.outline(path):
            found.append(Name(each.qualified, each.name, each.kind, f"{path}:{each.start_line}", tests))
    return found


def _written(name: Name, mention: bool) -> str:
    if mention and name.kind not in ("file", "change"):
        return f"{name.detail.rpartition(':')[0]}:{name.value}"
    return name.value
