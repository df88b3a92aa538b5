"""The models beside the one that answers: each does one kind of work, where the user has named one for it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from repopilot import i18n
from repopilot.llm.choice import choose
from repopilot.llm.choice.discovery import PROBE_S, find_model
from repopilot.llm.model import Model, ModelRoles
from repopilot.llm.resources import ModelResources
from repopilot.settings import Settings


async def choose_roles(settings: Settings, model: Model, resources: ModelResources) -> ModelRoles:
    """Find the models that the user named for roles, at the same place as the one that answers.

    Args:
        settings: their names, and the servers to ask.
        model: the one that answers.
        resources: shared with the other models of the process.
    """
    router = await _named(settings.router_model, settings, model, resources)
    coder = await _named(settings.coder_model, settings, model, resources)
    reviewer = await choose.choose_reviewer(settings, model, resources)
    found = {"router_model": router, "coder_model": coder, "reviewer_model": reviewer}
    wanted = {option: str(getattr(settings, option)) for option in found}
    notes = tuple(
        i18n.message("llm.role_missing", option=f"REPOPILOT_{option.upper()}", name=wanted[option], model=model.name)
        for option, one in found.items()
        if one is None and wanted[option] not in ("", model.name)
    )
    return ModelRoles(router, coder, reviewer, notes)


async def _named(name: str, settings: Settings, model: Model, resources: ModelResources) -> Model | None:
    """The model of a name, None where there is none, or where it is the one that answers."""
    if name in ("", model.name):
        return None
    named = settings.model_copy(update={"llm_model": name})
    found = await asyncio.to_thread(find_model, named, PROBE_S, [])
    if found is None or found.kind != model.kind or found.missing is not None:
        return None
    if found.kind == "embedded" and found.name not in (name, Path(name).stem):
        return None
    return await asyncio.to_thread(choose.build, found, named, resources)
