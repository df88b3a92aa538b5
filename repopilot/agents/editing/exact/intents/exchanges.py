"""One value or text for another, where the code that a task names has the old one once."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.intents.task_mentions import TaskMentions
from repopilot.code.languages import file_kind, is_test_path
from repopilot.types import Symbol

_VALUE = r"[`\"'«]?\s?(?P<{}>[\w./:+%-]*[\w%])\s?[`\"'»]?"
_EXCHANGES = tuple(
    re.compile(pattern.format(new=_VALUE.format("new"), old=_VALUE.format("old")))
    for pattern in (
        r"{new}(?: by default| par défaut)?,? (?:instead of|rather than|and not|not|au lieu de|"
        r"plutôt que) {old}(?![\w-])",
        r"\bfrom {old} to {new}(?![\w-])",
        r"(?<!\w){old} ?(?:→|->|=>) ?{new}(?![\w-])",
    )
)
_FRAGMENTS = re.compile(
    r"`(?P<new>[^`\n]*[^\w\s`][^`\n]*)`(?: \w+)? (?:instead of|rather than|in place of|au lieu de|"
    r"plutôt que) `(?P<old>[^`\n]*[^\w\s`][^`\n]*)`"
)
_NAME = r"`?(?P<{}>[A-Za-z_]\w*(?:\.\w+)*)`?"
_NAMES = re.compile(
    rf"(?:replace|exchange|swap|remplace[rz]?) {_NAME.format('old')} (?:with|by|for|par) {_NAME.format('new')}"
    rf"|(?:use|utilise[rz]?) {_NAME.format('right')} (?:instead of|rather than|in place of|au lieu de|plutôt que) "
    rf"{_NAME.format('wrong')}",
    re.I,
)
"""`replace OrderedDict by dict`."""
_EVERYWHERE = re.compile(r"\b(?:everywhere|throughout|partout)\b")
_TELLING = re.compile(r"\d|[-.:/%]")
"""What a value has that is no word of prose and no name."""


def exchange_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The exchange of a value that a task may ask for.

    Args:
        task: with its mentions.
    """
    fragments = {(m["old"], m["new"]) for m in _FRAGMENTS.finditer(task.text)}
    if len(fragments) == 1:
        yield from _of_fragment(*fragments.pop(), task)
        return
    names = _NAMES.match(task.text)
    if names is not None:
        yield from _of_name(names["old"] or names["wrong"], names["new"] or names["right"], task)
    pairs = {(m["old"], m["new"]) for pattern in _EXCHANGES for m in pattern.finditer(task.text)}
    pairs = {(old, new) for old, new in pairs if _TELLING.search(old) and _TELLING.search(new)}
    symbols = {s for m in task.functions() if m.is_code for s in m.symbols}
    if len(pairs) != 1 or not symbols:
        return
    old, new = pairs.pop()
    held = [symbol for symbol in symbols if len(_texts_with(old, symbol, task)) == 1]
    if len(held) == 1:
        places = (NamedPlace(held[0].qualified, ""), NamedPlace(held[0].path, "file"))
        written = _quoted(old, held[0], task)
        yield [ExactTask("replace_code", "", "", written.replace(old, new), written, places)]


def _of_fragment(old: str, new: str, task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The exchange of a piece of code that only one place of the code has."""
    word = max(re.findall(r"\w+", old), key=len, default="")
    code = re.compile(rf"(?<![\w.]){re.escape(old)}(?![\w(])")
    held = [
        path
        for path in (task.sources.mentioning(word) if word else ())
        if file_kind(path) == "code" and not is_test_path(path)
        for _ in code.finditer(task.sources.workspace.index.text(path) or "")
    ]
    if len(held) == 1:
        yield [ExactTask("replace_code", "", "", new, old, (NamedPlace(held[0], "file"),))]


def _of_name(old: str, new: str, task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The exchange of a name that the code imports from elsewhere for one of Python's own."""
    index = task.sources.workspace.index
    held = [path for path in task.sources.mentioning(old) if path.endswith(".py")]
    imported = re.compile(rf"^\s*(?:from [\w.]+ )?import\b[^#\n]*\b{re.escape(old)}\b", re.M)
    if index.symbols(old) or not hasattr(builtins, new) or not any(imported.search(index.text(p) or "") for p in held):
        return
    extra = {"everywhere": "yes"} if _EVERYWHERE.search(task.words) else {}
    places = tuple(NamedPlace(m.path, "file") for m in task.files if m.path)
    yield [ExactTask("replace_code", "", "", new, old, places, extra=extra)]


def _body(symbol: Symbol, task: TaskMentions) -> str:
    return task.sources.workspace.index.lines(symbol.path, symbol.start_line, symbol.end_line) or ""


def _texts_with(value: str, symbol: Symbol, task: TaskMentions) -> list[str]:
    """Where a definition has a value as a whole text or number."""
    return re.findall(rf"(?<![\w.-]){re.escape(value)}(?![\w-]|\.\w)", _body(symbol, task))


def _quoted(value: str, symbol: Symbol, task: TaskMentions) -> str:
    """A value as the code has it: with quotes where it is a text of its own."""
    found = re.search(rf"([\"']){re.escape(value)}\1", _body(symbol, task))
    return found[0] if found is not None else value
