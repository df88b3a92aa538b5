"""Replaces the secrets of a text by `[REDACTED:rule]`. Pure and fast.

Rules are tried only where one of their anchors (lower-case literals) occurs; all anchors are found in one pass, so that
ordinary text costs next to nothing. The rules are a vendored list of token formats (`known_formats.py`), our own
formats (`own_formats.py`), values beside the name of a secret (`key_names.py`, `kubernetes_data.py`), and passwords
among arguments (`login_arguments.py`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple
from zlib import crc32

from ahocorasick_rs import AhoCorasick, Implementation

from repopilot.foreign_text import code_span, escaped
from repopilot.redaction import columns, command_lines, key_names, kubernetes_data, login_arguments
from repopilot.redaction.known_formats import known_formats, secrets_near
from repopilot.redaction.own_formats import OWN_FORMATS, SecretFormat
from repopilot.redaction.secret_names import Promise

_Span = tuple[int, int, str]
_Finder = Callable[[str, int, str], Iterator[_Span]]

_VERSION = 2
"""To be increased when the decisions of modules other than `known_formats.py` and `own_formats.py` change."""
MARK = "[REDACTED:"
_LONGEST_MARK = 60
PROMISED = frozenset(promise.value for promise in Promise)
"""The rules that go by the name beside a value; all others recognize a secret by its own format."""


class _Anchors(NamedTuple):
    """What is tried where an anchor stands: numbers of known formats, and finders that are called for this place."""

    automaton: AhoCorasick
    texts: tuple[str, ...]
    known: tuple[tuple[int, ...], ...]
    finders: tuple[tuple[_Finder, ...], ...]


@cache
def version() -> str:
    """The version of the rules, which changes with every rule: what was stored under other rules is read again."""
    patterns = [(own.name, own.anchors, own.pattern) for own in OWN_FORMATS]
    return f"{_VERSION}-{crc32(repr((known_formats(), patterns)).encode()):08x}"


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Replace every secret in `text` by `[REDACTED:rule]`.

    Returns:
        The text, with its line breaks unchanged, and the names of the rules that applied, one for each replacement.
    """
    pieces: list[str] = []
    applied: list[str] = []
    at = 0
    for start, end, name in _joined(_spans(text)):
        if _is_marked(text, start):
            continue
        lines = "\n" * text.count("\n", start, end)  # line numbers must stay true
        pieces += [text[at:start], f"{MARK}{name}]{lines}"]
        applied.append(name)
        at = end
    return ("".join([*pieces, text[at:]]), tuple(applied)) if applied else (text, ())


def _is_marked(text: str, start: int) -> bool:
    """Whether a secret was replaced there before."""
    mark = text.rfind(MARK, max(0, start - _LONGEST_MARK), start + len(MARK))
    return mark >= 0 and text.find("]", mark) >= start


def _joined(spans: Iterable[_Span]) -> Iterator[_Span]:
    """Overlapping spans joined, under the most specific rule; rules that go by a name are the least specific."""
    start = 0
    end = 0
    names = [""]
    for span in sorted(spans, key=lambda found: found[0]):
        if span[0] < end:
            end = max(end, span[1])
            names.append(span[2])
            continue
        if end > start:
            yield start, end, min(names, key=PROMISED.__contains__)
        start = span[0]
        end = span[1]
        names = [span[2]]
    if end > start:
        yield start, end, min(names, key=PROMISED.__contains__)


def rules_in(text: str) -> list[str]:
    """The rules by which the secrets of a redacted text were found, in order."""
    return [found.partition("]")[0] for found in text.split(MARK)[1:]]


def secrets_in(text: str) -> list[str]:
    """The secrets of a text, in order."""
    return [text[start:end] for start, end, _ in _joined(_spans(text)) if not _is_marked(text, start)]


def redacted(text: str) -> str:
    """The text without its secrets."""
    return redact(text)[0]


def redacted_values(value: Any) -> Any:
    """A JSON value without the secrets in its texts."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, list):
        return [redacted_values(entry) for entry in value]
    if isinstance(value, dict):
        return {key: redacted_values(entry) for key, entry in value.items()}
    return value


def _spans(text: str) -> Iterator[_Span]:
    anchors = _anchors()
    known: dict[int, list[int]] = defaultdict(list)
    read_to: dict[_Finder, int] = {}
    for number, at, _ in anchors.automaton.find_matches_as_indexes(_lowered(text), overlapping=True):
        for form in anchors.known[number]:
            known[form].append(at)
        for finder in anchors.finders[number]:
            if at >= read_to.get(finder, 0):
                for span in finder(text, at, anchors.texts[number]):
                    read_to[finder] = span[1]
                    yield span
    for form, places in known.items():
        yield from secrets_near(text, form, places)


def _lowered(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if c.isascii() else c for c in text)  # some letters grow; positions must not shift


@cache
def _anchors() -> _Anchors:
    known: dict[str, list[int]] = defaultdict(list)
    finders: dict[str, list[_Finder]] = defaultdict(list)
    for number, form in enumerate(known_formats()):
        for anchor in form.anchors:
            known[anchor].append(number)
    for own in OWN_FORMATS:
        for anchor in own.anchors:
            finders[anchor].append(_finder(own))
    for anchor in kubernetes_data.ANCHORS:
        finders[anchor].append(kubernetes_data.manifest_values)
    for anchor in {*login_arguments.ANCHORS, *login_arguments.SOLE_ANCHORS}:
        finders[anchor].append(login_arguments.passwords_in_call)
    for anchor in columns.SQL_ANCHORS:
        finders[anchor].append(columns.inserted_values)
    for anchor in command_lines.ANCHORS:
        finders[anchor].append(command_lines.command_passwords)
    for anchor in key_names.ANCHORS:
        finders[anchor] += [key_names.assigned_values, columns.column_values]
    texts = tuple({**known, **finders})
    automaton = AhoCorasick(texts, implementation=Implementation.DFA)
    return _Anchors(automaton, texts, tuple(tuple(known[t]) for t in texts), tuple(tuple(finders[t]) for t in texts))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A format's pattern, compiled where its anchor occurs for the first time."""
    return re.compile(pattern)


@cache
def _finder(form: SecretFormat) -> _Finder:
    def find(text: str, at: int, _anchor: str) -> Iterator[_Span]:
        start = max(0, at - form.before)
        pattern = _compiled(form.pattern)
        match = pattern.search(text, start, at + 200) if form.before else pattern.match(text, at)
        if match and form.accept(match[match.lastindex or 0]):
            yield *match.span(match.lastindex or 0), form.name

    return find


def shown_path(path: str) -> str:
    """A path to show in a sentence, escaped and on one line."""
    return code_span(escaped(redacted(path).replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")))
