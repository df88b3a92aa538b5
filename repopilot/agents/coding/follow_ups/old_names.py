"""Where the old name of a renamed or removed definition is still written: in code that means it, in documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from repopilot import i18n
from repopilot.agents.coding.follow_ups.changed_state import ChangedState
from repopilot.agents.coding.follow_ups.needed_edit import NeededEdit
from repopilot.code.languages import file_kind
from repopilot.code.source_positions import Replacement, line_at
from repopilot.types import Symbol

DOC_RANK = 3
_CHANGELOG = re.compile(r"(^|/)(changes|changelog|history|news|releases?)[^/]*$", re.IGNORECASE)
_HEADING = re.compile(r"^(?:#{1,3} .+|[^\s#].*\n(?:={3,}|-{3,}|~{3,})\s*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LeftUse:
    """A use of what is gone: its line, and the offset in the text after the change."""

    path: str
    line: int
    start: int


LeftUses = Mapping[tuple[str, str], Sequence[LeftUse]]
"""The uses by the old path and qualified name of each definition that is gone."""


def old_names(state: ChangedState, left: LeftUses) -> Iterator[NeededEdit]:
    """Find where the old name of a definition is still written.

    Args:
        state: the repository with the change.
        left: the uses of what is gone.
    """
    for code in state.code:
        for pair in code.renamed:
            if pair.old.name != pair.new.name:
                yield from _in_code(left.get((code.path, pair.old.qualified), ()), pair.old.name, pair.new.name)
                yield from _in_documents(state, code.path, pair.old, pair.new.name)
        for gone in code.removed:
            if (uses := left.get((code.path, gone.qualified))) is not None:
                yield from _in_code(uses, gone.name, "")
                found = _in_documents(state, code.path, gone, "")
                moved = _is_moved(state, gone)
                yield from (edit for edit in found if not moved or _says_where(state, edit, gone, code.path))


def _in_code(uses: Sequence[LeftUse], old: str, new: str) -> Iterator[NeededEdit]:
    for use in uses:
        yield _edit(use.path, use.line, (old, new), use.start, "code")


def _is_moved(state: ChangedState, gone: Symbol) -> bool:
    """Whether another file has a definition since the change."""
    return any(
        (added.qualified, added.kind) == (gone.qualified, gone.kind) for code in state.code for added in code.added
    )


def _says_where(state: ChangedState, edit: NeededEdit, moved: Symbol, old: str) -> bool:
    """Whether a document that names a moved definition says that it is where it was."""
    line = state.text(edit.path).split("\n")[edit.line - 1]
    return re.search(rf"\b{re.escape(_module(old))}\b\W+{re.escape(moved.name)}\b", line) is not None


def _module(path: str) -> str:
    """How imports call a file: its name without ending, of a package's or folder's main file the folder."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in ("__init__", "index", "mod") and folder else stem


def _in_documents(state: ChangedState, path: str, old: Symbol, new: str) -> Iterator[NeededEdit]:
    others = [s for s in state.workspace.index.symbols(old.name) if (s.path, s.qualified) != (path, old.qualified)]
    if others or old.name.startswith("_"):
        return
    for where, text in documents(state):
        for match in re.finditer(rf"(?<![\w.-]){_written(old)}(?![\w-])", text):
            start = match.end() - len(old.name)
            yield _edit(where, line_at(text, start), (old.name, new), start, "document")


def _written(old: Symbol) -> str:
    """A pattern for the name in prose: as it is where it looks like code, else only marked as code."""
    name, owner = re.escape(old.name), re.escape(old.qualified.rpartition(".")[0].rpartition(".")[2])
    qualified = rf"(?:[\w.]+\.)?{name}"
    if is_distinctive(old.name):
        return qualified
    return (
        rf"(?:{owner}\.{name}|(?<=`){qualified}(?=[`(])|{qualified}(?=\(\)))"
        if owner
        else rf"(?<=`){qualified}(?=[`(])"
    )


def is_distinctive(name: str) -> bool:
    """Whether a name would not be written in prose without meaning it: `load_user`, `loadUser`, `MAX_SIZE`."""
    return bool(re.search(r"[^_]_[^_]|[a-z][A-Z]|[A-Z]{2}", name)) and len(name) > 4


def documents(state: ChangedState) -> Iterator[tuple[str, str]]:
    """The path and text of each document; of a changelog only up to its second heading of a version."""
    for path in state.workspace.index.files:
        if file_kind(path) != "doc":
            continue
        text = state.workspace.index.text(path) or ""
        if any(change.path == path for change in state.changes) or "[REDACTED:" in text:
            text = state.text(path)
        yield path, _newest_entry(text) if _CHANGELOG.search(path) else text


def _newest_entry(text: str) -> str:
    versions = [match for match in _HEADING.finditer(text) if re.search(r"\d|unreleased", match[0], re.IGNORECASE)]
    return text[: versions[1].start()] if len(versions) > 1 else text


def _edit(path: str, line: int, names: tuple[str, str], start: int, where: str) -> NeededEdit:
    """The edit of one mention; `start` is its offset."""
    old, new = names
    rank = 0 if where == "code" else DOC_RANK
    if not new:
        return NeededEdit(path, line, i18n.message(f"follow_ups.gone_in_{where}", name=old), rank)
    reason = i18n.message(f"follow_ups.old_name_in_{where}", old=old, new=new)
    return NeededEdit(path, line, reason, rank, Replacement(start, start + len(old), new))
