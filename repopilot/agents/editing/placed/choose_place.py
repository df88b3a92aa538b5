"""Chooses among the places that fit a task: by their score, else by the model, else by the user."""

from __future__ import annotations

from collections.abc import Sequence

from repopilot import i18n
from repopilot.agents.editing.placed.target_places import Choice
from repopilot.errors import PlaceAmbiguous
from repopilot.llm import structured
from repopilot.llm.model import Model
from repopilot.prompts import nonce, render, sanitized
from repopilot.trace import Step

CLEAR = 2.0
"""A place whose score is so much higher than the next needs no choice."""
LEAST_CONFIDENCE, ABOVE_CHANCE = 0.5, 1.5
"""A model that is less sure doesn't choose among places that the task names, which is the user's turn then; among those
that were found it has to be so much surer than by chance, or it is the best of them."""


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
    if model is None:
        raise _ambiguous(close)
    from llama_index.core.llms import ChatMessage

    places = "\n".join(f"{number}. {_described(choice)}" for number, choice in enumerate(close, 1))
    prompt = sanitized(render("placed_choose", task=task.strip()[:800], name=name, places=places), nonce())
    words = [str(number) for number in range(1, len(close) + 1)]
    word, confidence = await structured.choose_word(model, [ChatMessage(role="user", content=prompt)], words, step)
    step.note(why="model", confidence=round(confidence, 3))
    least = LEAST_CONFIDENCE if best.named else min(LEAST_CONFIDENCE, ABOVE_CHANCE / len(close))
    if word is not None and confidence >= least:
        return close[int(word) - 1]
    if best.named:
        raise _ambiguous(close)
    step.note(why="rank")
    return best


def _described(choice: Choice) -> str:
    return f"{choice.text}  {choice.symbol.signature}" if choice.symbol else choice.path


def _ambiguous(choices: Sequence[Choice]) -> PlaceAmbiguous:
    names = tuple(choice.text for choice in choices)
    return PlaceAmbiguous(
        i18n.message("placed.ambiguous", places=", ".join(names)), i18n.message("placed.ambiguous_hint"), names
    )
