"""Uses of a renamed or removed definition: in code that surely means it, and in documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.coding.follow_ups.changed_state import ChangedState, line_at
from repopilot.agents.coding.follow_ups.needed_edit import NeededEdit
from repopilot.code.languages import file_kind, language_of
from repopilot.code.source_positions import Replacement
from repopilot.code.syntax import parse
from repopilot.types import Symbol

DOC_RANK = 3
_PARSE_S = 1.0
_CHANGELOG = re.compile(r"(^|/)(changes|changelog|history|news|releases?)[^/]*$", re.IGNORECASE)
_HEADING = re.compile(r"^(?:#{1,3} .+|[^\s#].*\n(?:={3,}|-{3,}|~{3,})\s*)$", re.MULTILINE)


def old_names(state: ChangedState) -> Iterator[NeededEdit]:
    """Find where the old name of a definition is still written."""
    for code in state.code:
        for pair in code.renamed:
            if pair.old.name != pair.new.name:
                yield from _in_code(state, code.path, pair.old, pair.new.name)
                yield from _in_documents(state, code.path, pair.old, pair.new.name)
        for gone in code.removed:
            home = _new_home(state, gone)
            if home and _imports_from(code.new_text, home, gone.name):
                continue
            found = [*_in_code(state, code.path, gone, ""), *_in_documents(state, code.path, gone, "")]
            yield from (edit for edit in found if not home or not _follows(state, edit, gone, code.path, home))


def _new_home(state: ChangedState, gone: Symbol) -> str:
    """The file that a definition was moved to by the change, '' for none."""
    moved = (
        code.path
        for code in state.code
        for added in code.added
        if (added.qualified, added.kind) == (gone.qualified, gone.kind)
    )
    return next(moved, "")


def _follows(state: ChangedState, edit: NeededEdit, moved: Symbol, old: str, home: str) -> bool:
    """Whether a place that names a moved definition means it where it is now, or doesn't say where it is."""
    text = state.text(edit.path)
    if file_kind(edit.path) == "code":
        return edit.path == home or _imports_from(text, home, moved.qualified.partition(".")[0])
    line = text.split("\n")[edit.line - 1]
    return re.search(rf"\b{re.escape(_module(old))}\b\W+{re.escape(moved.name)}\b", line) is None


def _imports_from(text: str, path: str, name: str) -> bool:
    """Whether a source imports a name, or all, from a file."""
    module = re.escape(_module(path))
    return re.search(rf"\b{module}['\"]?\s+import\b[^;]*?(?:\b{name}\b|\*)", text) is not None or (
        re.search(rf"\b{name}\b[^;]*?\bfrom\s*['\"][^'\"]*\b{module}\b", text) is not None
    )


def _module(path: str) -> str:
    """How imports call a file: its name without ending, of a package's or folder's main file the folder."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in ("__init__", "index", "mod") and folder else stem


def _in_code(state: ChangedState, path: str, old: Symbol, new: str) -> Iterator[NeededEdit]:
    places: dict[str, set[str]] = {}
    for user in state.users(path, old.qualified):
        places.setdefault(user.path, set()).add(user.scope)
    for where, scopes in places.items():
        text = state.text(where)
        # What a file imports by name it means everywhere; a member only where the graph says so.
        spans = None if "." not in old.qualified else _spans(state, where, scopes)
        found = [
            (line, start)
            for start in _identifiers(where, text, old.name)
            for line in [line_at(text, start)]
            if spans is None or any(first <= line <= last for first, last in spans)
        ]
        if spans is None and _has_other_meaning(text, old.name, path):
            yield from (_edit(where, line, (old.name, new), None, "code") for line, _ in found[:1])
        else:
            yield from (_edit(where, line, (old.name, new), start, "code") for line, start in found)


def _has_other_meaning(text: str, name: str, path: str) -> bool:
    """Whether a file also has a parameter, a variable or a member of the name: then code can't tell them apart."""
    written = re.escape(name)
    stem = re.escape(path.rpartition("/")[2].partition(".")[0])
    bound = rf"(?<![\w.=]){written}\s*(?::[^=\n]+)?=(?!=)|[(,]\s*{written}\s*(?::|=(?!=))|\bas\s+{written}\b"
    return bool(re.search(bound, text) or re.search(rf"(?<!\b{stem})\.{written}\b", text))


def _spans(state: ChangedState, path: str, scopes: set[str]) -> list[tuple[int, int]]:
    """The lines of some definitions; of a file that changes too they can't be told."""
    if any(change.path == path for change in state.changes):
        return []
    return [(s.start_line, s.end_line) for s in state.workspace.index.outline(path) if s.qualified in scopes]


def _identifiers(path: str, text: str, name: str) -> Iterator[int]:
    """The character offsets of an identifier in a source; in strings and comments it is none."""
    data, language = text.encode(), language_of(path)
    tree = parse(data, language, _PARSE_S) if language and name in text else None
    waiting: list[Node] = [tree.root_node] if tree else []
    wanted = name.encode()
    found = []
    while waiting:
        node = waiting.pop()
        if not node.children and "identifier" in node.type and data[node.start_byte : node.end_byte] == wanted:
            found.append(len(data[: node.start_byte].decode()))
        waiting.extend(node.children)
    return iter(sorted(found))


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


def _edit(path: str, line: int, names: tuple[str, str], start: int | None, where: str) -> NeededEdit:
    """The edit of one mention; `start` is its offset, None where code can't tell whether it is one."""
    old, new = names
    rank = 0 if where == "code" else DOC_RANK
    if not new:
        return NeededEdit(path, line, i18n.message(f"follow_ups.gone_in_{where}", name=old), rank)
    reason = i18n.message(f"follow_ups.old_name_in_{where}", old=old, new=new)
    spot = None if start is None else Replacement(start, start + len(old), new)
    return NeededEdit(path, line, reason, rank, spot)
