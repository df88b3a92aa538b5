"""Tests, documents and comments that repeat the old value of a constant or default beside its name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot import i18n
from repopilot.agents.coding.follow_ups.changed_state import ChangedState
from repopilot.agents.coding.follow_ups.code_changes import CodeChanges, ValueChange
from repopilot.agents.coding.follow_ups.needed_edit import NeededEdit, Replacement
from repopilot.agents.coding.follow_ups.old_names import DOC_RANK, documents, is_distinctive
from repopilot.code.languages import is_test_path, language_of

_TEST_RANK = 1


def old_values(state: ChangedState) -> Iterator[NeededEdit]:
    """Find lines that say the old value next to the name of what has another one now."""
    for code in state.code:
        for value in code.values:
            name = value.name.rpartition(".")[2]
            if is_distinctive(name) and not _is_ambiguous(state, code, value):
                yield from _of(state, name, value)


def _is_ambiguous(state: ChangedState, code: CodeChanges, value: ValueChange) -> bool:
    """Whether another definition of the code has the same name."""
    last = value.name.rpartition(".")[2]
    return any(
        (symbol.path, symbol.qualified) != (code.path, value.name) and not is_test_path(symbol.path)
        for symbol in state.workspace.index.symbols(last)
    )


def _of(state: ChangedState, name: str, value: ValueChange) -> Iterator[NeededEdit]:
    tests = sorted({use.path for use in state.workspace.index.references(name) if is_test_path(use.path)})
    for path in tests:
        yield from _in_text(path, state.text(path), name, value, "test")
    for path, text in documents(state):
        yield from _in_text(path, text, name, value, "document")
    yield from _in_text(value.path, state.text(value.path), name, value, "comment")


def _in_text(path: str, text: str, name: str, value: ValueChange, where: str) -> Iterator[NeededEdit]:
    if name not in text:
        return
    named = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    old = re.compile(rf"(?<![\w.\-]){re.escape(value.old)}(?![\w\-]|\.\d)")
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        found = list(old.finditer(line))
        if len(found) == 1 and named.search(line) and _says_it(line, where, path):
            at = start + found[0].start()
            reason = i18n.message(f"follow_ups.old_value_in_{where}", name=name, old=value.old, new=value.new)
            rank = _TEST_RANK if where == "test" else DOC_RANK
            yield NeededEdit(path, number, reason, rank, Replacement(at, at + len(value.old), value.new))
        start += len(line) + 1


def _says_it(line: str, where: str, path: str) -> bool:
    """Whether a line states the value: in a test a comparison, in the code a comment, in a document any line."""
    if where == "test":
        return bool(re.search(r"==|\bassert\b|assertEqual|toBe|toEqual|\.equal|assert_eq|\bEqual\(", line))
    if where == "comment":
        marks = ("#",) if language_of(path) in ("python", "ruby", "bash") else ("//", "*", "/*")
        return line.lstrip().startswith(marks)
    return True
