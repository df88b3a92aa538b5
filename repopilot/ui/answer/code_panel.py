"""The panel beside the chat: a whole file in colour with its outline, what a name in it stands for, and every other
file of the repository."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.errors import RepoPilotError, UsageError
from repopilot.i18n.format import commit_words
from repopilot.repo.paths.path_globs import WILDCARD, matches
from repopilot.repo.read import read_on_demand
from repopilot.resolve.uses.call_graph import Relations, callers
from repopilot.retrieval import skipped_files
from repopilot.types import Citation, Symbol
from repopilot.ui.answer.parts.citations import editor_link, host_link
from repopilot.ui.buttons import button
from repopilot.ui.chat import Chat
from repopilot.ui.elements import show_aside
from repopilot.ui.highlight import highlighted
from repopilot.workspace import imported_packages

if TYPE_CHECKING:
    from repopilot.index.store import Index

FILES_SHOWN = 200
PLACES_SHOWN = 40


async def show_code(chat: Chat, index: Index, citation: Citation) -> dict:
    """Open the panel at cited lines; returns {}.

    Args:
        chat: where to open it.
        index: the index of the lines, unless the citation has an origin.
        citation: the lines.

    Raises:
        UsageError: the file can't be shown.
    """
    found = await index_of(chat, citation.origin.key) if citation.origin else index
    if found is None or found.commit != citation.commit:
        raise UsageError(i18n.message("ui.errors.commit_changed"))
    props = await asyncio.to_thread(_props, chat, found, citation)
    if props is None:
        raise UsageError(i18n.message("ui.errors.not_indexed", path=citation.path))
    await show_aside("Code", props)
    return {}


@button
async def open_file(chat: Chat, payload: dict) -> dict:
    """Open another file of the repository in the panel.

    Args:
        chat: where the panel is.
        payload: {path, line: the one to mark, 1 by default, key: of another repository than the open one}.
    """
    index = await index_of(chat, key := str(payload.get("key", "")))
    if index is None:
        raise UsageError(i18n.message("ui.errors.answer_gone"))
    line = payload.get("line")
    line = line if isinstance(line, int) and line > 0 else 1
    path = str(payload.get("path", ""))
    origin = index.origin if key else None
    return await show_code(chat, index, Citation(0, path, line, line, index.commit, origin=origin))


async def look_up(chat: Chat, payload: dict) -> dict:
    """Look up what a name in the panel stands for.

    Args:
        chat: where the panel is.
        payload: {name: as written in the code, key: as for `open_file`}.

    Returns:
        {name, definitions: [place], callers: [place]}, a place {path, line, label}.
    """
    index = await index_of(chat, str(payload.get("key", "")))
    name = str(payload.get("name", ""))[:200]
    if index is None or not name:
        return {}
    found = await asyncio.to_thread(index.symbols, name)
    try:
        related = (await asyncio.to_thread(_callers, chat, index, name)).places if found else ()
    except RepoPilotError:
        related = ()  # several definitions have the name: which one is meant isn't known here
    return {
        "name": name,
        "definitions": [{"path": s.path, "line": s.start_line, "label": s.qualified} for s in found[:PLACES_SHOWN]],
        "callers": [{"path": r.path, "line": r.line, "label": r.name or r.path} for r in related[:PLACES_SHOWN]],
    }


def _callers(chat: Chat, index: Index, name: str) -> Relations:
    """The users of a name; resolved if the index is that of the open repository."""
    opening = chat.opening
    if opening is None or opening.snapshot is None or opening.index is not index:
        return callers(index, name)
    packages = partial(imported_packages, opening.snapshot, index, chat.settings)
    resolver = chat.process.runtime.lookups.resolver(opening.snapshot, index, chat.settings, packages)
    return callers(index, name, resolver=resolver)


async def list_files(chat: Chat, payload: dict) -> dict:
    """The files whose paths contain a text or match a glob; returns {files: [path], more: how many others, in words}.

    Args:
        chat: where the panel is.
        payload: {filter: the text, key: as for `open_file`}.
    """
    index = await index_of(chat, str(payload.get("key", "")))
    wanted = str(payload.get("filter", ""))[:200].lower().strip()
    paths = sorted(index.files) if index else []
    found = [
        path for path in paths if wanted in path.lower() or (WILDCARD.search(wanted) and matches(path.lower(), wanted))
    ]
    more = len(found) - FILES_SHOWN
    said = i18n.text("ui.code.more_files", chat.language, count=more) if more > 0 else ""
    return {"files": found[:FILES_SHOWN], "more": said}


async def index_of(chat: Chat, key: str) -> Index | None:
    """The index of a repository on this machine by its key; '' for the open repository."""
    if not key:
        return chat.opening.index if chat.opening else None

    def found() -> Index | None:
        store = chat.indexes
        return store.open_key(key) if key in store.stored_keys() else None

    return await asyncio.to_thread(found)


def code_props(
    citation: Citation, text: str, language: str, *, outline: tuple[Symbol, ...] = (), url: str | None = None
) -> dict:
    """Props of the element `Code`: the file with the cited lines highlighted.

    Args:
        citation: the cited lines.
        text: of the file.
        language: of the reader.
        outline: the definitions of the file.
        url: of the repository on its host, None for a local folder.
    """
    lines = highlighted(citation.path, text)
    start = max(1, citation.start_line)
    end = min(max(citation.end_line, citation.start_line), len(lines))
    kind = "lines" if end > start else "line"
    facts = [
        citation.origin.repository if citation.origin else "",
        i18n.text(f"ui.code.{kind}", language, start=start, end=end, total=len(lines)),
        commit_words(citation.commit, language),
        citation.symbol,
    ]
    return {
        "key": citation.origin.key if citation.origin else "",
        "path": citation.path,
        "facts": " · ".join(fact for fact in facts if fact),
        "supported": citation.supported,
        "lines": lines,
        "start": start,
        "end": end,
        "outline": [[each.qualified.count("."), each.name, each.start_line] for each in outline],
        "host": host_link(url or "", citation, start, end),
        "words": i18n.section("ui.code.words", language),
    }


def _props(chat: Chat, index: Index, citation: Citation) -> dict | None:
    """Props of the element `Code`; None if the file can't be shown."""
    opening = chat.opening_of(index)
    if opening is not chat.opening and citation.origin is None:
        # What is clicked in the panel is looked up in the answer's repository, not in the open one.
        citation = replace(citation, origin=index.origin)
    snapshot = opening.snapshot if opening else None
    if snapshot is not None and snapshot.git_dir is not None:
        snapshot = replace(snapshot, commit=index.commit)  # a clone keeps its earlier commits
    text = index.text(citation.path)
    is_current = snapshot is not None and snapshot.commit == index.commit
    if text is None and snapshot and is_current and skipped_files.reason(index, citation.path) is not None:
        text = read_on_demand(snapshot, citation.path, chat.settings.max_file_kb << 10)
    if text is None:
        return None
    outline = tuple(index.outline(citation.path)) if citation.path in index.files else ()
    url = opening.source.url if opening else None
    props = code_props(citation, text, chat.language, outline=outline, url=url)
    if snapshot is not None and snapshot.root is not None:
        props["editor"] = editor_link(chat.settings.editor_template, snapshot.root, citation.path, props["start"])
    return props
