"""The walkthrough of a change: what it does, file by file in reading order, a sentence each. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from repopilot.agents.review.scope import Scope
from repopilot.code.languages import file_kind, is_test_path
from repopilot.code.split import analysed
from repopilot.foreign_text import CODE_SPAN
from repopilot.i18n import Message, joined, message
from repopilot.i18n.format import listed
from repopilot.redaction.redact import redacted
from repopilot.repo.patches.patch import FileDiff
from repopilot.results import ChangedFileNote

MOST_NAMED = 6
MOST_FILES = 60
"""The most files of a change that are described one by one."""
_NAME = re.compile(r"[^\W\d]\w*")


def walkthrough(scope: Scope) -> tuple[ChangedFileNote, ...]:
    """What changed in each file, told by its symbols: code first, then tests, then the rest.

    Args:
        scope: a change between two states.
    """
    texts = {t.new.path: (t.old.text if t.old else "", t.new.text) for t in scope.targets}
    files = sorted(scope.diffs[:MOST_FILES], key=lambda diff: (file_kind(diff.path) != "code", is_test_path(diff.path)))
    return tuple(ChangedFileNote(redacted(diff.path), _computed(diff, texts.get(diff.path))) for diff in files)


def _computed(diff: FileDiff, texts: tuple[str, str] | None) -> str:
    """A file's added, removed and changed definitions, and how many lines."""
    if diff.status == "deleted":
        return message("review.walk.deleted")
    signs = [line[:1] for hunk in diff.hunks for line in hunk.lines]
    lines = message("review.walk.lines", added=signs.count("+"), removed=signs.count("-"))
    renamed = [message("review.walk.renamed", path=redacted(diff.old_path))] if diff.old_path != diff.path else []
    return joined([*renamed, *(_symbols(diff, *texts) if texts else ()), lines], "; ")


def _symbols(diff: FileDiff, before: str, after: str) -> Iterator[Message]:
    """What became of the definitions of a file."""
    old = _definitions(diff.old_path, before)
    new = _definitions(diff.path, after)
    both = [name for name in new if name in old]
    groups = {
        "added": [name for name in new if name not in old],
        "removed": [name for name in old if name not in new],
        "signature": [name for name in both if old[name][0] != new[name][0]],
        "changed": [name for name in both if old[name][0] == new[name][0] and old[name][1] != new[name][1]],
    }
    for how, names in groups.items():
        if names:
            yield message(f"review.walk.{how}", names=listed(names, MOST_NAMED, "`{}`".format))


def _definitions(path: str, text: str) -> dict[str, tuple[str, str]]:
    """Signature and text of each definition; a definition that contains others has '' for its text."""
    lines = text.split("\n")
    found = analysed(path, text).symbols
    inner = {symbol.qualified.rpartition(".")[0] for symbol in found}
    return {
        s.qualified: (s.signature, "" if s.qualified in inner else "\n".join(lines[s.start_line - 1 : s.end_line]))
        for s in found
    }


def by_model(
    reply: str, computed: Sequence[ChangedFileNote], exists: Callable[[str, str], bool]
) -> tuple[ChangedFileNote, ...]:
    """The walkthrough with a model's sentences in place of the computed ones, where all names in them exist.

    Args:
        reply: a line `path: sentence` for each file.
        computed: the walkthrough without a model.
        exists: whether a name stands in the changed file of a path, in either state, or anywhere else.
    """
    return tuple(_said(reply, note, exists) or note for note in computed)


def _said(reply: str, note: ChangedFileNote, exists: Callable[[str, str], bool]) -> ChangedFileNote | None:
    found = re.search(rf"^[-*\d.\s]*`?{re.escape(note.path)}`?\s*:(.+)$", reply, re.M)
    sentence = " ".join(redacted(found[1]).split()) if found else ""
    names = [name for span in CODE_SPAN.findall(sentence) for name in _NAME.findall(span)]
    if not sentence or not all(exists(note.path, name) for name in names):
        return None
    return ChangedFileNote(note.path, sentence, by_model=True)
