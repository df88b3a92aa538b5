"""What the language models of one process share."""

from __future__ import annotations

from dataclasses import dataclass, field

from repopilot.llm.call_queue import CallQueue
from repopilot.llm.capability import Capability
from repopilot.llm.embedded.embedded_engine import Engines


@dataclass(frozen=True, slots=True)
class ModelResources:
    """Embedded engines, hosts that couldn't be connected to (not tried again), call queues by server, and capabilities
    by server and model name."""

    engines: Engines = field(default_factory=Engines)
    unreachable_hosts: set[str] = field(default_factory=set)
    queues: dict[str, CallQueue] = field(default_factory=dict)
    capabilities: dict[tuple[str, str], Capability] = field(default_factory=dict)

    def calls(self, server: str, at_once: int) -> CallQueue:
        """The queue of a server; `at_once` is how many calls it gets when it is new."""
        return self.queues.setdefault(server, CallQueue(at_once))

    def close(self) -> None:
        """End the engines' processes."""
        self.engines.close()
