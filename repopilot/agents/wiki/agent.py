"""Writes the wiki of a repository in an answer, page by page, without a model; nothing is written to the disk."""

from __future__ import annotations

import asyncio

from repopilot import i18n
from repopilot.agents.overview.compute import overview_of, with_people
from repopilot.agents.wiki.pages import page_writers
from repopilot.agents.wiki.wiki_page import COMMIT, Page, link_template
from repopilot.results import Answer, Wiki, WikiPage
from repopilot.retrieval.query.parse import reply_language
from repopilot.trace import Step
from repopilot.workspace import Workspace


async def write_pages(workspace: Workspace, step: Step) -> Answer:
    """Write the wiki. Each page is published when it is written, so that Stop keeps it.

    Args:
        workspace: the repository.
        step: the step of the work.

    Returns:
        The contents as the text, the pages in its result.
    """
    language = reply_language("", workspace.settings)
    index = workspace.index
    overview = await asyncio.to_thread(lambda: with_people(overview_of(index), workspace.snapshot, index.commits))
    writers = await asyncio.to_thread(page_writers, overview, index, link_template(None, ""), language)
    pages: list[WikiPage] = []
    for name, write in writers.items():
        async with step.child(name, "tool") as writing:
            page = await asyncio.to_thread(write)
            pages.append(_shown(page, index.commit))
            await writing.write(pages[-1].title)
        wiki = Wiki(tuple(pages), len(writers), index.commit, language)
        step.publish(Answer(contents(wiki), result=wiki))
    return Answer(contents(wiki), result=wiki)


def lead(wiki: Wiki, language: str) -> str:
    """How many pages there are, in a sentence.

    Args:
        wiki: the pages.
        language: of the reader.
    """
    values = {"count": len(wiki.pages), "total": wiki.total, "commit": wiki.commit[:7]}
    return i18n.text("wiki.answer.whole" if len(wiki.pages) == wiki.total else "wiki.answer.part", language, **values)


def contents(wiki: Wiki) -> str:
    """The lead with the titles of the pages, as Markdown.

    Args:
        wiki: the pages.
    """
    rows = [f"- {page.title} (`{page.name}`)" for page in wiki.pages]
    return "\n".join([lead(wiki, wiki.language), "", *rows])


def _shown(page: Page, commit: str) -> WikiPage:
    """A page as the browser shows it; its title and its summary are Markdown on a line."""
    said, place, _ = page.parts[1].partition(" ([")
    summary = said if place and not said.startswith(("#", "-")) else ""
    return WikiPage(page.name, page.parts[0].removeprefix("# "), summary, page.text.replace(COMMIT, commit))
