"""Which names the repository has, and which names in a question it lacks."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

from repopilot.index.store import Index
from repopilot.index.tokens import expand
from repopilot.resolve.names import Resolver
from repopilot.resolve.values import Occurrence
from repopilot.retrieval.claims import Anchor, claim_of, identifiers, last_name
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR
from repopilot.retrieval.search import Results
from repopilot.workspace import Workspace

Holding = Callable[[str], Collection[str]]
"""Gives the files that hold a name, or, where only an index is at hand, some file if there is any."""
_MOST_SKIPPED = 8
_PROPER_NAME = re.compile(r"(?<=[a-z,;:(/] )[A-Z][A-Za-z0-9]{2,}\b")
"""A capitalized word that doesn't begin a sentence."""
_SHORT = 4
"""A stem of at most this many letters proves nothing in the middle of a longer token: `redi` is in `redirect`."""


def absent_names(question: str, index: Index, results: Results, holding: Holding) -> list[str]:
    """Names in a question that no indexed file of the repository has.

    Args:
        question: as the user asked it.
        index: the repository's index.
        results: the results of the search; a name in their hits exists.
        holding: gives the files that hold a name.

    Returns:
        Identifiers that occur nowhere; none for a stack trace with a frame in the repository, whose other names belong
        to other code in the trace.
    """
    if leads_here(results):
        return []
    names = [a for a in claim_of(question).anchors if a.kind == "name"]
    known = identifiers("\n".join(h.chunk.text for h in results.hits))

    def indexed(name: str) -> list[str]:
        return [path for path in holding(name) if path in index.files]

    return [n.text for n in names if last_name(n.text) not in known and not exists_in(index, n, indexed)]


def leads_here(results: Results) -> bool:
    """Whether a frame of the stack trace in the question is in a file that was found."""
    paths = {hit.chunk.path for hit in results.hits}
    return any(f"/{frame.path}".endswith(f"/{path}") for frame in results.query.frames for path in paths)


def files_holding(resolver: Resolver, name: str) -> list[str]:
    """The files of a repository that hold a name, also those that the index skips. Blocking."""
    return list(dict.fromkeys(one.span.path for one in resolver.occurrences(name)))


def indexed_holding(index: Index, name: str) -> list[str]:
    """Any one file if the index has a name's token, else none: stands in for `files_holding` without a resolver."""
    tokens = expand(name)[:1]
    return list(index.files)[:1] if any(token in index.lexical.tokens for token in tokens) else []


def exists_in(index: Index, anchor: Anchor, holding: Holding) -> bool:
    """Whether the repository has a name or path.

    Args:
        index: the repository's index.
        anchor: what a sentence or question names.
        holding: gives the files that hold a name.

    Returns:
        Whether the name occurs anywhere, or a file's path ends with the path. A bare file name counts as existing: it
        may as well be a file that the program writes.
    """
    if anchor.kind == "path":
        return "/" not in anchor.text or any(path.endswith(anchor.text.lstrip("./")) for path in index.files)
    last = last_name(anchor.text)
    return bool(index.symbols(last) or index.references(last) or holding(last))


def absent_proper_names(question: str, index: Index) -> list[str]:
    """Capitalized words that are no part of any name or word of the repository.

    Args:
        question: as the user asked it. Where it capitalizes many words, capitals don't mean proper names.
        index: the repository's index.
    """
    found = [name for name in dict.fromkeys(_PROPER_NAME.findall(question)) if name.lower() not in STOP_EN | STOP_FR]
    if 3 * len(found) > len(question.split()):
        return []
    return [name for name in found if not _occurs(expand(name.lower())[0], index)]


def _occurs(stem: str, index: Index) -> bool:
    return any(token.endswith(stem) or (len(stem) > _SHORT and stem in token) for token in index.lexical.tokens)


def in_skipped_files(names: Iterable[str], workspace: Workspace) -> list[Occurrence]:
    """The first places where some names occur in files that the index skips. Blocking."""
    asked = dict.fromkeys(spelled for name in names for spelled in (last_name(name), last_name(name).lower()))
    found = (at for name in asked for at in workspace.resolver.occurrences(name))
    return [at for at in found if at.span.path not in workspace.index.files][:_MOST_SKIPPED]
