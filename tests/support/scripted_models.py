"""A model with scripted replies, as agents take it."""

from __future__ import annotations

from support.scripted_llm import Reply, ScriptedLLM

from repopilot.llm.model import Model
from repopilot.llm.token_estimate import estimate_tokens


def scripted_model(
    reply: Reply, *, name: str = "scripted", context_window: int = 8192, delay_s: float = 0.0, timeout_s: float = 120.0
) -> Model:
    """A `Model` that answers with `reply(messages)`. Nothing is cached, so that every call reaches the script.

    Args:
        reply: makes the reply.
        name: the model's name.
        context_window: in tokens.
        delay_s: pause before each piece, in seconds.
        timeout_s: the longest silence before a call counts as hanging.
    """
    llm = ScriptedLLM(reply, delay_s=delay_s, context_window=context_window)
    return Model(llm, name, "scripted", context_window, estimate_tokens, timeout_s=timeout_s)
