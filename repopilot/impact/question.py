"""What a question asks the impact of: a range of commits, uncommitted or generated work, files, symbols."""

from __future__ import annotations

import re
from dataclasses import dataclass

from repopilot.code.graph.graph import Graph, find
from repopilot.i18n import message
from repopilot.impact.call_graph import missing_in_file
from repopilot.types import FileChange
from repopilot.workspace import Workspace

_RANGE = re.compile(r"(?<![\w./])([\w][\w./~^-]*?\.\.\.?[\w][\w./~^-]*)")
_LAST = re.compile(r"\b(?:last|latest|dernier|dernière)\s+commit\b", re.IGNORECASE)
_LOCAL = re.compile(
    r"\b(?:my|uncommitted|unstaged|local|mes)\s+(?:\w+\s+)?(?:changes?|diff|edits?|modifications?)\b", re.I
)
_GENERATED = re.compile(r"\b(?:generated|you (?:just )?wrote|your code|new code|code généré|this|that|it|ça)\b", re.I)
_TOKEN = re.compile(r"[\w./@:#-]*\w(?:\(\))?")
_ASKED_OF = re.compile(
    r"\b(?:calls?|calling|callers? of|uses?|using|users? of|usages? of|depends? (?:up)?on|depending on|dependents? of|"
    r"invokes?|references?|inherits? from|chang(?:e|es|ing)|renam(?:e|ing)|remov(?:e|ing)|delet(?:e|ing)|"
    r"modify(?:ing)?|impact of|effects? of|appelle(?:nt)?|utilise(?:nt)?|dépend(?:ent)? d[eu]|appelants? d[eu]|"
    r"modifier|renommer|supprimer)\s+"
    r"(?:(?:the|a|la|le|les)\s+|l['’])?(?:(?:function|method|class|fonction|méthode|classe)\s+)?(?P<after>[\w.]+\w)|"
    r"\b(?:is|are|est)\s+(?P<before>[\w.]+\w)\s+(?:used|called|referenced|utilisée?s?|appelée?s?)\b",
    re.IGNORECASE,
)
"""What is asked about, also where it is written as a plain word: `who calls echo`."""
_NO_NAMES = frozenset(
    "a all an any anything by ce code everything file files from function his how in into it its la le les me method "
    "more my of on or our something sur that the their them these they things this those to us we what where which "
    "who why with you your".split()
)
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
    if _LAST.search(question):
        return ImpactRequest(diff="HEAD~1..HEAD")
    if _LOCAL.search(question) and workspace.snapshot.root is not None:
        return ImpactRequest(diff="HEAD..")
    last = workspace.turns[-1].files if workspace.turns else ()
    if last and _GENERATED.search(question):
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
    """A plain word that is asked about and that the repository defines."""
    words = [match["after"] or match["before"] for match in _ASKED_OF.finditer(question)]
    names = [word.strip(".") for word in words if word.lower() not in _NO_NAMES]
    return tuple(dict.fromkeys(name for name in names if find(graph, name)))


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
