"""A wiki in an answer: its table of contents, its pages beside the chat, a search over them, its files."""

from __future__ import annotations

import asyncio
import re

from repopilot import i18n
from repopilot.agents.overview.compute import overview_of
from repopilot.agents.wiki.folder import new_pages
from repopilot.agents.wiki.model_words import Words
from repopilot.agents.wiki.pages import page_names
from repopilot.errors import UsageError
from repopilot.i18n.format import short_commit
from repopilot.index.store import Index
from repopilot.results import Wiki
from repopilot.tools.file_change import change
from repopilot.types import FileChange
from repopilot.ui.buttons import answer_of, button
from repopilot.ui.chat import Chat
from repopilot.ui.elements import show_aside
from repopilot.ui.overview_picture import picture_props

ELEMENT = "Wiki"
FOLDER = "wiki"
"""The folder of the files in a download; their links to a local repository work if it is unpacked there."""
_UNSEEN = re.compile(r"^```mermaid\n.*?^```$|</?(?:details|summary)>", re.MULTILINE | re.DOTALL)
_BREAK = "\u200b"
"""Keeps code hosts from linking references such as `#1`; the page links none."""


def contents_props(id: str, wiki: Wiki, language: str) -> dict:
    """Props of the element `Wiki` as a table of contents.

    Args:
        id: of the answer's message.
        wiki: its pages.
        language: of the reader.
    """
    pages = [[page.name, _plain(page.title), _plain(page.summary)] for page in wiki.pages]
    return {"answer": id, "pages": pages, "words": i18n.section("ui.wiki.words", language)}


@button
async def show_wiki(chat: Chat, payload: dict) -> dict:
    """Open a page beside the chat; returns {}, or {error}.

    Args:
        chat: where it was asked for.
        payload: {answer: id, page: the name of its file}.
    """
    shown = answer_of(chat, payload)
    wiki = shown.answer.brings(Wiki)
    page = next((each for each in wiki.pages if each.name == payload.get("page")), None) if wiki else None
    if wiki is None or page is None:
        raise UsageError(i18n.message("ui.errors.answer_gone"))
    now = shown.index.commit
    commits = {"commit": short_commit(wiki.commit), "now": short_commit(now)}
    props = {
        **contents_props(str(payload["answer"]), wiki, chat.language),
        "page": page.name,
        "text": _plain(page.text),
        "old": i18n.text("ui.wiki.old", chat.language, **commits) if now != wiki.commit else "",
        **await asyncio.to_thread(_picture, shown.index, page.name),
    }
    await show_aside(ELEMENT, props)
    return {}


def _picture(index: Index, page: str) -> dict:
    """The picture of a page, and the page name of each component."""
    overview = overview_of(index)
    names = page_names(overview.components)
    return {"picture": picture_props(overview, names.index(page) if page in names else None), "names": names}


async def search_wiki(chat: Chat, payload: dict) -> dict:
    """The pages that contain all words: {found: [[name, line]]}, see `pages_with`.

    Args:
        chat: where it was asked for.
        payload: {answer: id, text: the words}.
    """
    shown = chat.answers.get(str(payload.get("answer", "")))
    wiki = shown.answer.brings(Wiki) if shown else None
    return {"found": pages_with(wiki, str(payload.get("text", ""))) if wiki else []}


def pages_with(wiki: Wiki, text: str) -> list[list[str]]:
    """The pages that contain all words of a text, as the reader sees them: [name, the shortest line with most of the
    words]. Pages with more of the words in their title come first, then those with more in that line.

    Args:
        wiki: the pages.
        text: the words.
    """
    words = _as_read(text).split()

    def has(line: str) -> int:
        read = _as_read(line)
        return sum(word in read for word in words)

    def best(line: str) -> tuple[int, int]:
        return has(line), -len(line)

    seen = [(page, _UNSEEN.sub("", _plain(page.text))) for page in wiki.pages]
    found = [(page, max(text.splitlines(), key=best)) for page, text in seen if has(text) == len(words)]
    found.sort(key=lambda each: (-has(each[0].title), -has(each[1])))
    return [[page.name, line] for page, line in found]


def _as_read(text: str) -> str:
    """A text as the reader sees it: without Markdown escapes, and case-folded for comparison."""
    return re.sub(r"\\(?=[^\w\s]|_)", "", _plain(text)).casefold()


def wiki_files(wiki: Wiki, index: Index, url: str | None) -> list[FileChange]:
    """The files of a wiki's pages, the same as `repopilot wiki` writes.

    Args:
        wiki: of an answer.
        index: of the repository.
        url: its address; None for a local folder.

    Raises:
        UsageError: the repository is at another commit by now.
    """
    if index.commit != wiki.commit:
        raise UsageError(i18n.message("ui.errors.commit_changed"))
    words = {page.name: Words(page.words, page.model, page.rests_on) for page in wiki.pages if page.words}
    texts = new_pages(overview_of(index), index, url, wiki.language, words)
    return [change(f"{FOLDER}/{page.name}", texts[page.name], None) for page in wiki.pages]


def _plain(text: str) -> str:
    return text.replace(_BREAK, "")
