"""From a model's reply to the file's new text: aligned with what code wrote before it, cut to what was asked. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.editing.placed.signature import docstring_end, signature_end
from repopilot.agents.editing.placed.slot import Slot
from repopilot.code.languages import language_of
from repopilot.code.split import analyse
from repopilot.errors import GenerationFailed
from repopilot.types import Symbol

_FENCE = re.compile(r"^\s*```[\w+-]*\s*$")
_RENAMING = re.compile(r"\b(?:re-?nam|renomm|call(?:ed)?\b|nam(?:e|ed|ing)\b|appel|nomm|spell|spelt)", re.I)
_OPEN_TEXTS = ('"""', "'''", "`")
"""What begins texts of several lines, which keep their white space."""
LONGEST_REPLY = 6_000
"""Characters: more than the limits of tokens let through. The parser takes the square of some texts."""


def new_lines(path: str, slot: Slot, reply: str) -> list[str]:
    """The lines that a reply puts into a slot.

    Args:
        path: the file.
        slot: the place and how the new lines begin.
        reply: what the model wrote behind `slot.head`, or all of it once more, with or without fences.

    Returns:
        The lines, indented for their place; of a reply that goes on behind the definition only the definition.

    Raises:
        GenerationFailed: there is no code in the reply.
    """
    code = _joined(slot, reply[:LONGEST_REPLY])
    lines = _trimmed(_with_tabs(_indented(code.split("\n"), slot), slot))
    if not any(line.strip() for line in lines):
        raise GenerationFailed(i18n.message("generate.problem.no_code" if reply.strip() else "generate.problem.empty"))
    if slot.unit == "definition":
        return _first_definition(path, slot, lines)
    if slot.unit == "statement":
        return _trimmed(lines[: statement_end(lines, slot.indent)])
    if slot.unit == "entry":
        return lines[: next((i for i, line in enumerate(lines) if not line.strip()), len(lines))]
    return lines if slot.inserts else _without_surroundings(lines, slot)


def _without_surroundings(lines: list[str], slot: Slot) -> list[str]:
    """Lines that replace others, without those beside them that the model wrote once more."""
    bare = [line.strip() for line in lines]
    before = [line.strip() for line in slot.lines[: slot.first]]
    after = [line.strip() for line in slot.lines[slot.last :]]
    counts = range(len(bare) - 1, 0, -1)
    start = next((n for n in counts if any(bare[:n]) and before[-n:] == bare[:n]), 0)
    end = next((n for n in counts if any(bare[-n:]) and n < len(bare) - start and after[:n] == bare[-n:]), 0)
    return _trimmed(lines[start : len(lines) - end])


def statement_end(lines: Sequence[str], indent: str) -> int:
    """The line behind the first statement of some lines: the next line that isn't indented more, or a closing brace."""
    for number, line in enumerate(lines[1:], 1):
        deeper = len(line) - len(line.lstrip()) > len(indent)
        if line.strip() and not deeper and not re.match(r"\s*(?:\)|else\b|elif\b|\}\s*else\b)", line):
            return number + 1 if line.strip().startswith("}") else number
    return len(lines)


def as_addition(path: str, slot: Slot, lines: Sequence[str], task: str) -> Slot:
    """Where a reply goes that has a new definition in the place of another: "X has `first()`, but no `last()`".

    Args:
        path: the file.
        slot: the definition that was to change.
        lines: the reply's, of `new_lines`.
        task: names what is new.

    Returns:
        The place behind the definition; `slot` itself where the reply changes the definition.

    Raises:
        GenerationFailed: the reply has a definition that the task doesn't name instead of the one that was to change.
    """
    old = slot.place.rpartition(".")[2]
    if slot.inserts or slot.unit != "definition" or slot.kind != "change_function":
        return slot
    names = [s.name for s in _symbols_within(path, slot, lines)]
    if not names or old in names or _RENAMING.search(task):
        return slot
    if not re.search(rf"(?<![\w$]){re.escape(names[0])}(?![\w$])", task):
        raise GenerationFailed(i18n.message("generate.problem.no_definition"))
    place = ".".join(filter(None, (slot.place.rpartition(".")[0], names[0])))
    blank = 1 if slot.indent or not path.endswith(".py") else 2
    return replace(
        slot, kind="add_method" if slot.indent else "add_function", place=place, first=slot.last, blank=blank
    )


def with_lines(slot: Slot, lines: Sequence[str]) -> str:
    """The text of the file with lines in the slot, and blank lines around an insertion."""
    before, after = list(slot.lines[: slot.first]), list(slot.lines[slot.last :])
    lines = _separated(slot, lines)
    if not slot.inserts or not slot.blank:
        return "\n".join([*before, *lines, *after])
    while before and not before[-1].strip():
        before.pop()
    closing = bool(slot.indent) and bool(after) and re.match(r"\s*[)\]}]", after[0]) is not None
    apart = closing or not after or not after[0].strip()
    behind = after if apart else [""] * slot.blank + after
    opens = bool(before) and bool(slot.indent) and re.search(r"[:{]\s*$", before[-1]) is not None
    return "\n".join([*before, *([] if opens or not before else [""] * slot.blank), *lines, *behind])


def _separated(slot: Slot, lines: Sequence[str]) -> list[str]:
    """The lines with what separates them from those behind them."""
    if not slot.comma or not lines:
        return list(lines)
    return [*lines[:-1], lines[-1].rstrip().removesuffix(",") + slot.comma]


def _joined(slot: Slot, reply: str) -> str:
    """Head and reply as one text, whether the reply goes on from the head or begins again."""
    lines = reply.replace("\r\n", "\n").split("\n")
    fences = [i for i, line in enumerate(lines) if _FENCE.match(line)]
    opened = (bool(fences) and lines[fences[0]].strip() != "```") or (fences[:1] == [0])
    if opened:
        lines = lines[fences[0] + 1 : fences[1] if len(fences) > 1 else len(lines)]
    elif fences:
        lines = lines[: fences[0]]
    code = "\n".join(lines)
    if not _repeats(slot.prefix, code):
        return _continued(slot.head, code)
    return slot.head + "\n".join(_behind_head(lines)) if slot.seen else code


