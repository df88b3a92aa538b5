"""A question of an agent to the user in the middle of its work, with a button for each choice."""

from __future__ import annotations

from collections.abc import Sequence

import chainlit as cl

from repopilot import i18n
from repopilot.ui.trace.step_text import inert

OTHER = "rp-other-"
"""Prefix of the id of the button for any other answer; the page recognizes the button by it."""
ANSWER_S = 3600
"""Seconds after which the agent goes on without an answer."""


async def ask_in_chat(language: str, question: str, choices: tuple[str, ...]) -> str:
    """Put a question into the chat and wait for the answer.

    Args:
        language: of the reader.
        question: in the agent's words.
        choices: possible answers, each a button, the default first; another button leaves it open ("Just do it"), and
            any other answer can be typed.

    Returns:
        The answer, '' if the user leaves it open or doesn't answer in time.
    """
    if not choices:
        return await _typed(question)
    just_do = i18n.text("ui.ask.just_do", language, default=choices[0])
    other = i18n.text("ui.ask.other", language)
    answers = (*choices, "", other)
    none = i18n.text("ui.ask.none", language)
    said = [inert(each) for each in (*choices, just_do, other)]
    number = await pressed(inert(question), (*choices, just_do, other), said, none, open_ended=True)
    if number is None:
        return ""
    return await _typed(i18n.text("ui.ask.type", language)) if number == len(choices) + 1 else answers[number]


async def pressed(
    question: str, labels: Sequence[str], answers: Sequence[str], unanswered: str, *, open_ended: bool = False
) -> int | None:
    """Put a question with buttons into the chat and wait; then show the answer below the question.

    Args:
        question: as Markdown.
        labels: of the buttons.
        answers: the text shown after a button was pressed, for each button.
        unanswered: the text shown if none was pressed in time.
        open_ended: the last button is for any other answer, and what is typed meanwhile presses it.

    Returns:
        The number of the button, None if none was pressed in time.
    """
    actions = [cl.Action("answer", {"number": number}, label=label) for number, label in enumerate(labels)]
    if open_ended:
        actions[-1].id = f"{OTHER}{actions[-1].id}"
    message = cl.AskActionMessage(question, actions, timeout=ANSWER_S)
    reply = await message.send()
    number = reply["payload"]["number"] if reply else None
    message.content = f"{question}\n\n**{unanswered if number is None else answers[number]}**"
    await message.update()
    return number


async def _typed(question: str) -> str:
    reply = await cl.AskUserMessage(inert(question), timeout=ANSWER_S).send()
    return str(reply["output"]) if reply else ""
