"""An agent model's answer: it looks around with tools, and its final text is the answer, each sentence checked."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal

from repopilot import i18n
from repopilot.agents import loop
from repopilot.agents.explain.answer_check import CheckedPart, Known, check_answer
from repopilot.agents.explain.cited_prose import AnswerPart, AnswerSoFar, CitedLines, parts_of
from repopilot.agents.explain.code_findings import Findings, excerpts_of
from repopilot.agents.explain.evidence_places import evidence_of_lines
from repopilot.agents.explain.known_names import known_names
from repopilot.agents.explain.lines_read import seen_in_calls
from repopilot.agents.explain.render import sentence_markdown
from repopilot.agents.explain.second_look import LONGEST_REASON, SECONDS, CitedSentence, refuted, taken_back
from repopilot.agents.exploration import context_tokens
from repopilot.agents.last_turns import with_last_turns
from repopilot.agents.overview.for_models import with_layout
from repopilot.foreign_text import code_span
from repopilot.index.store import Index
from repopilot.prompts import render
from repopilot.results import Sentence
from repopilot.tools.registry import ToolContext
from repopilot.tools.toolbox import offered
from repopilot.tools.working_copy import working_copy
from repopilot.trace import Step
from repopilot.types import Chunk, Citation, Evidence, innermost, overlap
from repopilot.workspace import Workspace

SHARE_OF_WINDOW = 12
"""At least one token in twelve of the window goes to the places found before the model begins."""
LONGEST_BEGINNING = 120
"""The most lines of such a place."""
MOST_LINES = 40
"""Lines of a cited place that are shown below the answer."""
_LANGUAGES = {"en": "English", "fr": "French"}
CLOSING = "Your steps are used up. Answer the question now, without a call, from what you have read."
NAMES_CODE = "it names code, which its readers don't read: say the same in plain words"
_CORRECTION = re.compile(r"^\s*(?:[-*]\s*)?(\d{1,3})\s*[:.)]\s+(.+(?:\n(?!\s*(?:[-*]\s*)?\d{1,3}\s*[:.)]\s).+)*)", re.M)
Outcome = Literal["answered", "noted", "nothing", "form", "failed"]
_NO_WORDS: Mapping[str, Outcome] = {"empty": "nothing", "malformed": "form", "no call": "form"}
"""The outcome of a loop that ended without a sentence, by how it ended."""


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """What an agent model answered.

    Attributes:
        sentences: what it says, one by one.
        layout: the whole answer in order: pieces of Markdown, and the numbers of the sentences between them, from 1.
        evidence: the places it cites, numbered from 1, then the others that were found.
        citations: a citation of each cited place.
        outcome: whether the sentences are an answer, or notes from before the model failed; else why there are none.
        failure: why the model failed, a message.
        was_judged: whether the model looked at its sentences again, by their lines alone.
    """

    sentences: tuple[Sentence, ...] = ()
    layout: tuple[str | int, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    citations: tuple[Citation, ...] = ()
    outcome: Outcome = "answered"
    failure: str = ""
    was_judged: bool = False


async def agent_answer(
    found: Findings,
    workspace: Workspace,
    step: Step,
    publish: Callable[[AgentAnswer], None],
    *,
    is_kept: bool = False,
) -> AgentAnswer:
    """Have a model that uses tools look around and answer.

    Args:
        found: what code found, which the model begins with.
        workspace: the repository, with that model.
        step: the step of the agent. The answer streams into a child of kind `answer`.
        publish: gets the answer so far, each time that further sentences are complete.
        is_kept: whether the answer is for a text that others will rely on; the model then also looks for cases in which
            its sentences fail.

    Returns:
        The answer with all its sentences. A model that fails is no error here.
    """
    assert workspace.model is not None
    budget = loop.Budget.of(workspace.settings)
    other = found.results.query.other_language and not workspace.settings.language
    language = "the language of the question" if other else _LANGUAGES[found.language]
    audience = render("audience_reader" if workspace.settings.audience == "reader" else "audience_asked")
    system = render("loop_answer", name=workspace.snapshot.name, language=language, audience=audience)
    looking = offered("look", can_ask=False)
    beginning, begun = await asyncio.to_thread(_beginning, found, workspace)
    async with step.child("answer", "answer") as answering:
        listener = _Listener(found, begun, workspace, answering, publish)
        async with step.child("look around", "agent", found.question) as working, working_copy(workspace) as copy:
            context = ToolContext(workspace, copy, working)
            watch = loop.Onlooker(listener.hear, listener.look_again, closing=CLOSING)
            asked = with_last_turns(found.question, () if is_kept else workspace.turns)
            task = await with_layout(f"{asked}\n\nFound so far:\n{beginning}", workspace.index)
            work = loop.begin(task, context, loop.LoopModel(workspace.model, budget), looking, system, watch)
            done = await work.work()
            if done.note and not listener.answered:
                working.degrade(done.note)
        if not listener.answered and (said := done.summary or listener.heard or done.text):
            await listener.check(said, done.calls, broken_off=said == listener.heard)
        await listener.show()
        if listener.answered and work.left().over() is None:
            seconds = work.left().seconds
            await listener.look_twice(seconds if is_kept else min(seconds, SECONDS))
        if is_kept and listener.answered:
            await listener.look_for_cases(budget, done.calls)
        answering.note(**_counts(listener.checked))
    outcome = _outcome(listener, done.ended)
    return replace(listener.told(), outcome=outcome, failure="" if outcome == "answered" else done.note)


def _beginning(found: Findings, workspace: Workspace) -> tuple[str, list[tuple[str, int, int]]]:
    """The text of the places that code found, including those that the user's short list leaves out, and the ranges of
    lines that it shows. As many of the best as fit a part of the window are shown in full; the others are named."""
    model = workspace.model
    assert model is not None
    left = max(model.context_window // SHARE_OF_WINDOW, context_tokens(model) // 2)
    shown: list[tuple[str, int, int]] = []
    parts = [f"Computed from the index: {found.code.text}"] if found.code is not None else []
    excerpts = zip(found.evidence, excerpts_of(found, workspace), strict=True)
    listed: list[tuple[Evidence | Chunk, str, str]] = [
        (place, place.signature or place.symbol, excerpt.text) for place, excerpt in excerpts
    ]
    further = [hit.chunk for hit in found.results.hits if not any(overlap(hit.chunk, e) for e in found.evidence)]
    listed += [(chunk, chunk.symbol, chunk.text) for chunk in further]
    for place, title, whole in listed:
        head = f"{place.path}:{place.start_line}-{place.end_line} {title}".strip()
        every = whole.split("\n")
        lines = every[:LONGEST_BEGINNING]
        cut = [f"… {len(every) - len(lines)} more lines"] if len(lines) < len(every) else []
        text = "\n".join([head, *(f"{number} {line}" for number, line in enumerate(lines, place.start_line)), *cut])
        left -= model.count_tokens(text)
        parts.append(text if left > 0 else head)
        if left > 0:
            shown.append((place.path, place.start_line, place.start_line + len(lines) - 1))
    return "\n".join(parts), shown


class _Listener:
    """Checks an answer while it is written, shows its sentences, and sends the model back once to correct those that
    fail."""

    def __init__(
        self,
        found: Findings,
        begun: Sequence[tuple[str, int, int]],
        workspace: Workspace,
        step: Step,
        publish: Callable[[AgentAnswer], None],
    ) -> None:
        self.checked: list[CheckedPart] = []
        self.heard = ""
        self._found = found
        self._begun = begun
        self._workspace = workspace
        self._step = step
        self._publish = publish
        self._so_far = AnswerSoFar()
        self._shown = 0
        self.answered = False  # stays True even if the model fails when it is sent back
        self._was_judged = False
        self._taken_back: list[CheckedPart] = []
        self._objections: dict[int, str] = {}
        self._known_after: tuple[int, Known] | None = None

    async def hear(self, so_far: str, calls: Sequence[loop.CallRecord]) -> bool:
        """Show the sentences that are complete. A text that cites nothing yet may be a note before further calls."""
        if self.answered:
            return False
        passages = self._so_far.complete(so_far)
        if not any(passage.places for passage in passages):
            return False
        if not so_far.startswith(self.heard):  # the text before, which cited lines, was a note
            self.checked = []
            self._shown = 0
            await self._step.write("\n\n")
        self.heard = so_far
        if new := passages[len(self.checked) :]:
            known = await asyncio.to_thread(self._known, calls)
            self.checked += await asyncio.to_thread(check_answer, new, known)
            await self.show()
        return False

    async def look_again(self, answer: str, calls: Sequence[loop.CallRecord]) -> str:
        """Check a whole answer. Returns the message with the sentences that the model is to look at again, once; '' for
        none."""
        if self.answered:
            await self._correct(answer, calls)
            return ""
        await self.check(answer, calls)
        await self.show()
        self.answered = True
        numbered = dict(enumerate(_sentences(self.checked), 1))
        self._objections = {n: why for n, each in numbered.items() if (why := self._objection(each))}
        rows = [f"{n}: {numbered[n].passage.written} ({why})" for n, why in self._objections.items()]
        return render("loop_answer_again", sentences="\n".join(rows)) if rows else ""

    def _objection(self, sentence: CheckedPart) -> str:
        """Why the model is to look at a sentence again, '' where it needn't."""
        if sentence.status != "checked":
            return i18n.translated(sentence.why, "en")
        names_code = self._workspace.settings.audience == "reader" and "`" in sentence.passage.bare
        return NAMES_CODE if names_code else ""

    async def check(self, answer: str, calls: Sequence[loop.CallRecord], broken_off: bool = False) -> None:
        """Check a whole answer, or, where it is broken off, all but its last sentence."""
        known = await asyncio.to_thread(self._known, calls)
        parts = parts_of(answer)[: -1 if broken_off else None]
        self.checked = await asyncio.to_thread(check_answer, parts, known)

    async def show(self) -> None:
        """Write what is checked and hasn't been written yet."""
        if len(self.checked) <= self._shown:
            return
        numbers = numbers_of(self.checked)
        for each in self.checked[self._shown :]:
            await self._step.write(_written(each, numbers, self._found.language))
        self._shown = len(self.checked)
        self._publish(self.told())

    async def look_twice(self, seconds: float, only: Sequence[CheckedPart] | None = None) -> None:
        """Have the model judge its checked sentences, or `only` some of them, by their lines alone, and mark those that
        it takes back."""
        cited = [each for each in only or self.checked if each.status == "checked" and each.places]
        claims = await asyncio.to_thread(lambda: [_claim(each, self._workspace.index) for each in cited])
        assert self._workspace.model is not None
        found = await taken_back(claims, self._workspace.model, seconds, self._step)
        self._was_judged = self._was_judged or found is not None
        for at, why in (found or {}).items():
            marked = cited[at]._replace(status="unchecked", why=why)
            self.checked[self.checked.index(cited[at])] = marked
            self._taken_back.append(marked)
        if found:
            self._publish(self.told())

    async def look_for_cases(self, budget: loop.Budget, calls: Sequence[loop.CallRecord]) -> None:
        """Have the model try to refute its sentences with tools, those that it took back among them. One that it puts
        right is replaced and judged again, or marked where the new one names what doesn't exist."""
        cited = {
            n: each
            for n, each in enumerate(_sentences(self.checked), 1)
            if each.places and (each.status == "checked" or each in self._taken_back)
        }
        if not cited:
            return
        claims = await asyncio.to_thread(lambda: {n: _claim(each, self._workspace.index) for n, each in cited.items()})
        done = await refuted(claims, self._workspace, budget, self._step)
        known = await asyncio.to_thread(self._known, [*calls, *done.calls])
        put_right: list[CheckedPart] = []
        for number, text in _CORRECTION.findall(done.summary or done.text):
            if each := cited.pop(int(number), None):
                made = await asyncio.to_thread(check_answer, list(_in_place(each.passage, parts_of(text))), known)
                if not made or any(part.status == "contradicted" for part in made):
                    why = i18n.message("explain.sentence.taken_back", said=text[:LONGEST_REASON])
                    made = [each._replace(status="unchecked", why=why)]
                at = self.checked.index(each)
                self.checked[at : at + 1] = made
                put_right += made
        self._publish(self.told())
        if any(each.status == "checked" for each in put_right):
            await self.look_twice(budget.seconds, put_right)

    def told(self) -> AgentAnswer:
        """The answer as far as it is checked."""
        index = self._workspace.index
        numbers = numbers_of(self.checked)
        sentences = tuple(sentence for each in self.checked if (sentence := _sentence(each, numbers)) is not None)
        cited = [_evidence(index, place, number, within=[*numbers][: number - 1]) for place, number in numbers.items()]
        holding = {place for each in self.checked if each.status == "checked" for place in each.places}
        citations = tuple(
            Citation(number, e.path, e.start_line, e.end_line, index.commit, e.symbol, place in holding)
            for (place, number), e in zip(numbers.items(), cited, strict=True)
        )
        return AgentAnswer(
            sentences,
            layout=tuple(piece for piece in _layout(self.checked) if piece != ""),
            evidence=_with_further(cited, self._found.evidence) if numbers else self._found.evidence,
            citations=citations,
            was_judged=self._was_judged,
        )

    async def _correct(self, reply: str, calls: Sequence[loop.CallRecord]) -> None:
        """Replace the sentences that went back by their corrections, except a checked one whose correction fails the
        check. A reply that is a whole new answer replaces everything where it is no worse."""
        known = await asyncio.to_thread(self._known, calls)
        corrections = {int(number): text.strip() for number, text in _CORRECTION.findall(reply)}
        numbered = {id(each): n for n, each in enumerate(_sentences(self.checked), 1)}
        if not corrections or not corrections.keys() <= self._objections.keys():
            again = await asyncio.to_thread(check_answer, parts_of(reply), known)
            was = _counts(self.checked)
            now = _counts(again)
            if now["sentences"] >= was["sentences"] and now["checked"] >= was["checked"]:
                self.checked = again
                return
        corrected: list[CheckedPart] = []
        for each in self.checked:
            text = corrections.get(numbered.get(id(each), 0))
            replaced = list(_in_place(each.passage, parts_of(text))) if text else []
            made = await asyncio.to_thread(check_answer, replaced or [each.passage], known)
            worse = each.status == "checked" and any(part.status not in ("checked", None) for part in made)
            corrected += [each] if worse else made
        self.checked = corrected

    def _known(self, calls: Sequence[loop.CallRecord]) -> Known:
        """What the answer is checked against; the same for all sentences of a reply, since no call is between them."""
        if self._known_after is None or self._known_after[0] != len(calls):
            read = seen_in_calls(self._workspace.index, self._begun, calls)
            # An answer may repeat the names and numbers of earlier questions.
            asked = " ".join([self._found.question, *(turn.question for turn in self._workspace.turns)])
            self._known_after = len(calls), known_names(read, asked, self._workspace)
        return self._known_after[1]


