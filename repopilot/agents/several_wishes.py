"""Several wishes in one message ("Explain how X works, then build Y"): its parts, and their answers as one.

A model that works with tools says where a message divides; without one, sentences of different kinds do.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from repopilot import i18n
from repopilot.agents.explain.render import evidence_markdown
from repopilot.agents.follow_up import own_words
from repopilot.agents.testing.pasted import pasted_code
from repopilot.errors import ModelError
from repopilot.i18n import message, reason
from repopilot.prompts import render
from repopilot.results import Answer, AnsweredPart, Explanation, Generation, Plan, Result
from repopilot.retrieval.query.parse import parse
from repopilot.routing.router import MODEL_S, kind_of
from repopilot.trace import Step
from repopilot.types import Citation, Evidence

if TYPE_CHECKING:
    from repopilot.llm.model import Model

MOST_PARTS = 6
LONGEST_MESSAGE = 2000
"""Characters of a message that is looked at: a longer one is mostly what was pasted."""
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_CLAUSE_END = re.compile(r"(?<=[.!?;])\s+|\n+|,\s+|\b(?:and|then|et|puis)\b")
_COMMA = re.compile(r",\s+")
_LEAST_ALONE = 3
"""So many words of its own has a task that is done beside one that is refused."""
_CODE = re.compile(r"(~~~~.*?~~~~|```.*?```|`[^`\n]*`)", re.DOTALL)
_NUMBER = re.compile(r"\[(\d{1,3})\](?!\()")


class _Division(BaseModel):
    parts: list[str] = Field(max_length=MOST_PARTS)


async def wishes_of(text: str, model: Model | None, step: Step) -> tuple[str, ...]:
    """The wishes that a message consists of, in order. Nothing of it is left out.

    Args:
        text: as the user wrote it.
        model: one that is able to judge, None for none. Where it fails, the kinds of the sentences decide.
        step: where its work is recorded.

    Returns:
        The parts; the message alone where it is one wish.
    """
    pieces = [piece for piece in _CLAUSE_END.split(text) if own_words(piece)]
    if len(pieces) < 2 or len(text) > LONGEST_MESSAGE or parse(text).frames or _holds_code(text):
        return (text,)
    divided = await _by_model(text, model, step) if model is not None else None
    return divided if divided is not None else await asyncio.to_thread(_by_kind, text)


def _holds_code(text: str) -> bool:
    """Whether lines of code stand in a message, which no sentence ends in."""
    return any("\n" in code for code in _CODE.findall(text)) or pasted_code(text) is not None


async def _by_model(text: str, model: Model, step: Step) -> tuple[str, ...] | None:
    """The parts that the model names, None where it fails or names what isn't in the message."""
    from llama_index.core.llms import ChatMessage

    from repopilot.llm.structured import ask

    prompt = [
        ChatMessage(role="system", content=render("split_system")),
        ChatMessage(role="user", content=f"Message: {text}"),
    ]
    try:
        async with asyncio.timeout(min(MODEL_S, model.timeout_s)):
            async with step.child("divide", "llm", text) as dividing:
                longest = model.count_tokens(text) + 100
                found = await ask(model, prompt, _Division, dividing, max_tokens=longest)
    except TimeoutError:
        step.degrade(message("routing.model_skipped", why=message("routing.too_slow")))
        return None
    except ModelError as error:
        step.degrade(message("routing.model_skipped", why=reason(error)))
        return None
    return _spans(text, found.parts) if found is not None else None


def _spans(text: str, parts: Sequence[str]) -> tuple[str, ...] | None:
    """The message cut where the parts begin; None where one of them doesn't stand in it behind the one before."""
    starts, at = [], 0
    for part in filter(str.strip, parts):
        found = re.compile(r"\s+".join(map(re.escape, part.split()))).search(text, at)
        if found is None:
            return None
        starts.append(found.start())
        at = found.end()
    bounds = [0, *starts[1:], len(text)]
    return tuple(text[a:b].strip(" \t\n,;") for a, b in pairwise(bounds))


