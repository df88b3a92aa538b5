"""From what the user typed to a workspace, blocking, as the command line needs it.

The browser takes the same steps one by one, each with its own progress and buttons (ui/repository/registry.py).
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from repopilot.errors import ModelError
from repopilot.index import embed
from repopilot.index.build import job
from repopilot.index.store import Index
from repopilot.repo.clone import clone_dir
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source, split_token
from repopilot.results import Turn
from repopilot.settings import Settings
from repopilot.types import Progress, Snapshot, Source

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder
    from repopilot.llm.model import Model

log = logging.getLogger(__name__)

ENDING_S = 2.0
"""How long a command waits for its stopped indexing to put its things away."""

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Workspace:
    """`model` is None when no language model answers (answers are extractive then); `reviewer` is a second
    model where there is one; `embedder` None means lexical search only. `turns` is the conversation so far."""

    snapshot: Snapshot
    index: Index
    settings: Settings
    model: Model | None = None
    reviewer: Model | None = None
    embedder: Embedder | None = None
    turns: tuple[Turn, ...] = ()


def open_snapshot(
    text: str, settings: Settings, ref: str | None, progress: OnProgress, cancel: threading.Event
) -> Snapshot:
    """Clone, fetch or find what `text` names. Raises SourceError, CredentialsNeeded, StorageError, UsageError."""
    text, token = split_token(text)
    source = parse_source(text)
    if ref:
        source = replace(source, ref=ref)
    return fetch_source(source, settings, token, progress, cancel)


def fetch_source(
    source: Source, settings: Settings, token: str, progress: OnProgress, cancel: threading.Event
) -> Snapshot:
    """Clone, fetch or find the source; the parsers start while a first clone is under way. Raises as open_source."""
    if source.url and not clone_dir(source.url, settings).exists():
        job.prewarm(settings)
    return open_source(source, settings, token=token or settings.git_token, progress=progress, cancel=cancel)


def fetch_embedder(settings: Settings, progress: OnProgress) -> None:
    """Fetch the built-in embedding model where vectors are wanted and none is there yet.

    Offline is no failure here: the index then says that it is lexical only.
    """
    from repopilot.llm import models

    if not (settings.dense and settings.auto_download) or settings.embed_model or models.installed("minilm", settings):
        return
    try:
        models.ensure("minilm", settings, progress=progress, cancel=threading.Event())
    except ModelError as error:
        log.warning("no embedding model: %s", error)


def open_index(
    snapshot: Snapshot,
    settings: Settings,
    progress: OnProgress,
    *,
    full: bool = False,
    wait: bool = False,
    token: str = "",
) -> Index:
    """The index brought up to date: lexical and symbols, with `wait` history, code graph and dense vectors too.

    `token` serves to fetch the history of a private repository. Raises IndexFailed, StorageError, SourceError.
    """
    embedder = embed.choose(settings) if wait else None
    local = snapshot.root is not None
    # A folder's own history is read in a moment and ranks better; a clone's has to be fetched.
    index = job.build(snapshot, settings, embedder, progress=progress, full=full, wait=wait, history=local, token=token)
    running = job.running(snapshot, settings)
    if running is not None and not wait:
        # A command ends when it has printed: what a clone still lacks is the browser's and `--wait`'s to fetch.
        running.cancel()
        running.done.wait(ENDING_S)
    return index


async def open_workspace(index: Index, snapshot: Snapshot, settings: Settings) -> Workspace:
    """The workspace with whatever model and embedder answer now."""
    from repopilot.llm import choose

    model = await choose.choose(settings)
    embedder = await asyncio.to_thread(embed.choose, settings)
    reviewer = await choose.choose_reviewer(settings, model) if model else None
    return Workspace(snapshot, index, settings, model=model, reviewer=reviewer, embedder=embedder)
