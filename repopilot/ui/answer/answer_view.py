"""An answer on the page: its text with links, the elements below it, and its conversation after a reload."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import chainlit as cl
from chainlit.chat_context import chat_contexts

from repopilot import i18n, intents
from repopilot.agents.explain.render import citations_of
from repopilot.agents.wiki.agent import lead
from repopilot.errors import UsageError
from repopilot.foreign_text import visible
from repopilot.forge.contents import Pull
from repopilot.results import Answer, Explanation, Generation, Plan, ReviewReport, Wiki
from repopilot.types import Evidence, SearchReport
from repopilot.ui.answer.code_panel import show_code
from repopilot.ui.answer.diagram_panel import subject_of
from repopilot.ui.answer.parts.citations import linked, source_rows
from repopilot.ui.answer.parts.evidence_view import evidence_props
from repopilot.ui.answer.parts.folds import folds_props, said_props, summary_of
from repopilot.ui.answer.parts.next_steps import follow_ups, larger_model
from repopilot.ui.answer.parts.report_props import findings_props, impact_props, review_summary
from repopilot.ui.answer.parts.sentence_marks import marked_answer
from repopilot.ui.answer.plan_view import plan_element
from repopilot.ui.answer.search_view import index_status, search_props
from repopilot.ui.answer.wiki_view import contents_props
from repopilot.ui.buttons import answer_of, button
from repopilot.ui.changes.file_changes import files_element, show_decisions
from repopilot.ui.changes.hunks import file_of
from repopilot.ui.chat import Chat, Decisions, ShownAnswer
from repopilot.ui.chats.chat_store import Exchange
from repopilot.ui.elements import element
from repopilot.ui.trace.step_text import inert

if TYPE_CHECKING:
    from repopilot.index.store import Index

CLEAR_MARGIN = 0.2
"""The router's other choices are offered as buttons unless its first choice is more likely by this much."""
ANSWERS_KEPT = 20
MESSAGES_KEPT = 4
DECISIONS_KEPT = 1000


async def show_answer(chat: Chat, message: cl.Message, exchange: Exchange, index: Index) -> None:
    """Put an answer into its message.

    Args:
        chat: where it was asked.
        message: new, or one that the answer was streamed into.
        exchange: the question with its answer.
        index: the index that the answer came from.
    """
    await show_published(chat, message, exchange.answer, index, exchange)


async def show_published(
    chat: Chat, message: cl.Message, answer: Answer, index: Index, exchange: Exchange | None = None
) -> None:
    """Put an answer, or the finished part of one while the work goes on, into its message.

    Args:
        chat: where the question was asked.
        message: of the answer.
        answer: as far as it is finished.
        index: the index that it came from.
        exchange: the question with the whole answer, None while that isn't complete.
    """
    opening = chat.opening_of(index)
    before = chat.answers.get(message.id)
    root = opening.snapshot.root if opening and opening.snapshot else None
    shown = message.streaming or before is not None
    decided = decisions_kept(before, answer)
    written = before.written if before else {}
    if exchange is not None and answer.files:
        # Two pages may show the same answer: they share its decisions.
        first = Decisions(decided or dict(exchange.decisions), written)
        decided, written = chat.process.decisions.setdefault(exchange.id, first)
        for id in list(chat.process.decisions)[:-DECISIONS_KEPT]:
            del chat.process.decisions[id]
    current = ShownAnswer(answer, index, root, decided, written=written)
    if exchange is not None:
        current.request = exchange.id
        current.steps = exchange.steps
        current.question = exchange.question
        current.command = exchange.command
    chat.answers[message.id] = current
    _forget_old(chat)
    message.content = _content(answer, message.id, chat.language)
    elements: list = await _elements(chat, message.id, answer, exchange)
    message.elements = elements
    await (message.update() if shown else message.send())
    await show_decisions(chat, message.id)


def _forget_old(chat: Chat) -> None:
    """Bound what an open page holds in memory: the answers that buttons still work for, and the messages that Chainlit
    keeps for a model's context, which we don't use."""
    for id in list(chat.answers)[:-ANSWERS_KEPT]:
        del chat.answers[id]
    del chat_contexts.get(cl.context.session.id, [])[:-MESSAGES_KEPT]


