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
from repopilot.agents.overview.compute import overview_of
from repopilot.agents.overview.overview_values import Overview
from repopilot.agents.wiki.model_words import LOST, Words
from repopilot.agents.wiki.pages import INDEX, pages_of
from repopilot.agents.wiki.record import Kept, Record, digest, kept_page, our_text, written_page
from repopilot.agents.wiki.wiki_page import Page, link_template, relinked, words_heading
from repopilot.disk import replace_file
from repopilot.errors import StorageError, UsageError
from repopilot.index.store import Index
from repopilot.types import Snapshot

State = Literal["current", "missing", "stale", "edited", "foreign", "gone", "kept"]
"""The state of a page. `edited`: somebody wrote outside of the marks; `foreign`: a file that isn't ours has its name;
`gone`: its component is gone; `kept`: its component is gone, but people wrote in the page."""


@dataclass(frozen=True, slots=True)
class PageState:
    """How a page in the folder compares with the repository.

    Attributes:
        name: the name of its file.
        state: see `State`.
        text: what is to be written.
        files: the files that it cites and that have changed since, or are gone.
        page: the page as computed now; None for one that is gone, edited or isn't ours.
        kept: the page as it is in the folder.
        words: the model's words on it, where they still hold.
    """

    name: str
    state: State
    text: str = ""
    files: tuple[str, ...] = ()
    page: Page | None = None
    kept: Kept | None = None
    words: Words | None = None


def wiki_states(index: Index, folder: Path, url: str | None, snapshot: Snapshot, language: str) -> list[PageState]:
    """Compare a wiki with its repository.

    Args:
        index: the repository.
        folder: the folder of the wiki, which needn't exist.
        url: the address of the repository; None for a local folder.
        snapshot: the repository at the commit of the index.
        language: the language of a new wiki; an existing one keeps its own.

    Returns:
        The pages in order, then those that are gone.

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
    pages = pages_of(overview_of(index), index, link_template(url, _relative(snapshot.root, folder)), language)
    states = [_state(page, page.name in names, found.get(page.name), index) for page in pages]
    named = {page.name for page in pages}
    rest = ((name, kept) for name, kept in found.items() if kept and name not in named)
    return [*states, *(_gone(name, kept, index.commit, language) for name, kept in rest)]


def new_pages(
    overview: Overview, index: Index, url: str | None, language: str, words: Mapping[str, Words]
) -> dict[str, str]:
    """The texts of a wiki that isn't there yet, by the names of their files.

    Args:
        overview: the overview of the repository.
        index: the repository.
        url: its address; None for a local folder, which contains the folder of the wiki.
        language: the readers' language.
        words: what a model said of pages, by their names, with places linked from the root of the repository.
    """
    links = link_template(url, "../")
    pages = pages_of(overview, index, links, language)
    said = {name: replace(each, text=relinked(each.text, links)) for name, each in words.items()}
    return {page.name: _text(page, None, index, said.get(page.name)) for page in pages}


def write_wiki(states: Sequence[PageState], folder: Path) -> None:
    """Write the pages that are missing or stale, and remove those that are gone; where people wrote notes on one of
    these, only the notes are kept.

    Args:
        states: as `wiki_states` gives them.
        folder: the folder of the wiki; made where it is missing.

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
            if page.text:
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
    """A page of ours; None for any other file, for a folder, and for a symbolic link, which may lead anywhere."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        return kept_page(path.read_text("utf-8"))
    except UnicodeDecodeError:
        return None


def _relative(root: Path | None, folder: Path) -> str:
    """The path from the folder of the wiki to the repository, '' or ending in a slash."""
    if root is None:
        return ""
    way = Path(os.path.relpath(root.resolve(), folder.resolve())).as_posix()
    return "" if way == "." else f"{way}/"


def _state(page: Page, exists: bool, kept: Kept | None, index: Index) -> PageState:
    if exists and kept is None:
        return PageState(page.name, "foreign")
    if kept is None:
        return PageState(page.name, "missing", _text(page, None, index), page=page)
    if kept.is_edited:
        return PageState(page.name, "edited")
    said = kept.section(words_heading(page.language)) if kept.record.model and page.asks else ""
    words = Words(_unmarked(said), kept.record.model, kept.record.words) if said else None
    lost = words.lost(index) if words else ()
    holds = words is None or (not lost and digest(words.text) == digest(said))
    if holds and kept.record.ground == digest(page.ground):
        return PageState(page.name, "current", page=page, kept=kept, words=words)
    hashes: Mapping[str, str] = index.hashes
    changed = {path for path, known in kept.record.files.items() if hashes.get(path) != known} | {*lost}
    text = _text(page, kept, index, words.marked(lost, page.language) if words else None)
    return PageState(page.name, "stale", text, tuple(sorted(changed)), page, kept, None if lost else words)


def with_words(state: PageState, words: Words, index: Index) -> PageState:
    """A page with what a model says of how it works.

    Args:
        state: the state of a page whose text is ours.
        words: the model's words.
        index: the repository.
    """
    assert state.page is not None
    return replace(state, text=_text(state.page, state.kept, index, words), state="stale", words=words)


def _gone(name: str, kept: Kept, commit: str, language: str) -> PageState:
    """A page whose component is gone. Where people wrote between the marks, only their notes are kept; one edited
    outside of them stays as it is."""
    if not kept.has_words:
        return PageState(name, "gone")
    if kept.is_edited:
        return PageState(name, "kept")
    title = next((row for row in kept.own.split("\n") if row.startswith("# ")), f"# {name}")
    gone, notes = (i18n.text(f"wiki.{key}", language) for key in ("part_gone", "notes"))
    own = our_text(f"{title}\n\n{LOST}{gone}\n\n## {notes}\n", commit)
    if digest(own) == kept.record.digest:
        return PageState(name, "current")
    record = Record(commit, language, digest(own), "", {})
    return PageState(name, "kept", written_page(own, kept.blocks, record))


def _unmarked(said: str) -> str:
    """A model's words without the line that says what has changed since."""
    return "\n".join(row for row in said.split("\n") if not row.startswith(LOST)).strip()


def _text(page: Page, kept: Kept | None, index: Index, words: Words | None = None) -> str:
    whole = page.with_words(words.text) if words else page
    own = our_text(whole.text, index.commit)
    files = {path: index.hashes.get(path, "") for path in sorted(page.files)}
    model, rests_on = (words.model, words.rests_on) if words else ("", {})
    record = Record(index.commit, page.language, digest(own), digest(page.ground), files, model, rests_on)
    return written_page(own, kept.blocks if kept else (), record)
