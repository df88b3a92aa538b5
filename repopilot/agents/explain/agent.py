"""Explain: answer a question from excerpts, streamed, with citations that code has verified."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.agents.exploration import Exploration, explore, follows_up
from repopilot.errors import ModelError
from repopilot.i18n.format import short_commit
from repopilot.llm.model import Model
from repopilot.llm.stream import chat
from repopilot.prompts import render
from repopilot.results import Answer
from repopilot.retrieval.cite import Excerpt, verify
from repopilot.retrieval.claims import Anchor, claim_of, identifiers, split_sentences, word_stems
from repopilot.trace import Step
from repopilot.types import Citation
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

SHOWN_PLACES = 5
QUOTED_LINES = 20
WEAK = 0.34
"""Below this share of the question's words in the best excerpts, the evidence is called weak."""

UNSURE = 0.6
"""Below this share the model may answer that the repository doesn't hold the answer."""
RECITED = 0.5
"""A reply of which this share of lines stands word for word in the excerpts explains nothing."""

RECITED_LINES = 8
_SENTINEL = re.compile(r"\W*not\s+in\s+this\s+repository\W*", re.I)


async def explain(question: str, workspace: Workspace, step: Step) -> Answer:
    """An answer about the repository. Without a model, or where it fails before its first word, it is extractive. A way
    that was asked for stands first: it comes from the code graph, not from the model."""
    found = await explore(question, workspace, step)
    answer = await _explained(question, workspace, found, step)
    return _after_the_way(answer, found, workspace) if found.way else answer


async def _explained(question: str, workspace: Workspace, found: Exploration, step: Step) -> Answer:
    absent = absent_names(question, workspace, found)
    cover = question_cover(question, found)
    if not found.pack.excerpts or cover == 0.0 or (absent and cover < WEAK):
        return _not_here(workspace, found, absent)
    if workspace.model is None:
        step.degrade("no language model: the answer is made of the repository's own lines")
        return _extractive(workspace, found)
    text, why_cut = await _ask(question, workspace, workspace.model, found, cover, step)
    if _SENTINEL.fullmatch(text):
        return _not_here(workspace, found, absent)
    text = _usable(_SENTINEL.sub("", text), workspace, found, why_cut, step)
    if not text:
        return _extractive(workspace, found, "failed" if why_cut else "unusable")
    if cover < WEAK:
        step.degrade("weak evidence: few of the question's words stand in the excerpts")
    checked, citations = await _verified(text, workspace, found, step)
    notes = _notes(workspace, found, absent, why_cut)
    checked = own_snippets_marked(checked.strip(), found.pack.excerpts, found.results.query.language)
    return Answer("\n\n".join([checked, *notes]), citations, details={"retry": True} if why_cut else {})


def _after_the_way(answer: Answer, found: Exploration, workspace: Workspace) -> Answer:
    """The answer below the way, whose stops are cited with the numbers that follow those of the answer."""
    first = max([len(found.pack.excerpts), *(c.number for c in answer.citations)]) + 1
    language = found.results.query.language
    rows, citations = [i18n.text("explain.way", language)], []
    for number, stop in enumerate(found.way, first):
        verb = stop.verb if language == "en" else "→" * bool(stop.verb)
        where = "" if stop.name == stop.path else f" (`{stop.path}:{stop.line}`)"
        rows.append(f"{number - first + 1}. {verb} `{stop.name}`{where} [{number}]".replace(".  ", ". "))
        symbol = "" if stop.name == stop.path else stop.name
        citations.append(Citation(number, stop.path, stop.line, stop.end_line, workspace.index.commit, symbol, True))
    text = "\n".join([rows[0], "", *rows[1:], "", answer.text])
    return replace(answer, text=text, citations=(*answer.citations, *citations))


def _usable(text: str, workspace: Workspace, found: Exploration, why_cut: str, step: Step) -> str:
    """What of the model's text may be shown; '' when nothing is left. What is left out is said in the trace."""
    if why_cut:
        step.degrade(f"answer cut off: {why_cut}")
    elif not text.strip():
        step.degrade("extractive answer: the model returned nothing")
    text, invented = grounded(text, workspace, found)
    if invented:
        step.degrade(f"{invented} sentence(s) left out: they name code that is not in this repository")
    if recited(text, found.pack.excerpts):
        step.degrade("extractive answer: the model only recited the excerpts")
        return ""
    return text.strip()


def _notes(workspace: Workspace, found: Exploration, absent: Sequence[str], why_cut: str) -> list[str]:
    language = found.results.query.language
    notes = [i18n.text("explain.absent_names", language, names=_listed(absent), **_scope(workspace))] if absent else []
    return [*notes, i18n.text("explain.cut_off", language, why=why_cut)] if why_cut else notes


