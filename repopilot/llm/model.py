"""A language model ready to be asked, and the few facts its callers need."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from repopilot.llm.cache import ReplyCache
    from repopilot.llm.embedded import Engine

Kind = Literal["ollama", "openai", "embedded", "scripted"]

CHARS_PER_TOKEN = 3.2
"""Lower than the 3.3–4 that Qwen and Llama tokenizers reach on code and English: a count that errs on the long side."""
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s*b(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Model:
    """One model and how it is reached. Ask it through `stream.chat` and `structured`, which keep its promises
    (timeout, cancellation, cache, notes in the trace); `llm` itself is for LlamaIndex parts that want one.

    `context_window` in tokens; `notes` says in words why this one was taken and every step down on the way;
    `timeout_s` is the longest silence before it counts as hanging. `engine` is the child process of an embedded
    model, which must have been started (`choose.prewarm`) before `llm` is used directly.
    """

    llm: LLM = field(repr=False)
    name: str
    kind: Kind
    context_window: int
    count_tokens: Callable[[str], int] = field(repr=False)
    notes: tuple[str, ...] = ()
    timeout_s: float = 120.0
    cache: ReplyCache | None = field(default=None, repr=False)
    engine: Engine | None = field(default=None, repr=False)

    @property
    def identity(self) -> str:
        """What tells its replies from another model's of the same name: the server's address, where there is one."""
        server = "" if self.engine else getattr(self.llm, "base_url", None) or getattr(self.llm, "api_base", "")
        return f"{self.kind} {server} {self.name}"


def estimate_tokens(text: str) -> int:
    """Tokens of `text` where the model's own tokenizer is out of reach: ASCII characters by `CHARS_PER_TOKEN`,
    every other character as one token (true of CJK, too many for accents)."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_count / CHARS_PER_TOKEN) + len(text) - ascii_count


def billions(name: str) -> float:
    """The billions of parameters a model's name gives, infinite where it gives none: somebody's own choice."""
    return max((float(size) for size in _SIZE.findall(name)), default=float("inf"))
