"""Asks the model about excerpts and shows the sentences that hold, each as soon as it is complete and checked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from repopilot import i18n
from repopilot.agents.explain import grammar
from repopilot.agents.explain.code_findings import Findings
from repopilot.agents.explain.context import WEAK_COVERAGE, prompt_messages
from repopilot.agents.explain.grounding import exists_in, files_holding
from repopilot.agents.explain.sentence_check import (
    CheckedSentence,
    ClaimContext,
    Reason,
    check_sentence,
    ends_in_citation,
)
from repopilot.errors import ModelError
from repopilot.index.store import Index
from repopilot.llm.backend import ChatOptions, backend_of
from repopilot.llm.json_values import json_values
from repopilot.llm.model import Model
from repopilot.llm.stream import request
from repopilot.llm.structured import REFUSED
from repopilot.retrieval.claims import split_sentences
from repopilot.retrieval.places.ranked_places import token_weights
from repopilot.trace import Step
from repopilot.types import Citation, Excerpt
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

MOST_SHOWN = 6
"""The most sentences that are shown; grammar and schema allow fewer."""
MOST_DROPPED = 6
"""A reply is ended after this many sentences that aren't shown, or _MOST_REPEATED repetitions."""
_MOST_REPEATED = 2
MISMATCHES = frozenset(("invented", "unsupported", "off_topic"))
"""The reasons not to show a sentence of the right form."""
Lack = Literal["nothing", "form", "mismatch", "unsure"]
"""Why nothing of a model's reply is shown: it is empty, none of its sentences has the form asked for, one of that form
doesn't match the code, or it says that the excerpts don't hold the answer."""
_ABSENT = re.compile(r"\W*not\s+in\s+this\s+repository\W*", re.I)
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")


@dataclass(frozen=True, slots=True)
class Prose:
    """What a model wrote about excerpts, as far as it holds.

    Attributes:
        text: the sentences that were shown, in Markdown; '' for none.
        citations: the excerpts that they rest on, with the numbers of the excerpts.
        failure: why the model broke off, '' when it did not.
    """

    text: str = ""
    citations: tuple[Citation, ...] = ()
    failure: str = ""


async def write_prose(found: Findings, coverage: float, workspace: Workspace, step: Step, heading: str = "") -> Prose:
    """Ask the model to explain excerpts, and show what holds.

    Two steps are opened: one of kind llm, with the model's reply as it comes, and one of kind answer, with the
    sentences to show. A sentence is held back until it is complete and checked.

    Args:
        found: what was found, packed, with at least one excerpt. Its excerpts' numbers are cited.
        coverage: from `question_coverage`. The model may say that the answer isn't here only where this is low.
        workspace: the repository, with its model.
        step: the step of the agent.
        heading: stands above the first sentence, '' for none.

    Returns:
        What was shown. A model that fails is no error here: what was shown before stays.
    """
    assert workspace.model is not None
    ground = _ground(found, workspace)
    async with step.child("write", "llm") as writing, step.child("answer", "answer") as answering:
        shown = _Shown(ground, found.pack.mark, answering, heading)
        try:
            await _ask(found, coverage, workspace, writing, shown)
            failure = ""
        except ModelError as error:
            writing.note(failed=str(error))
            failure = i18n.reason(error)
        answering.note(**{"sentences": len(shown.sentences), **{f"dropped_{r}": n for r, n in shown.dropped.items()}})
    _report(shown, failure, step)
    return Prose(answering.text, _citations(shown.sentences, ground.excerpts, workspace.index.commit), failure)


class _Shown:
    """Takes a reply while it grows and writes each sentence that holds into a step, once it is complete."""

    def __init__(self, ground: ClaimContext, mark: str, step: Step, heading: str = "") -> None:
        self.wrote = False
        self.copies = False
        self.sentences: list[CheckedSentence] = []
        self.dropped: Counter[Reason] = Counter()
        self.absent = False
        self._ground = ground
        self._mark = mark
        self._step = step
        self._heading = f"{heading}\n\n" if heading else ""
        self._taken: list[str] = []

    @property
    def lack(self) -> Lack | None:
        """Why no sentence is shown, None where one is."""
        if self.sentences:
            return None
        if self.absent:
            return "unsure"
        if not self.wrote:
            return "nothing"
        return "mismatch" if MISMATCHES & self.dropped.keys() else "form"

    async def take(self, so_far: str, *, ended: bool = False, structured: bool = False) -> bool:
        """Check the sentences that became complete. Returns whether the rest of the reply isn't worth waiting for.

        Args:
            so_far: the reply up to now.
            ended: whether it is complete.
            structured: whether it is JSON that follows `grammar.sentence_schema`.
        """
        self.wrote = self.wrote or bool(so_far.strip())
        before, mark, _ = so_far.partition(self._mark)
        if mark:  # the model has begun to copy its context
            self.dropped["copied"] += not self.copies
            self.copies = True
        structured = structured and not (ended and "{" not in so_far)  # some servers ignore the schema
        complete = sentences_of_json(so_far) if structured else complete_sentences(before, ended=ended and not mark)
        for sentence in complete[len(self._taken) :]:
            if self._enough():
                return True
            await self._take_sentence(sentence)
        return self.copies or self._enough()

    async def _take_sentence(self, sentence: str) -> None:
        earlier = tuple(self._taken)
        self._taken.append(sentence)
        if _ABSENT.fullmatch(sentence):
            self.absent = True
            return
        checked = check_sentence(sentence, self._ground, earlier)
        if not isinstance(checked, CheckedSentence):
            self.dropped[checked] += 1
            return
        item = bool(_LIST_ITEM.match(sentence))
        before = self._heading if not self.sentences else "\n" if item else " "
        self.sentences.append(checked)
        await self._step.write(f"{before}{'- ' if item else ''}{checked.text}")

    def _enough(self) -> bool:
        dropped = self.dropped.total()
        repeated = self.dropped["repeated"]
        return len(self.sentences) >= MOST_SHOWN or dropped >= MOST_DROPPED or repeated >= _MOST_REPEATED


