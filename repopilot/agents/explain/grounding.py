"""Which names the repository has."""

from __future__ import annotations

from collections.abc import Callable, Collection

from repopilot.index.store import Index
from repopilot.index.tokens import expand
from repopilot.resolve.names import Resolver
from repopilot.retrieval.claims import Anchor, claim_of, identifiers, last_name
from repopilot.retrieval.search import Results

Holding = Callable[[str], Collection[str]]
"""Gives the files that hold a name, or, where only an index is at hand, some file if there is any."""


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
