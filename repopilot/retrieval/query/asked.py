"""What a question asks for, learnt from labelled questions (bench/data/asked_train.jsonl, bench/train_router.py)."""

from __future__ import annotations

from typing import Literal, cast, get_args

from repopilot.retrieval.query import learnt

Relation = Literal["callers", "callees", "references", "subclasses", "bases"]
Command = Literal["install", "build", "start", "test", "lint", "docs", "bench"]
History = Literal["added", "changed", "reason"]
Manifest = Literal["dependency", "licence", "version"]
Scope = Literal["uncommitted", "last commit", "generated", "everything"]
Computed = Literal[Relation, Command, History, Manifest, "path"]
"""What code can answer from the index; `reason`: why something changed; `path`: from one definition to another."""
Part = Literal["overview", "structure", "entry points", "reading"]
"""What is asked about the repository as a whole: all of it, how it is built up, where it starts, where to read."""
Asked = Literal[Computed, Scope, Part, "value", "none", "task", "run tests"]
"""`Scope`: of a review or an impact; `value`: the value of a name, which the evidence shows; `task`: reads like a
commit message; `none`: none of these."""
OF_THE_REPOSITORY = frozenset([*get_args(Part), *get_args(Command), *get_args(Manifest)])
"""What is asked about the repository as a whole, whatever the conversation is about."""
SURE = 0.75
"""Lowest probability at which a label is trusted: a wrong computed answer costs more than showing evidence instead."""


def likeliest(question: str) -> tuple[Asked, float]:
    """What a question most likely asks for, and its probability.

    Args:
        question: as the user wrote it; names that don't look like code are better written as ` name `.
    """
    label, chance = max(learnt.chances(question, __package__).items(), key=lambda pair: pair[1])
    return cast(Asked, label), chance


def asked(question: str) -> Asked:
    """What a question asks for; `none` where that isn't sure."""
    label, chance = likeliest(question)
    return label if chance >= SURE else "none"
