"""Makes a context pack on request: for a question, or of whole folders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from repopilot.index.embed import Embedder
from repopilot.index.store import Index
from repopilot.retrieval import skipped_files
from repopilot.retrieval.context_pack import QUERY_BUDGET, ContextPack, context_pack, empty_pack, real_tokenizer
from repopilot.retrieval.folder_pack import folder_pack
from repopilot.retrieval.search import search
from repopilot.types import Snapshot

PLACES = 30
"""Places that the search finds for a question, to choose from."""
WHOLE = BeforeValidator(lambda value: int(value) if isinstance(value, float) and value.is_integer() else value)
"""For integers that are strict otherwise: JSON doesn't distinguish 4.0 from 4."""
_Path = Annotated[str, Field(max_length=1_000)]


class PackRequest(BaseModel):
    """What a pack is made for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: Annotated[str, Field(max_length=20_000, description="a question")] = ""
    folders: Annotated[list[_Path], Field(max_length=100, description="instead of a query; `.` for all")] = []
    max_tokens: Annotated[int, Field(ge=1, description="4000; for folders, no limit"), WHOLE] | None = None
    overview: Annotated[bool, Field(description="begin with ten lines on what the repository is")] = False

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
    overview: Sequence[str] = (),
) -> ContextPack:
    """Make a pack. Blocking. `agents/overview/for_models.py` (`pack_for`) adds the overview where the request says so.

    Args:
        index: of the repository.
        snapshot: the repository's files, for those that a question names and the index skips.
        request: what it is for.
        embedder: for the vectors of the search.
        largest_file: bytes of the largest file that is read beside the index.
        form: `markdown`, `xml` or `json`, which the pack is to be rendered in.
        overview: lines for its head that say what the repository is.

    Raises:
        UsageError: there is no such folder, or nothing fits.
    """
    count_tokens = real_tokenizer()
    budget = request.max_tokens or (0 if request.folders else QUERY_BUDGET)
    empty = empty_pack(index, request.query, budget, count_tokens, overview)
    if request.folders:
        return folder_pack(index, request.folders, empty, count_tokens, form)
    found = search(index, request.query, PLACES, embedder=embedder)
    named = skipped_files.excerpts(index, snapshot, found.query, largest_file)
    return context_pack(index, found.hits, empty, count_tokens, named, form)
