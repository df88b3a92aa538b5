"""The offer below an answer to build the environment that its tests lack, and the build itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import partial

import chainlit as cl

from repopilot import i18n
from repopilot.agents.testing.missing import modules_missing, packages_needed
from repopilot.background import in_background
from repopilot.code.dependencies.package_declarations import PackageDeclaration
from repopilot.errors import RepoPilotError
from repopilot.i18n.format import duration
from repopilot.project_environment import DeclaredProject, declared_packages, declared_project
from repopilot.results import Answer
from repopilot.sandbox.environments.environment_build import BuildRequest, build_environment
from repopilot.sandbox.environments.environment_store import list_environments
from repopilot.sandbox.environments.package_install import install_packages, installer_name
from repopilot.sandbox.environments.uv import index_name
from repopilot.sandbox.language_servers.fetched import fetch_servers
from repopilot.sandbox.output.plain_text import plain
from repopilot.settings import Settings
from repopilot.types import Environment, InstalledPackages, OnProgress, Progress, Snapshot
from repopilot.ui.chat import Chat
from repopilot.ui.error_text import error_paragraphs
from repopilot.ui.progress_text import progress_line
from repopilot.workspace import Workspace

ACTION = "build_environment"
REFRESH_S = 1.0
_MOST_SHOWN, _LONGEST_NAME = 15, 80


async def offer_environment(chat: Chat, answer: Answer, workspace: Workspace) -> None:
    """Offer to build the environment where the answer's tests lack modules; with consent given in advance, build it.

    Args:
        chat: where the answer is shown.
        answer: of any agent.
        workspace: the repository that it is about.
    """
    settings, payload = workspace.settings, {"language": packages_needed(answer)}
    missing = modules_missing(answer, workspace.index.files) if workspace.environment is None else ()
    if not (missing or payload["language"]) or settings.environments == "never":
        return
    if chat.building:
        return  # its message shows how far it is
    if settings.environments == "always":
        await build(chat, payload)
        return
    if payload["language"]:
        others = await asyncio.to_thread(declared_packages, workspace.snapshot)
        text = packages_text(others, payload["language"], settings, chat.language)
    else:
        declared = await asyncio.to_thread(declared_project, workspace.snapshot)
        text = offer_text(missing, declared, settings, await asyncio.to_thread(index_name), chat.language)
    button = cl.Action(
        name=ACTION,
        label=i18n.text("ui.environment.button", chat.language),
        payload=payload,
        tooltip=i18n.text("ui.environment.tooltip", chat.language),
    )
    await cl.Message(content=text, actions=[button]).send()


def offer_text(
    missing: tuple[str, ...], declared: DeclaredProject, settings: Settings, index: str, language: str
) -> str:
    """What would be fetched, from where, and how large it may become."""
    return i18n.text(
        "ui.environment.offer",
        language,
        modules=", ".join(f"`{name}`" for name in missing[:_MOST_SHOWN]),
        requirements=_shown(declared.project.requirements) or "`pytest`",
        index=index,
        limit=settings.environment_max_mb,
    )


def packages_text(declared: Sequence[PackageDeclaration], of_language: str, settings: Settings, language: str) -> str:
    """What would be fetched for the tests of one language, by which program, and how large it may become."""
    chosen = next(each for each in declared if each.language == of_language)
    return i18n.text(
        "ui.environment.offer_packages",
        language,
        files=_shown(chosen.declared_in),
        requirements=_shown((*chosen.requirements, *chosen.elsewhere)),
        program=installer_name(of_language),
        limit=settings.environment_max_mb,
    )


def _shown(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{plain(name, _LONGEST_NAME)}`" for name in names[:_MOST_SHOWN])
    more = len(names) - _MOST_SHOWN
    return f"{shown} (+{more})" if more > 0 else shown


async def build(chat: Chat, payload: dict) -> dict:
    """Build the environment of the open repository, with its progress in a message, then offer to run the tests again.

    Args:
        chat: where the button was pressed.
        payload: of the button; `language` names one whose packages are installed instead of Python's.

    Returns:
        {}.
    """
    opening = chat.opening
    if opening is None or opening.snapshot is None:
        return {"error": i18n.text("ui.errors.opening_closed", chat.language)}
    if chat.building:
        return {"error": i18n.text("ui.environment.building", chat.language)}
    settings = opening.settings
    message = cl.Message(content=i18n.text("ui.environment.building", chat.language))
    await message.send()
    latest: list[Progress] = []
    cancel = threading.Event()
    work = partial(_build, opening.snapshot, payload.get("language") or "", settings, latest.append, cancel)
    building = in_background(work)
    chat.building = True
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
    finally:
        chat.building = False
    await message.update()
    return {}


def _build(
    snapshot: Snapshot, language: str, settings: Settings, progress: OnProgress, cancel: threading.Event
) -> Environment | InstalledPackages:
    """Build Python's environment, or install the packages of another language."""
    for each in declared_packages(snapshot) if language else ():
        if each.language == language:
            packages = install_packages(each, settings, progress, cancel)
            fetch_servers([language], settings, progress, cancel)
            return packages
    declared = declared_project(snapshot)
    return build_environment(BuildRequest(declared.project, settings, files=declared.files), progress, cancel)


def built_text(environment: Environment | InstalledPackages, settings: Settings, language: str) -> str:
    """What was installed, and what is missing with the reason, as Markdown."""
    facts = list_environments(settings)[environment.key]
    took = duration(facts.seconds, language)
    rows = [
        i18n.text(
            "cli.environment.built", language, count=len(facts.packages), megabytes=facts.megabytes, duration=took
        )
    ]
    for entry in facts.left_out:
        reason = i18n.said(entry.reason, language)
        rows.append(
            "- " + i18n.text("cli.environment.left_out", language, requirement=f"`{entry.requirement}`", reason=reason)
        )
    return "\n".join(rows)
