"""The question whether an agent model may run commands of a repository, asked with the first one it wants to run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from repopilot import i18n
from repopilot.foreign_text import fence_of, visible
from repopilot.sandbox.environments.environment_store import allow, is_allowed
from repopilot.ui.answer.questions.user_question import pressed
from repopilot.ui.chat import Chat

CHOICES = ("always", "now", "no")
KIND = "commands"
_LONGEST_COMMAND = 600


def consent_of(chat: Chat, language: str) -> Callable[[str], Awaitable[bool]] | None:
    """A function that asks for consent to a command in the open repository; None if it was refused in this chat.

    Args:
        chat: where it is asked.
        language: of the reader.
    """
    opening = chat.opening
    if opening is None or chat.commands.get(opening.key) is False:
        return None
    key = opening.key

    async def agree(command: str) -> bool:
        if key not in chat.commands:
            always = await asyncio.to_thread(is_allowed, key, chat.settings, KIND)
            chat.commands[key] = always or await _asked(chat, key, command, language)
        return chat.commands[key]

    return agree


async def _asked(chat: Chat, key: str, command: str, language: str) -> bool:
    shown = visible(command if len(command) <= _LONGEST_COMMAND else f"{command[:_LONGEST_COMMAND]}…")
    fence = fence_of(shown)
    question = i18n.text("ui.commands.question", language, command=f"{fence}sh\n{shown}\n{fence}")
    labels = [i18n.text(f"ui.commands.{choice}", language) for choice in CHOICES]
    number = await pressed(question, labels, labels, labels[-1])
    choice = "no" if number is None else CHOICES[number]
    if choice == "always":
        await asyncio.to_thread(allow, key, chat.settings, KIND)
    return choice != "no"
