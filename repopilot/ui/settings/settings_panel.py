"""The settings of a chat, offered and applied; `settings_form.py` has the form."""

from __future__ import annotations

import chainlit as cl
from chainlit.types import CommandDict

from repopilot import i18n, intents
from repopilot.agents.coding.typed_commands import FORMS
from repopilot.errors import RepoPilotError
from repopilot.ui.chat import Chat
from repopilot.ui.models.available_models import Models
from repopilot.ui.repository.registry import at_ref
from repopilot.ui.repository_view import open_source, send_error
from repopilot.ui.settings.settings_form import AUTOMATIC, REPOSITORY, ROLES, Choice, form, read_values

OPEN_ICON = "folder-git-2"


async def send_commands(chat: Chat) -> None:
    """Offer the commands of the message box, described in the chat's language."""
    opening = _command("open", i18n.text("ui.chat.open_command", chat.language), OPEN_ICON)
    offered = [spec for spec in intents.INTENTS if spec.command]
    others = [_command(spec.command, spec.description(chat.language), spec.icon) for spec in offered]
    does = {name: i18n.text(f"commands.does.{name}", chat.language) for name in FORMS}
    typed = [_command(name, f"{does[name]} {form.usage}", form.icon) for name, form in FORMS.items()]
    await cl.context.emitter.set_commands([opening, *others, *typed])


async def send_settings(chat: Chat) -> None:
    """Offer the settings, with their current values."""
    models = chat.process.models
    labels = {name: model_label(models, name, chat.language) for name in models.names}
    update = {**chat.overrides, **{role: getattr(models.settings, role) for role in ROLES}}
    update.pop("language", None)
    ref = str(update.pop("ref", ""))
    started = chat.process.runtime.settings
    choice = Choice(started.model_copy(update=update), frozenset(started.model_fields_set), ref, chat.chosen_language)
    await cl.ChatSettings(form(choice, labels, chat.language)).send()


async def apply(current: Chat, values: dict) -> None:
    """Use the user's settings; open the repository again if they change which of its files are read."""
    fixed = frozenset(current.process.runtime.settings.model_fields_set)
    await _prefer_models(current, values, fixed)
    if choose_language(current, str(values.get("language", AUTOMATIC))):
        await send_commands(current)
        await send_settings(current)
    try:
        overrides = read_values(values, fixed)
    except RepoPilotError as error:
        await send_error(error, current.language)
        return
    if current.chosen_language:
        overrides["language"] = current.chosen_language
    before = current.overrides
    current.overrides = overrides
    reads_others = any(before.get(name) != overrides.get(name) for name in REPOSITORY)
    if reads_others and current.opening is not None:
        await open_source(current, at_ref(current.opening.source, str(overrides.get("ref", ""))))


async def _prefer_models(chat: Chat, values: dict, fixed: frozenset[str]) -> None:
    models = chat.process.models
    wanted = {role: values[role] for role in ROLES if role in values and role not in fixed}
    known = (AUTOMATIC, *models.names)
    chosen = {role: "" if name == AUTOMATIC else str(name) for role, name in wanted.items() if name in known}
    if any(getattr(models.settings, role) != name for role, name in chosen.items()):
        await models.prefer(**chosen)


def choose_language(chat: Chat, choice: str) -> bool:
    """Use this language in the chat from now on, or the browser's for any value that isn't a language of ours.

    Returns:
        Whether the choice differs from the one before.
    """
    chosen = choice if choice in i18n.LANGUAGES else ""
    changed = chosen != chat.chosen_language
    chat.overrides.pop("language", None)
    if chosen:
        chat.overrides["language"] = chosen
    return changed


def _command(name: str, description: str, icon: str) -> CommandDict:
    return {
        "id": name,
        "description": description,
        "icon": icon,
        "button": None,
        "persistent": None,
        "selected": None,
    }


def model_label(models: Models, name: str, language: str) -> str:
    """A model's name, with the time of its answers on this machine if it is known."""
    speed = models.status.sizes.speed(name) if models.status and models.status.sizes else None
    if speed is None:
        return name
    return i18n.text("ui.settings.model_speed", language, name=name, seconds=speed.answer_seconds())
