"""The form of a chat's settings, and its values as overrides. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chainlit.input_widget import InputWidget, Select, Slider, Switch, Tab, TextInput

from repopilot import i18n
from repopilot.repo.source import check_ref
from repopilot.settings import EDITORS, Settings

AUTOMATIC = "auto"
"""The value that leaves a choice to RepoPilot. The browser can't select an empty value."""
LANGUAGE_NAMES = {"en": "English", "fr": "Français"}
PATTERNS = ("include", "exclude")
REPOSITORY = ("ref", *PATTERNS)
"""The settings that change which files are read."""
ROLES = ("llm_model", "reviewer_model")
SLIDERS = {
    "loop_steps": (5, 200, 5),
    "loop_seconds": (60, 3600, 60),
    "loop_tokens": (50_000, 2_000_000, 50_000),
    "search_depth": (4, 40, 1),
    "max_iterations": (1, 8, 1),
    "test_timeout_s": (5, 300, 5),
}
"""Lowest value, highest value and step of each slider."""
CONTEXTS = (0, 8192, 16384, 32768, 65536, 131072)
ENVIRONMENTS = ("ask", "always", "never")
AUDIENCES = ("developer", "reader")


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen now.

    Attributes:
        settings: the settings in force.
        fixed: the settings that the environment sets: shown, but not editable.
        ref: the branch, tag or commit, '' for the default branch.
        language: chosen in the chat, '' for the browser's.
    """

    settings: Settings
    fixed: frozenset[str] = frozenset()
    ref: str = ""
    language: str = ""


def form(choice: Choice, models: Mapping[str, str], language: str) -> list[Tab]:
    """The tabs of the form.

    Args:
        choice: what is chosen now.
        models: labels of the models that can be chosen, by name.
        language: of the reader.
    """
    settings = choice.settings
    tabs: dict[str, Sequence[InputWidget]] = {
        "repository": _repository(settings, choice.ref, language),
        "models": _models(settings, models, language),
        "agents": _agents(settings, language),
        "display": [
            _language(choice.language, language),
            _audience(settings, language),
            _editor(settings, language),
        ],
    }
    for inputs in tabs.values():
        for each in inputs:
            if each.id in choice.fixed:
                each.disabled = True
                name = f"REPOPILOT_{each.id.upper()}"
                each.description = i18n.text("ui.settings.fixed", language, name=name)
    labels = i18n.section("ui.settings.tabs", language)
    return [Tab(id=name, label=labels[name], inputs=list(inputs)) for name, inputs in tabs.items() if inputs]


def read_values(values: Mapping[str, Any], fixed: frozenset[str] = frozenset()) -> dict[str, object]:
    """The form's values as overrides of the settings.

    Args:
        values: by the ids of the inputs.
        fixed: the settings that the environment sets.

    Returns:
        The overrides by name, without the models; `include` and `exclude` as lists of patterns, which are left out
        when empty, as `ref` is.

    Raises:
        SourceError: `ref` can't be a branch, tag or commit.
    """
    ref = str(values.get("ref") or "").strip()
    if ref:
        check_ref(ref)
    overrides: dict[str, object] = {"ref": ref} if ref else {}
    for name in PATTERNS:
        patterns = [part.strip() for part in str(values.get(name) or "").split(",") if part.strip()]
        if patterns:
            overrides[name] = patterns
    for name, (low, high, _) in SLIDERS.items():
        value = values.get(name)
        if isinstance(value, int | float) and math.isfinite(value):
            whole = round(min(max(value, low), high))
            overrides[name] = float(whole) if Settings.model_fields[name].annotation is float else whole
    context = str(values.get("num_ctx"))
    if context.isascii() and context.isdigit() and len(context) < 10:
        overrides["num_ctx"] = int(context)
    for name, choices in (("audience", AUDIENCES), ("environments", ENVIRONMENTS), ("editor", EDITORS)):
        if values.get(name) in choices:
            overrides[name] = values[name]
    if isinstance(values.get("allow_weak_sandbox"), bool):
        overrides["allow_weak_sandbox"] = values["allow_weak_sandbox"]
    return {name: value for name, value in overrides.items() if name not in fixed}


def _said(name: str, part: str, language: str) -> str:
    return i18n.text(f"ui.settings.{name}{part}", language)


def _repository(settings: Settings, ref: str, language: str) -> list[InputWidget]:
    initial = {"ref": ref, **{name: ", ".join(getattr(settings, name)) for name in PATTERNS}}
    return [
        TextInput(
            id=name,
            label=_said(name, "", language),
            initial=value,
            placeholder=_said(name, "_placeholder", language),
            description=_said(name, "_description", language),
        )
        for name, value in initial.items()
    ]


def _models(settings: Settings, models: Mapping[str, str], language: str) -> list[InputWidget]:
    """The model for each role, if there is more than one model, and the context size."""
    inputs: list[InputWidget] = []
    for role in ROLES if len(models) > 1 else ():
        automatic = _said(role, "_automatic", language)
        inputs.append(
            Select(
                id=role,
                label=_said(role, "", language),
                items={automatic: AUTOMATIC, **{label: name for name, label in models.items()}},
                initial_value=getattr(settings, role) or AUTOMATIC,
                description=_said("model", "_description", language),
            )
        )
    contexts = {_said("num_ctx", "_automatic", language): "0", **{f"{n:,}": str(n) for n in CONTEXTS if n}}
    return [*inputs, _select("num_ctx", contexts, str(settings.num_ctx), language)]


def _agents(settings: Settings, language: str) -> list[InputWidget]:
    numbers = [
        Slider(
            id=name,
            label=_said(name, "", language),
            initial=float(getattr(settings, name)),
            min=low,
            max=high,
            step=step,
        )
        for name, (low, high, step) in SLIDERS.items()
    ]
    choices = {_said("environments", f"_{name}", language): name for name in ENVIRONMENTS}
    consent = Switch(
        id="allow_weak_sandbox",
        label=_said("allow_weak_sandbox", "", language),
        initial=settings.allow_weak_sandbox,
        description=_said("allow_weak_sandbox", "_description", language),
    )
    return [*numbers, _select("environments", choices, settings.environments, language), consent]


def _language(chosen: str, language: str) -> InputWidget:
    names = {_said("language", "_automatic", language): AUTOMATIC, **{LANGUAGE_NAMES[c]: c for c in i18n.LANGUAGES}}
    return _select("language", names, chosen or AUTOMATIC, language, _said("language", "_description", language))


def _audience(settings: Settings, language: str) -> InputWidget:
    choices = {_said("audience", f"_{name}", language): name for name in AUDIENCES}
    return _select("audience", choices, settings.audience, language)


def _editor(settings: Settings, language: str) -> InputWidget:
    choices = {
        _said("editor", "_none", language): AUTOMATIC,
        **{_said("editor", f"_{name}", language): name for name in EDITORS},
    }
    return _select("editor", choices, settings.editor or AUTOMATIC, language, _said("editor", "_description", language))


def _select(id: str, items: dict[str, str], value: str, language: str, description: str = "") -> Select:
    if value not in items.values():
        items = {**items, value: value}
    return Select(
        id=id, label=_said(id, "", language), items=items, initial_value=value, description=description or None
    )
