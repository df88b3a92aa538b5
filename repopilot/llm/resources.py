"""What the language models of one process share."""

from __future__ import annotations

from dataclasses import dataclass, field

from repopilot.llm.cache import ReplyCache
from repopilot.llm.embedded import Engines
from repopilot.settings import Settings


@dataclass(frozen=True, slots=True)
class ModelResources:
    """Embedded engines, cached replies, and the hosts that failed to connect, which are not asked again."""

    engines: Engines = field(default_factory=Engines)
    replies: ReplyCache = field(default_factory=ReplyCache)
    unreachable_hosts: set[str] = field(default_factory=set)

    @classmethod
    def for_settings(cls, settings: Settings) -> ModelResources:
        """New resources; the replies are cached on disk if the settings allow it."""
        return cls(replies=ReplyCache(settings.home / "cache" / "replies" if settings.cache_on_disk else None))

    def close(self) -> None:
        """End the engines' processes."""
        self.engines.close()