def _claim(checked: CheckedPart, index: Index) -> CitedSentence:
    doubt = f" ({i18n.translated(checked.why, 'en')})" if checked.why else ""
    return CitedSentence(f"{checked.passage.written}{doubt}", [_evidence(index, place, 0) for place in checked.places])


def numbers_of(checked: Sequence[CheckedPart]) -> dict[CitedLines, int]:
    """The places that an answer rests on, numbered from 1 in the order of their first mention."""
    places = dict.fromkeys(place for each in checked for place in each.places)
    return {place: number for number, place in enumerate(places, 1)}


def _written(checked: CheckedPart, numbers: Mapping[CitedLines, int], language: str) -> str:
    """A passage as Markdown: with numbers, struck through where it is contradicted, marked where it isn't checked."""
    passage = checked.passage
    sentence = _sentence(checked, numbers)
    text = sentence_markdown(sentence, language) if sentence else passage.bare
    return f"{passage.lead}{text}{passage.gap}"


def _sentence(checked: CheckedPart, numbers: Mapping[CitedLines, int]) -> Sentence | None:
    if checked.status is None:
        return None
    passage = checked.passage
    text = _numbered(checked, numbers) if passage.kind == "sentence" else passage.text
    places = tuple(each.place for each in checked.places)
    return Sentence(text, checked.status, checked.why, places)


