"""How a component works, in the words of a model that uses tools, each sentence checked and marked. Async."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence

from repopilot import i18n
from repopilot.agents.explain.agent_answer import AgentAnswer, agent_answer
from repopilot.agents.explain.code_findings import find
from repopilot.agents.explain.render import mark_words, share_checked
from repopilot.agents.wiki.folder import PageState, with_words
from repopilot.agents.wiki.model_words import Words, lines_cited
from repopilot.agents.wiki.wiki_page import COMMIT, Page
from repopilot.foreign_text import literal
from repopilot.results import Sentence
from repopilot.trace import Step
from repopilot.types import Evidence
from repopilot.workspace import Workspace

_CITED = re.compile(r"\s*\[(\d+)\]")
_LOOSE = re.compile(r"^((?:[-*+]|\d+[.)]) .*)\n\n(?=(?:[-*+]|\d+[.)]) )", re.MULTILINE)
"""An item of a list, and the empty line before the next one."""
_ITEM = re.compile(r"^[ \t]*([-*+]|\d{1,3}[.)])[ \t]+$", re.MULTILINE)


async def pages_with_words(states: Sequence[PageState], workspace: Workspace, step: Step) -> AsyncIterator[PageState]:
    """Have the model write how components work, page by page.

    Args:
        states: the states of the pages.
        workspace: the repository, with a model that uses tools.
        step: gets a child for each page.

    Yields:
        Each page that has new words; a page of which the model says nothing stays as it is, and isn't yielded.
    """
    for state in states:
        page = state.page if not state.words else None
        if page is not None and page.asks and (words := await words_for(page, workspace, step)):
            yield with_words(state, words, workspace.index)


async def words_for(page: Page, workspace: Workspace, step: Step) -> Words | None:
    """Have the model write how a component works.

    Args:
        page: the page of the component.
        workspace: the repository, with a model that uses tools.
        step: gets a child for the page.

    Returns:
        What it says; None where it says nothing that is checked, such as that it found nothing.
    """
    assert workspace.model is not None
    async with step.child(page.name, "agent", page.asks) as writing:
        found = await find(page.asks, workspace, writing)
        told = await agent_answer(found, workspace, writing, lambda so_far: None, is_kept=True)
    if told.outcome != "answered" or not any(each.status == "checked" for each in told.sentences):
        return None
    cited = {f"{each.path}:{each.start_line}-{each.end_line}" for each in told.citations}
    rests_on = await asyncio.to_thread(lines_cited, workspace.index, sorted(cited))
    return Words(words_of(told, page, workspace.model.name), workspace.model.name, rests_on)


def words_of(told: AgentAnswer, page: Page, model: str) -> str:
    """An answer as a section of a page: its sentences with links to their lines, marked where they aren't checked, and
    how many are.

    Args:
        told: the answer.
        page: the page it is for, which cites its places.
        model: the name of the model that gave it.
    """
    places = {place.number: place for place in told.evidence}
    rows = [""]
    for piece in told.layout:
        if isinstance(piece, str):
            mark = _ITEM.search(piece)
            rows += [mark[1]] if mark else ["", ""] if "\n" in piece else []
            if piece.rstrip().endswith(":"):  # it leads to a list
                rows[-1] = f"{rows[-1]} {literal(piece.strip())}".strip()
        elif not told.sentences[piece - 1].is_code:
            sentence = _sentence(told.sentences[piece - 1], page, places)
            rows[-1] = f"{rows[-1]} {sentence}" if rows[-1] else sentence
    checked = share_checked([each for each in told.sentences if not each.is_code], page.language)
    looked = i18n.text("wiki.judged" if told.was_judged else "wiki.not_judged", page.language)
    by = i18n.text("wiki.words_by", page.language, model=literal(model), commit=COMMIT, checked=checked, looked=looked)
    said = "\n".join(rows)
    return _LOOSE.sub(r"\1\n", re.sub(r"\n{2,}", "\n\n", f"{said.strip()}\n\n*{by}*"))


def _sentence(sentence: Sentence, page: Page, places: dict[int, Evidence]) -> str:
    parts = _CITED.split(sentence.text)
    cited = [places[int(number)] for number in parts[1::2] if int(number) in places]
    said = literal("".join(parts[::2]))
    text = f"~~{said}~~" if sentence.status == "contradicted" else said
    links = "".join(f" {page.at(place.path, place.start_line, place.end_line)}" for place in cited)
    mark = "" if sentence.status == "checked" else f" *({literal(mark_words(sentence, page.language))})*"
    return f"{text}{links}{mark}"
