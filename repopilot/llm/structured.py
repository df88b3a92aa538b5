"""Replies of a fixed shape: decoding constrained by a JSON schema, a tolerant parser, one repair."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import pydantic_core
from pydantic import BaseModel, ValidationError

from repopilot.errors import ModelError
from repopilot.llm import stream
from repopilot.llm.backend import Options
from repopilot.llm.model import Model
from repopilot.llm.stream import Reply
from repopilot.trace import Step

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

Shape = TypeVar("Shape", bound=BaseModel)

UNKNOWN_CONFIDENCE = 0.5
"""Of a word whose probability the backend doesn't tell."""

_REFUSED = (400, 404, 422)
_ATTEMPTS = 100
_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)


async def ask(
    model: Model,
    messages: Sequence[ChatMessage],
    schema: type[Shape],
    step: Step,
    *,
    max_tokens: int = 400,
    temperature: float = 0.0,
) -> Shape | None:
    """The reply as a `schema`, streamed as JSON into `step`; None when it doesn't fit even after one repair, in which
    the model is shown what is wrong. Fields are decoded in the schema's order. Raises ModelError as `stream.chat`."""
    options = Options(max_tokens, temperature, schema=schema.model_json_schema())
    reply = (await _constrained(model, messages, step, options)).text
    value, problem = parse(reply, schema)
    if value is not None:
        return value
    step.note(repaired=problem)
    await step.write("\n")
    again = (await _constrained(model, [*messages, *_complaint(reply, problem)], step, options)).text
    return parse(again, schema)[0]


async def choose_word(
    model: Model, messages: Sequence[ChatMessage], words: Sequence[str], step: Step
) -> tuple[str | None, float]:
    """One of `words`, by constrained greedy decoding, and a confidence from 0 to 1.

    The confidence is the chance of the word among `words`: at each token, the chosen one's probability divided by
    that of all likely tokens some word could go on with (embedded and OpenAI backends that tell probabilities;
    else 0.5). (None, 0.0) when the reply names no word or several. Raises ModelError.
    """
    options, forms = _one_of(model, words)
    reply = await _constrained(model, messages, step, options)
    word = named(reply.text, words)
    if word is None:
        return None, 0.0
    confidence = confidence_of(reply.probabilities, forms) if reply.probabilities else UNKNOWN_CONFIDENCE
    step.note(word=word, confidence=round(confidence, 3))
    return word, confidence


def _one_of(model: Model, words: Sequence[str]) -> tuple[Options, list[str]]:
    """How to ask for one of the words, and the forms in which they are then written.

    The embedded engine is bound to the bare words: bound to JSON, small models begin with white space, and say what
    they would not have said otherwise.
    """
    longest = max(len(word) for word in words)
    if model.kind == "embedded":
        return Options(longest + 16, 0.0, probabilities=True, words=tuple(words)), list(words)
    schema: dict[str, Any] = {"type": "string", "enum": list(words)}
    if model.kind != "openai":
        return Options(longest + 16, 0.0, schema=schema), [json.dumps(word) for word in words]
    # Strict OpenAI servers only take objects.
    schema = {"type": "object", "properties": {"choice": schema}, "required": ["choice"],
              "additionalProperties": False}  # fmt: skip
    return Options(longest + 16, 0.0, schema=schema, probabilities=True), [json.dumps({"choice": w}) for w in words]


async def _constrained(model: Model, messages: Sequence[ChatMessage], step: Step, options: Options) -> Reply:
    """A reply by schema; from a server that refuses schemas, one that was asked for in words."""
    try:
        return await stream.request(model, messages, step, options)
    except ModelError as error:
        if model.kind != "openai" or getattr(error.__cause__, "status_code", None) not in _REFUSED:
            raise
    step.degrade(f"The server of {model.name} takes no JSON schema: the form is asked for in words.")
    plain = replace(options, schema=None, probabilities=False)
    return await stream.request(model, [*messages, _form(options.schema)], step, plain)


def parse(text: str, schema: type[Shape]) -> tuple[Shape | None, str]:
    """The first JSON value in `text` that fits: bare, in a fence, or amid prose; as a last resort one that was cut
    off, read as far as it goes. With None, the second value says what is wrong."""
    problem = "There is no JSON in it."
    for value in _values(text):
        try:
            return schema.model_validate(value), ""
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the whole"
            problem = f"{where}: {first['msg']}."
    return None, problem


def _values(text: str) -> Iterator[Any]:
    sources = [text.strip(), *(body.strip() for body in _FENCE.findall(text))]
    for source in sources:
        try:
            yield pydantic_core.from_json(source)
        except ValueError:
            continue
    decoder = json.JSONDecoder(strict=False)
    position = 0
    for _ in range(_ATTEMPTS):
        if (start := _next_opening(text, position)) is None:
            break
        try:
            value, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = start + 1
            continue
        yield value
    start = _next_opening(text, 0)
    if start is not None:
        try:
            yield pydantic_core.from_json(text[start:], allow_partial="trailing-strings")
        except ValueError:
            return


def _next_opening(text: str, position: int) -> int | None:
    found = [at for at in (text.find("{", position), text.find("[", position)) if at >= 0]
    return min(found, default=None)


def _form(schema: object) -> ChatMessage:
    from llama_index.core.llms import ChatMessage, MessageRole

    wanted = f"Answer with JSON of this schema and nothing else: {json.dumps(schema)}"
    return ChatMessage(role=MessageRole.USER, content=wanted)


def _complaint(reply: str, problem: str) -> list[ChatMessage]:
    from llama_index.core.llms import ChatMessage, MessageRole

    request = f"That does not fit: {problem} Answer again with one JSON object of the required form and nothing else."
    return [
        ChatMessage(role=MessageRole.ASSISTANT, content=reply[:2000]),
        ChatMessage(role=MessageRole.USER, content=request),
    ]


def named(text: str, words: Sequence[str]) -> str | None:
    """The one of `words` the reply names; None when it is none or several. Case counts only if it must."""
    bare = text.strip().strip("\"'`.* ")
    for word in words:
        if bare == word:
            return word
    found = [word for word in words if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)]
    return found[0] if len(found) == 1 else None


def confidence_of(tokens: Sequence[Any], forms: Sequence[str]) -> float:
    """The probability of the written form among `forms`, its tokens given with their likely alternatives.

    `tokens` have `token`, `logprob` and `top_logprobs` as in the OpenAI protocol. A product over the tokens of
    chosen / (chosen + alternatives that also begin some form).
    """
    written, confidence = "", 1.0
    for token in tokens:
        if not token.token:
            continue
        chosen = math.exp(token.logprob)
        rivals = {alternative.token: math.exp(alternative.logprob) for alternative in token.top_logprobs}
        rivals.pop(token.token, None)
        rivalling = sum(p for text, p in rivals.items() if text and _begins((written + text).lstrip(), forms))
        confidence *= chosen / (chosen + rivalling) if chosen > 0 else 0.0
        written += token.token
    return confidence


def _begins(text: str, forms: Sequence[str]) -> bool:
    return any(form.startswith(text) for form in forms) if text else False
