"""Parallel debate: `python -m bench.debate` prints the wall time of Critic and Defender together against the slower
of them alone, with a scripted backend that answers calls in parallel; the median of RUNS, goal ≤ 1.15."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.scripted_llm import Script, ScriptedLLM

from repopilot import trace
from repopilot.agents.generate.debate import debate
from repopilot.llm.model import Model
from repopilot.llm.token_estimate import estimate_tokens
from repopilot.settings import Settings
from repopilot.types import FileChange
from repopilot.workspace import Workspace

RUNS = 7
WORDS, SECONDS_A_WORD = 60, {"critic": 0.02, "defender": 0.015}
CHANGE = FileChange("half.py", "added", "", "def half(n):\n    return n // 2\n")
REPLIES = {
    "critic": {
        "issues": [{"quote": "return n // 2", "problem": "rounds down " * WORDS, "severity": "low"}],
        "test": "",
    },
    "defender": {"points": [{"quote": "return n // 2", "argument": "whole numbers " * WORDS}]},
}


def reply(messages: Sequence) -> Script:
    who = "critic" if "strict reviewer" in messages[0].content else "defender"
    words = json.dumps(REPLIES[who])[:-1].split(" ")
    return [piece for word in words for piece in (SECONDS_A_WORD[who], word + " ")] + ["}"]


def slower() -> float:
    """Seconds the slower reply takes to stream, measured on its own."""
    times = []
    for who, seconds in SECONDS_A_WORD.items():
        times.append(asyncio.run(_slept(len(json.dumps(REPLIES[who]).split(" ")), seconds)))
    return max(times)


async def _slept(pieces: int, seconds: float) -> float:
    began = time.perf_counter()
    for _ in range(pieces):
        await asyncio.sleep(seconds)
    return time.perf_counter() - began


async def together() -> float:
    model = Model(ScriptedLLM(reply), "scripted", "scripted", 8192, estimate_tokens)
    workspace = Workspace(None, None, Settings(), model=model)  # type: ignore[arg-type]
    began = time.perf_counter()
    async with trace.root(lambda event: None, "bench") as step:
        result = await debate("halve a number", (CHANGE,), workspace, step)
    assert result.issues and result.defended
    return time.perf_counter() - began


def main() -> None:
    ratios = [asyncio.run(together()) / slower() for _ in range(RUNS)]
    print(f"debate / slower reviewer: median {statistics.median(ratios):.3f}, worst {max(ratios):.3f} of {RUNS}")


if __name__ == "__main__":
    main()
