"""The settings of a chat: which files of the repository are read, which model answers, and in which language."""

from __future__ import annotations

import chainlit as cl
from chainlit.input_widget import InputWidget, Select, TextInput
from chainlit.types import CommandDict

from repopilot import i18n, intents
from repopilot.agents.coding.typed_commands import FORMS
from repopilot.errors import RepoPilotError
from repopilot.repo.source import check_ref
from repopilot.ui.available_models import Models
from repopilot.ui.chat import Chat
from repopilot.ui.repository.registry import at_ref
from repopilot.ui.repository_view import open_source, send_error

AUTOMATIC = "auto"
"""The value of a choice that is left to RepoPilot. An empty one can't be chosen in the browser."""
LANGUAGE_NAMES = {"en": "English", "fr": "Français"}
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
    await cl.ChatSettings([*_model_choice(chat), _language_choice(chat), *_repository_inputs(chat)]).send()


async def apply(current: Chat, values: dict) -> None:
    """Use the user's settings; the repository is opened again where they change which of its files are read."""
    models = current.process.models
    model = values.get("model", AUTOMATIC)
    if model != (models.settings.llm_model or AUTOMATIC) and model in (AUTOMATIC, *models.names):
        await models.prefer("" if model == AUTOMATIC else model)
    if choose_language(current, str(values.get("language", AUTOMATIC))):
        await send_commands(current)
        await send_settings(current)
    try:
        overrides = read_values(values)
    except RepoPilotError as error:
        await send_error(error, current.language)
        return
    if current.chosen_language:
        overrides["language"] = current.chosen_language
    if overrides == current.overrides:
        return
    current.overrides = overrides
    if current.opening is not None:
        await open_source(current, at_ref(current.opening.source, str(overrides.get("ref", ""))))


def read_values(values: dict) -> dict[str, object]:
    """The form's values as overrides of the settings, without those left empty.

    Args:
        values: by the ids of the inputs `ref`, `include` and `exclude`.

    Returns:
        The overrides by name; `include` and `exclude` as lists of patterns.

    Raises:
        SourceError: `ref` can't be a branch, tag or commit.
    """
    ref = str(values.get("ref") or "").strip()
    if ref:
        check_ref(ref)
    overrides: dict[str, object] = {"ref": ref} if ref else {}
    for name in ("include", "exclude"):
        patterns = [part.strip() for part in str(values.get(name) or "").split(",") if part.strip()]
        if patterns:
            overrides[name] = patterns
    return overrides


def choose_language(chat: Chat, choice: str) -> bool:
    """Speak this language in the chat from now on, or the browser's for any value that is none of ours.

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


def _model_choice(chat: Chat) -> list[InputWidget]:
    """Which model answers, where there is more than one."""
    models = chat.process.models
    if len(models.names) < 2:
        return []
    automatic = i18n.text("ui.settings.model_automatic", chat.language)
    return [
        Select(
            id="model",
            label=i18n.text("ui.settings.model", chat.language),
            items={automatic: AUTOMATIC, **{model_label(models, name, chat.language): name for name in models.names}},
            initial_value=models.settings.llm_model or AUTOMATIC,
            description=i18n.text("ui.settings.model_description", chat.language),
        )
    ]


def model_label(models: Models, name: str, language: str) -> str:
    """A model with how long an answer of it takes here, where that is known."""
    speed = models.status.sizes.speed(name) if models.status and models.status.sizes else None
    if speed is None:
        return name
    return i18n.text("ui.settings.model_speed", language, name=name, seconds=speed.answer_seconds())


def _language_choice(chat: Chat) -> InputWidget:
    automatic = i18n.text("ui.settings.language_automatic", chat.language)
    return Select(
        id="language",
        label=i18n.text("ui.settings.language", chat.language),
        items={automatic: AUTOMATIC, **{LANGUAGE_NAMES[code]: code for code in i18n.LANGUAGES}},
        initial_value=chat.chosen_language or AUTOMATIC,
        description=i18n.text("ui.settings.language_description", chat.language),
    )


def _repository_inputs(chat: Chat) -> list[InputWidget]:
    """What to open, and which of its files to read."""
    current = chat.settings
    initial = {
        "ref": str(chat.overrides.get("ref", "")),
        "include": ", ".join(current.include),
        "exclude": ", ".join(current.exclude),
    }
    return [
        TextInput(
            id=name,
            label=i18n.text(f"ui.settings.{name}", chat.language),
            initial=value,
            placeholder=i18n.text(f"ui.settings.{name}_placeholder", chat.language),
            description=i18n.text(f"ui.settings.{name}_description", chat.language),
        )
        for name, value in initial.items()
    ]