def absent_names(question: str, workspace: Workspace, found: Exploration) -> list[str]:
    """Identifiers the question names that are neither defined nor used anywhere in the index."""
    names = [a for a in claim_of(question).anchors if a.kind == "name"]
    seen = identifiers("\n".join(h.chunk.text for h in found.results.hits))
    return [n.text for n in names if not _known(n, workspace, seen)]


def question_cover(question: str, found: Exploration) -> float:
    """Share of the question's content words and names that stand in the excerpts, 0–1; 1 for a question without any.

    A question of the repository as a whole (query kind overview) is always covered; one in another language than the
    code's counts as UNSURE, neither covered nor not.
    """
    claim = claim_of(question)
    query = found.results.query
    if query.kind == "overview":
        return 1.0
    if query.language != "en" and not any(a.kind == "name" for a in claim.anchors):
        return UNSURE if found.pack.excerpts else 0.0  # words of another language can't be counted in the code's
    text = "\n".join(f"{e.path} {e.symbol} {e.text}" for e in found.pack.excerpts)
    stems, names = word_stems(text), identifiers(text)
    checks = [w in stems for w in claim.words]
    checks += [re.split(r"\.|::|->|#", a.text)[-1] in names or a.text in text for a in claim.anchors]
    return sum(checks) / len(checks) if checks else 1.0


def grounded(text: str, workspace: Workspace, found: Exploration) -> tuple[str, int]:
    """The text without sentences that mostly name code which exists nowhere in the repository, and their number."""
    seen = identifiers("\n".join(e.text for e in found.pack.excerpts))
    kept, dropped = [], 0
    for piece, prose in split_sentences(text):
        anchors = [a for a in claim_of(piece).anchors if a.kind != "quote"] if prose else []
        unknown = sum(not _known(a, workspace, seen) for a in anchors)
        if unknown and 2 * unknown >= len(anchors):
            dropped += 1
        else:
            kept.append(piece)
    return "".join(kept), dropped


def _known(anchor: Anchor, workspace: Workspace, seen: frozenset[str]) -> bool:
    index = workspace.index
    if anchor.kind == "path":
        if "/" not in anchor.text:
            return True  # as likely a file the program makes as one of the repository
        return any(path.endswith(anchor.text.lstrip("./")) for path in index.files)
    last = re.split(r"\.|::|->|#", anchor.text)[-1]
    return last in seen or bool(index.symbols(last)) or bool(index.references(last))


def own_snippets_marked(text: str, excerpts: Sequence[Excerpt], language: str) -> str:
    """A code block of which less than half stands in the excerpts is the model's own, and said to be."""
    known = {line.strip() for e in excerpts for line in e.text.split("\n")}

    def marked(block: re.Match[str]) -> str:
        lines = [line.strip() for line in block.group(0).split("\n")[1:-1] if line.strip()]
        own = not lines or 2 * sum(line in known for line in lines) < len(lines)
        return f"{block.group(0)}\n{i18n.text('explain.own_snippet', language)}" if own else block.group(0)

    return re.sub(r"^```.*?^```[ \t]*$", marked, text, flags=re.S | re.M)


def recited(text: str, excerpts: Sequence[Excerpt]) -> bool:
    """Does the reply consist, outside code blocks, mostly of the excerpts' own lines?"""
    prose = [line.strip() for line in re.sub(r"```.*?(?:```|\Z)", "", text, flags=re.S).split("\n")]
    lines = [line for line in prose if len(line) > 12]
    known = {line.strip() for e in excerpts for line in e.text.split("\n")}
    return len(lines) >= 4 and sum(line in known for line in lines) / len(lines) >= RECITED


def goes_in_circles(text: str) -> bool:
    """Has the model just ended a sentence that it has written before?"""
    if not text.rstrip("*_` \n").endswith((".", "!", "?", "]")):
        return False
    sentences = [_bare(piece) for piece, prose in split_sentences(text) if prose]
    return bool(sentences) and len(sentences[-1]) > 20 and sentences[-1] in sentences[:-1]


def _bare(sentence: str) -> str:
    return re.sub(r"\s*\[[\d, ]+\]|\s+", " ", sentence).strip(" .")


def _recites(text: str, excerpts: Sequence[Excerpt]) -> bool:
    """After some lines, looked at as each of them ends."""
    return text.endswith("\n") and text.count("\n") >= RECITED_LINES and recited(text, excerpts)


