"""The folder of a wiki: writes the pages whose ground changed, and finds those that are no longer true. Sync.

Nothing is written outside of the folder, nor over a file that isn't ours or that people wrote in outside of the marks.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from repopilot import i18n
from repopilot.agents.overview.compute import overview_of, with_people
from repopilot.agents.overview.overview_values import Overview
from repopilot.agents.wiki.pages import INDEX, pages_of
from repopilot.agents.wiki.record import Kept, Record, digest, kept_page, our_text, written_page
from repopilot.agents.wiki.wiki_page import Page, link_template
from repopilot.disk import replace_file
from repopilot.errors import StorageError, UsageError
from repopilot.index.store import Index
from repopilot.types import Snapshot

State = Literal["current", "missing", "stale", "edited", "foreign", "gone", "kept"]
"""Of a page: `edited` outside of the marks; `foreign`: a file that isn't ours has its name; `gone`: its component is
gone; `kept`: it is gone, too, and people wrote in it."""


@dataclass(frozen=True, slots=True)
class PageState:
    """How a page of the folder stands to the repository.

    Attributes:
        name: of its file.
        state: see `State`.
        text: what is to be written.
        files: those that it cites and that changed since, or are gone.
        page: it as it is computed; None for one that is gone or isn't ours.
        kept: it as it lies in the folder.
    """

    name: str
    state: State
    text: str = ""
    files: tuple[str, ...] = ()
    page: Page | None = None
    kept: Kept | None = None


def wiki_states(index: Index, folder: Path, url: str | None, snapshot: Snapshot, language: str) -> list[PageState]:
    """Compare a wiki with its repository.

    Args:
        index: the repository.
        folder: of the wiki, which needn't exist.
        url: the address of the repository; None for a local folder.
        snapshot: the repository at the commit of the index.
        language: of a new wiki; one that exists stays in its own.

    Returns:
        The pages, the first one first, then those that are gone.

    Raises:
        UsageError: `folder` is a file.
        StorageError: it can't be read.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(i18n.message("wiki.no_folder", path=folder), i18n.message("wiki.no_folder_hint"))
    try:
        names = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
        found = {name: _read(folder / name) for name in names if name.endswith(".md")}
    except OSError as error:
        raise _failed("wiki.not_read", folder, error) from error
    first = found.get(INDEX)
    language = first.record.language if first and first.record.language in i18n.LANGUAGES else language
    overview = with_people(overview_of(index), snapshot, index.commits)
    pages = pages_of(overview, index, link_template(url, _relative(snapshot.root, folder)), language)
    states = [_state(page, page.name in names, found.get(page.name), index) for page in pages]
    named = {page.name for page in pages}
    rest = ((name, kept) for name, kept in found.items() if kept and name not in named)
    return [*states, *(PageState(name, "kept" if kept.has_words else "gone") for name, kept in rest)]


def new_pages(overview: Overview, index: Index, url: str | None, language: str) -> dict[str, str]:
    """The texts of a wiki that isn't there yet, by the names of their files.

    Args:
        overview: of the repository.
        index: the repository.
        url: its address; None for a local folder, which the folder of the wiki lies in.
        language: of its readers.
    """
    pages = pages_of(overview, index, link_template(url, "../"), language)
    return {page.name: _text(page, None, index, "") for page in pages}


def write_wiki(states: Sequence[PageState], folder: Path) -> None:
    """Write the pages that are missing or stale, and remove those that are gone.

    Args:
        states: of `wiki_states`.
        folder: of the wiki; made where it is missing.

    Raises:
        UsageError: a file isn't ours, or was edited outside of the marks. Nothing is written then.
        StorageError: it can't be written.
    """
    for state in ("foreign", "edited"):
        if names := [page.name for page in states if page.state == state]:
            raise UsageError(i18n.message(f"wiki.{state}", names=", ".join(names)), i18n.message(f"wiki.{state}_hint"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for page in states:
            if page.state in ("missing", "stale"):
                replace_file(folder / page.name, page.text.encode(), 0o644)
            elif page.state == "gone":
                (folder / page.name).unlink()
    except OSError as error:
        raise _failed("repo.not_written", Path(error.filename or folder), error) from error


def page_counts(states: Sequence[PageState]) -> dict[str, int]:
    """How many pages are `written`, `removed`, or stay as they are (`unchanged`), or would be."""
    count = Counter(page.state for page in states)
    return {
        "written": count["missing"] + count["stale"],
        "unchanged": count["current"],
        "removed": count["gone"],
    }


def _failed(key: str, path: Path, error: OSError) -> StorageError:
    reason = error.strerror or str(error)
    return StorageError(i18n.message(key, path=path, error=reason), i18n.message("repo.not_written_hint"))


def _read(path: Path) -> Kept | None:
    """A page of ours; None for every other file, for a folder, and for a link, which may lead anywhere."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        return kept_page(path.read_text("utf-8"))
    except UnicodeDecodeError:
        return None


def _relative(root: Path | None, folder: Path) -> str:
    """The way from the folder of the wiki to the repository, '' or ending in a slash."""
    if root is None:
        return ""
    way = Path(os.path.relpath(root.resolve(), folder.resolve())).as_posix()
    return "" if way == "." else f"{way}/"


def _state(page: Page, exists: bool, kept: Kept | None, index: Index) -> PageState:
    if exists and kept is None:
        return PageState(page.name, "foreign")
    hashes: Mapping[str, str] = index.hashes
    if kept is not None:
        if kept.is_edited:
            return PageState(page.name, "edited")
        holds = all(hashes.get(path) == known for path, known in kept.record.files.items())
        if holds and kept.record.ground == digest(page.ground):
            return PageState(page.name, "current", page=page, kept=kept)
    text = _text(page, kept, index, "")
    changed = [path for path, known in (kept.record.files if kept else {}).items() if hashes.get(path) != known]
    return PageState(page.name, "stale" if kept else "missing", text, tuple(sorted(changed)), page, kept)


def with_words(state: PageState, words: str, model: str, index: Index) -> PageState:
    """A page with what a model says of how it works.

    Args:
        state: of a page whose text is ours.
        words: Markdown.
        model: its name.
        index: the repository.
    """
    assert state.page is not None
    state.page.add_words(words)
    return replace(state, text=_text(state.page, state.kept, index, model), state="stale")


def _text(page: Page, kept: Kept | None, index: Index, model: str) -> str:
    own = our_text(page.text, index.commit)
    files = {path: index.hashes.get(path, "") for path in sorted(page.files)}
    record = Record(index.commit, page.language, digest(own), digest(page.ground), files, model)
    return written_page(own, kept.blocks if kept else (), record)
