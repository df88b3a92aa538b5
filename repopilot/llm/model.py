"""A language model ready to be asked, and the few facts its callers need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from repopilot.llm.call_queue import CallQueue
from repopilot.llm.speed.model_speed import Speed

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from repopilot.llm.capability import Way
    from repopilot.llm.embedded.embedded_engine import Engine
    from repopilot.llm.token_budget import TokenBudget

Kind = Literal["ollama", "openai", "embedded", "scripted"]


@dataclass(frozen=True, slots=True)
class Model:
    """One model and how it is reached. Ask it through `stream.chat` and `structured`, which add timeout,
    cancellation and notes in the trace; `llm` itself is for LlamaIndex parts that want one.

    Attributes:
        llm: LlamaIndex's interface to the model.
        name: as the server knows it.
        kind: which backend serves it.
        context_window: in tokens.
        count_tokens: tokens of a text, by the model's tokenizer or an estimate.
        notes: why this model was chosen, and every fallback before it, as messages.
        timeout_s: the longest silence before a call counts as hanging; before the first word it may be longer.
        engine: the child process of an embedded model; start it (`choose.warm_up`) before using `llm` directly.
        calls: the queue that all models of its server share, None for none.
        speed: as measured on this machine, or estimated from another size; None while nothing is known.
        replies: the speeds of its replies so far.
        way: how it works: in a loop with tools, or on a few lines at a time.
        budget: tokens per day for a remote server; None for no limit.
    """

    llm: LLM = field(repr=False)
    name: str
    kind: Kind
    context_window: int
    count_tokens: Callable[[str], int] = field(repr=False)
    notes: tuple[str, ...] = ()
    timeout_s: float = 120.0
    engine: Engine | None = field(default=None, repr=False)
    speed: Speed | None = None
    replies: list[Speed] = field(default_factory=list, repr=False, compare=False)
    calls: CallQueue | None = field(default=None, repr=False)
    way: Way = "small"
    budget: TokenBudget | None = field(default=None, repr=False)

    @property
    def identity(self) -> str:
        """Identifies the model: kind, name, and the server's address where there is one."""
        server = "" if self.engine else getattr(self.llm, "base_url", None) or getattr(self.llm, "api_base", "")
        return f"{self.kind} {server} {self.name}"

    @property
    def pace(self) -> Speed | None:
        """The present speed: that of the last reply, else `speed`."""
        return self.replies[-1] if self.replies else self.speed
