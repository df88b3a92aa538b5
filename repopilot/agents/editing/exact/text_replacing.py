"""Replaces texts that a task quotes: in documents, messages, comments."""

from __future__ import annotations

import re

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import check_editable, task_paths
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.code.languages import file_kind, is_test_path
from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.types import Edit

_SENTENCE = 3
"""Words of a text that stands for itself wherever it occurs."""
_TEXT_NODES = ("string", "comment", "template", "heredoc", "char", "text")


def replace_text(task: ExactTask, sources: Sources) -> Patch | None:
    """Replace a text.

    Args:
        task: the text in `old`, what replaces it in `new`; of kind replace_text or change_message.
        sources: the files.

    Returns:
        The change; None where it isn't clear which occurrence is meant.

    Raises:
        PlaceAmbiguous: several files hold the text.
        GenerationFailed: no file holds it.
    """
    if not task.old or task.old == task.new:
        return None
    named = task_paths(task, sources)
    paths = named or _holding(task.old, sources)
    found = {path: spans for path in paths if (spans := _occurrences(path, task, sources))}
    if not found:
        raise _no_text(task, named)
    if not named:
        code = {p: s for p, s in found.items() if not is_test_path(p)}
        chosen = code or found
        if len(chosen) > 1 and " " not in task.old.strip():
            return None  # a word may be anything
        if len(chosen) > 1:
            raise PlaceAmbiguous(
                i18n.message("exact.several_places", name=task.old, count=len(chosen)),
                i18n.message("exact.choose_place"),
                tuple(chosen)[:12],
            )
    else:
        chosen = found
    others = {p: s for p, s in found.items() if p not in chosen}
    if len(task.old.split()) >= _SENTENCE:  # what tests expect of it goes along, or they would fail
        chosen |= {p: s for p, s in others.items() if is_test_path(p)}
        others = {p: s for p, s in others.items() if p not in chosen}
    return _replaced(chosen, others, task, sources)


def _replaced(
    chosen: dict[str, list[int]], others: dict[str, list[int]], task: ExactTask, sources: Sources
) -> Patch | None:
    patch = Patch()
    length = len(task.old.encode("utf-8"))
    for path, starts in chosen.items():
        source = sources.get(path)
        assert source is not None
        check_editable(path, task, sources)
        if task.kind == "change_message" and len(starts) > 1 and not _all_alike(source, starts, task.old):
            return None
        for start in starts:
            patch.replace(path, start, start + length, task.new)
            place = i18n.message("exact.line", line=source.line_of(start))
            patch.edits.append(Edit("change_text", path, place, task.new))
    for path, starts in others.items():
        source = sources.get(path)
        assert source is not None
        for start in starts:
            patch.leave_open(source, start, i18n.message("exact.open.string"))
    return patch


def _all_alike(source: SourceText, starts: list[int], old: str) -> bool:
    """Whether a text stands for itself wherever it occurs: it is longer than a word."""
    return " " in old.strip() and len(starts) < 10


def _holding(text: str, sources: Sources) -> list[str]:
    """The files that hold a text, found by its longest word."""
    words = sorted(re.findall(r"\w+", text), key=len)
    needle = text.encode("utf-8")
    if not words:
        return []
    return [p for p in sources.mentioning(words[-1]) if (s := sources.get(p)) is not None and needle in s.data]


def _occurrences(path: str, task: ExactTask, sources: Sources) -> list[int]:
    """Where a file holds the text, as whole words; a message in code only inside strings and comments."""
    source = sources.get(path)
    if source is None:
        return []
    text = task.old
    before = r"(?<!\w)" if re.match(r"\w", text) else ""
    after = r"(?!\w)" if re.search(r"\w$", text) else ""
    pattern = re.compile((before + re.escape(text) + after).encode("utf-8"))
    found = [m.start() for m in pattern.finditer(source.data)]
    if task.kind == "change_message" and file_kind(path) == "code" and source.root is not None:
        return [start for start in found if _in_text(source, start, len(text.encode("utf-8")))]
    return found


def _in_text(source: SourceText, start: int, length: int) -> bool:
    assert source.root is not None
    node = source.root.descendant_for_byte_range(start, start + length)
    while node is not None:
        if any(kind in node.type for kind in _TEXT_NODES):
            return True
        if node.type in ("block", "module", "program", "source_file"):
            return False
        node = node.parent
    return False


def _no_text(task: ExactTask, named: list[str]) -> GenerationFailed:
    if named:
        return GenerationFailed(i18n.message("exact.no_text_in", text=task.old[:80], path=", ".join(named)))
    return GenerationFailed(i18n.message("exact.no_text", text=task.old[:80]))
