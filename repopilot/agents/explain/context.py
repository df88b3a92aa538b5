"""What the model is shown for a question, and how much of the question it covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repopilot.agents.explain.grounding import last_name
from repopilot.agents.exploration import Exploration, follows_up
from repopilot.prompts import render
from repopilot.retrieval.claims import claim_of, identifiers, word_stems
from repopilot.types import Evidence
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

WEAK_COVERAGE = 0.34
"""Below this share of the question's words in the excerpts, the evidence is called weak."""

UNSURE_COVERAGE = 0.6
"""Below this share the model may answer that the repository doesn't hold the answer."""


def question_coverage(question: str, found: Exploration) -> float:
    """Share of the question's content words and names that stand in the excerpts.

    Args:
        question: as the user asked it.
        found: the exploration with its excerpts.

    Returns:
        0 to 1; 1 for a question without content words, and for one about the repository as a whole. A question in
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
    user = render(
        f"explain_user{tail}",
        context="\n".join(filter(None, (found.map, *map(str, found.call_path), found.pack.text))).strip(),
        earlier=f"Question: {workspace.turns[-1].question[:200]}\n" if follows_up(question, workspace.turns) else "",
        question=question[:4000],
    )
    absence = " " + render("explain_absence") if coverage < UNSURE_COVERAGE else ""
    return [
        ChatMessage(role="system", content=render("explain_system", name=workspace.snapshot.name, absence=absence)),
        ChatMessage(role="user", content=user),
    ]


def evidence_of(found: Exploration) -> tuple[Evidence, ...]:
    """The excerpts with their numbered lines, in the order in which the model reads them."""
    return tuple(
        Evidence(
            e.number,
            e.path,
            e.start_line,
            e.end_line,
            e.symbol,
            tuple(enumerate(e.text.split("\n"), e.start_line)),
        )
        for e in found.pack.excerpts
    )
