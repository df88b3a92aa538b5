"""Makes a context pack on request: for a question, or of whole folders."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from repopilot.index.embed import Embedder
from repopilot.index.store import Index
from repopilot.retrieval import skipped_files
from repopilot.retrieval.context_pack import QUERY_BUDGET, ContextPack, context_pack, real_tokenizer
from repopilot.retrieval.folder_pack import folder_pack
from repopilot.retrieval.search import search
from repopilot.types import Snapshot
from repopilot.validation import WHOLE

PLACES = 30
"""Places that the search finds for a question, to choose from."""
_Path = Annotated[str, Field(max_length=1_000)]


class PackRequest(BaseModel):
    """What a pack is made for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: Annotated[str, Field(max_length=20_000, description="a question")] = ""
    folders: Annotated[list[_Path], Field(max_length=100, description="instead of a query; `.` for all")] = []
    max_tokens: Annotated[int, Field(ge=1, description="4000; for folders, no limit"), WHOLE] | None = None

    @model_validator(mode="after")
    def _query_or_folders(self) -> Self:
        if bool(self.query.strip()) == bool(self.folders):
            raise ValueError("give either query or folders")
        return self


def requested_pack(
    index: Index,
    snapshot: Snapshot,
    request: PackRequest,
    embedder: Embedder | None,
    largest_file: int,
    form: str = "markdown",
) -> ContextPack:
    """Make a pack. Blocking.

    Args:
        index: of the repository.
        snapshot: the repository's files, for those that a question names and the index skips.
        request: what it is for.
        embedder: for the vectors of the search.
        largest_file: bytes of the largest file that is read beside the index.
        form: `markdown`, `xml` or `json`, which the pack is to be rendered in.

    Raises:
        UsageError: there is no such folder, or nothing fits.
    """
    if request.folders:
        return folder_pack(index, request.folders, request.max_tokens or 0, real_tokenizer(), form)
    found = search(index, request.query, PLACES, embedder=embedder)
    named = skipped_files.excerpts(index, snapshot, found.query, largest_file)
    budget = request.max_tokens or QUERY_BUDGET
    return context_pack(index, found.hits, request.query, budget, real_tokenizer(), named, form)
