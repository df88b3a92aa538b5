"""The context that the model gets for a question, and how much of the question it covers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from repopilot.agents.explain.code_findings import Findings
from repopilot.agents.exploration import context_tokens
from repopilot.llm.backend import backend_of
from repopilot.llm.model import Model
from repopilot.llm.stream import prompt_of
from repopilot.prompts import delimiter, render
from repopilot.retrieval.claims import claim_of, identifiers, last_name, word_stems
from repopilot.retrieval.focused_pack import focused_pack
from repopilot.retrieval.pack import Pack
from repopilot.types import Excerpt
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

WEAK_COVERAGE = 0.34
"""Below this share of the question's words in the excerpts, the evidence is called weak, and the model may answer that
the repository doesn't hold the answer. Where a question uses other words than the code, a model says so even of what is
there."""


UNSURE_COVERAGE = 0.6
"""The coverage assumed for a question whose words can't be looked up in the code."""

FOCUSED_TOKENS = 600
"""Tokens of evidence for a model of unknown speed on this machine, and the least for a slow one."""
MOST_FOCUSED = 1200
FIRST_WORD_S = 6.0
"""How long a prompt may be read before the first word."""
PROMPT_TOKENS = 150
"""Tokens of a prompt besides the evidence."""


def question_coverage(found: Findings, excerpts: Sequence[Excerpt]) -> float:
    """Share of the question's content words and names that occur in the places found.

    Args:
        found: what was found.
        excerpts: the places with all their lines.

    Returns:
        0 to 1; 1 for a question without content words, and for one about the entire repository. A question in
        another language than the code's counts as UNSURE_COVERAGE, neither covered nor not.
    """
    claim = claim_of(found.question)
    query = found.results.query
    if query.kind == "overview":
        return 1.0
    if query.language != "en" and not any(a.kind == "name" for a in claim.anchors):
        return UNSURE_COVERAGE if excerpts else 0.0  # its words can't be looked up in the code
    text = "\n".join(f"{e.path} {e.symbol} {e.text}" for e in excerpts)
    stems = word_stems(text)
    names = identifiers(text)
    covered = [word in stems for word in claim.words]
    covered += [last_name(a.text) in names or a.text in text for a in claim.anchors]
    return sum(covered) / len(covered) if covered else 1.0


def focused_context(found: Findings, excerpts: Sequence[Excerpt], workspace: Workspace, model: Model) -> Pack:
    """The evidence as the model reads it, within its budget.

    Args:
        found: what was found.
        excerpts: the places with all their lines.
        workspace: the repository.
        model: the one that will read it.
    """
    # The delimiter is the same for every question, so that prompt caches can be used.
    mark = delimiter(f"{workspace.index.name} {workspace.index.commit}")
    return focused_pack(found.evidence, excerpts, mark, model.count_tokens, evidence_tokens(model))


def evidence_tokens(model: Model) -> int:
    """How many tokens of evidence a model is given: as many as it reads in FIRST_WORD_S, where its speed is known."""
    if not backend_of(model).is_on_cpu:
        return context_tokens(model)
    if model.speed is None:
        return FOCUSED_TOKENS
    return min(MOST_FOCUSED, max(FOCUSED_TOKENS, model.speed.prompt_tokens_within(FIRST_WORD_S) - PROMPT_TOKENS))


def prompt_messages(workspace: Workspace, found: Findings, coverage: float) -> list[ChatMessage]:
    """The prompt: the stable part first, so that a local model reuses it from its cache; the question last.

    Args:
        workspace: the repository and the conversation.
        found: what was found, with its pack.
        coverage: from `question_coverage`. The model may say that the answer isn't here only where this is low: the
            smallest models say so of anything.

    Returns:
        A system message and a user message.
    """
    tail = "_fr" if found.language == "fr" else ""
    absence = " " + render("explain_absence") if coverage < WEAK_COVERAGE else ""
    user = render(
        f"explain_user{tail}",
        context="\n".join(filter(None, (found.map, found.pack.text))).strip(),
        question=found.question[:4000],
    )
    return prompt_of(render("explain_system", name=workspace.snapshot.name, absence=absence), user)