def complete_sentences(text: str, *, ended: bool) -> list[str]:
    """The sentences of a reply that further text can't change.

    Args:
        text: the reply up to now, in Markdown; only its prose counts.
        ended: whether the reply is complete.

    Returns:
        The sentences with their citation numbers.
    """
    pieces = list(split_sentences(text))
    if not ended:
        # The last piece may go on, and a number in brackets may belong to the sentence before it.
        pieces = pieces[:-1] if pieces and not pieces[-1][0].lstrip().startswith(("[", "【", "`[")) else pieces[:-2]
    return [piece.strip() for piece, prose in pieces if prose and piece.strip()]


def sentences_of_json(text: str) -> list[str]:
    """The sentences of a reply that follows `grammar.sentence_schema`, as far as they are complete.

    Args:
        text: the reply up to now.

    Returns:
        Each sentence with the number of its excerpt in brackets.
    """
    found: list[str] = []
    for _, _, value in json_values(text.partition("[")[2]):
        if isinstance(value, dict) and isinstance(value.get("text"), str):
            number = value.get("citation")
            found.append(f"{value['text'].strip()} [{number}]" if isinstance(number, int) else value["text"].strip())
    return found


async def _ask(found: Findings, coverage: float, workspace: Workspace, step: Step, shown: _Shown) -> None:
    """Have the model answer, under the tightest constraint that its server takes."""
    model = workspace.model
    assert model is not None
    messages = prompt_messages(workspace, found, coverage)
    # The delimiter in a reply means that the model has begun to copy its context.
    free = ChatOptions(workspace.settings.max_answer_tokens, 0.0, stop=(found.pack.mark,))
    constrained = _constrained(model, free, found, coverage < WEAK_COVERAGE)
    try:
        await _receive(model, messages, constrained, step, shown)
    except ModelError as error:
        if constrained == free or error.partial or getattr(error.__cause__, "status_code", None) not in REFUSED:
            raise
        step.degrade(i18n.message("explain.degraded.unconstrained", name=model.name))
        await _receive(model, messages, free, step, shown)


async def _receive(
    model: Model, messages: Sequence[ChatMessage], options: ChatOptions, step: Step, shown: _Shown
) -> None:
    take = partial(shown.take, structured=options.schema is not None)
    try:
        reply = await request(model, messages, step, options, take)
    except ModelError as error:
        await take(error.partial, ended=ends_in_citation(error.partial))
        raise
    await take(reply.text, ended=reply.finish != "length" or ends_in_citation(reply.text))


def _constrained(model: Model, free: ChatOptions, found: Findings, absence: bool) -> ChatOptions:
    """The options under which the reply is sentences with citations, as far as the model's server can."""
    excerpts = found.pack.excerpts
    backend = backend_of(model)
    if backend.takes_grammar:
        return replace(free, grammar=grammar.sentence_grammar(excerpts, found.question, absence=absence))
    return free if backend.schemas == "none" else replace(free, schema=grammar.sentence_schema(excerpts))


def _ground(found: Findings, workspace: Workspace) -> ClaimContext:
    index = workspace.index
    return ClaimContext(
        found.pack.excerpts,
        found.language,
        (found.question,),
        subject_of(found, index),
        lambda anchor: exists_in(index, anchor, partial(files_holding, workspace.resolver)),
        index.symbols,
    )


def subject_of(found: Findings, index: Index) -> dict[str, float]:
    """What a question is about: the terms that were searched for, each weighted by its rarity in the repository.

    Args:
        found: what was found. The terms of a French question include English ones.
        index: the repository's index.

    Returns:
        Those index tokens that occur in the repository, with their weights; none for a question about all of it.
    """
    query = found.results.query
    if query.kind == "overview":
        return {}
    return token_weights(index.lexical, query.terms)


def _citations(sentences: Sequence[CheckedSentence], excerpts: Sequence[Excerpt], commit: str) -> tuple[Citation, ...]:
    """One citation for each cited excerpt, in order of first appearance: the lines that support its sentences."""
    lines: dict[int, tuple[int, int]] = {}
    for s in sentences:
        start, end = lines.get(s.number, s.lines)
        lines[s.number] = min(start, s.lines[0]), max(end, s.lines[1])
    by_number = {e.number: e for e in excerpts}
    cited = [(by_number[number], span) for number, span in lines.items()]
    return tuple(Citation(e.number, e.path, *span, commit, e.symbol, True) for e, span in cited)


def _report(shown: _Shown, failure: str, step: Step) -> None:
    """Say in the trace what is missing from the answer."""
    if failure:
        step.degrade(i18n.message("explain.degraded.cut_off", why=failure))
    elif shown.lack:
        step.degrade(i18n.message(f"explain.degraded.{shown.lack}"))
    for reason, count in shown.dropped.items():
        step.degrade(i18n.message(f"explain.degraded.dropped.{reason}", count=count))
