"""Asks for replies of a fixed shape: decoding constrained by a JSON schema, a tolerant parser, one repair attempt."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import pydantic_core
from pydantic import BaseModel, ValidationError

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.foreign_text import FENCED
from repopilot.llm import stream
from repopilot.llm.backend import ChatOptions, backend_of
from repopilot.llm.json_values import json_values
from repopilot.llm.model import Model
from repopilot.llm.stream import Reply
from repopilot.trace import Step

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

Shape = TypeVar("Shape", bound=BaseModel)

UNKNOWN_CONFIDENCE = 0.5
"""The confidence in a word whose probability the backend doesn't give."""

REFUSED = (400, 404, 422)
"""Statuses of a server that doesn't accept a schema or grammar."""


async def ask(
    model: Model,
    messages: Sequence[ChatMessage],
    schema: type[Shape],
    step: Step,
    *,
    max_tokens: int = 400,
    temperature: float = 0.0,
) -> Shape | None:
    """Ask for a reply that fits a schema, streamed as JSON into `step`.

    Args:
        model: which model to ask.
        messages: the prompt.
        schema: the wanted form; fields are decoded in its order.
        step: receives the reply.
        max_tokens: the longest reply.
        temperature: 0 for greedy decoding.

    Returns:
        The value, None when the reply doesn't fit even after one repair, whose prompt states the problem.

    Raises:
        ModelError: as `stream.request`.
    """
    options = ChatOptions(max_tokens, temperature, schema=schema.model_json_schema())
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
    """Have the model choose one of `words`, by constrained greedy decoding.

    The confidence is the probability of the word among `words`: at each token, the chosen one's probability divided
    by that of all likely tokens with which some word could continue (embedded and OpenAI backends that give
    probabilities; else 0.5).

    Args:
        model: which model to ask.
        messages: the prompt.
        words: the choices.
        step: receives the reply.

    Returns:
        The word and a confidence from 0 to 1; (None, 0.0) when the reply names no word or several.

    Raises:
        ModelError: as `stream.request`.
    """
    options, forms = _one_of(model, words)
    reply = await _constrained(model, messages, step, options)
    word = named(reply.text, words)
    if word is None:
        return None, 0.0
    confidence = confidence_of(reply.probabilities, forms) if reply.probabilities else UNKNOWN_CONFIDENCE
    step.note(word=word, confidence=round(confidence, 3))
    return word, confidence


def _one_of(model: Model, words: Sequence[str]) -> tuple[ChatOptions, list[str]]:
    """The options that ask for one of the words, and the forms in which the reply may write them.

    The embedded engine is constrained to the bare words: constrained to JSON, small models begin with white space and
    choose other words than they would have.
    """
    longest = max(len(word) for word in words)
    backend = backend_of(model)
    if backend.takes_grammar:
        return ChatOptions(longest + 16, 0.0, probabilities=True, words=tuple(words)), list(words)
    schema: dict[str, Any] = {"type": "string", "enum": list(words)}
    if backend.schemas != "objects":
        return ChatOptions(longest + 16, 0.0, schema=schema), [json.dumps(word) for word in words]
    # Strict OpenAI servers only take objects.
    schema = {"type": "object", "properties": {"choice": schema}, "required": ["choice"], "additionalProperties": False}
    return ChatOptions(longest + 16, 0.0, schema=schema, probabilities=True), [json.dumps({"choice": w}) for w in words]


async def _constrained(model: Model, messages: Sequence[ChatMessage], step: Step, options: ChatOptions) -> Reply:
    """Get a reply constrained by a schema; if the server refuses schemas, the prompt describes the schema instead."""
    try:
        return await stream.request(model, messages, step, options)
    except ModelError as error:
        if not backend_of(model).refuses_schemas or getattr(error.__cause__, "status_code", None) not in REFUSED:
            raise
    step.degrade(i18n.message("llm.no_schema", name=model.name))
    plain = replace(options, schema=None, probabilities=False)
    return await stream.request(model, [*messages, _form(options.schema)], step, plain)


def parse(text: str, schema: type[Shape]) -> tuple[Shape | None, str]:
    """Find the first JSON value in `text` that fits: in a code block, bare or amid prose; as a last resort one that
    was cut off, read as far as it goes.

    Returns:
        The value and ''; or None and what is wrong, in English, for the model to read.
    """
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
    """The JSON values in a reply, those in code blocks first: what stands in prose before them may be an example."""
    blocks = (block["code"] for block in FENCED.finditer(text))
    for _, _, value in chain.from_iterable(map(json_values, (*blocks, text))):
        yield value
    if (opening := re.search(r"[{\[]", text)) is not None:
        try:
            yield pydantic_core.from_json(text[opening.start() :], allow_partial="trailing-strings")
        except ValueError:
            return


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
    """The one of `words` that the reply names, None for none or several. Case only counts when two differ by it."""
    bare = text.strip().strip("\"'`.* ")
    for word in words:
        if bare == word:
            return word
    found = [word for word in words if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)]
    return found[0] if len(found) == 1 else None


def confidence_of(tokens: Sequence[Any], forms: Sequence[str]) -> float:
    """The probability of the written form among `forms`: the product over its tokens of
    chosen / (chosen + alternatives that also begin some form).

    Args:
        tokens: with `token`, `logprob` and `top_logprobs` as in the OpenAI protocol.
        forms: every form that could have been written.
    """
    written = ""
    confidence = 1.0
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
