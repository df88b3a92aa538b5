"""Writes the wiki of a repository in an answer, page by page; nothing is written to the disk."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.overview.compute import overview_of
from repopilot.agents.wiki.model_words import Words
from repopilot.agents.wiki.pages import page_writers
from repopilot.agents.wiki.wiki_page import COMMIT, Page, link_template
from repopilot.agents.wiki.words import words_for
from repopilot.foreign_text import literal
from repopilot.i18n.format import short_commit
from repopilot.results import Answer, Wiki, WikiPage
from repopilot.retrieval.query.parse import reply_language
from repopilot.trace import Step
from repopilot.workspace import Workspace


async def write_pages(workspace: Workspace, step: Step) -> Answer:
    """Write the wiki: first the computed pages, then, where a model uses tools, its words on how components work. Each
    page is published when it is written, so that Stop keeps it.

    Args:
        workspace: the repository.
        step: the step of the work.

    Returns:
        The contents as the text, the pages in its result.
    """
    language = reply_language("", workspace.settings)
    index = workspace.index
    overview = await asyncio.to_thread(overview_of, index)
    writers = await asyncio.to_thread(page_writers, overview, index, link_template(None, ""), language)
    asked = len(overview.components) + bool(overview.components) if workspace.uses_tools else 0
    wiki = Wiki((), len(writers), index.commit, language, asked)
    pages: list[Page] = []
    async with step.child("compute the pages", "tool") as writing:
        for write in writers.values():
            pages.append(await asyncio.to_thread(write))
            shown = _shown(pages[-1], index.commit)
            await writing.write(f"- {shown.title}\n")
            wiki = _published(replace(wiki, pages=(*wiki.pages, shown)), step)
    for page in (page for page in pages if page.asks and asked):
        told = _shown(page, index.commit, await words_for(page, workspace, step))
        with_told = tuple(told if each.name == page.name else each for each in wiki.pages)
        wiki = _published(replace(wiki, pages=with_told), step)
    return Answer(contents(wiki), result=wiki)


def _published(wiki: Wiki, step: Step) -> Wiki:
    step.publish(Answer(contents(wiki), result=wiki))
    return wiki


def lead(wiki: Wiki, language: str) -> str:
    """How many pages there are, and on how many a model wrote, in two sentences.

    Args:
        wiki: the pages.
        language: the reader's language.
    """
    values = {"count": len(wiki.pages), "total": wiki.total, "commit": short_commit(wiki.commit)}
    whole = i18n.text("wiki.answer.whole" if len(wiki.pages) == wiki.total else "wiki.answer.part", language, **values)
    model = next((page.model for page in wiki.pages if page.model), "")
    told = {"told": sum(bool(page.words) for page in wiki.pages), "count": wiki.asked, "model": literal(model)}
    by = i18n.text("wiki.answer.words" if model else "wiki.answer.no_words", language, **told) if wiki.asked else ""
    return f"{whole} {by}".rstrip()


def contents(wiki: Wiki) -> str:
    """The lead with the titles of the pages, as Markdown.

    Args:
        wiki: the pages.
    """
    rows = [f"- {page.title} (`{page.name}`)" for page in wiki.pages]
    return "\n".join([lead(wiki, wiki.language), "", *rows])


def _shown(page: Page, commit: str, words: Words | None = None) -> WikiPage:
    """A page as the browser shows it; its title and its summary are Markdown on a line."""
    said, place, _ = page.parts[1].partition(" ([")
    summary = said if place and not said.startswith(("#", "-")) else ""
    whole = page.with_words(words.text) if words else page
    own = (words.text, words.model, words.rests_on) if words else ()
    return WikiPage(
        page.name, page.parts[0].removeprefix("# "), summary, whole.text.replace(COMMIT, short_commit(commit)), *own
    )
