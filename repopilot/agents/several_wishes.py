"""Divides a message with several wishes ("Explain how X works, then build Y") into parts, and joins their answers.

A model that works with tools says where a message divides; without one, it is divided between sentences or clauses
that ask for different things.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from repopilot import i18n
from repopilot.agents.explain.render import places_markdown
from repopilot.agents.follow_up import own_words
from repopilot.agents.testing.pasted import pasted_code
from repopilot.errors import ModelError
from repopilot.i18n import message, reason
from repopilot.prompts import render
from repopilot.results import Answer, AnsweredPart, Explanation, Generation, Plan, Result, Sentence
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.query.reading import masked
from repopilot.routing.router import MODEL_S, kind_of
from repopilot.trace import Step
from repopilot.types import Citation, Evidence

if TYPE_CHECKING:
    from repopilot.llm.model import Model

MOST_PARTS = 6
LONGEST_MESSAGE = 2000
"""Characters of a message that may be divided: a longer one is mostly pasted text."""
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_CLAUSE_END = re.compile(r"(?<=[.!?;])\s+|\n+|,\s+|\b(?:and|then|et|puis)\b")
_JOINT = re.compile(r",?\s+(?:(?:and|et)\s+(?:(?:then|puis)\s+)?|(?:then|puis)\s+)|,\s+")
_INSIDE = re.compile(r"`[^`\n]*`|\([^()\n]*\)|\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»")
"""Code, brackets and quotes, inside which no clause begins or ends."""
SURE_OF_A_SENTENCE = 0.8
"""The minimum probability of what a sentence asks for: one wish taken apart is worse than two taken for one."""
SURE_OF_A_CLAUSE = 0.9
"""The same for the clauses on both sides of a joint; higher, since a joint may join nouns, or parts of one wish."""
_SURER = 0.005
"""A sentence is still two wishes where it is surer than its clauses by at most this to be what its first clause is:
"How do I install it and run the tests?" is so much surer to be a question that it is one."""
_MOST_JOINTS = 20
_LEAST_WORDS = 3
"""The minimum number of words of a clause that asks something."""
_LEAST_NAMED = 2
"""The minimum number of content words of a task that says what to do with what."""
_LEAST_ALONE = 3
"""The minimum number of content words of a task that is done beside a refused one."""
_LEAST_ASKED = 2
"""The minimum number of content words of a question after a task that is a part of its own."""
_CODE = re.compile(r"(?P<fence>~{4,}|`{3,}).*?(?P=fence)|`[^`\n]*`", re.DOTALL)
_CODE_OR_NUMBER = re.compile(rf"{_CODE.pattern}|\[(?P<number>\d{{1,3}})\](?!\()", re.DOTALL)


class _Division(BaseModel):
    parts: list[str] = Field(max_length=MOST_PARTS)


async def wishes_of(text: str, model: Model | None, step: Step) -> tuple[str, ...]:
    """The wishes that a message consists of, in order. Nothing of it is left out.

    Args:
        text: as the user wrote it.
        model: one that can judge this, None for none. Where it fails, the kinds of the sentences decide.
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
    """Whether a message contains lines of code, in which no sentence ends."""
    return any("\n" in code[0] for code in _CODE.finditer(text)) or pasted_code(text) is not None


async def _by_model(text: str, model: Model, step: Step) -> tuple[str, ...] | None:
    """The parts that the model names, None where it fails or names what isn't in the message."""
    from repopilot.llm.stream import prompt_of
    from repopilot.llm.structured import ask

    prompt = prompt_of(render("split_system"), f"Message: {text}")
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
    """The message cut where the parts begin; None where it doesn't contain the parts in this order."""
    starts = []
    at = 0
    for part in filter(str.strip, parts):
        found = re.compile(r"\s+".join(map(re.escape, part.split()))).search(text, at)
        if found is None:
            return None
        starts.append(found.start())
        at = found.end()
    bounds = [0, *starts[1:], len(text)]
    return tuple(text[a:b].strip(" \t\n,;") for a, b in pairwise(bounds))