def _layout(checked: Iterable[CheckedPart]) -> Iterator[str | int]:
    number = count(1)
    for each in checked:
        yield each.passage.lead
        yield each.passage.bare if each.status is None else next(number)
        yield each.passage.gap


def _numbered(checked: CheckedPart, numbers: Mapping[CitedLines, int]) -> str:
    meant = zip(checked.cited, checked.passage.places, strict=True)
    own = [str(numbers[place]) if place is not None else code_span(written.shown) for place, written in meant]
    return checked.passage.cited_as(own, [str(numbers[place]) for place in checked.added])


def _sentences(checked: Sequence[CheckedPart]) -> list[CheckedPart]:
    return [each for each in checked if each.status is not None]


def _in_place(old: AnswerPart, new: Sequence[AnswerPart]) -> Iterator[AnswerPart]:
    """The sentences of a correction, in the place of the old sentence."""
    sentences = [each for each in new if each.kind == "sentence"]
    for n, each in enumerate(sentences):
        last = n == len(sentences) - 1
        yield replace(each, lead=old.lead if n == 0 else "", gap=old.gap if last else " ")


def _counts(checked: Sequence[CheckedPart]) -> dict[str, int]:
    found = [each.status for each in _sentences(checked)]
    return {"sentences": len(found), **{name: found.count(name) for name in ("checked", "unchecked", "contradicted")}}


def _outcome(listener: _Listener, ended: str) -> Outcome:
    has_sentences = bool(_sentences(listener.checked))
    if listener.answered or ended == "finished":
        return "answered" if has_sentences else "nothing"
    return "noted" if has_sentences else _NO_WORDS.get(ended, "failed")


def _evidence(index: Index, place: CitedLines, number: int, within: Sequence[CitedLines] = ()) -> Evidence:
    """A cited place with its lines; without them where a place before it has them."""
    repeated = any(place in other and place.end < other.start + MOST_LINES for other in within)
    inner = innermost(index.outline(place.path), place.start)
    made = evidence_of_lines(
        index, number, (place.path, place.start, place.end), inner.qualified if inner else "", MOST_LINES
    )
    return replace(made, lines=()) if repeated else made


def _with_further(cited: Sequence[Evidence], found: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The cited places, then the other places found, without their lines."""
    rest = [each for each in found if not any(overlap(each, place) for place in cited)]
    return (*cited, *(replace(e, number=n, lines=(), focus=()) for n, e in enumerate(rest, len(cited) + 1)))