async def _ask(
    question: str, workspace: Workspace, model: Model, found: Exploration, cover: float, step: Step
) -> tuple[str, str]:
    """The model's raw text, streamed into an answer step, and why it was cut off ('' when it was not)."""
    messages = _messages(question, workspace, found, cover)
    async with step.child("answer", "answer") as answering:
        try:
            limit = workspace.settings.max_answer_tokens
            # The delimiter in a reply means that the model has begun to recite its context.
            text = await chat(
                model,
                messages,
                answering,
                max_tokens=limit,
                temperature=0.2,
                stop=[found.pack.mark],
                halt=lambda so_far: goes_in_circles(so_far) or _recites(so_far, found.pack.excerpts),
            )
            return text, ""
        except ModelError as error:
            answering.note(failed=str(error))
            return error.partial, str(error)


def _messages(question: str, workspace: Workspace, found: Exploration, cover: float) -> list[ChatMessage]:
    """The stable part first, so that a local model reuses it from its cache; the question last.

    Only where the evidence is thin may the model say that the answer isn't here: the smallest ones say it of anything.
    """
    from llama_index.core.llms import ChatMessage

    tail = "_fr" if found.results.query.language == "fr" else ""
    user = render(
        f"explain_user{tail}",
        context="\n".join(filter(None, (found.map, *map(str, found.way), found.pack.text))).strip(),
        earlier=f"Question: {workspace.turns[-1].question[:200]}\n" if follows_up(question, workspace.turns) else "",
        question=question[:4000],
    )
    absence = " " + render("explain_absence") if cover < UNSURE else ""
    return [
        ChatMessage(role="system", content=render("explain_system", name=workspace.snapshot.name, absence=absence)),
        ChatMessage(role="user", content=user),
    ]


async def _verified(
    text: str, workspace: Workspace, found: Exploration, step: Step
) -> tuple[str, tuple[Citation, ...]]:
    async with step.child("verify citations", "tool") as checking:
        checked, citations = verify(text, found.pack.excerpts, workspace.index.commit, workspace.index.symbols)
        checking.note(
            supported=sum(c.supported for c in citations), unsupported=sum(not c.supported for c in citations)
        )
    return checked, citations


def _not_here(workspace: Workspace, found: Exploration, absent: Sequence[str]) -> Answer:
    """Says that the repository doesn't hold the answer, what was searched, and what comes nearest."""
    language = found.results.query.language
    parts = [i18n.text("explain.absent", language, **_scope(workspace))]
    if absent:
        parts.append(i18n.text("explain.absent_names", language, names=_listed(absent), **_scope(workspace)))
    places, citations = _places(found.pack.excerpts[:3], workspace, language)
    if places:
        parts += [i18n.text("explain.nearest", language), places]
    return Answer("\n\n".join(parts), citations, details={"not_found": True})


def _extractive(workspace: Workspace, found: Exploration, why: str = "extractive") -> Answer:
    """The best places with their first words and the best one quoted: every line is the repository's own."""
    shown = found.pack.excerpts[:SHOWN_PLACES]
    places, citations = _places(shown, workspace, found.results.query.language)
    kind = "text" if found.map else shown[0].path.rpartition(".")[2]
    quoted = (found.map or shown[0].text).split("\n")[:QUOTED_LINES]
    parts = [
        i18n.text(f"explain.{why}", found.results.query.language),
        places,
        "\n".join([f"~~~~{kind}", *quoted, "~~~~"]),
    ]
    return Answer("\n\n".join(parts), citations, details={"extractive": True, "retry": why == "failed"})


def _places(excerpts: Sequence[Excerpt], workspace: Workspace, language: str) -> tuple[str, tuple[Citation, ...]]:
    rows, citations = [], []
    for number, e in enumerate(excerpts, 1):
        place = i18n.text("explain.place", language, symbol=e.symbol, path=e.path) if e.symbol else f"`{e.path}`"
        rows.append(f"- {place} [{number}]{_gist(e)}")
        citations.append(Citation(number, e.path, e.start_line, e.end_line, workspace.index.commit, e.symbol, True))
    return "\n".join(rows), tuple(citations)


def _gist(excerpt: Excerpt) -> str:
    """The first line of prose in an excerpt: of its docstring, comment or paragraph; '' where there is only code."""
    prose = re.search(r"(?:[\"']{3}|^\s*(?:#|//|\*|/\*\*?|--)\s)\s*([A-Za-zÀ-ÿ][^\n\"*]{15,160})", excerpt.text, re.M)
    return f": {prose.group(1).strip()}" if prose else ""


def _scope(workspace: Workspace) -> dict[str, object]:
    return {"files": len(workspace.index.files), "commit": short_commit(workspace.index.commit)}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{n}`" for n in names)