def decisions_kept(before: ShownAnswer | None, answer: Answer) -> dict[str, str]:
    """The decisions made while the answer was incomplete, on files that are still the same.

    Args:
        before: what was shown of the answer.
        answer: what is shown of it now.

    Returns:
        The same dictionary as in `before`: a write under way when the answer changes adds its decision afterwards.
    """
    if before is None:
        return {}
    same = {file.path for file in answer.files if before.files.get(file.path) == file}
    for id in [id for id in before.decisions if file_of(id) not in same]:
        del before.decisions[id]
    return before.decisions


async def show_evidence(chat: Chat, message: cl.Message, evidence: Sequence[Evidence], index: Index) -> None:
    """Show the evidence that code found, before there is any text about it.

    Args:
        chat: where the question was asked.
        message: of the answer, not yet sent.
        evidence: the places.
        index: the index that they came from.
    """
    unfinished = Explanation("extractive", interrupted=True, for_reader=chat.settings.audience == "reader")
    answer = Answer("", citations_of(evidence, index.commit), evidence=tuple(evidence), result=unfinished)
    await show_published(chat, message, answer, index)


def _evidence_element(chat: Chat, id: str, evidence: Sequence[Evidence], explained: Explanation) -> cl.CustomElement:
    def text_of(place: Evidence) -> str | None:
        origin = place.origin
        store = chat.indexes
        index = store.open_key(origin.key) if origin else chat.answers[id].index
        return index.text(place.path) if index else None

    # The same element at every update: what the user unfolded stays.
    props = evidence_props(id, evidence, text_of, chat.language, explained.cited, explained.for_reader)
    return element("Evidence", props, id=f"{id}-evidence")


@button
async def show_citation(chat: Chat, payload: dict) -> dict:
    """Open the side view with the lines of one citation.

    Args:
        chat: where the citation was clicked.
        payload: {answer: id, number: of the citation, line: the one to mark, null for all that are cited}.

    Returns:
        {}, or {error} when the lines can no longer be shown.
    """
    shown = answer_of(chat, payload)
    citation = next((c for c in shown.answer.citations if c.number == payload.get("number")), None)
    if citation is None:
        raise UsageError(i18n.message("ui.errors.answer_gone"))
    line = payload.get("line")
    if isinstance(line, int):
        citation = replace(citation, start_line=line, end_line=line)
    return await show_code(chat, shown.index, citation)


def _content(answer: Answer, anchor: str, language: str) -> str:
    """The text of the message, with links to what it cites."""
    if isinstance(answer.result, Explanation) and answer.result.layout:
        understood = inert(_understood(answer, language))
        return "\n\n".join(filter(None, (understood, marked_answer(answer, answer.result, anchor, language))))
    return linked(_text(answer, language), answer.citations, anchor)


def _understood(answer: Answer, language: str) -> str:
    if not answer.understood:
        return ""
    return f"*{i18n.text('ui.sources.understood', language, question=inert(answer.understood))}*"


def _text(answer: Answer, language: str) -> str:
    """The answer's text, without the lists that have an element of their own."""
    if answer.brings(SearchReport):
        return ""
    if review := answer.brings(ReviewReport):
        return review_summary(review, language)
    if wiki := answer.brings(Wiki):
        return lead(wiki, language)
    if isinstance(answer.result, Explanation) and answer.evidence:
        return "\n\n".join(filter(None, (_understood(answer, language), answer.result.lead, answer.result.draft)))
    plan = answer.brings(Plan)
    return plan.note if plan else summary_of(answer, language) or answer.text


async def _elements(chat: Chat, id: str, answer: Answer, exchange: Exchange | None) -> list[cl.CustomElement]:
    """The elements below the text: the reports, the plan, the files, then sources and footer of a complete answer."""
    elements: list[cl.CustomElement] = []

    def own(name: str, props: dict) -> cl.CustomElement:
        return element(name, props, id=f"{id}-{name}")  # one element of each kind, however often the answer is updated

    if found := answer.brings(SearchReport):
        return [_search_element(chat, id, found)]
    if review := answer.brings(ReviewReport):
        props = findings_props(id, review, answer.citations, chat.language)
        item, pull = chat.process.about.get(exchange.id if exchange else "", (None, None))
        posts = {"pull": item.url} if item and isinstance(pull, Pull) and pull.state == "open" else {}
        elements.append(own("Findings", {**props, **posts}))
    wiki = answer.brings(Wiki)
    lists = {
        "Wiki": contents_props(id, wiki, chat.language) if wiki else None,
        "Folds": folds_props(id, answer, chat.language),
        "Impact": impact_props(answer, chat.language),
    }
    elements += [own(name, props) for name, props in lists.items() if props]
    if (explained := _explanation_in(answer)) and answer.evidence:
        elements.append(await asyncio.to_thread(_evidence_element, chat, id, answer.evidence, explained))
    if plan := answer.brings(Plan):
        elements.append(await plan_element(chat, id, plan))
    if answer.files:
        elements.append(files_element(chat, id))
    if said := said_props(id, answer, chat.language):
        elements.append(element("Folds", said, id=f"{id}-Said"))
    if exchange is None:
        return elements
    sources = sources_props(id, exchange, chat.language, model=chat.process.models.model is not None)
    newest = not chat.exchanges or all(each.id != exchange.id for each in chat.exchanges[:-1])
    if newest:  # those of earlier answers would only be in the way
        sources["follow_ups"] = await follow_ups(answer, exchange.question, chat.answers[id].index, chat.language)
    sources["larger"] = larger_model(chat, exchange.footer)
    return [*elements, own("Sources", sources)]