def _by_kind(text: str) -> tuple[str, ...]:
    """The parts, divided where sentences and clauses ask for different things. A first sentence that seems to be a task
    may be the topic of the next one, so it is no part of its own, except where something is refused."""
    groups: list[tuple[str, str]] = []
    for sentence in _SENTENCE_END.split(text):
        for number, (piece, kind) in enumerate(_clauses(sentence)):
            asks = not kind and piece.rstrip().endswith("?") and own_words(piece) >= _LEAST_ASKED
            behind_task = asks and groups and groups[-1][1] == "act"
            if groups and not number and not behind_task and (not kind or groups[-1][1] in ("", kind)):
                groups[-1] = (f"{groups[-1][0]} {piece}", kind or groups[-1][1])
            else:
                groups.append((piece, kind))
    refused = any(kind == "REFUSE" for _, kind in groups)
    told_first = groups[0][1] == "act" and _SENTENCE_END.match(text, len(groups[0][0])) is not None
    if told_first and len(groups) > 1 and not refused:
        groups[:2] = [(f"{groups[0][0]} {groups[1][0]}", groups[1][1])]
    alone = all(kind != "act" or own_words(piece) >= _LEAST_ALONE for piece, kind in groups)
    return tuple(piece for piece, _ in groups) if alone or not refused else (text,)


def _clauses(sentence: str) -> list[tuple[str, str]]:
    """A sentence with its kind; or its clauses with theirs, where the sides of a joint surely ask for different things,
    and the sentence isn't clearly surer than they are to be of the first clause's kind."""
    whole, chance = _kind(sentence)
    joints = _joints(sentence)
    best: tuple[float, str, str] = (SURE_OF_A_CLAUSE, "", "")
    for start, end in joints:
        first = sentence[:start]
        second = sentence[end:]
        one, one_chance = _kind(first, _LEAST_WORDS)
        other, other_chance = _kind(second, _LEAST_WORDS, one in ("REVIEW", "IMPACT"))
        sure = min(one_chance, other_chance)
        differ = one and other and one != other
        if differ and sure > best[0] and (one != whole or sure > chance - _SURER):
            best = (sure, first, second)
    if not best[1] and (apart := _between_sure_ones(sentence, joints)):
        best = (chance, *apart)
    if not best[1] or whole == "REFUSE":
        return [(sentence, whole if chance >= SURE_OF_A_SENTENCE else "")]
    return [*_clauses(best[1]), *_clauses(best[2])]


def _joints(sentence: str) -> list[tuple[int, int]]:
    """Where clauses may be joined: the first joints, without those inside code, brackets or quotes."""
    inside = [found.span() for found in _INSIDE.finditer(sentence)]
    spans = (joint.span() for joint in islice(_JOINT.finditer(sentence), _MOST_JOINTS))
    return [span for span in spans if not any(start < span[0] < end for start, end in inside)]


def _between_sure_ones(sentence: str, joints: Sequence[tuple[int, int]]) -> tuple[str, str] | None:
    """A sentence of three or more clauses, divided where a clause surely asks for something else than the sure one
    before it: at the first clause between these that seems to ask for the same as the later one."""
    starts = [0, *(end for _, end in joints)]
    ends = [*(start for start, _ in joints), len(sentence)]
    kinds = [_kind(sentence[start:end], _LEAST_WORDS) for start, end in zip(starts, ends, strict=True)]
    sure = [number for number, (kind, chance) in enumerate(kinds) if kind and chance >= SURE_OF_A_CLAUSE]
    for one, other in pairwise(sure if len(kinds) > 2 else ()):
        wanted = kinds[other][0]
        if kinds[one][0] != wanted:
            cut = next(number for number in range(one + 1, other + 1) if kinds[number][0] == wanted)
            return sentence[: ends[cut - 1]], sentence[starts[cut] :]
    return None


def _kind(piece: str, least: int = 0, behind: bool = False) -> tuple[str, float]:
    """What a piece asks for, and how sure that is. '' for a question of fewer than `least` words, and for a task that
    names nothing ("fix it") unless it comes `behind` a part that may find what is meant."""
    kind, chance = kind_of(piece)
    words = masked(piece)
    if kind == "act":
        return (kind, chance) if behind or own_words(words) >= _LEAST_NAMED else ("", 0.0)
    return (kind, chance) if len(words.split()) >= least else ("", 0.0)


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """A wish with its answer; `done` is False where it was refused, failed, or isn't done here."""

    wish: str
    answer: Answer
    done: bool = True


