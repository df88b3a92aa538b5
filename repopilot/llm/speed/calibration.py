"""Measures how fast a model is on this machine, and keeps it: by machine, engine and weights, in one small file.

The measurement is a few short calls. A busy machine makes them slow, which the time shows that the engine's threads
had to wait for a processor: a little of it is corrected, and the measurement counts as disturbed, to be done again; on
a very busy machine there is none.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from repopilot import disk, i18n
from repopilot.errors import ModelError
from repopilot.llm.servers.address import trusted
from repopilot.llm.servers.server_json import json_of
from repopilot.llm.speed.model_speed import Speed

if TYPE_CHECKING:
    from repopilot.llm.embedded import Engine

FILE = "speed.json"
PROMPT_TOKENS, GENERATED_TOKENS = 160, 16
TIMEOUT_S = 60.0
QUIET_SHARE = 0.8
"""Of the time in which the engine's threads could have run: in the rest other programs did."""
LEAST_SHARE = 0.5
"""Below this a correction says little: threads that wait for each other lose more than the time that others take."""
MOST_KEPT = 32
_WORDS = "def return value index node path read write open close first last count size name key item line".split()


@dataclass(frozen=True, slots=True)
class SpeedKey:
    """What a measurement holds for: the machine, the engine with its version, and the weights."""

    machine: str
    engine: str
    weights: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured speed.

    Attributes:
        key: what it holds for.
        speed: corrected for what other programs took.
        share: of the processor time that the engine wanted, what it got: 1 on a quiet machine.
    """

    key: SpeedKey
    speed: Speed
    share: float = 1.0

    @property
    def disturbed(self) -> bool:
        """Whether other programs were busy meanwhile."""
        return self.share < QUIET_SHARE


def kept(home: Path) -> dict[SpeedKey, Measurement]:
    """The kept measurements; none where the file is missing or damaged."""
    try:
        entries = json.loads((home / FILE).read_text("utf-8"))["measurements"]
        found = [_from_json(entry) for entry in entries]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {each.key: each for each in found if each is not None}


def keep(home: Path, measurement: Measurement) -> None:
    """Keep a measurement in place of the one for the same key. A disturbed one replaces no other.

    Raises:
        OSError: the file can't be written.
    """
    known = kept(home)
    before = known.get(measurement.key)
    if before is not None and measurement.disturbed and not before.disturbed:
        return
    known.pop(measurement.key, None)
    known[measurement.key] = measurement
    entries = [_to_json(each) for each in list(known.values())[-MOST_KEPT:]]
    home.mkdir(parents=True, exist_ok=True)
    disk.replace_file(home / FILE, json.dumps({"measurements": entries}, indent=1).encode())


def kept_for(home: Path, keys: Mapping[str, SpeedKey]) -> dict[str, Measurement]:
    """The kept measurements of some models, by their names.

    Args:
        home: the data directory.
        keys: what a measurement must hold for, by the names of models.
    """
    known = kept(home) if keys else {}
    return {name: known[key] for name, key in keys.items() if key in known}


async def measure_engine(engine: Engine, key: SpeedKey) -> Measurement | None:
    """Measure an embedded model, in two seconds on a quiet machine. Cancelling the task ends the engine's work.

    Args:
        engine: its process, started if it isn't.
        key: what the measurement holds for.

    Returns:
        The measurement; None while the machine is too busy for one.

    Raises:
        ModelError: the engine doesn't start or answer.
    """
    await engine.ready()
    url, headers = engine.address.removesuffix("/v1") + "/completion", {"Authorization": f"Bearer {engine.key}"}
    async with httpx.AsyncClient(timeout=TIMEOUT_S, headers=headers, verify=trusted()) as client:
        await _timed(client, url, _completion(8, 1))  # reads the weights from disk
        _, share = await _completed(client, url, engine, _completion(16, 4))
        if share < LEAST_SHARE:
            return None
        seen, share = await _completed(client, url, engine, _completion(PROMPT_TOKENS, GENERATED_TOKENS))
    if share < LEAST_SHARE:
        return None
    corrected = seen if share >= QUIET_SHARE else Speed(seen.prompt / share, seen.generation / share)
    return Measurement(key, corrected, share)


async def measure_ollama(url: str, name: str, num_ctx: int, key: SpeedKey) -> Measurement:
    """Measure a model of an Ollama server by the durations that it reports: the better of two calls.

    Args:
        url: the server.
        name: the model.
        num_ctx: the context it is loaded with; another one would make Ollama load it again.
        key: what the measurement holds for.

    Raises:
        ModelError: the server can't be reached, or reports no durations.
    """
    options = {"num_ctx": num_ctx, "num_predict": GENERATED_TOKENS, "temperature": 0}
    found = []
    async with httpx.AsyncClient(timeout=TIMEOUT_S, verify=trusted()) as client:
        for _ in range(2):
            messages = [{"role": "user", "content": _prompt(PROMPT_TOKENS)}]
            body = {"model": name, "messages": messages, "stream": False, "keep_alive": "24h", "options": options}
            found.append(ollama_speed(await _timed(client, f"{url}/api/chat", body)))
    return Measurement(key, Speed(max(each.prompt for each in found), max(each.generation for each in found)))


def ollama_speed(reply: Mapping[str, Any]) -> Speed:
    """The speed that the last message of an Ollama reply reports. Raises ModelError where it reports none."""
    return _speed(
        _rate(reply.get("prompt_eval_count"), reply.get("prompt_eval_duration")),
        _rate(reply.get("eval_count"), reply.get("eval_duration")),
    )


async def _completed(
    client: httpx.AsyncClient, url: str, engine: Engine, body: Mapping[str, Any]
) -> tuple[Speed, float]:
    """The speed of a call, and in what share of the time in which its threads could run the engine's did."""
    ran_before, waited_before = await asyncio.to_thread(engine.processor_seconds)
    timings = (await _timed(client, url, body)).get("timings") or {}
    ran_after, waited_after = await asyncio.to_thread(engine.processor_seconds)
    ran, waited = ran_after - ran_before, waited_after - waited_before
    share = ran / (ran + waited) if ran > 0 and waited > 0 else 1.0
    return _speed(timings.get("prompt_per_second"), timings.get("predicted_per_second")), share


