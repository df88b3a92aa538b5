"""The files of a repository as an exact edit reads and changes them: LF text with its syntax tree, spans in bytes.

Secrets are in the text, since no model sees it. What is changed goes back into the stored bytes, so that line ends,
byte order mark and everything else stay as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.outcome import EditOutcome, OpenReference
from repopilot.code.data_formats import from_json, from_toml
from repopilot.code.generated import generated_by_convention, generated_name, probably_generated
from repopilot.code.languages import file_kind, is_test_path, language_of
from repopilot.code.notebook import is_notebook
from repopilot.code.split import analyse
from repopilot.code.syntax import parse
from repopilot.errors import GenerationFailed, SourceError
from repopilot.index.tokens import LONGEST, expand
from repopilot.repo import read
from repopilot.repo.read import blob_id
from repopilot.tools import file_change
from repopilot.tools.file_change import PARSE_S
from repopilot.types import Edit, FileChange, Symbol
from repopilot.workspace import Workspace

MOST_OPEN = 100
"""References that are listed for the user at most."""
_VENDORED = re.compile(r"(^|/)(vendor|vendored|_vendor|third_party|node_modules|site-packages)/")
_BOM = b"\xef\xbb\xbf"


class ByteEdit(NamedTuple):
    """The bytes [start, end) of a source, and what replaces them."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file: `data` is its text as UTF-8 with LF line ends and without byte order mark; `root` its syntax tree, None
    where its language has no grammar."""

    path: str
    data: bytes
    language: str
    root: Node | None

    @property
    def text(self) -> str:
        """The text."""
        return self.data.decode("utf-8")

    def line_of(self, offset: int) -> int:
        """The 1-based line of a byte."""
        return self.data.count(b"\n", 0, offset) + 1

    def line_text(self, line: int) -> str:
        """The text of a 1-based line."""
        lines = self.data.split(b"\n")
        return lines[line - 1].decode("utf-8") if 0 < line <= len(lines) else ""

    def start_of(self, line: int) -> int:
        """The first byte of a 1-based line."""
        return sum(len(text) + 1 for text in self.data.split(b"\n")[: line - 1])

    def slice(self, node: Node) -> str:
        """The text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8")


@dataclass(slots=True)
class Sources:
    """Reads files, each once. Made for one edit."""

    workspace: Workspace
    _read: dict[str, SourceText | None] = field(default_factory=dict)

    def get(self, path: str) -> SourceText | None:
        """A file; None when there is none or it is no UTF-8 text."""
        if path not in self._read:
            self._read[path] = self._load(path)
        return self._read[path]

    def _load(self, path: str) -> SourceText | None:
        if is_notebook(path):  # what the index has of one is no text to edit
            return None
        snapshot, index = self.workspace.snapshot, self.workspace.index
        text = index.text(path) if snapshot.root is None else None
        known = index.files.get(path)
        if text is None or "[REDACTED:" in text:
            try:
                raw = read.read_raw(snapshot, path)
                text = _plain(raw).decode("utf-8")
            except (SourceError, UnicodeDecodeError):
                return None
            if known is not None and known.hash != blob_id(raw):
                # The lines that the index knows are others now.
                message = i18n.message("exact.changed_since", path=path)
                raise GenerationFailed(message, i18n.message("exact.changed_since_hint"))
        data = text.encode("utf-8", "surrogatepass")
        language = language_of(path) or ""
        # What could not be parsed in a process of its own isn't tried in this one.
        readable = file_kind(path) == "code" and (known is None or known.parsed)
        tree = parse(data, language, PARSE_S) if readable else None
        return SourceText(path, data, language, tree.root_node if tree else None)

    def outline(self, path: str) -> list[Symbol]:
        """The definitions of a file, also of one that isn't in the index."""
        index = self.workspace.index
        source = None if path in index.files else self.get(path)
        if source is None:
            return index.outline(path)
        return list(analyse(path, source.text, source.language, file_kind(path)).symbols)

    def mentioning(self, name: str, languages: Iterable[str] = ()) -> list[str]:
        """The files that hold a name as a word, in the order of the index; of some languages only where given."""
        index = self.workspace.index
        wanted = set(languages)
        paths = [p for p in self._candidates(name) if not wanted or index.files[p].language in wanted]
        pattern = word_pattern(name)
        return [p for p in paths if (source := self.get(p)) is not None and pattern.search(source.data)]

    def _candidates(self, name: str) -> list[str]:
        """Files that may hold the name: those of the lexical index, all where it keeps no such word."""
        index = self.workspace.index
        word = max(re.findall(r"\w+", name), key=len, default=name)  # of `max-listeners`, which is no word of its own
        tokens = expand(word) if len(word) <= LONGEST else ()
        token = index.lexical.tokens.get(tokens[0]) if tokens else None
        if not tokens:
            return list(index.files)
        if token is None:
            return []
        rows, _ = index.lexical.fields["body"].of(token)
        names = index.lexical.files
        found = dict.fromkeys(names[n] for n in index.lexical.file_of[rows].tolist())
        return [p for p in found if p in index.files]