def _continued(head: str, code: str) -> str:
    """The head and what goes on behind it, with one space between them where the head ends with one."""
    if not head.strip():
        return code if code[:1].isspace() else head + code
    return head + code.lstrip(" ") if head.endswith((" ", "(")) else head + code


def _behind_head(lines: list[str]) -> list[str]:
    """A repeated definition without decorators, signature and docstring, which stay as they were."""
    start = next((i for i, line in enumerate(lines) if line.strip()), 0)
    return lines[docstring_end(lines, signature_end(lines, start)) :]


def _repeats(head: str, code: str) -> bool:
    """Whether code begins with what is its head already: its first or its last line, apart from white space."""
    known = [re.sub(r"\s+", "", line) for line in head.split("\n") if line.strip()]
    own = [re.sub(r"\s+", "", line) for line in code.split("\n") if line.strip()]
    if not known or not own:
        return False
    names = re.search(r"(?:def|function|func|fn|class)([\w$]+)\(?", known[-1])
    definition = f"{names[0]}" if names else known[-1]
    return own[0].startswith(known[0]) or any(line.startswith(definition) for line in own[:8])


def _indented(lines: list[str], slot: Slot) -> list[str]:
    """The lines with the first of them at the slot's indentation."""
    first = next((line for line in lines if line.strip()), "")
    found = first[: len(first) - len(first.lstrip())]
    if found == slot.indent:
        return _all_inside(lines, slot) if slot.unit == "block" else lines
    if len(found) > len(slot.indent):
        extra = found[len(slot.indent) :] if found.startswith(slot.indent) else found
        return [line.removeprefix(found[: len(extra)]) if line.strip() else line for line in lines]
    missing = slot.indent[len(found) :]
    return [missing + line if line.strip() else line for line in lines]


def _all_inside(lines: list[str], slot: Slot) -> list[str]:
    """The lines behind the first one no less indented than it: a model may go on from the margin."""
    depths = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    missing = slot.indent[min(depths, default=len(slot.indent)) :]
    if not missing or any(mark in line for line in lines for mark in _OPEN_TEXTS):
        return lines
    return [lines[0], *(missing + line if line.strip() else line for line in lines[1:])]


def _with_tabs(lines: list[str], slot: Slot) -> list[str]:
    """The lines with tabs before them where the file has tabs and the reply spaces."""
    deep = [line for line in slot.lines if line[:1] in ("\t", " ") and line.strip(" *")]
    if sum(line[0] == "\t" for line in deep) * 2 <= len(deep):
        return lines
    runs = [len(line) - len(line.lstrip(" ")) for line in lines if line.startswith(" ") and line.strip()]
    step = min(runs, default=0)
    if step < 2 or any(run % step for run in runs):
        return lines
    return ["\t" * (n // step) + line[n:] if (n := len(line) - len(line.lstrip(" "))) else line for line in lines]


def _trimmed(lines: list[str]) -> list[str]:
    start = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    end = len(lines)
    while end > start and not lines[end - 1].strip():
        end -= 1
    return lines[start:end]


def _first_definition(path: str, slot: Slot, lines: list[str]) -> list[str]:
    """The first definition of the lines, as the parser sees it in its place."""
    symbols = _symbols_within(path, slot, lines)
    wanted = slot.place.rpartition(".")[2]
    outer = [s for s in symbols if not any(_around(other, s) for other in symbols)]
    named = [s for s in outer if s.name == wanted] or [s for s in symbols if s.name == wanted] or outer
    known = {s.name for s in outer} - {wanted}
    if not named or (slot.inserts and named[0].name != wanted and known & _names_before(path, slot)):
        raise GenerationFailed(i18n.message("generate.problem.no_definition"))
    return _indented(_trimmed(lines[named[0].start_line : named[0].end_line + 1]), slot)


def _names_before(path: str, slot: Slot) -> set[str]:
    return {s.name for s in analyse(path, "\n".join(slot.lines), language_of(path) or "", "code").symbols}


def _symbols_within(path: str, slot: Slot, lines: Sequence[str]) -> list[Symbol]:
    """The definitions among lines put into their slot, with line numbers from 0 in the lines."""
    lines = _separated(slot, lines)
    text = with_lines(slot, lines).split("\n")
    start = _find(text, lines, slot.first)
    symbols = analyse(path, "\n".join(text), language_of(path) or "", "code").symbols
    inside = (s for s in symbols if start < s.start_line <= start + len(lines))
    leaves = ("variable", "field")
    return [
        Symbol(s.name, s.qualified, s.kind, path, s.start_line - 1 - start, min(s.end_line - 1 - start, len(lines) - 1))
        for s in inside
        if s.kind not in leaves
    ]


def _find(text: Sequence[str], lines: Sequence[str], near: int) -> int:
    return next(
        (at for at in range(max(0, near - 4), near + 4) if list(text[at : at + len(lines)]) == list(lines)), near
    )


def _around(outer: Symbol, inner: Symbol) -> bool:
    return outer is not inner and outer.start_line <= inner.start_line and inner.end_line <= outer.end_line
