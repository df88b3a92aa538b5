"""Measures an embedded model on this machine: speed, share of valid JSON, and the time a shared prompt prefix saves.

    python -m bench.models [NAME …]

The data directory is REPOPILOT_HOME's; missing weights are downloaded.

Prints one JSON document. Speeds are the engine's own, read from the trace; on a shared machine read them as ratios.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Literal

from llama_index.core.llms import ChatMessage
from pydantic import BaseModel, Field

from repopilot import trace
from repopilot.llm import stream, structured
from repopilot.llm.backend import ChatOptions
from repopilot.llm.choice import choose
from repopilot.llm.model import Model
from repopilot.llm.resources import ModelResources
from repopilot.llm.weights import models
from repopilot.settings import Settings

CODE = Path(models.__file__).read_text()[:6000]
SUBJECTS = "ensure installed available _fetch _digest _check_space _locked _storage_errors _known _complete".split()


class Issue(BaseModel):
    line: int = Field(ge=1)
    text: str = Field(max_length=80)


class Review(BaseModel):
    issues: list[Issue] = Field(max_length=3)
    verdict: Literal["approve", "reject"]


def messages_of(system: str, user: str) -> list[ChatMessage]:
    return [ChatMessage(role="system", content=system), ChatMessage(role="user", content=user)]


async def call_facts(model: Model, messages: list[ChatMessage], **options: int) -> dict[str, object]:
    """Tokens and seconds of one call, from its trace."""
    async with trace.root(lambda _: None, "bench") as step:
        await stream.chat(model, messages, step, ChatOptions(**options))
    return step.data


async def speed(model: Model) -> dict[str, float]:
    facts = await call_facts(model, messages_of("You explain code.", f"{CODE}\nExplain it."), max_tokens=80)
    return {
        "prompt_tokens": facts["prompt_tokens"],
        "prompt_tokens_per_s": round(facts["prompt_tokens"] / facts["first_token_s"], 1),
        "generated_tokens_per_s": facts["tokens_per_s"],
    }


async def valid_json(model: Model) -> dict[str, int]:
    valid = repaired = 0
    for subject in SUBJECTS:
        async with trace.root(lambda _: None, "bench") as step:
            question = messages_of("You review code.", f"{CODE[:1500]}\nReview {subject}.")
            valid += await structured.ask(model, question, Review, step, max_tokens=250) is not None
            repaired += "repaired" in step.data
    return {"calls": len(SUBJECTS), "valid": valid, "repaired": repaired}


async def prefix_reuse(model: Model) -> dict[str, dict[str, object]]:
    """Two agents with long prefixes of their own, one after the other: seconds to the first token, cold and warm."""
    agents = {"critic": "You find faults.\n" + CODE[:4000], "defender": "You defend the code.\n" + CODE[2000:6000]}
    result: dict[str, dict[str, object]] = {name: {} for name in agents}
    for turn, question in (("cold", "Name one function."), ("second", "Name one class.")):
        for name, prefix in agents.items():
            facts = await call_facts(model, messages_of(prefix, question), max_tokens=8)
            result[name][turn] = facts["first_token_s"]
            result[name][f"{turn}_reused_tokens"] = facts.get("reused_prompt_tokens", 0)
    return result


async def measure(name: str, base: Settings) -> dict[str, object]:
    chosen = base.model_copy(update={"llm_model": name, "ollama_url": "", "llm_url": ""})
    models.ensure(name, chosen)
    model = await choose.choose(chosen, ModelResources())
    assert model and model.engine
    await choose.warm_up(model)
    try:
        return {
            "model": name,
            "threads": chosen.threads or "all",
            "speed": await speed(model),
            "prefix_reuse": await prefix_reuse(model),
            "json": await valid_json(model),
        }
    finally:
        model.engine.stop()


async def main() -> None:
    names = sys.argv[1:] or ["qwen2.5-coder:0.5b"]
    print(json.dumps([await measure(name, Settings()) for name in names], indent=2))


if __name__ == "__main__":
    asyncio.run(main())
