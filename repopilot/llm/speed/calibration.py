"""Measures how fast a model is on this machine, and stores it by machine, engine and weights in one small file.

A measurement is a few short calls, made once in each run of the program. The fastest call counts, earlier runs
included: other programs can only slow a call down.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
from pydantic import TypeAdapter, ValidationError

from repopilot import disk, i18n
from repopilot.code.formats.data_formats import table
from repopilot.errors import ModelError
from repopilot.llm.servers.address import reached
from repopilot.llm.servers.server_json import json_of
from repopilot.llm.speed import machine
from repopilot.llm.speed.model_speed import Speed

if TYPE_CHECKING:
    from repopilot.llm.embedded.embedded_engine import Engine

FILE = "speed.json"
PROMPT_TOKENS = 160
GENERATED_TOKENS = 16
TIMEOUT_S = 60.0
MOST_KEPT = 32
_WORDS = "def return value index node path read write open close first last count size name key item line".split()
_SPEED = TypeAdapter(Speed)
_SPEEDS = TypeAdapter(dict[str, Speed])


def speed_key(engine: str, weights: str) -> str:
    """The key that a measured speed is stored under: machine, engine with version, and weights."""
    return f"{machine.fingerprint()} | {engine} | {weights}"


def kept(home: Path) -> dict[str, Speed]:
    """The stored speeds; none if the file is missing or damaged."""
    try:
        return _SPEEDS.validate_json((home / FILE).read_bytes())
    except (OSError, ValidationError):
        return {}


def keep(home: Path, key: str, speed: Speed) -> None:
    """Store a measured speed; a faster rate stored earlier stays. Raises OSError where the file can't be written."""
    known = kept(home)
    known[key] = _fastest([speed, known.pop(key, speed)])
    home.mkdir(parents=True, exist_ok=True)
    disk.replace_file(home / FILE, _SPEEDS.dump_json(dict(list(known.items())[-MOST_KEPT:]), indent=1))


def kept_for(home: Path, keys: Mapping[str, str]) -> dict[str, Speed]:
    """The stored speeds of some models, by model name.

    Args:
        home: the data directory.
        keys: the key of each speed, by model name.
    """
    known = kept(home) if keys else {}
    return {name: known[key] for name, key in keys.items() if key in known}


async def measure_engine(engine: Engine) -> Speed:
    """Measure an embedded model, in about three seconds. Cancelling the task ends the engine's work.

    Args:
        engine: its engine, started if it isn't running.

    Raises:
        ModelError: the engine doesn't start or answer.
    """
    await engine.ready()
    url = engine.address.removesuffix("/v1") + "/completion"
    headers = {"Authorization": f"Bearer {engine.key}"}
    options = {"n_predict": GENERATED_TOKENS, "cache_prompt": False, "ignore_eos": True, "temperature": 0}
    # The first call also reads the weights from disk.
    replies = [await _answer(url, {"prompt": _prompt(), **options}, headers) for _ in range(3)]
    timings = [reply.get("timings") or {} for reply in replies]
    return _fastest([_speed(each.get("prompt_per_second"), each.get("predicted_per_second")) for each in timings])


async def measure_ollama(url: str, name: str, num_ctx: int) -> Speed:
    """Measure a model of an Ollama server by the durations that it reports.

    Args:
        url: the server.
        name: the model.
        num_ctx: the context it is loaded with; another one would make Ollama load it again.

    Raises:
        ModelError: the server can't be reached, or reports no durations.
    """
    options = {"num_ctx": num_ctx, "num_predict": GENERATED_TOKENS, "temperature": 0}
    body = {"model": name, "stream": False, "keep_alive": "24h", "options": options}
    replies = [
        await _answer(f"{url}/api/chat", {**body, "messages": [{"role": "user", "content": _prompt()}]})
        for _ in range(2)
    ]
    return _fastest([ollama_speed(reply) for reply in replies])


def ollama_speed(reply: Mapping[str, Any]) -> Speed:
    """The speed that the last message of an Ollama reply reports. Raises ModelError where it reports none."""
    return _speed(_rate(reply, "prompt_eval"), _rate(reply, "eval"))


async def _answer(url: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Mapping[str, Any]:
    try:
        async with httpx.AsyncClient(timeout=TIMEOUT_S, headers=headers, **reached(url)) as client:
            answer = json_of(await client.post(url, json=body))
    except (httpx.HTTPError, ValueError) as error:
        raise ModelError(i18n.message("llm.not_measured", reason=i18n.reason(error))) from error
    return table(answer)


def _prompt() -> str:
    """A random prompt of about `PROMPT_TOKENS`, so that no prompt cache shortens the reading."""
    return " ".join(random.choices(_WORDS, k=PROMPT_TOKENS))


def _rate(reply: Mapping[str, Any], work: str) -> float | None:
    """Tokens per second of a piece of work in an Ollama reply, whose durations are in nanoseconds."""
    try:
        return float(reply[f"{work}_count"]) / float(reply[f"{work}_duration"]) * 1e9
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None


def _speed(prompt: Any, generation: Any) -> Speed:
    try:
        return _SPEED.validate_python({"prompt": prompt, "generation": generation})
    except ValidationError as error:
        raise ModelError(i18n.message("llm.not_measured", reason=i18n.message("llm.no_durations"))) from error


def _fastest(speeds: Sequence[Speed]) -> Speed:
    return Speed(max(speed.prompt for speed in speeds), max(speed.generation for speed in speeds))
