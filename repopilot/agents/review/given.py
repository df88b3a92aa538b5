"""What a model is told about a change before it looks: message, diff, definitions in both states, callers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from repopilot.agents.review.proving import AT_BASE
from repopilot.agents.review.states import TouchedSymbol, told_once
from repopilot.code.languages import file_kind
from repopilot.errors import RepoPilotError
from repopilot.i18n import message, translated
from repopilot.index.store import Index
from repopilot.repo import history
from repopilot.repo.patches.diff_hunks import hunks_of
from repopilot.results import ChangedFileNote
from repopilot.tools import registry
from repopilot.tools.file_change import Changes
from repopilot.tools.looking import look
from repopilot.tools.looking.printed_places import numbered
from repopilot.tools.registry import ToolContext
from repopilot.tools.working_copy import WorkingCopy
from repopilot.types import Finding, Snapshot, Symbol

MOST_COMMITS = 20
LONG = 60
"""A definition with more lines is shown only as it is after the change; the diff has the old text."""
MOST_CALLED = 8
"""The most definitions whose callers are shown."""
WAYS = (
    ("", "callers and overriders of what changed, which still expect what was there before"),
    (
        r"\b(if|elif|else|unless|while|until|switch|case|when|match|not)\b|&&|\|\||[=!<>]=|\?",
        "conditions that were turned, narrowed or widened, and the branches that no longer run",
    ),
    (
        r"\[|\b(for|len|length|size|first|last|None|null|nil|undefined|Optional|Some)\b",
        "what is empty, missing, zero, single, first, last or very long",
    ),
    (
        r"\b(return|raise|throw|throws|yield|except|catch|finally|with|defer|close|panic|try)\b",
        "what is returned, raised, cleaned up or closed on each way out",
    ),
    (
        r"\b(async|await|go|chan|lock|Lock|mutex|Mutex|thread|Thread|Promise|spawn|atomic|synchronized|select)\b",
        "concurrency: what runs in between, isn't awaited, is shared, or happens in another order",
    ),
    ("", "what the message says that the code doesn't do, and what the code does that the message doesn't say"),
    (
        r"[\"'`]|\b(exec|eval|open|request|url|path|query)\b",
        "values from outside (requests, files, arguments, remote data), and where they end up: commands, queries, "
        "paths, addresses, patterns, logs",
    ),
)
"""Known ways in which changes go wrong, each with a pattern of changed lines that makes it worth checking."""


def ways(changes: Changes) -> Iterator[str]:
    """The ways to go wrong whose pattern occurs in the changed lines."""
    hunks = (hunk for change in changes for hunk in hunks_of(change))
    lines = "\n".join(line[1:] for hunk in hunks for line in hunk.lines if line.startswith(("+", "-")))
    for pattern, question in WAYS:
        if re.search(pattern, lines):
            yield question


def message_of(states: tuple[Snapshot, Snapshot]) -> str:
    """The messages of the commits of a change. Blocking."""
    old, new = states
    found = history.commits(new, MOST_COMMITS, since=old.commit)
    return "\n\n".join(f"{commit.subject}\n{commit.body}".strip() for commit in reversed(found))


@dataclass(frozen=True, slots=True)
class Given:
    """What is known of a change before the model looks.

    Attributes:
        found: what analysers found.
        told: the author's description of it; `review_by_model` adds the commit messages.
        walkthrough: what it does, file by file, computed without a model.
        posted: comments of earlier reviews, `path:line: text` each.
    """

    found: Sequence[Finding]
    told: str
    walkthrough: tuple[ChangedFileNote, ...]
    posted: tuple[str, ...] = ()


def sections(
    copy: WorkingCopy, touched: Sequence[TouchedSymbol], given: Given, tests: str
) -> Iterator[tuple[str, str]]:
    """The parts of what is known of a change, the most important first, each with its heading. Blocking."""
    yield "Message", given.told
    found = (f"{f.path}:{f.line} {f.rule}: {translated(f.message, 'en')}" for f in given.found)
    yield "Found by tools", "\n".join(found)
    yield "Posted by earlier reviews, not to be reported again", "\n\n".join(given.posted)
    yield "Tests that cover it", tests
    for change in sorted(copy.changes(), key=lambda each: file_kind(each.path) != "code"):
        yield f"Diff of {change.path}", change.diff
    before = copy.original.index
    after = copy.workspace.index
    for symbol in told_once(touched):
        if symbol.before is not None and symbol.after is not None:
            was = _lines_of(symbol.before, before)
            now = numbered(_lines_of(symbol.after, after), symbol.after.start_line)
            if len(was) <= LONG:
                yield f"{symbol.path}:{symbol.name} before the change", numbered(was, symbol.before.start_line)
            yield f"{symbol.path}:{symbol.name} after the change", now


def _lines_of(symbol: Symbol, index: Index) -> list[str]:
    return (index.lines(symbol.path, symbol.start_line, symbol.end_line) or "").split("\n")


async def callers_of(
    touched: Sequence[TouchedSymbol], context: ToolContext, base: ToolContext
) -> list[tuple[str, str]]:
    """The uses of the definitions that a change alters or removes, one part per definition."""
    rows = []
    for symbol in [each for each in told_once(touched) if each.before is not None][:MOST_CALLED]:
        there = base if symbol.after is None else context
        tool = registry.find("references" if symbol.after is None else "callers", look.TOOLS)
        try:
            found = await registry.call(tool, {"name": f"{symbol.path}:{symbol.name}"}, there)
        except RepoPilotError:  # the lookup failed; the model may try it again
            continue
        rows.append((f"Uses of {symbol.path}:{symbol.name} ({symbol.how})", found.text))
    return rows


def within(parts: Sequence[tuple[str, str]], room: int, count: Callable[[str], int]) -> str:
    """The parts that there is room for, and the headings of the others."""
    kept = []
    left = []
    for heading, text in parts:
        if not text.strip():
            continue
        tokens = count(text)
        if tokens > room:
            left.append(heading)
            continue
        room -= tokens
        kept.append(f"## {heading}\n{text.rstrip()}")
    more = [message("review_tools.left_out", parts="; ".join(left), tools=", ".join(AT_BASE))] if left else []
    return "\n\n".join([*kept, *more])
