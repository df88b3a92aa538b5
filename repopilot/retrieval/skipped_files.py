"""Skipped files that a query names: why they were skipped, and their text on demand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.index.store import Index
from repopilot.index.tokens import words
from repopilot.repo.paths.path_globs import WILDCARD, matches
from repopilot.repo.read import read_bytes, read_on_demand, searched_text
from repopilot.repo.walk import searched_files
from repopilot.retrieval.query.parse import HEAD, Query
from repopilot.settings import Settings
from repopilot.types import Excerpt, Skip, Snapshot, SourceFile

MOST_NOTED = 3
MOST_READ = 2
EXCERPT_LINES = 60
MOST_LINES = 5
LARGEST = 8 << 20
"""The largest file that is searched for a name, in bytes."""
_FILE_NAME = re.compile(r"[\w@.+~/\\-]*\.[\w-]*\w")


def noted(index: Index, query: Query) -> Query:
    """The query with a note on every skipped file that it names, at most MOST_NOTED and how many more."""
    found = named(index, query)
    notes = [i18n.message("retrieval.skipped_file", path=skip.path, reason=skip.reason) for skip in found[:MOST_NOTED]]
    if len(found) > MOST_NOTED:
        notes.append(i18n.message("retrieval.skipped_more", count=len(found) - MOST_NOTED))
    return replace(query, notes=(*query.notes, *notes)) if notes else query


def named(index: Index, query: Query) -> tuple[Skip, ...]:
    """The skipped files that a query names.

    A path or its end names a file; a plain file name does if no indexed file has the same name. A `file:` filter with
    wildcards names the skipped files that it matches if it matches no indexed file.

    Args:
        index: what was indexed, with its report of what was not.
        query: a parsed query.

    Returns:
        The files in the order of the query, each once.
    """
    by_name = index.derived(_skips_by_name)
    if not by_name:
        return ()
    plain = [pattern for pattern in query.filters.files if not WILDCARD.search(pattern)]
    wild = [pattern.lower() for pattern in query.filters.files if WILDCARD.search(pattern)]
    found = [
        skip for name in (*plain, *_FILE_NAME.findall(query.text[:HEAD])) for skip in _of_name(name, index, by_name)
    ]
    if wild and not any(matches(path.lower(), pattern) for path in index.files for pattern in wild):
        found += [skip for skip in index.report.skipped for pattern in wild if matches(skip.path.lower(), pattern)]
    return tuple(dict.fromkeys(found))


def excerpts(index: Index, snapshot: Snapshot, query: Query, max_bytes: int) -> tuple[Excerpt, ...]:
    """The most relevant lines of the skipped files that a query names, where they are text and not too large.

    Args:
        index: tells which files were skipped.
        snapshot: the files.
        query: a parsed query.
        max_bytes: of the largest file that is read.

    Returns:
        An excerpt for each file that can be read, at most MOST_READ.
    """
    found: list[Excerpt] = []
    for skip in named(index, query)[:MOST_NOTED]:
        text = read_on_demand(snapshot, skip.path, max_bytes)
        if text is not None and len(found) < MOST_READ:
            lines = text.split("\n")
            start = _best_window(lines, {word.lower() for word in words(query.text)})
            shown = lines[start : start + EXCERPT_LINES]
            found.append(Excerpt(len(found) + 1, skip.path, start + 1, start + len(shown), "", "\n".join(shown)))
    return tuple(found)


def lines_with(name: str, index: Index, snapshot: Snapshot, settings: Settings) -> list[tuple[str, int, str]]:
    """Where a name occurs as a word in skipped files, except ignored ones and those that may hold secrets.

    Args:
        name: an identifier.
        index: tells which files it has.
        snapshot: the files.
        settings: what is left out.

    Returns:
        Path, number and text of each line, at most MOST_LINES, of files of at most LARGEST bytes.
    """
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    found: list[tuple[str, int, str]] = []
    for path, text in texts_beyond(index, snapshot, settings, lambda file: file.size <= LARGEST):
        lines = text.split("\n") if word.search(text) else []
        found += [(path, number, line) for number, line in enumerate(lines, 1) if word.search(line)]
        if len(found) >= MOST_LINES:
            break
    return found[:MOST_LINES]


def texts_beyond(
    index: Index, snapshot: Snapshot, settings: Settings, wanted: Callable[[SourceFile], bool]
) -> Iterator[tuple[str, str]]:
    """Path and text of the files of `searched_files` that aren't in the index, with secrets redacted.

    Args:
        index: tells which files it has.
        snapshot: the files.
        settings: what is left out.
        wanted: whether to read a file.
    """
    listed = searched_files(snapshot, settings)
    rest = [file for file in listed if file.path not in index.files and wanted(file)]
    for file, data in read_bytes(snapshot, rest):
        text = searched_text(file.path, data) if data is not None else None
        if text:
            yield file.path, text


def reason(index: Index, path: str) -> str | None:
    """Why a file was skipped; None when it wasn't."""
    of_name = index.derived(_skips_by_name).get(path.rpartition("/")[2].lower(), ())
    return next((skip.reason for skip in of_name if skip.path == path), None)


def _skips_by_name(index: Index) -> Mapping[str, Sequence[Skip]]:
    """The skipped files by their name without folders, in lower case."""
    found: dict[str, list[Skip]] = {}
    for skip in index.report.skipped:
        found.setdefault(skip.path.rpartition("/")[2].lower(), []).append(skip)
    return found


def _indexed_names(index: Index) -> frozenset[str]:
    return frozenset(path.rpartition("/")[2].lower() for path in index.files)


def _of_name(written: str, index: Index, by_name: Mapping[str, Sequence[Skip]]) -> Iterator[Skip]:
    path = written.lower().replace("\\", "/").removeprefix("./").strip("/")
    name = path.rpartition("/")[2]
    if path == name and name in index.derived(_indexed_names):
        return
    yield from (skip for skip in by_name.get(name, ()) if f"/{skip.path.lower()}".endswith(f"/{path}"))


def _best_window(lines: Sequence[str], wanted: set[str]) -> int:
    """The first of the EXCERPT_LINES lines that have most different wanted words, tried in steps of half as many."""
    starts = range(0, max(1, len(lines) - EXCERPT_LINES // 2), EXCERPT_LINES // 2)
    return max(starts, key=lambda start: len(wanted & set(_words_of(lines[start : start + EXCERPT_LINES]))))


def _words_of(lines: Sequence[str]) -> Iterator[str]:
    return (word.lower() for word in words("\n".join(lines)))
