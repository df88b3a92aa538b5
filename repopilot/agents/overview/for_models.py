"""What the loop's prompt and a context pack say about the repository, so that a model needn't find out its layout."""

from __future__ import annotations

import asyncio

from repopilot.agents.overview.compute import overview_of
from repopilot.agents.overview.render import lines_for_model
from repopilot.index.embed import Embedder
from repopilot.index.store import Index
from repopilot.prompts import below_text
from repopilot.retrieval.context_pack import ContextPack
from repopilot.retrieval.requested_pack import PackRequest, requested_pack
from repopilot.types import Snapshot


async def with_layout(task: str, index: Index) -> str:
    """A task below the layout of the repository, which is marked as written by others.

    Args:
        task: what a model is asked.
        index: the repository.

    Returns:
        The task alone where the repository holds no code whose definitions are read.
    """
    return below_text("loop_layout", task, lines_for_model(await asyncio.to_thread(overview_of, index)))


def pack_for(
    index: Index,
    snapshot: Snapshot,
    request: PackRequest,
    embedder: Embedder | None,
    largest_file: int,
    form: str = "markdown",
) -> ContextPack:
    """Make a context pack, with the overview at its head where the request says so. Blocking.

    Args:
        index: of the repository.
        snapshot: the repository's files.
        request: what the pack is for.
        embedder: for the vectors of the search.
        largest_file: bytes of the largest file that is read beside the index.
        form: `markdown`, `xml` or `json`, which the pack is to be rendered in.

    Returns:
        The pack.

    Raises:
        UsageError: there is no such folder, or nothing fits.
    """
    lines = lines_for_model(overview_of(index)).splitlines() if request.overview else ()
    return requested_pack(index, snapshot, request, embedder, largest_file, form, lines)
