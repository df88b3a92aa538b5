"""What a question asks the impact of: a range of commits, uncommitted or generated work, files, symbols."""

from __future__ import annotations

import re
from dataclasses import dataclass

from repopilot.code.graph.graph import Graph, find
from repopilot.i18n import message
from repopilot.impact.call_graph import missing_in_file
from repopilot.retrieval.query.asked import asked
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR, VAGUE
from repopilot.types import FileChange
from repopilot.workspace import Workspace

_RANGE = re.compile(r"(?<![\w./])([\w][\w./~^-]*?\.\.\.?[\w][\w./~^-]*)")
_TOKEN = re.compile(r"[\w./@:#-]*\w(?:\(\))?")
_MOST_FILES = 2
_HITS = 10


@dataclass(frozen=True, slots=True)
class ImpactRequest:
    """What to assess: one of `diff` (BASE..HEAD), `changes` and `targets`; `note` says how a vague question was
    understood, '' for a plain one."""

    targets: tuple[str, ...] = ()
    diff: str | None = None
    changes: tuple[FileChange, ...] = ()
    note: str = ""


def read_request(question: str, workspace: Workspace, graph: Graph) -> ImpactRequest:
    """Read what a question asks the impact of.

    Args:
        question: as the user wrote it.
        workspace: its files, and the conversation so far.
        graph: the code graph that names are looked up in.

    Returns:
        The request. A question that names nothing is answered by a search, which `note` says; without a hit all its
        fields are empty.

    Raises:
        UsageError: it names a definition that its file doesn't have.
    """
    if found := _RANGE.search(question):
        return ImpactRequest(diff=found[1])
    if missing := missing_in_file(question, workspace.index):
        raise missing
    named = _named(question, workspace, graph)
    if named:
        return ImpactRequest(named)
    scope = asked(question)
    if scope == "last commit":
        return ImpactRequest(diff="HEAD~1..HEAD")
    if scope == "uncommitted" and workspace.snapshot.root is not None:
        return ImpactRequest(diff="HEAD..")
    last = workspace.turns[-1].files if workspace.turns else ()
    if last and scope == "generated":
        return ImpactRequest(changes=last)
    return _searched(question, workspace)


def _named(question: str, workspace: Workspace, graph: Graph) -> tuple[str, ...]:
    files = workspace.index.files
    quoted = {token for part in re.findall(r"`([^`\n]+)`", question) for token in _TOKEN.findall(part)}
    found: list[str] = []
    for token in _TOKEN.findall(question):
        name = token.strip(".:#").removeprefix("./").removeprefix("@").removesuffix("()")
        ends = workspace.index.files_named(name) if "." in name else []
        if name in files or (":" in name and find(graph, name)):
            found.append(name)
        elif len(ends) == 1:
            found += ends
        elif _looks_like_code(token) or token in quoted:
            found += [name] if find(graph, name) else []
    return tuple(dict.fromkeys(found)) or _plain_names(question, graph)


def _plain_names(question: str, graph: Graph) -> tuple[str, ...]:
    """The one plain word of a question that the repository defines."""
    words = dict.fromkeys(word.strip(".") for word in _TOKEN.findall(question))
    names = [w for w in words if w.lower() not in STOP_EN | STOP_FR | VAGUE and find(graph, w)]
    return tuple(names) if len(names) == 1 else ()


def _looks_like_code(token: str) -> bool:
    """Whether a word is a name: `load_user`, `loadUser`, `User.load`, `load()`, `HTTPServer`."""
    return bool(re.search(r"_\w|[a-z][A-Z]|\w\.\w|::|\(\)$|[A-Z]{2,}[a-z]", token))


def _searched(question: str, workspace: Workspace) -> ImpactRequest:
    from repopilot.retrieval.search import search

    hits = search(workspace.index, question, _HITS, embedder=workspace.embedder).hits
    code = [hit.chunk.path for hit in hits if hit.chunk.kind in ("function", "class", "module", "schema")]
    paths = tuple(dict.fromkeys(code))[:_MOST_FILES]
    if not paths:
        return ImpactRequest()
    return ImpactRequest(paths, note=message("impact.best_match", paths=", ".join(f"`{path}`" for path in paths)))
