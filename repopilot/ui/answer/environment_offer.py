"""The offer below an answer to build the environment that its tests lack, and the build itself."""

from __future__ import annotations

import asyncio
import threading

import chainlit as cl

from repopilot import i18n
from repopilot.agents.testing.missing import modules_missing
from repopilot.errors import RepoPilotError
from repopilot.i18n.format import duration
from repopilot.project_environment import DeclaredProject, declared_project
from repopilot.results import Answer
from repopilot.sandbox.environments.environment_build import BuildRequest, build_environment
from repopilot.sandbox.environments.environment_store import list_environments
from repopilot.sandbox.environments.uv import index_name
from repopilot.settings import Settings
from repopilot.types import Environment, Progress
from repopilot.ui.chat import Chat
from repopilot.ui.error_text import error_paragraphs
from repopilot.ui.progress_text import progress_line
from repopilot.workspace import Workspace

ACTION = "build_environment"
REFRESH_S = 1.0
_MOST_SHOWN = 15


async def offer_environment(chat: Chat, answer: Answer, workspace: Workspace) -> None:
    """Offer to build the environment where the answer's tests lack modules; with consent given in advance, build it.

    Args:
        chat: where the answer is shown.
        answer: of any agent.
        workspace: the repository that it is about.
    """
    settings = workspace.settings
    missing = modules_missing(answer, workspace.index.files)
    if not missing or workspace.environment is not None or settings.environments == "never":
        return
    if settings.environments == "always":
        await build(chat, {})
        return
    declared = await asyncio.to_thread(declared_project, workspace.snapshot)
    text = offer_text(missing, declared, settings, await asyncio.to_thread(index_name), chat.language)
    button = cl.Action(
        name=ACTION,
        label=i18n.text("ui.environment.button", chat.language),
        payload={},
        tooltip=i18n.text("ui.environment.tooltip", chat.language),
    )
    await cl.Message(content=text, actions=[button]).send()


def offer_text(
    missing: tuple[str, ...], declared: DeclaredProject, settings: Settings, index: str, language: str
) -> str:
    """What would be fetched, from where, and how large it may become."""
    requirements = declared.project.requirements
    shown = ", ".join(f"`{requirement}`" for requirement in requirements[:_MOST_SHOWN])
    more = len(requirements) - _MOST_SHOWN
    return i18n.text(
        "ui.environment.offer",
        language,
        modules=", ".join(f"`{name}`" for name in missing[:_MOST_SHOWN]),
        requirements=f"{shown} (+{more})" if more > 0 else shown or "`pytest`",
        index=index,
        limit=settings.environment_max_mb,
    )


async def build(chat: Chat, payload: dict) -> dict:
    """Build the environment of the open repository, with its progress in a message, then offer to run the tests again.

    Args:
        chat: where the button was pressed.
        payload: of the button, without content.

    Returns:
        {}.
    """
    opening = chat.opening
    if opening is None or opening.snapshot is None:
        return {"error": i18n.text("ui.errors.opening_closed", chat.language)}
    settings = opening.settings
    message = cl.Message(content=i18n.text("ui.environment.building", chat.language))
    await message.send()
    declared = await asyncio.to_thread(declared_project, opening.snapshot)
    latest: list[Progress] = []
    cancel = threading.Event()
    request = BuildRequest(declared.project, settings, files=declared.files)
    building = asyncio.create_task(asyncio.to_thread(build_environment, request, latest.append, cancel))
    try:
        while not building.done():
            await asyncio.wait([building], timeout=REFRESH_S)
            if latest:
                message.content = progress_line(latest[-1], chat.language)
                await message.update()
        message.content = built_text(building.result(), settings, chat.language)
    except asyncio.CancelledError:
        cancel.set()
        raise
    except RepoPilotError as error:
        message.content = error_paragraphs(error, chat.language)
    else:
        message.content += "\n\n" + i18n.text("ui.environment.again", chat.language)
    await message.update()
    return {}


def built_text(environment: Environment, settings: Settings, language: str) -> str:
    """What was installed, and what is missing with the reason, as Markdown."""
    facts = list_environments(settings)[environment.key]
    took = duration(facts.seconds, language)
    rows = [
        i18n.text(
            "cli.environment.built", language, count=len(facts.packages), megabytes=facts.megabytes, duration=took
        )
    ]
    for entry in environment.left_out:
        reason = i18n.said(entry.reason, language)
        rows.append(
            "- " + i18n.text("cli.environment.left_out", language, requirement=f"`{entry.requirement}`", reason=reason)
        )
    return "\n".join(rows)
