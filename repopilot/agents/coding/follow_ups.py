"""What a change makes necessary elsewhere: places that still use the old name of a renamed or removed definition, in
code and in documents. No model is asked."""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from repopilot import i18n
from repopilot.code.languages import file_kind, is_test_path, language_of
from repopilot.code.source_positions import Replacement, line_at, replaced
from repopilot.code.split import analysed
from repopilot.repo.patches.diff_hunks import before_change
from repopilot.resolve.uses.broken_uses import changed_definitions, uses_of_gone, versions_of
from repopilot.results import FollowUpEdit
from repopilot.tools import file_change
from repopilot.tools.file_change import Changes
from repopilot.tools.stored_text import stored_text
from repopilot.tools.working_copy import WorkingCopy, working_copy
from repopilot.types import FileChange, Symbol
from repopilot.workspace import Workspace

MOST_SHOWN = 8
_SAME_BODY = 0.6
"""The least similarity of a renamed definition's text to the old one."""
_LONGEST_COMPARED = 20_000
"""Characters of a definition."""
_CHANGELOG = re.compile(r"(^|/)(changes|changelog|history|news|releases?)[^/]*$", re.IGNORECASE)
_HEADING = re.compile(r"^(?:#{1,3} .+|[^\s#].*\n(?:={3,}|-{3,}|~{3,})\s*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Mention:
    """A place with the `old` name of a definition that is now called `new`, '' where it is gone. `line` and `start`, an
    offset, refer to the text after the change."""

    path: str
    line: int
    start: int
    old: str
    new: str
    where: str

    @property
    def order(self) -> tuple[bool, str, int]:
        """Uses in code, which break, come before documents."""
        return self.where == "document", self.path, self.line

    @property
    def reason(self) -> str:
        """Why the place is to be edited, a message."""
        key = "old_name_in" if self.new else "gone_in"
        return i18n.message(f"follow_ups.{key}_{self.where}", old=self.old, new=self.new, name=self.old)


async def follow_ups(changes: Changes, workspace: Workspace) -> tuple[FollowUpEdit, ...]:
    """Find what a change makes necessary elsewhere.

    Args:
        changes: the files that change.
        workspace: the repository before the change.

    Returns:
        At most MOST_SHOWN, uses in code first. New names are written in one change per file, on top of `changes`; uses
        of removed definitions are only listed.

    Raises:
        IndexFailed: the index is broken.
        StorageError: there is no room for a copy of the repository.
    """
    async with working_copy(workspace) as copy:
        return await asyncio.to_thread(_follow_ups, changes, copy)


def _follow_ups(changes: Changes, copy: WorkingCopy) -> tuple[FollowUpEdit, ...]:
    files = versions_of(changes)
    gone = [each for each in changed_definitions(files) if each.gone and each.definition.text]
    gone = [each for each in gone if not is_test_path(each.symbol.path)]
    if not gone:
        return ()
    copy.write(changes)
    left = uses_of_gone(gone, files, copy.original.resolver, copy.resolver)
    added = {change.path: _added(change) for change in changes if language_of(change.path)}
    new_names = _new_names([each.symbol for each in gone], changes, added)
    there = {(symbol.qualified, symbol.kind) for own in added.values() for symbol in own}
    mentions: list[_Mention] = []
    for symbol in (each.symbol for each in gone):
        if any(symbol.path == path and symbol.qualified.startswith(f"{owner}.") for path, owner in new_names):
            continue
        new = new_names.get((symbol.path, symbol.qualified), "")
        for use in left.get((symbol.path, symbol.qualified), ()):
            mentions.append(_Mention(use.span.path, use.line, use.span.start, symbol.name, new, "code"))
        found = list(_in_documents(symbol, new, copy))
        moved = not new and (symbol.qualified, symbol.kind) in there
        mentions += [each for each in found if _says_where(each, symbol, copy)] if moved else found
    return _as_edits(sorted(dict.fromkeys(mentions), key=lambda mention: mention.order), copy)


def _as_edits(mentions: Sequence[_Mention], copy: WorkingCopy) -> tuple[FollowUpEdit, ...]:
    """One edit per file for all its renamed names, and one for each other place."""
    found: list[FollowUpEdit] = []
    written: set[str] = set()
    for mention in mentions:
        if not mention.new:
            found.append(FollowUpEdit(mention.path, mention.line, mention.reason))
        elif mention.path not in written:
            written.add(mention.path)
            own = [each for each in mentions if each.path == mention.path and each.new]
            spots = [Replacement(each.start, each.start + len(each.old), each.new) for each in own]
            text = replaced(copy.text(mention.path) or "", spots)
            change = file_change.change(mention.path, text, stored_text(mention.path, copy.original))
            reasons = list(dict.fromkeys(each.reason for each in own))
            found.append(FollowUpEdit(mention.path, mention.line, i18n.joined(reasons[:3]), change))
    return tuple(found[:MOST_SHOWN])


def _added(change: FileChange) -> list[Symbol]:
    """The definitions that a changed file didn't have before."""
    before = {symbol.qualified for symbol in analysed(change.path, before_change(change) or "").symbols}
    return [symbol for symbol in analysed(change.path, change.content).symbols if symbol.qualified not in before]


def _new_names(
    gone: Sequence[Symbol], changes: Changes, added: Mapping[str, Sequence[Symbol]]
) -> dict[tuple[str, str], str]:
    """The new names of renamed definitions by old path and qualified name. A definition counts as renamed where the
    file has a new one of the same kind and owner with nearly the same text."""
    found: dict[tuple[str, str], str] = {}
    for change in changes:
        old = (before_change(change) or "").split("\n")
        new = change.content.split("\n")
        left = list(added.get(change.path, ()))
        for symbol in (each for each in gone if each.path == change.path):
            likely = [each for each in left if (each.kind, _owner(each)) == (symbol.kind, _owner(symbol))]
            best = max(likely, key=lambda each: _alike(symbol, old, each, new), default=None)
            if best is not None and _alike(symbol, old, best, new) >= _SAME_BODY:
                found[symbol.path, symbol.qualified] = best.name
                left.remove(best)
    return found


def _alike(old: Symbol, old_lines: Sequence[str], new: Symbol, new_lines: Sequence[str]) -> float:
    """The similarity of two definitions' texts, from 0 to 1, with their own names ignored."""
    first = "\n".join(old_lines[old.start_line - 1 : old.end_line]).replace(old.name, "\0").strip()
    second = "\n".join(new_lines[new.start_line - 1 : new.end_line]).replace(new.name, "\0").strip()
    if max(len(first), len(second)) > _LONGEST_COMPARED:
        return 0.0
    return difflib.SequenceMatcher(None, first, second, autojunk=False).ratio()


def _owner(symbol: Symbol) -> str:
    return symbol.qualified.rpartition(".")[0]


def _in_documents(old: Symbol, new: str, copy: WorkingCopy) -> Iterator[_Mention]:
    """The mentions in documents of a definition whose name no other definition has."""
    index = copy.original.index
    others = [s for s in index.symbols(old.name) if (s.path, s.qualified) != (old.path, old.qualified)]
    if others or old.name.startswith("_"):
        return
    drafts = copy.drafts()
    for path in index.files:
        if file_kind(path) == "doc" and (path in drafts or old.name in (index.text(path) or "")):
            text = copy.text(path) or ""
            shown = _newest_entry(text) if _CHANGELOG.search(path) else text
            for match in re.finditer(rf"(?<![\w.-]){_written(old)}(?![\w-])", shown):
                start = match.end() - len(old.name)
                yield _Mention(path, line_at(text, start), start, old.name, new, "document")


def _says_where(mention: _Mention, moved: Symbol, copy: WorkingCopy) -> bool:
    """Whether a document names a moved definition together with its old module."""
    line = (copy.text(mention.path) or "").split("\n")[mention.line - 1]
    return re.search(rf"\b{re.escape(_module(moved.path))}\b\W+{re.escape(moved.name)}\b", line) is not None


def _module(path: str) -> str:
    """The name by which imports refer to a file: its stem, or its folder's name where it is the folder's main file."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in ("__init__", "index", "mod") and folder else stem


def _written(old: Symbol) -> str:
    """A pattern for the name in prose: anywhere if it looks like code, else only where it is marked as code."""
    name = re.escape(old.name)
    owner = re.escape(_owner(old).rpartition(".")[2])
    qualified = rf"(?:[\w.]+\.)?{name}"
    if re.search(r"[^_]_[^_]|[a-z][A-Z]|[A-Z]{2}", old.name) and len(old.name) > 4:
        return qualified
    marked = rf"(?<=`){qualified}(?=[`(])"
    return rf"(?:{owner}\.{name}|{marked}|{qualified}(?=\(\)))" if owner else marked


def _newest_entry(text: str) -> str:
    """A changelog up to its second heading of a version."""
    versions = [match for match in _HEADING.finditer(text) if re.search(r"\d|unreleased", match[0], re.IGNORECASE)]
    return text[: versions[1].start()] if len(versions) > 1 else text