def word_pattern(name: str) -> re.Pattern[bytes]:
    """Finds a name as a whole identifier in bytes."""
    return re.compile(rb"(?<![\w$\x80-\xff])" + re.escape(name.encode("utf-8")) + rb"(?![\w$\x80-\xff])")


@dataclass(slots=True)
class Patch:
    """What an edit changes, while it is put together."""

    replacements: dict[str, list[ByteEdit]] = field(default_factory=dict)
    edits: list[Edit] = field(default_factory=list)
    open_references: list[OpenReference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    added: dict[str, str] = field(default_factory=dict)

    def replace(self, path: str, start: int, end: int, text: str) -> None:
        """Replace the bytes [start, end) of a file; the same replacement counts once."""
        new = ByteEdit(start, end, text)
        found = self.replacements.setdefault(path, [])
        if new not in found:
            found.append(new)

    def leave_open(self, source: SourceText, offset: int, reason: str) -> None:
        """List the line of a byte for the user to decide."""
        line = source.line_of(offset)
        self.open_references.append(OpenReference(source.path, line, source.line_text(line).strip(), reason))


def merge(patch: Patch, other: Patch) -> None:
    """Put what another patch changes into a patch.

    Args:
        patch: is changed.
        other: a patch of the same files.
    """
    for path, found in other.replacements.items():
        for replacement in found:
            patch.replace(path, *replacement)
    patch.edits += other.edits
    patch.open_references += other.open_references
    patch.notes += other.notes
    patch.moved |= other.moved
    patch.deleted += other.deleted
    patch.added |= other.added


def overlapping(patch: Patch) -> bool:
    """Whether two replacements of a patch touch the same bytes, or one is in a file that is deleted."""
    if set(patch.deleted) & patch.replacements.keys():
        return True
    for found in patch.replacements.values():
        ordered = sorted(found)
        if any(a.end > b.start for a, b in pairwise(ordered)):
            return True
    return False


def written_by_program(source: SourceText) -> bool:
    """Whether a file is generated or someone else's copy: it isn't edited unless the task names its path."""
    text = source.text
    return bool(
        _VENDORED.search(source.path)
        or generated_name(source.path)
        or generated_by_convention(text)
        or probably_generated(text)
    )


def outcome(patch: Patch, sources: Sources) -> EditOutcome | None:
    """The patch as changes of files.

    Args:
        patch: what to change.
        sources: the files.

    Returns:
        The outcome; None when nothing would change.

    Raises:
        GenerationFailed: a result would not parse, though the text before did.
    """
    changes = [_file_change(path, patch, sources) for path in _touched(patch)]
    changes += [file_change.change(path, text, None) for path, text in patch.added.items()]
    changes += [file_change.deletion(path, _stored(path, sources)) for path in patch.deleted]
    for old, new in patch.moved.items():
        changes.append(file_change.deletion(old, _stored(old, sources)))
        changes.append(file_change.change(new, _new_text(old, patch, sources), None))
    changes = [c for c in changes if c.diff]
    if not changes:
        return None
    for change in changes:
        _check(change.path, change.content, sources)
    ordered = sorted(changes, key=lambda c: (is_test_path(c.path), file_kind(c.path) != "code"))
    distinct = dict.fromkeys(patch.open_references)
    open_ = tuple(sorted(distinct, key=lambda o: (file_kind(o.path) != "code", is_test_path(o.path), o.path, o.line)))
    notes = list(dict.fromkeys(patch.notes))
    if len(open_) > MOST_OPEN:
        notes.append(i18n.message("exact.more_open", count=len(open_) - MOST_OPEN))
    return EditOutcome(tuple(ordered), tuple(patch.edits), True, tuple(notes), open_[:MOST_OPEN])


def _touched(patch: Patch) -> list[str]:
    gone = {*patch.moved, *patch.deleted}
    return [path for path, found in patch.replacements.items() if found and path not in gone]


def _file_change(path: str, patch: Patch, sources: Sources) -> FileChange:
    return file_change.change(path, _new_text(path, patch, sources), _stored(path, sources))


def _stored(path: str, sources: Sources) -> str:
    try:
        return read.read_raw(sources.workspace.snapshot, path).decode("utf-8")
    except (SourceError, UnicodeDecodeError) as error:
        raise GenerationFailed(
            i18n.message("generate.not_text", path=path), i18n.message("generate.not_text_hint")
        ) from error


def _new_text(path: str, patch: Patch, sources: Sources) -> str:
    source = sources.get(path)
    assert source is not None
    raw = _stored(path, sources).encode("utf-8")
    if _plain(raw) != source.data:
        raise GenerationFailed(i18n.message("exact.changed_meanwhile", path=path))
    return spliced(raw, _outermost(patch.replacements.get(path, ()))).decode("utf-8")


def _outermost(replacements: Sequence[ByteEdit]) -> list[ByteEdit]:
    """Without what is changed inside of what is removed; what is inserted at its edge stays."""
    removed = [r for r in replacements if not r.text and r.end > r.start]
    return [r for r in replacements if not any(_is_inside(r, o) for o in removed)]


def _is_inside(inner: ByteEdit, outer: ByteEdit) -> bool:
    if inner.start == inner.end:
        return outer.start < inner.start < outer.end
    same = (inner.start, inner.end) == (outer.start, outer.end)
    return not same and outer.start <= inner.start and inner.end <= outer.end


def _check(path: str, text: str, sources: Sources) -> None:
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    problem = file_change.syntax_error(path, plain) if plain else None
    if problem is None:
        _check_data(path, plain, sources)
        return
    before = sources.get(path)
    if before is None or file_change.syntax_error(path, before.text) is None:
        raise GenerationFailed(i18n.message("generate.problem.in_file", path=path, problem=problem.message))


def _check_data(path: str, text: str, sources: Sources) -> None:
    """Refuse a TOML or JSON file that can't be read any more, though it could before."""
    before = sources.get(path)
    loads = {"toml": from_toml, "json": from_json}.get(language_of(path) or "")
    if loads is None or before is None or not text.strip():
        return
    try:
        loads(before.text)
    except ValueError:
        return
    try:
        loads(text)
    except ValueError as error:
        raise GenerationFailed(i18n.message("generate.problem.in_file", path=path, problem=str(error))) from error


def _plain(raw: bytes) -> bytes:
    return raw.removeprefix(_BOM).replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def spliced(raw: bytes, replacements: Sequence[ByteEdit]) -> bytes:
    """Put replacements, whose spans count LF text without byte order mark, into the bytes as stored.

    Args:
        raw: the stored bytes.
        replacements: must not overlap; several at one place keep their order.

    Returns:
        The new bytes; line ends of new text are those that the file has most.
    """
    bom = len(_BOM) if raw.startswith(_BOM) else 0
    returns = [m.start() - bom - n for n, m in enumerate(re.finditer(rb"\r\n", raw))]
    crlf = len(returns) * 2 > raw.count(b"\n")

    def stored_at(offset: int) -> int:
        # A span that ends at a line end stops before its CR.
        return bom + offset + bisect_right(returns, offset - 1)

    result: list[bytes] = []
    last = 0
    for start, end, text in sorted(replacements, key=lambda r: (r.start, r.end)):
        new = text.encode("utf-8")
        at = stored_at(start)
        if at < last:
            raise ValueError("replacements overlap")
        result += [raw[last:at], new.replace(b"\n", b"\r\n") if crlf else new]
        last = stored_at(end)
    return b"".join([*result, raw[last:]])


def by_line(replacements: Mapping[str, Sequence[ByteEdit]], sources: Sources) -> list[tuple[str, int]]:
    """The changed lines of each file."""
    found = []
    for path, items in replacements.items():
        source = sources.get(path)
        if source is not None:
            found += [(path, line) for line in sorted({source.line_of(item.start) for item in items})]
    return found
