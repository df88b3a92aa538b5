"""Which names the repository has."""

from __future__ import annotations

from repopilot.index.store import Index
from repopilot.retrieval.claims import Anchor, claim_of, identifiers, last_name
from repopilot.retrieval.search import Results


def absent_names(question: str, index: Index, results: Results) -> list[str]:
    """Names in a question that the repository doesn't have.

    Args:
        question: as the user asked it.
        index: the repository's index.
        results: of the search; what occurs in its hits exists.

    Returns:
        Identifiers that are neither defined nor used anywhere; none for a stack that leads here, whose other names are
        those of the code that it passes through.
    """
    if leads_here(results):
        return []
    names = [a for a in claim_of(question).anchors if a.kind == "name"]
    known = identifiers("\n".join(h.chunk.text for h in results.hits))
    return [n.text for n in names if last_name(n.text) not in known and not exists_in(index, n)]


def leads_here(results: Results) -> bool:
    """Whether a frame of the stack that was asked about is among the places that were found."""
    paths = {hit.chunk.path for hit in results.hits}
    return any(f"/{frame.path}".endswith(f"/{path}") for frame in results.query.frames for path in paths)


def exists_in(index: Index, anchor: Anchor) -> bool:
    """Whether the repository has a name or path.

    Args:
        index: the repository's index.
        anchor: what a sentence or question names.

    Returns:
        Whether the name is defined or used anywhere, or a file ends with the path. A bare file name counts as existing:
        it is as likely a file that the program makes as one of the repository.
    """
    if anchor.kind == "path":
        return "/" not in anchor.text or any(path.endswith(anchor.text.lstrip("./")) for path in index.files)
    last = last_name(anchor.text)
    return bool(index.symbols(last)) or bool(index.references(last))
