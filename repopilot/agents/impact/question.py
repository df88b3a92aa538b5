"""What a question asks the impact of: a range of commits, uncommitted or generated work, files, symbols, or the places
that a wish would change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from repopilot.agents.impact.codebase import codebase_of
from repopilot.agents.wishes.likely_places import agreed_file, code_touched, evidence_of, things_named
from repopilot.code.graph.graph import Graph, find
from repopilot.foreign_text import CODE_SPAN
from repopilot.i18n import message
from repopilot.repo.history import range_in
from repopilot.resolve.uses.call_graph import missing_in_file
from repopilot.retrieval.query.asked import asked
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR, VAGUE
from repopilot.types import FileChange
from repopilot.workspace import Workspace

_TOKEN = re.compile(r"(?<![\w./@:#-])[\w./@:#-]*\w(?:\(\))?")
_MOST_PLACES = 6
_BESIDE = 2
"""The most other meaningful words in a sentence that names one plain word and isn't a question."""
Understood = Literal["by_model", "agreed", "uncertain"]
"""How the places that a wish would change were found: by a model, by search and history in agreement, or as the
likeliest of either."""


@dataclass(frozen=True, slots=True)
class ImpactRequest:
    """What to assess: one of `diff` (BASE..HEAD), `changes` and `targets`; `note` says how a wish in words was
    understood, '' for a question that names what it is about."""

    targets: tuple[str, ...] = ()
    diff: str | None = None
    changes: tuple[FileChange, ...] = ()
    note: str = ""

    def __bool__(self) -> bool:
        return bool(self.targets or self.diff or self.changes)


def read_request(question: str, workspace: Workspace) -> ImpactRequest:
    """Read what a question asks the impact of.

    Args:
        question: as the user wrote it.
        workspace: its files, and the conversation so far.

    Returns:
        The request. A question that names nothing is read as a wish: its targets are the places that it would probably
        change, which `note` says; an empty one where there is none.

    Raises:
        UsageError: it names a definition that its file doesn't have.
    """
    if diff := range_in(question):
        return ImpactRequest(diff=diff)
    if missing := missing_in_file(question, workspace.index):
        raise missing
    graph = codebase_of(workspace.index).graph
    named = _named(question, workspace, graph)
    if named:
        return ImpactRequest(named)
    scope = asked(question)
    if scope != "task" and (plain := _plain_names(question, graph)):
        things = things_named(question, graph)
        return ImpactRequest(tuple(dict.fromkeys([*plain, *(f"{node.path}:{node.name}" for node in things)])))
    if scope == "last commit":
        return ImpactRequest(diff="HEAD~1..HEAD")
    if scope == "uncommitted" and workspace.snapshot.root is not None:
        return ImpactRequest(diff="HEAD..")
    last = workspace.turns[-1].files if workspace.turns else ()
    if last and scope == "generated":
        return ImpactRequest(changes=last)
    return _wished(question, workspace)


def _named(question: str, workspace: Workspace, graph: Graph) -> tuple[str, ...]:
    files = workspace.index.files
    quoted = {token for part in CODE_SPAN.findall(question) for token in _TOKEN.findall(part)}
    found: list[str] = []
    for token in _TOKEN.findall(question):
        name = token.strip(".:#").removeprefix("./").removeprefix("@").removesuffix("()")
        ending = workspace.index.file_named(name) if "." in name else ""
        if name in files or (":" in name and find(graph, name)):
            found.append(name)
        elif ending:
            found.append(ending)
        elif _looks_like_code(token) or token in quoted:
            found += [name] if find(graph, name) else []
    return tuple(dict.fromkeys(found))


def _plain_names(question: str, graph: Graph) -> tuple[str, ...]:
    """The only word of a question that the repository defines; none in a wish of many words, where it may be chance."""
    words = dict.fromkeys(word.strip(".") for word in _TOKEN.findall(question))
    telling = [word for word in words if word.lower() not in STOP_EN | STOP_FR | VAGUE]
    names = [word for word in telling if find(graph, word)]
    return tuple(names) if len(names) == 1 and (len(telling) <= 1 + _BESIDE or parse(question).asks) else ()


def _looks_like_code(token: str) -> bool:
    """Whether a word is a name: `load_user`, `loadUser`, `User.load`, `load()`, `HTTPServer`."""
    return bool(re.search(r"_\w|[a-z][A-Z]|\w\.\w|::|\(\)$|[A-Z]{2,}[a-z]", token))


def _wished(wish: str, workspace: Workspace) -> ImpactRequest:
    """The places that a wish in words would change, as the planner finds them."""
    evidence = evidence_of(wish, workspace.index, workspace.embedder)
    places = code_touched(wish, evidence, workspace.index)[:_MOST_PLACES]
    if not places:
        return ImpactRequest()
    agreed = places[0].partition(":")[0] == agreed_file(wish, evidence, workspace.index)
    return ImpactRequest(places, note=wished(places, "agreed" if agreed else "uncertain"))


def wished(places: Sequence[str], how: Understood) -> str:
    """The note that a wish was read as a change of some places, and how reliable that is."""
    return message(f"impact.wished.{how}", first=f"`{places[0]}`", places=", ".join(f"`{place}`" for place in places))
