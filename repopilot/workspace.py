"""One repository at one commit with everything an agent needs to work on it. Built once, passed down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from repopilot.settings import Settings
from repopilot.types import Snapshot, Turn

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder
    from repopilot.index.store import Index
    from repopilot.llm.model import Model


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
