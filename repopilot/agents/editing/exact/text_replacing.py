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
Span = tuple[int, int]
"""The first byte of a text and the one behind it."""
_TEXT_NODES = ("string", "comment", "template", "heredoc", "char", "text")


def replace_text(task: ExactTask, sources: Sources) -> Patch | None:
    """Replace a text.

    Args:
        task: the text in `old`, what replaces it in `new`; of kind replace_text or change_message. `extra["around"]` is
            the qualified name of the one definition around it, where a file has it several times.
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
    chosen: dict[str, list[Span]], others: dict[str, list[Span]], task: ExactTask, sources: Sources
) -> Patch | None:
    patch = Patch()
    for path, spans in chosen.items():
        source = sources.get(path)
        assert source is not None
        check_editable(path, task, sources)
        if task.kind == "change_message" and len(spans) > 1 and not _all_alike(spans, task.old):
            return None
        for start, end in spans:
            patch.replace(path, *_narrowed(source, start, end, task.new))
            place = i18n.message("exact.line", line=source.line_of(start))
            patch.edits.append(Edit("change_text", path, place, task.new))
    for path, spans in others.items():
        source = sources.get(path)
        assert source is not None
        for start, _ in spans:
            patch.leave_open(source, start, i18n.message("exact.open.string"))
    return patch


def _narrowed(source: SourceText, start: int, end: int, new: str) -> tuple[int, int, str]:
    """A replacement; of a text that goes over several lines without the words at its ends that stay, so that its lines
    stay where they can."""
    found = source.data[start:end].decode("utf-8", "replace")
    old_words, new_words = found.split(), new.split()
    if "\n" not in found or not new_words:
        return start, end, new
    least = min(len(old_words), len(new_words)) - 1
    first = next((n for n in range(least) if old_words[n] != new_words[n]), least)
    last = next((n for n in range(least - first) if old_words[-1 - n] != new_words[-1 - n]), least - first)
    words = list(re.finditer(r"\S+", found))[first : len(old_words) - last]
    before, inside = found[: words[0].start()], found[words[0].start() : words[-1].end()]
    at = start + len(before.encode("utf-8"))
    return at, at + len(inside.encode("utf-8")), " ".join(new_words[first : len(new_words) - last])


def _all_alike(spans: list[Span], old: str) -> bool:
    """Whether a text stands for itself wherever it occurs: it is longer than a word."""
    return " " in old.strip() and len(spans) < 10


def _holding(text: str, sources: Sources) -> list[str]:
    """The files that hold a text, found by its longest words: one of them may stand in markup (`__node`)."""
    words = sorted(re.findall(r"\w+", text), key=len)
    if not words:
        return []
    found = dict.fromkeys(path for word in dict.fromkeys(words[-2:]) for path in sources.mentioning(word))
    return [p for p in found if (s := sources.get(p)) is not None and text_pattern(text, p).search(s.data)]


def text_pattern(text: str, path: str) -> re.Pattern[bytes]:
    """What finds a text in a file as whole words: in a document also where a line ends inside of it, and in markup.

    Args:
        text: as a task quotes it.
        path: the file.
    """
    is_doc = file_kind(path) == "doc"
    part = "[^\\W_]" if is_doc else "\\w"
    before = f"(?<!{part})" if re.match(r"\w", text) else ""
    after = f"(?!{part})" if re.search(r"\w$", text) else ""
    words = re.split(" +", text) if is_doc and text.strip() else [text]
    inner = r"(?:[ \t]+|[ \t]*\n[ \t]*)".join(map(re.escape, words))
    return re.compile((before + inner + after).encode("utf-8"))


def _occurrences(path: str, task: ExactTask, sources: Sources) -> list[Span]:
    """Where a file holds the text; a message in code only inside strings and comments."""
    source = sources.get(path)
    if source is None:
        return []
    found = [m.span() for m in text_pattern(task.old, path).finditer(source.data)]
    around = [s for s in sources.outline(path) if s.qualified == task.extra.get("around")]
    if around:
        lines = range(around[0].start_line, around[0].end_line + 1)
        found = [span for span in found if source.line_of(span[0]) in lines]
    if task.kind == "change_message" and file_kind(path) == "code" and source.root is not None:
        return [(start, end) for start, end in found if _in_text(source, start, end - start)]
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
