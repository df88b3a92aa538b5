"""The context that the model gets for a question, and how much of the question it covers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING

from repopilot.agents.exploration import Exploration, follows_up
from repopilot.index.store import Index
from repopilot.prompts import render
from repopilot.retrieval.cite import Excerpt
from repopilot.retrieval.claims import claim_of, identifiers, last_name, word_stems
from repopilot.types import Citation, Evidence
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

WEAK_COVERAGE = 0.34
"""Below this share of the question's words in the excerpts, the evidence is called weak."""

UNSURE_COVERAGE = 0.6
"""Below this share the model may answer that the repository doesn't hold the answer."""


def question_coverage(question: str, found: Exploration) -> float:
    """Share of the question's content words and names that occur in the excerpts.

    Args:
        question: as the user asked it.
        found: the exploration with its excerpts.

    Returns:
        0 to 1; 1 for a question without content words, and for one about the entire repository. A question in
        another language than the code's counts as UNSURE_COVERAGE, neither covered nor not.
    """
    claim = claim_of(question)
    query = found.results.query
    if query.kind == "overview":
        return 1.0
    if query.language != "en" and not any(a.kind == "name" for a in claim.anchors):
        return UNSURE_COVERAGE if found.pack.excerpts else 0.0  # its words can't be looked up in the code
    text = "\n".join(f"{e.path} {e.symbol} {e.text}" for e in found.pack.excerpts)
    stems, names = word_stems(text), identifiers(text)
    covered = [word in stems for word in claim.words]
    covered += [last_name(a.text) in names or a.text in text for a in claim.anchors]
    return sum(covered) / len(covered) if covered else 1.0


def prompt_messages(question: str, workspace: Workspace, found: Exploration, coverage: float) -> list[ChatMessage]:
    """The prompt: the stable part first, so that a local model reuses it from its cache; the question last.

    Args:
        question: as the user asked it.
        workspace: the repository and the conversation.
        found: the exploration with its excerpts.
        coverage: of `question_coverage`. Only where it is low may the model say that the answer isn't here: the
            smallest models say so of anything.

    Returns:
        A system message and a user message.
    """
    from llama_index.core.llms import ChatMessage

    tail = "_fr" if found.language == "fr" else ""
    absence = " " + render("explain_absence") if coverage < UNSURE_COVERAGE else ""
    user = render(
        f"explain_user{tail}",
        context="\n".join(filter(None, (found.map, *map(str, found.call_path), found.pack.text))).strip(),
        earlier=f"Question: {workspace.turns[-1].question[:200]}\n" if follows_up(question, workspace.turns) else "",
        question=question[:4000],
        absence=absence,
    )
    return [
        ChatMessage(role="system", content=render("explain_system", name=workspace.snapshot.name)),
        ChatMessage(role="user", content=user),
    ]


def evidence_of(found: Exploration, citations: Iterable[Citation], index: Index) -> tuple[Evidence, ...]:
    """What was found for a question, numbered as the text cites it.

    Args:
        found: the exploration.
        citations: those of the answer. The model's text numbers its places in the order in which it cites them.
        index: gives the lines of places that are no excerpts.

    Returns:
        The excerpts with their numbered lines, in the order in which the model reads them. Each has the number of the
        first citation of its lines, those that are not cited have the free numbers. They are followed by the other
        cited places: further parts of an excerpt, and the call path. So each citation has evidence of its number.
    """
    numbers: dict[int, int] = {}
    others: list[Citation] = []
    for citation in citations:
        cited = next((e for e in found.pack.excerpts if e.number not in numbers and _contains(e, citation)), None)
        if cited is None:
            others.append(citation)
        else:
            numbers[cited.number] = citation.number
    taken = {*numbers.values(), *(c.number for c in others)}
    free = (number for number in count(1) if number not in taken)
    excerpts = [_evidence(e, numbers.get(e.number) or next(free), e.text) for e in found.pack.excerpts]
    places = [_evidence(c, c.number, index.lines(c.path, c.start_line, c.end_line) or "") for c in others]
    return (*excerpts, *places)


def _contains(excerpt: Excerpt, citation: Citation) -> bool:
    return (
        excerpt.path == citation.path
        and excerpt.start_line <= citation.start_line
        and citation.end_line <= excerpt.end_line
    )


def _evidence(place: Excerpt | Citation, number: int, text: str) -> Evidence:
    lines = tuple(enumerate(text.split("\n"), place.start_line))
    return Evidence(number, place.path, place.start_line, place.end_line, place.symbol, lines)
