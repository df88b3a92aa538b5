"""What can be asked after an answer: questions that the index is known to answer, a larger model. Reads only."""

from __future__ import annotations

import asyncio
import re

from repopilot import i18n
from repopilot.code.languages import is_test_path
from repopilot.errors import RepoPilotError
from repopilot.index.store import Index
from repopilot.llm.capability import billions
from repopilot.resolve.uses.call_graph import callees, callers
from repopilot.results import Answer
from repopilot.ui.answer.diagram_panel import subject_of
from repopilot.ui.chat import Chat

MOST = 3


async def follow_ups(answer: Answer, question: str, index: Index, language: str) -> list[str]:
    """Questions about an answer's subject that the code graph can answer; at most `MOST`.

    Args:
        answer: the answer.
        question: the question that it answers, which isn't offered again.
        index: the index that it came from.
        language: of the reader.
    """
    subject = subject_of(answer)
    return await asyncio.to_thread(_follow_ups, subject, question, index, language) if subject else []


def _follow_ups(subject: str, question: str, index: Index, language: str) -> list[str]:
    path, _, symbol = subject.rpartition(":")
    try:
        users = callers(index, subject).places
        used = callees(index, subject).places
    except RepoPilotError:
        return []  # the graph doesn't know the subject: no question is known to have an answer
    known = {
        "callers": any(not is_test_path(place.path) for place in users),
        "callees": any(place.name for place in used),
        "impact": bool(users),
        "history": True,
    }
    offered = [i18n.text(f"ui.next.{name}", language, name=symbol, path=path) for name, has in known.items() if has]
    asked = _plain(question)
    return [each for each in offered if _plain(each) != asked][:MOST]


def larger_model(chat: Chat, answer_models: str) -> str:
    """The next larger model that could answer the same question, '' if there is none.

    Args:
        chat: where it would answer.
        answer_models: the line below the answer, which names the model that wrote it.
    """
    model = chat.process.models.model
    if model is None or model.name not in answer_models:
        return ""
    own = billions(model.name)
    larger = [name for name in chat.process.models.names if own < billions(name) < float("inf")]
    return min(larger, key=billions, default="")


def _plain(text: str) -> str:
    return re.sub(r"[^\w/]+", " ", text.lower()).strip()
