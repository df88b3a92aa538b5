"""Asks whether to fetch the packages that a repository's tests need, and shows the progress."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import chainlit as cl

from repopilot import i18n
from repopilot.background import in_background, start_task
from repopilot.errors import RepoPilotError, UsageError
from repopilot.foreign_text import code_span
from repopilot.i18n.format import duration
from repopilot.project.declaration_parts import applies_here
from repopilot.project_environment import TestPackages, fetch, needed_packages, not_fetched
from repopilot.sandbox.environments.environment_store import allow, is_allowed, read_facts
from repopilot.settings import Settings
from repopilot.trace import Event, Finished
from repopilot.types import Progress
from repopilot.ui.buttons import button
from repopilot.ui.chat import Chat
from repopilot.ui.elements import element
from repopilot.ui.error_text import error_paragraphs
from repopilot.ui.progress_text import progress_line

ACTION = "build_environment"
CHOICES = ("always", "now", "no")
NEEDING = ("GENERATE", "TEST", "REVIEW")
"""The intents whose work runs tests."""
REFRESH_S = 1.0
_MOST_SHOWN = 15
_LONGEST_NAME = 80


def offer_if_needed(chat: Chat, event: Event) -> None:
    """Ask if an event of the trace says that a question went to an agent that runs tests. The work isn't held up."""
    if isinstance(event, Finished) and event.data.get("intent") in NEEDING:
        start_task(_offer(chat))


async def _offer(chat: Chat) -> None:
    """Ask once per repository whether to fetch what its tests need; fetch without asking if that was allowed before."""
    opening = chat.opening
    settings = chat.settings
    if opening is None or opening.key in chat.offers or settings.environments == "never":
        return
    chat.offers[opening.key] = False
    missing = await asyncio.to_thread(_missing, chat)
    if not missing.requirements:
        return
    if settings.environments == "always" or await asyncio.to_thread(is_allowed, opening.key, settings):
        await build(chat)
        return
    chat.offers[opening.key] = True
    choices = {choice: i18n.text(f"ui.environment.{choice}", chat.language) for choice in CHOICES}
    words = i18n.section("ui.offer.words", chat.language)
    buttons = element("Offer", {"action": ACTION, "choices": choices, "words": words})
    await cl.Message(content=offer_text(missing, settings, chat.language), elements=[buttons]).send()


def _missing(chat: Chat) -> TestPackages:
    opening = chat.opening
    settings = chat.settings
    if opening is None or opening.snapshot is None or opening.index is None:
        return TestPackages()
    return not_fetched(needed_packages(opening.snapshot, opening.index, settings), opening.snapshot, settings)


def offer_text(packages: TestPackages, settings: Settings, language: str) -> str:
    """What would be fetched, and how large it may become."""
    names = [each for each in packages.requirements if applies_here(each)]
    shown = _shown(names)
    limit = settings.environment_max_mb
    return i18n.text("ui.environment.offer", language, count=len(names), requirements=shown, limit=limit)


def _shown(names: Sequence[str]) -> str:
    shown = ", ".join(code_span(name.removesuffix("@*"), _LONGEST_NAME) for name in names[:_MOST_SHOWN])
    more = len(names) - _MOST_SHOWN
    return f"{shown} (+{more})" if more > 0 else shown


@button
async def decide(chat: Chat, payload: dict) -> dict:
    """Do what a button of the offer says.

    Args:
        chat: where it was pressed.
        payload: of the button: its `choice`.

    Returns:
        {}; {error} if the repository isn't open any more.
    """
    opening = chat.opening
    choice = payload.get("choice")
    if opening is None or not chat.offers.get(opening.key) or choice not in CHOICES:
        raise UsageError(i18n.message("ui.errors.opening_closed"))
    chat.offers[opening.key] = False
    if choice == "always":
        await asyncio.to_thread(allow, opening.key, chat.settings)
    if choice != "no":
        start_task(build(chat))
    return {}


async def build(chat: Chat) -> None:
    """Fetch what the tests of the open repository need, with the progress in a message.

    Args:
        chat: where it is shown.
    """
    settings = chat.settings
    missing = await asyncio.to_thread(_missing, chat)
    message = cl.Message(content=i18n.text("ui.environment.building", chat.language))
    await message.send()
    latest: list[Progress] = []
    cancel = threading.Event()
    building = in_background(lambda: fetch(missing, settings, latest.append, cancel))
    try:
        while not building.done():
            await asyncio.wait([building], timeout=REFRESH_S)
            if latest:
                message.content = progress_line(latest[-1], chat.language)
                await message.update()
        building.result()
        message.content = built_text(missing, settings, chat.language)
    except asyncio.CancelledError:
        cancel.set()
        raise
    except RepoPilotError as error:
        message.content = error_paragraphs(error, chat.language)
    await message.update()


def built_text(packages: TestPackages, settings: Settings, language: str) -> str:
    """What was installed, and what is missing with the reason, as Markdown."""
    rows = []
    for facts in filter(None, (read_facts(settings.environments_folder / key) for key in packages.keys)):
        took = duration(facts.seconds, language)
        count = len(facts.packages)
        said = i18n.text("cli.environment.built", language, count=count, megabytes=facts.megabytes, duration=took)
        rows.append(said)
        for entry in facts.left_out:
            name = f"`{entry.requirement}`"
            reason = i18n.translated(entry.reason, language)
            rows.append("- " + i18n.text("cli.environment.left_out", language, requirement=name, reason=reason))
    return "\n".join(rows)
