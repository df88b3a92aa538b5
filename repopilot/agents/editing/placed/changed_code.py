"""What of a definition is written again for a task: all of it, some statements, or only a condition at its beginning.

Pure. Where several ways fit, code can't tell which one is right, so versions of each are written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from repopilot.agents.editing.placed.block import changed_block
from repopilot.agents.editing.placed.new_code import entry_slot
from repopilot.agents.editing.placed.signature import body_start, shortened, with_parameter
from repopilot.agents.editing.placed.slot import Slot
from repopilot.agents.editing.placed.target_places import CLASSES, FUNCTIONS, TargetPlace
from repopilot.agents.editing.placed.wanted import Wanted, quoted_texts
from repopilot.types import Symbol

LONGEST_WHOLE = 22
"""Lines of the body. Of a longer function only a block is written again."""
LONGEST_WITH_HEAD = 60
"""Lines. Of a longer function whose signature or docstring changes only these are written again."""
_LEAST_ENTRIES = 3
_LEAST_DIVIDED = 7
"""Lines of the body. Of a shorter function no block is written apart."""
_ABOUT_HEAD = re.compile(
    r"\b(?:param\w*|argument\w*|args?|kwargs?|option\w*|default\w*|async|asynchronous|keyword|flags?|signature|"
    r"annot\w*|types?|typed|hints?|docstring\w*|document\w*|decorat\w*|propert(?:y|ies)|paramètres?|défaut|typ(?:e|es|age))\b",
    re.I,
)
_ONLY_HEAD = re.compile(
    r"\b(?:signature|annot\w*|typed|hints?|docstring\w*|document\w*|decorat\w*|param[èe]?t\w*|arguments?|typage)\b",
    re.I,
)
_ENDS = r"raise|throw|return|reject|error|fail|renvo\w+|retourn\w+|l[èe]ve\w*|rejett\w+"
_WHEN = r"if|when|unless|for|on|empty|negative|missing|si|quand|lorsque|pour|vide"
_GUARD = re.compile(rf"\b(?:{_ENDS})\b.*\b(?:{_WHEN})\b|\b(?:{_WHEN})\b.*\b(?:{_ENDS})\b", re.I | re.S)
_NO_GUARD = re.compile(
    r"\b(?:results?|résultats?|instead|au lieu|rather|each|every|chaque|also|aussi|end|message|sorted|as well|always|"
    r"no longer|stop|not raise|ne plus)\b|"
    r"\b(?:else|otherwise|sinon),?\s+(?:return\s+|renvo\w+\s+)?`?(?:True|False|None|null|nil|-?\d|[\"'])",
    re.I,
)
_BRACED = frozenset({"javascript", "typescript", "tsx", "java", "c", "cpp", "csharp", "php"})
"""Languages whose conditions stand in parentheses."""


def changed_slots(place: TargetPlace, symbol: Symbol, wanted: Wanted, task: str, *, judged: bool = False) -> list[Slot]:
    """The ways to change a definition, the likeliest first.

    Args:
        place: its file.
        symbol: the definition.
        wanted: what the task asks for.
        task: its words decide which lines of a long function change.
        judged: a test judges the versions, so that a condition at the beginning may be tried anywhere.
    """
    lines, last = place.lines, symbol.end_line
    grown = None
    if wanted.noun == "parameter" and wanted.name and place.language == "python":
        grown = with_parameter(lines, symbol, wanted.name, wanted.default)
        last += len(grown) - len(lines) if grown is not None else 0
    lines = grown if grown is not None else lines
    first = symbol.start_line - 1
    if symbol.kind not in CLASSES | FUNCTIONS:
        return [
            *([entry_slot(place, symbol)] if _is_table(lines, symbol) else []),
            _block(place, symbol, lines, first, last, task),
        ]
    if symbol.kind in CLASSES:
        return [_whole(symbol, lines, first, last, first)]
    body = body_start(lines, first, place.language)
    keeps_head = grown is not None or not _ABOUT_HEAD.search(task)
    short = last - body <= LONGEST_WHOLE
    if not keeps_head and not short:
        whole = last - first <= LONGEST_WITH_HEAD
        head = _whole(symbol, lines, first, last, first) if whole else _part(symbol, lines, first, body, last)
        block = _block(place, symbol, lines, body, last, task)
        return [head] if _ONLY_HEAD.search(task) else [block, head]
    ways = [_whole(symbol, lines, first, last, body if keeps_head else first)] if short else []
    if not short or (last - body > _LEAST_DIVIDED and keeps_head):
        ways.append(_block(place, symbol, lines, body, last, task))
    if keeps_head and grown is None and _GUARD.search(task) and not _NO_GUARD.search(task) and body < last:
        return [_guard(place, symbol, lines, body, last), ways[0]]
    if judged and grown is None and body < last:
        return [*ways, _guard(place, symbol, lines, body, last)]
    return ways


def table_of(place: TargetPlace, symbol: Symbol, task: str) -> Symbol | None:
    """The table of texts that a definition looks things up in, where the task gives it new texts.

    Args:
        place: the file.
        symbol: the definition.
        task: `accept "on" and "off"` names texts that the file doesn't have.
    """
    texts = quoted_texts(task)
    if not texts or any(f'"{text}"' in place.target.shown or f"'{text}'" in place.target.shown for text in texts):
        return None
    names = set(re.findall(r"\w+", "\n".join(place.lines[symbol.start_line - 1 : symbol.end_line])))
    inside = symbol.qualified if symbol.kind in CLASSES else symbol.qualified.rpartition(".")[0]
    found = [s for s in place.outline if s.kind in ("variable", "field") and s.name in names]
    found = [s for s in found if s.qualified.rpartition(".")[0] in ("", inside) and _is_table(place.lines, s)]
    return found[0] if len(found) == 1 else None


def _is_table(lines: Sequence[str], symbol: Symbol) -> bool:
    """Whether a value stands on several lines, most of which begin with a text in quotes."""
    body = [line.strip() for line in lines[symbol.start_line : symbol.end_line - 1]]
    texts = sum(line[:1] in ("'", '"') for line in body)
    return texts >= _LEAST_ENTRIES and lines[symbol.end_line - 1].strip()[:1] in ("}", "]", ")")


def _shown(lines: Sequence[str], first: int, body: int, last: int) -> str:
    return "\n".join([*shortened(lines[first:body]), *lines[body:last]])


def _whole(symbol: Symbol, lines: Sequence[str], first: int, last: int, body: int) -> Slot:
    """The whole definition, from `body` on."""
    head = "".join(f"{line}\n" for line in lines[first:body])
    seen = "".join(f"{line}\n" for line in shortened(lines[first:body]))
    return Slot(
        "change_function",
        symbol.qualified,
        tuple(lines),
        first,
        last,
        head,
        _space(lines[first]),
        shown=_shown(lines, first, body, last),
        seen=seen,
    )


def _block(place: TargetPlace, symbol: Symbol, lines: Sequence[str], body: int, last: int, task: str) -> Slot:
    """The statements of a long function that the task is about."""
    start, end = changed_block(lines, body, last, place.language, task)
    shown = _shown(lines, symbol.start_line - 1, body, last)
    return replace(_part(symbol, lines, start, end, last), shown=shown)


def _part(symbol: Symbol, lines: Sequence[str], start: int, end: int, last: int) -> Slot:
    """Some lines of a definition, with all of it shown."""
    space = _space(lines[start])
    return Slot(
        "change_block",
        symbol.qualified,
        tuple(lines),
        start,
        end,
        space,
        space,
        "block",
        shown="\n".join(lines[symbol.start_line - 1 : last]),
        block="\n".join(lines[start:end]),
    )


def _guard(place: TargetPlace, symbol: Symbol, lines: Sequence[str], body: int, last: int) -> Slot:
    """A condition before everything else that the function does."""
    space = _space(next(line for line in lines[body:last] if line.strip()))
    condition = "if (" if place.language in _BRACED else "if "
    return Slot(
        "add_condition",
        symbol.qualified,
        tuple(lines),
        body,
        body,
        space + condition,
        space,
        "statement",
        shown=_shown(lines, symbol.start_line - 1, body, last),
    )


def _space(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