def joined(parts: Sequence[PartAnswer], language: str) -> Answer:
    """Join the answers to several wishes into one, with a part each, and number the places that they cite anew.

    Args:
        parts: the parts, in order.
        language: the language of the headings.

    Returns:
        The answer. Its result and its route are those of the last part that changed or planned something, else of the
        last part that was done. The text in the result covers all parts, without what a page shows as an element of
        its own.
    """
    leading = _leading(parts)
    texts: list[str] = []
    briefs: list[str] = []
    cited: list[Evidence] = []
    further: list[Evidence] = []
    citations: list[Citation] = []
    sentences: list[Sentence] = []
    for number, part in enumerate(parts, 1):
        answer = part.answer
        offset = max([each.number for each in (*cited, *further)] + [each.number for each in citations], default=0)
        known = {each.number for each in answer.evidence} | {each.number for each in answer.citations}
        wish = " ".join(part.wish.split())
        heading = i18n.text("assistant.part", language, number=number, wish=_escaped(wish))
        brief = _brief(answer) if part is leading else _body(answer)
        texts.append(f"{heading}\n\n{_renumbered(_body(answer), known, offset)}")
        briefs.append(f"{heading}\n\n{_renumbered(brief, known, offset)}")
        evidence = [replace(each, number=each.number + offset) for each in answer.evidence]
        first = answer.result.cited if isinstance(answer.result, Explanation) else 0
        cited += evidence[:first]
        further += evidence[first:]
        sentences += [replace(each, text=_renumbered(each.text, known, offset)) for each in answer.sentences]
        citations += [replace(each, number=each.number + offset) for each in answer.citations]
    text = "\n\n".join(texts)
    result = _result(leading, "\n\n".join(briefs))
    evidence = [*cited, *further]
    if isinstance(result, Explanation):
        result = replace(result, cited=len(cited))
    if evidence:
        for_reader = any(getattr(part.answer.result, "for_reader", False) for part in parts)
        text = f"{text}\n\n{places_markdown(Explanation(for_reader=for_reader, cited=len(cited)), evidence, language)}"
    files = {file.path: file for part in parts for file in part.answer.files}
    return Answer(
        text,
        tuple(citations),
        tuple(files.values()),
        leading.answer.route,
        tuple(dict.fromkeys(note for part in parts for note in part.answer.degraded)),
        tuple(evidence),
        result,
        sentences=tuple(sentences),
        parts=tuple(AnsweredPart(part.wish, part.answer.route, part.done) for part in parts),
    )


def _body(answer: Answer) -> str:
    """The text of a part; its evidence is listed with that of the others."""
    if isinstance(answer.result, Explanation) and answer.evidence:
        return "\n\n".join(filter(None, (answer.result.lead, answer.result.draft)))
    return answer.text


def _brief(answer: Answer) -> str:
    """The text of a part, without what a page shows as elements of their own."""
    result = answer.result
    brief = result.summary if isinstance(result, Generation) else result.note if isinstance(result, Plan) else ""
    return brief or _body(answer)


def _leading(parts: Sequence[PartAnswer]) -> PartAnswer:
    """The part that buttons refer to: the last one that changed or planned something, else the last one done."""
    acting = (part for part in reversed(parts) if isinstance(part.answer.result, Generation | Plan))
    return next(acting, next((part for part in reversed(parts) if part.done), parts[-1]))


def _result(leading: PartAnswer, text: str) -> Result:
    result = leading.answer.result
    if isinstance(result, Generation):
        return replace(result, summary=text)
    return replace(result, note=text) if isinstance(result, Plan) else Explanation("code", lead=text)


def _renumbered(text: str, known: set[int], offset: int) -> str:
    """A text with its place numbers raised by an offset, except in code."""

    def raised(found: re.Match[str]) -> str:
        number = int(found["number"] or 0)
        return f"[{number + offset}]" if number in known else found[0]

    return _CODE_OR_NUMBER.sub(raised, text)


def _escaped(text: str) -> str:
    """A wish as plain text in a heading."""
    return re.sub(r"([\\`*_\[\]<>#~|])", r"\\\1", text)