def _explanation_in(answer: Answer) -> Explanation | None:
    """The explanation in an answer, alone or beside other parts."""
    if isinstance(answer.result, Explanation):
        return answer.result
    return Explanation() if answer.parts and answer.evidence else None


def _search_element(chat: Chat, id: str, report: SearchReport) -> cl.CustomElement:
    shown = chat.answers[id]
    shown.element = element("Search", search_props(id, report, chat.language, status=index_status(chat, shown.index)))
    return shown.element


def sources_props(answer_id: str, exchange: Exchange, language: str, *, model: bool = False) -> dict:
    """The props of the element `Sources`: citations, fallbacks, other routes, a retry, the footer.

    Args:
        answer_id: of the answer's message.
        exchange: the question with its answer.
        language: of the interface.
        model: whether a model can be asked.

    Returns:
        A JSON-serializable value.
    """
    answer = exchange.answer
    explained = _explanation_in(answer)
    # Findings of a review and evidence show their places themselves.
    cited = () if answer.brings(ReviewReport) or explained else answer.citations
    unsupported = sum(not citation.supported for citation in cited)
    notes = [i18n.translated(note, language) for note in answer.degraded]
    return {
        "answer": answer_id,
        "question": exchange.question,
        "command": exchange.command,
        "sources": source_rows(cited),
        "doubt": i18n.text("ui.sources.unsupported", language, count=unsupported) if unsupported else "",
        "notes": [visible(note) for note in notes if note not in answer.text],
        "alternatives": alternatives(answer, language),
        "choices": place_choices(exchange),
        "retry": exchange.interrupted or (explained is not None and explained.interrupted),
        "explain": explanation_request(exchange, language) if model and not answer.of_all else "",
        "footer": exchange.footer,
        "rating": exchange.rating,
        "steps": bool(exchange.steps),
        "diagram": bool(subject_of(answer)),
        "pack": bool(answer.evidence) and not answer.of_all,
        "follow_ups": [],
        "larger": "",
        "words": i18n.section("ui.sources.words", language),
    }


def explanation_request(exchange: Exchange, language: str) -> str:
    """The question that makes a model explain what code answered or only quoted; '' where there is nothing to
    explain."""
    result = exchange.answer.result
    if not isinstance(result, Explanation) or result.origin not in ("code", "extractive") or result.interrupted:
        return ""
    return i18n.text("ui.sources.explain_request", language, question=exchange.question)


def place_choices(exchange: Exchange) -> list[tuple[str, str]]:
    """Buttons for the places that a task may mean: (place, task mentioning it); of several wishes, only that task."""
    answer = exchange.answer
    choices = answer.result.choices if isinstance(answer.result, Generation) else ()
    task = next((part.wish for part in answer.parts if part.route == answer.route), exchange.question)
    return [(choice, f"{task} @{choice}") for choice in choices]


def alternatives(answer: Answer, language: str) -> list[tuple[str, str]]:
    """Buttons for the routes that were nearly taken: (label, command). None for several wishes: no command fits all."""
    route = answer.route
    if route is None or route.tier == "forced" or answer.parts:
        return []
    near = [other for other, confidence in route.alternatives if route.confidence - confidence < CLEAR_MARGIN]
    commands = [intents.by_id(other).command for other in near if other != route.intent]
    offered = [command for command in commands if command][:2]
    return [(i18n.text("ui.sources.alternative", language, command=command), command) for command in offered]
