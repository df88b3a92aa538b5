"""The form of a chat's settings: what it shows, what it takes, what the environment fixes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.settings import Settings
from repopilot.ui.settings.settings_form import ENVIRONMENTS, SLIDERS, Choice, form, read_values


def inputs(choice, models=()):
    names = dict.fromkeys(models, "label")
    return {each.id: each for tab in form(choice, {n: n for n in names}, "en") for each in tab.inputs}


def test_what_the_environment_sets_is_shown_and_cannot_be_changed(monkeypatch):
    monkeypatch.setenv("REPOPILOT_LOOP_STEPS", "60")
    settings = Settings()
    shown = inputs(Choice(settings, frozenset(settings.model_fields_set)))
    assert shown["loop_steps"].disabled and shown["loop_steps"].initial == 60
    assert "REPOPILOT_LOOP_STEPS" in shown["loop_steps"].description
    assert not shown["search_depth"].disabled
    assert read_values({"loop_steps": 5, "search_depth": 20}, frozenset({"loop_steps"})) == {"search_depth": 20}


def test_models_can_be_chosen_where_there_are_several():
    assert "reviewer_model" not in inputs(Choice(Settings()), ["one"])
    shown = inputs(Choice(Settings(reviewer_model="two")), ["one", "two"])
    assert shown["reviewer_model"].initial == "two" and shown["llm_model"].initial == "auto"


def test_the_defaults_of_the_form_are_those_of_the_settings():
    settings = Settings()
    read = read_values({name: each.initial for name, each in inputs(Choice(settings)).items()})
    assert read and all(getattr(settings, name) == value for name, value in read.items())


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from([*SLIDERS, "num_ctx", "environments"]), st.floats() | st.text()))
def test_no_value_from_outside_leaves_the_settings_range(values):
    read = read_values(values)
    for name, value in read.items():
        if name in SLIDERS:
            assert SLIDERS[name][0] <= value <= SLIDERS[name][1]
    assert read.get("environments", "ask") in ENVIRONMENTS
    Settings(**read)


@pytest.mark.parametrize("tab", ["Repository", "Models", "Agents", "Language"])
def test_every_tab_has_a_name(tab):
    assert tab in [each.label for each in form(Choice(Settings()), {}, "en")]
