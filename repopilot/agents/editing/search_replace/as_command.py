"""Reads from replaced lines the command that they stand for, where code then does more than the lines show. Pure.

A renamed parameter has uses, a changed signature has callers, a deleted definition a body and imports.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from repopilot.agents.editing.exact.grounded_shapes import parameter_names, single_move
from repopilot.agents.editing.exact.wording.pronouns import takes_out_something_else
from repopilot.agents.editing.exact.wording.task_tokens import folded
from repopilot.agents.editing.search_replace.accepted import LineReplacement
from repopilot.agents.editing.search_replace.alignment import REMOVING
from repopilot.types import Symbol

_TOKEN = re.compile(r"\w+|[^\w\s]")
_MOST_DECORATORS = 4
"""Lines that a definition begins with before the one that has its name."""
_NAMING = re.compile(
    r"\b(?:re-?nam\w*|call(?:ed|ing)?(?! sites?)|nam(?:e|es|ed|ing)|nomm\w*|renomm\w*|appel\w*|noms?|"
    r"typo|spell\w*)\b|->|=>|→"
)
_ONLY_BY_NAME = re.compile(r"(?:^|[(,])\s*\*\s*,")


def as_command(made: Sequence[LineReplacement], outlines: Mapping[str, Sequence[Symbol]], task: str) -> str:
    """The command, in words that the rules of the wording read, that replacements stand for; '' for other ones.

    Args:
        made: what is replaced.
        outlines: the symbols of its files.
        task: what was asked for.
    """
    return _renaming(made, outlines, task) or _signature(made, outlines) or _deletion(made, outlines, task)


def exchanged(made: Sequence[LineReplacement], task: str) -> tuple[str, str] | None:
    """The one name that replacements put in another's place, and which the task gives; None where they do more.

    Args:
        made: what is replaced.
        task: what was asked for.
    """
    pairs = set()
    for each in made:
        old, new = _TOKEN.findall("\n".join(each.old)), _TOKEN.findall("\n".join(each.new))
        if len(old) != len(new):
            return None
        pairs |= {(a, b) for a, b in zip(old, new, strict=True) if a != b}
    if len(pairs) != 1:
        return None
    before, after = pairs.pop()
    names = all(re.fullmatch(r"[^\W\d]\w*", name) for name in (before, after))
    return (before, after) if names and after in re.findall(r"\w+", task) else None


def _renaming(made: Sequence[LineReplacement], outlines: Mapping[str, Sequence[Symbol]], task: str) -> str:
    names = exchanged(made, task)
    if names is None or not _NAMING.search(folded(task)):
        return ""
    path, line = made[0].path, made[0].first + 1
    if any(symbol.name == names[0] for symbol in outlines[path]):
        return f"rename `{names[0]}` to `{names[1]}` in `{path}`"
    around = [s for s in outlines[path] if s.start_line <= made[0].last and line <= s.end_line]
    inner = max(around, key=lambda s: s.start_line, default=None)
    return f"rename `{names[0]}` to `{names[1]}` in `{inner.qualified}`" if inner is not None else ""


def _signature(made: Sequence[LineReplacement], outlines: Mapping[str, Sequence[Symbol]]) -> str:
    for each in made:
        for symbol in outlines[each.path]:
            begins = re.compile(rf"\b{re.escape(symbol.name)}\b[^\n(]*\(")
            at = next((at for at, line in enumerate(each.old) if begins.search(line)), None)
            text = "\n".join(each.new)
            new = begins.search(text)
            if at is None or new is None or not 0 <= each.first + at + 1 - symbol.start_line <= _MOST_DECORATORS:
                continue
            command = _of_parameters(symbol, text[new.start() :])
            if command:
                return command
    return ""


def _of_parameters(symbol: Symbol, new: str) -> str:
    """The command that makes the parameters of a function those of a new signature."""
    own = symbol.signature
    old_names, names = parameter_names(own), parameter_names(new)
    gone = [name for name in old_names if name not in names]
    if len(gone) == 1 and names == [name for name in old_names if name not in gone]:
        return f"remove `{gone[0]}` from `{symbol.qualified}`"
    if sorted(names) != sorted(old_names) or len(set(names)) < len(names):
        return ""
    named = [name for name in _by_name(new) if name not in _by_name(own)]
    if named:
        return f"make `{' and '.join(named)}` keyword-only in `{symbol.qualified}`"
    move = single_move(old_names, names) if names != old_names else None
    if move is None:
        return ""
    behind = names[names.index(move[0]) + 1 :]
    place = f"before `{behind[0]}`" if behind else f"after `{names[-2]}`"
    return f"put `{move[0]}` {place} in `{symbol.qualified}`"


def _by_name(signature: str) -> list[str]:
    """The parameters that can only be given by name, in Python."""
    star = _ONLY_BY_NAME.search(signature)
    return parameter_names(f"({signature[star.end() :]}") if star is not None else []


def _deletion(made: Sequence[LineReplacement], outlines: Mapping[str, Sequence[Symbol]], task: str) -> str:
    """Where the task removes something: the deletion of the definition of it whose first line is gone."""
    if not REMOVING.search(folded(task)) or takes_out_something_else(task):
        return ""
    words, new = set(re.findall(r"\w+", task)), set(re.findall(r"\w+", "\n".join(n for each in made for n in each.new)))
    gone = [
        symbol
        for each in made
        for symbol in outlines[each.path]
        if each.first < symbol.start_line <= each.last and symbol.name in words - new
    ]
    return f"remove `{gone[0].qualified}` from `{gone[0].path}`" if len(gone) == 1 else ""
