"""Load: many browser sessions at one server, which ask at once; the model is a scripted server of Ollama's protocol.

    python -m bench.load [--sessions N] [--questions N] [--rounds N] [--model-ms MS] [--pause S] [--json OUT]

Each session asks about functions of its own, over Socket.IO as a browser does, and its answers are checked: right,
complete, and nothing of another session's. Measured are the time until the evidence is shown and until the answer is
complete; `loop_ms`, the time of a small HTTP request, sent all the while, which is at least that of the event loop's
lag; the server's resident memory before, and after each quarter of the questions; and the order in which sessions are
served, as the largest lead that one has over another in answers.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))  # what the tests drive the application with

from support.app import App, running  # noqa: E402
from support.chat_client import ChatClient, Turn  # noqa: E402
from support.index_case import many, write  # noqa: E402
from support.ollama_server import OllamaServer  # noqa: E402

FUNCTIONS = 200
_PROBE_S = 0.02
_QUEUED = re.compile(r"Place \d+ in the queue")


@dataclass(slots=True)
class Load:
    """What a run measured, times in milliseconds and memory in MB."""

    sessions: int
    questions: int
    wrong: list[str] = field(default_factory=list)
    evidence_p50_ms: float = 0.0
    evidence_p95_ms: float = 0.0
    answer_p95_ms: float = 0.0
    loop_p50_ms: float = 0.0
    loop_p99_ms: float = 0.0
    memory_mb: list[float] = field(default_factory=list)
    largest_lead: int = 0
    queued: int = 0
    seconds: float = 0.0


def reply_of(messages: Sequence[dict], pause_s: float) -> list[str | float]:
    """What the model says: a sentence on the function that the question names."""
    named = re.findall(r"helper_(\d+)", str(messages[-1]["content"]))
    function = max(set(named), key=named.count) if named else "0"
    return [f"`helper_{function}` ", pause_s, f"returns x plus {function} [1]."]


async def drive(app: App, repository: Path, sessions: int, each: int, rounds: int = 1, pause_s: float = 0) -> Load:
    """Ask from many sessions at once.

    Args:
        app: the running application.
        repository: the folder that is asked about.
        sessions: how many.
        each: questions of each session.
        rounds: how often, each time with new sessions.
        pause_s: how long each session waits before a question, at most.
    """
    load = Load(sessions, sessions * each * rounds, memory_mb=[memory_mb(app.process.pid)])
    turns: list[Turn] = []
    latencies: list[float] = []
    started = time.monotonic()
    probing = asyncio.create_task(_probe(app.url, latencies))
    for _ in range(rounds):
        await _round(app, repository, load, each, turns, pause_s)
    probing.cancel()
    evidence = [1000 * turn.evidence_s for turn in turns if turn.evidence_s is not None]
    load.evidence_p50_ms, load.evidence_p95_ms = quantile(evidence, 0.5), quantile(evidence, 0.95)
    load.answer_p95_ms = quantile([1000 * turn.seconds for turn in turns], 0.95)
    load.loop_p50_ms, load.loop_p99_ms = quantile(latencies, 0.5), quantile(latencies, 0.99)
    load.queued = sum(any(_QUEUED.search(step) for step in turn.steps) for turn in turns)
    load.seconds = time.monotonic() - started
    return load


async def _round(app: App, repository: Path, load: Load, each: int, turns: list[Turn], pause_s: float) -> None:
    """Open the sessions, ask, and close them."""
    finished, server = dict.fromkeys(range(load.sessions), 0), app.process.pid

    async def session(number: int, client: ChatClient) -> None:
        for question in range(each):
            await asyncio.sleep(pause_s * random.random())
            function = (number * 7 + question * 31) % FUNCTIONS
            turn = await client.ask(f"how does helper_{function} compute its result and why?")
            turns.append(turn)
            finished[number] += 1
            if len(turns) % max(1, load.questions // 4) == 0:
                load.memory_mb.append(await asyncio.to_thread(memory_mb, server))
            load.largest_lead = max(load.largest_lead, finished[number] - min(finished.values()))
            if problem := wrong(turn, function):
                load.wrong.append(f"session {number}, question {question}: {problem}")

    async with contextlib.AsyncExitStack() as stack:
        opened = (stack.enter_async_context(ChatClient(app.url)) for _ in range(load.sessions))
        clients = await asyncio.gather(*opened)
        await asyncio.gather(*(client.ask(str(repository)) for client in clients))
        await asyncio.gather(*(session(number, client) for number, client in enumerate(clients)))


def wrong(turn: Turn, function: int) -> str:
    """What is wrong with an answer about a function, '' for nothing."""
    if f"`helper_{function}`" not in turn.text or f"plus {function} [" not in turn.text:
        return f"the answer is {turn.text[:200]!r}"
    others = set(re.findall(r"`helper_(\d+)`", turn.text)) - {str(function)}
    if others:
        return f"it speaks of helper_{', helper_'.join(sorted(others))}"
    return "" if turn.evidence_s is not None else "there is no evidence"


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which a share of the values lies."""
    return round(sorted(values)[min(len(values) - 1, int(share * len(values)))], 1) if values else 0.0


def memory_mb(pid: int) -> float:
    """The resident memory of a process."""
    done = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return round(int(done.stdout) / 1024, 1)


async def _probe(url: str, latencies: list[float]) -> None:
    async with httpx.AsyncClient(timeout=60) as client:
        while True:
            began = time.monotonic()
            await client.get(f"{url}/public/theme.json")
            latencies.append(1000 * (time.monotonic() - began))
            await asyncio.sleep(_PROBE_S)


def measure(sessions: int, each: int, rounds: int, model_s: float, folder: Path, pause_s: float = 0) -> Load:
    """Start the application and the scripted model, and drive them.

    Args:
        sessions: how many ask at once.
        each: questions of each in a round.
        rounds: how often.
        model_s: how long the model takes for a reply.
        folder: an empty one.
        pause_s: see `drive`.
    """
    repository = write(folder / "repository", many(FUNCTIONS))
    with OllamaServer(reply=lambda messages: reply_of(messages, model_s)) as model:
        options = {"ollama_url": model.url, "embedded": False, "dense": False, "auto_download": False, "workers": 1}
        with running(folder / "home", **options) as app:
            return asyncio.run(drive(app, repository, sessions, each, rounds, pause_s))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--questions", type=int, default=2_000, help="of all sessions together")
    parser.add_argument("--rounds", type=int, default=1, help="each with new sessions")
    parser.add_argument("--model-ms", type=float, default=20.0, help="time that the model takes for a reply")
    parser.add_argument("--pause", type=float, default=0.0, help="longest wait before a question, in seconds")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="repopilot-load-") as folder:
        each = options.questions // options.sessions // options.rounds
        load = measure(options.sessions, each, options.rounds, options.model_ms / 1000, Path(folder), options.pause)
    for name, value in asdict(load).items():
        print(f"{name:<18} {value}")
    if options.json:
        options.json.write_text(json.dumps(asdict(load), indent=1))
    sys.exit(bool(load.wrong))


if __name__ == "__main__":
    main()
