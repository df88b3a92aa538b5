"""Chooses among the places that fit a task: by their score, else by the model, else by the user."""

from __future__ import annotations

from collections.abc import Sequence

from repopilot import i18n
from repopilot.agents.editing.placed.target_places import Choice
from repopilot.errors import PlaceAmbiguous
from repopilot.index.tokens import tokens_of
from repopilot.llm import structured
from repopilot.llm.model import Model
from repopilot.prompts import nonce, render, sanitized
from repopilot.trace import Step

CLEAR = 2.0
"""A place whose score is so much higher than the next needs no choice."""
LEAST_CONFIDENCE = 0.7
"""A model that is less sure doesn't choose: among places that the task names that is the user's turn, of those that a
search found the first is taken. Of 44 files for new functions the search had 30 right; the model was so sure of 20, and
right in 16 of these."""


async def choose_place(choices: Sequence[Choice], task: str, name: str, model: Model | None, step: Step) -> Choice:
    """Choose one place.

    Args:
        choices: at least one, best first.
        task: what to write or change.
        name: the repository's.
        model: chooses where the scores don't.
        step: gets the reason.

    Returns:
        The place.

    Raises:
        PlaceAmbiguous: nothing separates several.
        ModelError: the model failed.
    """
    best = choices[0]
    close = [c for c in choices if best.score - c.score < CLEAR]
    if len(close) == 1:
        step.note(why="score", score=best.score)
        return best
    if model is None or not _are_told_apart(close, task):
        raise _ambiguous(close)
    from llama_index.core.llms import ChatMessage

    # The place itself is the answer: asked for its number, small models say 3 whatever stands there. The best is last.
    by_text = {choice.text: choice for choice in reversed(close)}
    places = "\n".join(_described(choice) for choice in by_text.values())
    prompt = sanitized(render("placed_choose", task=task.strip()[:800], name=name, places=places), nonce())
    messages = [ChatMessage(role="user", content=prompt)]
    word, confidence = await structured.choose_word(model, messages, list(by_text), step)
    step.note(why="model", confidence=round(confidence, 3))
    if word is not None and confidence >= LEAST_CONFIDENCE:
        return by_text[word]
    if best.named:
        raise _ambiguous(close)
    step.note(why="rank")
    return best


def _are_told_apart(choices: Sequence[Choice], task: str) -> bool:
    """Whether a task has a word for one of several definitions of the same name: of its path, its class or its
    signature. Without one a model that chooses only guesses."""
    symbols = [choice.symbol for choice in choices if choice.symbol is not None]
    if len(symbols) < len(choices) or len({symbol.name for symbol in symbols}) > 1:
        return True
    own = [tokens_of(f"{s.path} {s.qualified} {s.signature}") for s in symbols]
    shared = set.intersection(*own)
    return any((words - shared) & tokens_of(task) for words in own)


def _described(choice: Choice) -> str:
    return f"{choice.text}  {choice.symbol.short_signature}" if choice.symbol else choice.path


def _ambiguous(choices: Sequence[Choice]) -> PlaceAmbiguous:
    names = tuple(choice.text for choice in choices)
    return PlaceAmbiguous(
        i18n.message("placed.ambiguous", places=", ".join(names)), i18n.message("placed.ambiguous_hint"), names
    )