def _by_kind(text: str) -> tuple[str, ...]:
    """The parts by what their sentences ask for. A task that comes first may be what a question is about, and is no
    part of its own: only behind a question, or where something is refused, does a message divide."""
    groups: list[tuple[str, str]] = []
    for sentence in _SENTENCE_END.split(text):
        for piece, kind in _question_then_task(sentence):
            if groups and (not kind or groups[-1][1] in ("", kind)):
                groups[-1] = (f"{groups[-1][0]} {piece}", kind or groups[-1][1])
            else:
                groups.append((piece, kind))
    kinds = [kind for _, kind in groups]
    refused = "REFUSE" in kinds
    if kinds[0] == "act" and not refused:
        return (text,)
    alone = all(kind != "act" or own_words(piece) >= _LEAST_ALONE for piece, kind in groups)
    return tuple(piece for piece, _ in groups) if alone or not refused else (text,)


def _question_then_task(sentence: str) -> list[tuple[str, str]]:
    """A sentence with its kind; a question and the task behind its comma apart."""
    for comma in _COMMA.finditer(sentence):
        first, second = sentence[: comma.start()], sentence[comma.end() :]
        asked, wanted = _kind(first), _kind(second)
        if asked not in ("", "act", "REFUSE") and wanted == "act":
            return [(first, asked), (second, wanted)]
    return [(sentence, _kind(sentence))]


def _kind(piece: str) -> str:
    """What a piece asks for; '' where that isn't sure, and for a task that names nothing ("fix it")."""
    kind = kind_of(piece)
    return "" if kind == "act" and own_words(piece) < 2 else kind


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """A wish with its answer; `done` is False where it was refused, failed, or isn't done here."""

    wish: str
    answer: Answer
    done: bool = True


def joined(parts: Sequence[PartAnswer], language: str) -> Answer:
    """The answers of some wishes as one, a part each, with numbers of their own for all places they cite.

    Args:
        parts: in order.
        language: of the headings.

    Returns:
        The answer. Its result is that of the last part that changed or planned something, with the text of all.
    """
    texts: list[str] = []
    evidence: list[Evidence] = []
    citations: list[Citation] = []
    for number, part in enumerate(parts, 1):
        answer = part.answer
        offset = max([each.number for each in evidence] + [each.number for each in citations], default=0)
        known = {each.number for each in answer.evidence} | {each.number for each in answer.citations}
        wish = " ".join(part.wish.split())
        heading = i18n.text("assistant.part", language, number=number, wish=_escaped(wish))
        texts.append(f"{heading}\n\n{_renumbered(_body(answer), known, offset)}")
        evidence += [replace(each, number=each.number + offset) for each in answer.evidence]
        citations += [replace(each, number=each.number + offset) for each in answer.citations]
    text = "\n\n".join(texts)
    result = _result(parts, text)
    if isinstance(result, Explanation) and evidence:
        text = f"{text}\n\n{evidence_markdown(evidence, language)}"
    files = {file.path: file for part in parts for file in part.answer.files}
    return Answer(
        text,
        tuple(citations),
        tuple(files.values()),
        parts[-1].answer.route,
        tuple(dict.fromkeys(note for part in parts for note in part.answer.degraded)),
        tuple(evidence),
        result,
        sentences=tuple(sentence for part in parts for sentence in part.answer.sentences),
        parts=tuple(AnsweredPart(part.wish, part.answer.route, part.done) for part in parts),
    )


def _body(answer: Answer) -> str:
    """The text of a part; its evidence is listed with that of the others."""
    if isinstance(answer.result, Explanation) and answer.evidence:
        return "\n\n".join(filter(None, (answer.result.lead, answer.result.draft)))
    return answer.text


def _result(parts: Sequence[PartAnswer], text: str) -> Result:
    for part in reversed(parts):
        result = part.answer.result
        if isinstance(result, Generation):
            return replace(result, summary=text)
        if isinstance(result, Plan):
            return replace(result, note=text)
    return Explanation("code", lead=text)


def _renumbered(text: str, known: set[int], offset: int) -> str:
    """A text with the numbers of its places raised, outside of code."""

    def raised(found: re.Match[str]) -> str:
        number = int(found[1])
        return f"[{number + offset}]" if number in known else found[0]

    pieces = _CODE.split(text)
    return "".join(piece if n % 2 else _NUMBER.sub(raised, piece) for n, piece in enumerate(pieces))


def _escaped(text: str) -> str:
    """A wish as plain text in a heading."""
    return re.sub(r"([\\`*_\[\]<>#~|])", r"\\\1", text)