async def _timed(client: httpx.AsyncClient, url: str, body: Mapping[str, Any]) -> dict[str, Any]:
    try:
        answer = json_of(await client.post(url, json=body))
    except (httpx.HTTPError, ValueError) as error:
        raise ModelError(i18n.message("llm.not_measured", reason=i18n.reason(error))) from error
    return answer if isinstance(answer, dict) else {}


def _completion(prompt_tokens: int, generated: int) -> dict[str, Any]:
    options = {"cache_prompt": False, "ignore_eos": True, "temperature": 0}
    return {"prompt": _prompt(prompt_tokens), "n_predict": generated, **options}


def _prompt(tokens: int) -> str:
    """A prompt of about as many tokens, each time another one, so that no cache answers for it."""
    return " ".join(random.choices(_WORDS, k=tokens))


def _rate(count: Any, nanoseconds: Any) -> float | None:
    try:
        return float(count) / float(nanoseconds) * 1e9
    except (TypeError, ValueError, ZeroDivisionError):
        return None


def _speed(prompt: Any, generation: Any) -> Speed:
    found = [rate for rate in (prompt, generation) if isinstance(rate, int | float) and _usable(rate)]
    if len(found) < 2:
        raise ModelError(i18n.message("llm.not_measured", reason=i18n.message("llm.no_durations")))
    return Speed(float(found[0]), float(found[1]))


def _usable(rate: float) -> bool:
    return math.isfinite(rate) and 0.01 < rate < 1e6


def _to_json(measurement: Measurement) -> dict[str, Any]:
    return {**asdict(measurement.key), **asdict(measurement.speed), "share": measurement.share}


def _from_json(entry: Mapping[str, Any]) -> Measurement | None:
    """The measurement of an entry; None where a value is none that is ever written."""
    key = SpeedKey(*(entry[name] for name in ("machine", "engine", "weights")))
    numbers = [entry[name] for name in ("prompt", "generation", "share")]
    if not (_all(asdict(key).values(), str) and _all(numbers, int | float)):
        return None
    prompt, generation, share = map(float, numbers)
    if not (_usable(prompt) and _usable(generation) and LEAST_SHARE <= share <= 1):
        return None
    return Measurement(key, Speed(prompt, generation), share)


def _all(values: Iterable[object], kind: Any) -> bool:
    return all(isinstance(value, kind) and not isinstance(value, bool) for value in values)
