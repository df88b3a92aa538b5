"""What Ollama's messages look like on the wire."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence


def described(name: str) -> dict:
    family = "bert" if "minilm" in name else "llama" if name.startswith("llama") else "qwen2"
    size = re.search(r":([\d.]+)b", name)
    details = {
        "format": "gguf",
        "family": family,
        "families": [family],
        "parameter_size": f"{size[1]}B" if size else "23M",
        "quantization_level": "Q4_K_M",
    }
    digest = hashlib.sha256(name.encode()).hexdigest()
    weights = int(float(size[1]) * 6e8) if size else 10**8
    return {"name": name, "model": name, "modified_at": _NOW, "size": weights, "digest": digest, "details": details}


_NOW = "2026-01-01T00:00:00.000000Z"


def line(body: dict, content: str, *, done: bool = False, **facts: object) -> dict:
    message = {"role": "assistant", "content": content}
    return {"model": body["model"], "created_at": _NOW, "message": message, "done": done, **facts}


def ndjson(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def sse(body: dict, choices: list[dict], usage: dict | None = None) -> bytes:
    event = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": body["model"],
        "choices": choices,
        "usage": usage,
    }
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def spoken(body: dict, message: Mapping) -> Iterator[bytes]:
    """What a message has beside its content: thinking, and calls of tools with their arguments as an object."""
    for key in ("thinking", "tool_calls"):
        if message.get(key):
            calls = [{"function": call} for call in message[key]] if key == "tool_calls" else message[key]
            said = line(body, "")
            yield ndjson({**said, "message": {**said["message"], key: calls}})


def openai_spoken(body: dict, message: Mapping) -> Iterator[bytes]:
    """The same in OpenAI's protocol: the arguments are JSON, which comes in two pieces."""
    if message.get("thinking"):
        yield sse(
            body,
            [{"index": 0, "delta": {"content": "", "reasoning_content": message["thinking"]}, "finish_reason": None}],
        )
    for number, call in enumerate(message.get("tool_calls", ())):
        written = json.dumps(call["arguments"])
        begun = {"index": number, "id": f"call_{number}", "type": "function"}
        for part in (
            {**begun, "function": {"name": call["name"], "arguments": written[:3]}},
            {"index": number, "function": {"arguments": written[3:]}},
        ):
            yield sse(body, [{"index": 0, "delta": {"tool_calls": [part]}, "finish_reason": None}])


def tokens(messages: Sequence[dict]) -> int:
    return sum(len(re.findall(r"\w+|[^\w\s]", str(message.get("content") or ""))) + 4 for message in messages)


def embedding(text: str, dimension: int = 384) -> list[float]:
    """A bag of words hashed into a unit vector: texts that share words are near each other."""
    vector = [0.0] * dimension
    for word in re.findall(r"\w+", text.lower()) or [""]:
        vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % dimension] += 1.0
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector]
