"""A question of an agent to the user in the middle of its work, with a button for each choice."""

from __future__ import annotations

import chainlit as cl

from repopilot import i18n
from repopilot.ui.trace.step_text import inert

ANSWER_S = 3600
"""Seconds after which the agent goes on without an answer."""


async def ask_in_chat(language: str, question: str, choices: tuple[str, ...]) -> str:
    """Put a question into the chat and wait for the answer.

    Args:
        language: of the reader.
        question: in the agent's words.
        choices: possible answers, each a button, the default first; another button takes it ("Just do it"), and any
            other answer can be typed.

    Returns:
        The answer, '' where none came in time.
    """
    if not choices:
        return await _typed(question)
    just_do = i18n.text("ui.ask.just_do", language, default=choices[0])
    labels = (*choices, just_do, i18n.text("ui.ask.other", language))
    actions = [cl.Action("answer", {"number": number}, label=label) for number, label in enumerate(labels)]
    message = cl.AskActionMessage(inert(question), actions, timeout=ANSWER_S)
    pressed = await message.send()
    number = pressed["payload"]["number"] if pressed else None
    answer = "" if number is None else (*choices, choices[0], labels[-1])[number]
    message.content = f"{inert(question)}\n\n**{inert(answer or i18n.text('ui.ask.none', language))}**"
    await message.update()
    return await _typed(i18n.text("ui.ask.type", language)) if number == len(labels) - 1 else answer


async def _typed(question: str) -> str:
    reply = await cl.AskUserMessage(inert(question), timeout=ANSWER_S).send()
    return str(reply["output"]) if reply else ""
