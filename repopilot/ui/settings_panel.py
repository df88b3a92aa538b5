"""The settings of a chat, behind the gear: what of the repository is read, and which model answers."""

from __future__ import annotations

import chainlit as cl
from chainlit.input_widget import Select, TextInput

from repopilot.errors import RepoPilotError
from repopilot.repo.source import check_ref
from repopilot.ui.chat import Chat, chat, process
from repopilot.ui.repository.registry import at_ref
from repopilot.ui.repository.view import open_source, say_error

FITTING = "what fits this machine"


async def show_gear(kept: Chat) -> None:
    """The inputs, with the values of the moment."""
    current = kept.settings
    await cl.ChatSettings(
        [
            *_model_choice(),
            TextInput(
                id="ref",
                label="Branch, tag or commit",
                initial=str(kept.narrowed.get("ref", "")),
                placeholder="the default branch",
                description="Opens the repository of this chat at that point.",
            ),
            TextInput(
                id="include",
                label="Only read",
                initial=", ".join(current.include),
                placeholder="src/, *.py",
                description="Patterns as in .gitignore, with commas between. Empty: everything worth reading.",
            ),
            TextInput(
                id="exclude",
                label="Never read",
                initial=", ".join(current.exclude),
                placeholder="docs/, *.snap",
                description="Patterns as in .gitignore, with commas between.",
            ),
        ]
    ).send()


def _model_choice() -> list[Select]:
    """Which model answers, where there is more than one."""
    models = process().models
    if len(models.names) < 2:
        return []
    return [
        Select(
            id="model",
            label="Model",
            values=[FITTING, *models.names],
            initial_value=models.settings.llm_model or FITTING,
            description="For every chat of this RepoPilot, until it is restarted.",
        )
    ]


async def apply(values: dict) -> None:
    """Take the user's settings, and open the repository anew where they change what is read of it."""
    kept, models = chat(), process().models
    model = values.get("model", FITTING)
    if model != (models.settings.llm_model or FITTING) and model in (FITTING, *models.names):
        await models.prefer("" if model == FITTING else model)
    try:
        narrowed = read_values(values)
    except RepoPilotError as error:
        await say_error(error)
        return
    if narrowed == kept.narrowed:
        return
    kept.narrowed = narrowed
    if kept.opening is not None:
        await open_source(kept, at_ref(kept.opening.source, str(narrowed.get("ref", ""))))


def read_values(values: dict) -> dict[str, object]:
    """The form's values as updates of the settings; what is empty is left to them. Raises SourceError. Pure."""
    ref = str(values.get("ref") or "").strip()
    if ref:
        check_ref(ref)
    narrowed: dict[str, object] = {"ref": ref} if ref else {}
    for name in ("include", "exclude"):
        patterns = [part.strip() for part in str(values.get(name) or "").split(",") if part.strip()]
        if patterns:
            narrowed[name] = patterns
    return narrowed
