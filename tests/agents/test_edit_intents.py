"""What kind of edit a task asks for is told from its words, with its names replaced by what they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.edited import edited, texts, workspace_of

from bench.train_intents import DATA, SURE, fit, load, matrix_of, parts
from repopilot.agents.editing.exact.intents.intent_classifier import BUCKETS, OTHER, features, intent_chances, words_of
from repopilot.agents.editing.exact.intents.task_mentions import mentions_of, parts_of
from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.agents.editing.exact.sources import Sources
from repopilot.errors import GenerationFailed

FILES = {
    "kiln/__init__.py": "",
    "kiln/heat.py": (
        "def heat_up(probe, target, fast=False, retries=5):\n    return probe, target, fast, retries\n\n\n"
        "def cool_down(probe):\n    return heat_up(probe, 0, True)\n"
    ),
    "kiln/probe.py": "class Probe:\n    def getTemp(self):\n        return 3\n",
}


def likeliest(text: str) -> str:
    chances = intent_chances(words_of(parts(text)))
    return max(chances, key=lambda kind: chances[kind])


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("rename", "<def>slurp</def> sounds silly, wouldn't <new>read_whole_file</new> be a better name for it?"),
        ("rename", "À partir de maintenant <def>calcul</def> se nomme <new>moyenne_mobile</new>."),
        ("move", "I'd expect to find <def>Shape</def> in <file>geometry.py</file>, not in <file>misc.py</file>."),
        ("keyword_only", "nobody should be able to pass <param>dry_run</param> to <def>deploy</def> by position"),
        ("required", "<param>zone</param> of <def>localise</def> has to be given explicitly from now on"),
        ("reorder", "<def>scale</def> ought to take the <param>factor</param> before the <param>image</param>."),
        ("remove_parameter", "<def>save</def> ignores its <param>mode</param> argument, let's get rid of it"),
        (OTHER, "Let <def>fetch</def> retry three times before it raises <new>NetworkDown</new>."),
        (OTHER, "<def>Queue</def> needs a method <new>peek</new> that returns the first item"),
        (OTHER, "Pourquoi <def>slurp</def> est-elle appelée deux fois ?"),
    ],
)
def test_the_kind_is_told(kind: str, text: str) -> None:
    assert likeliest(text) == kind


@given(st.text(max_size=200))
def test_chances_of_any_text_are_chances(text: str) -> None:
    words = words_of([("", text)])
    columns, values = features(words)
    assert len(columns) == len(values) == len(set(columns.tolist())) and (columns < BUCKETS).all()
    chances = intent_chances(words)
    assert OTHER in chances and abs(sum(chances.values()) - 1) < 1e-6


def test_names_are_read_as_what_they_are(tmp_path) -> None:
    sources = Sources(workspace_of(tmp_path, FILES))
    task = (
        "In heat_up, `retries` before `fast`; move getTemp from kiln/probe.py to kiln/new.py, call it temp_now, not 7."
    )
    assert words_of(parts_of(mentions_of(task, sources))) == (
        "in DEF PARAM before PARAM ; move DEF from FILE to NEWFILE call it NEW not LIT".split()
    )


@pytest.mark.parametrize(
    "task",
    [
        "In my head heat_up is something else, why don't we settle on `warm_through` for it?",
        "My vote goes to `warm_through` for heat_up, which says so little.",
    ],
)
def test_words_that_no_rule_knows_are_read(tmp_path, task: str) -> None:
    assert "def warm_through(" in texts(edited(workspace_of(tmp_path, FILES), task))["kiln/heat.py"]


def test_of_two_kinds_that_words_suggest_the_certain_one_is_meant(tmp_path) -> None:
    task = "heat_up: take the target first and the probe second, please (and swap the arguments at the call sites)."
    new = texts(edited(workspace_of(tmp_path, FILES), task))["kiln/heat.py"]
    assert "def heat_up(target, probe, fast=False, retries=5)" in new and "heat_up(0, probe, True)" in new


def test_a_word_of_naming_is_no_rename_where_something_else_is_wanted(tmp_path) -> None:
    outcome = exact_edit("callers of heat_up have to name `probe`", workspace_of(tmp_path, FILES))
    assert outcome is None or {edit.kind for edit in outcome.edits} == {"keyword_only"}


def test_an_argument_to_something_unknown_is_not_renamed_to_it(tmp_path) -> None:
    files = {
        "kiln/__init__.py": "",
        "kiln/a.py": "class Results:\n    def __init__(self, backend=None):\n        pass\n",
        "example.py": "from kiln.a import Results\n\nbackend = 1\nresults = Results(backend=backend)\n",
    }
    outcome = exact_edit("Make `backend` a required argument to `ResultMiddleware`", workspace_of(tmp_path, files))
    assert outcome is None or "rename" not in {edit.kind for edit in outcome.edits}


def test_a_module_whose_list_is_meant_is_not_its_package(tmp_path) -> None:
    files = {"kiln/__init__.py": "", "kiln/parts.py": "class Lid:\n    pass\n"}
    outcome = exact_edit("add Lid to __all__ in html5. Fixes #3", workspace_of(tmp_path, files))
    assert outcome is None


def test_why_a_rename_cannot_be_made_is_said(tmp_path) -> None:
    files = {
        **FILES,
        "kiln/all.py": "def load_gas():\n    return 1\n\n\ndef load(kind):\n    return globals()['load_' + kind]()\n",
    }
    with pytest.raises(GenerationFailed, match="load_gas"):
        exact_edit("My vote goes to `read_gas` for load_gas, which says so little.", workspace_of(tmp_path, files))


def test_two_wishes_are_not_half_done(tmp_path) -> None:
    task = "Please make the second parameter of heat_up keyword-only and call it goal instead of target."
    assert exact_edit(task, workspace_of(tmp_path, FILES)) is None


def test_optional_parameters_are_made_required(tmp_path) -> None:
    new = texts(edited(workspace_of(tmp_path, FILES), "`fast` and `retries` of heat_up should be mandatory"))
    assert "def heat_up(probe, target, fast, retries):" in new["kiln/heat.py"]
    assert "return heat_up(probe, 0, True, 5)" in new["kiln/heat.py"].replace("retries=5", "5")


def test_which_of_several_places_is_meant_is_asked(tmp_path) -> None:
    other = "class Kettle:\n    def getTemp(self):\n        return 4\n"
    workspace = workspace_of(tmp_path, {**FILES, "kiln/kettle.py": other})
    with pytest.raises(GenerationFailed, match="getTemp"):
        exact_edit("getTemp had better be called `temp_now`.", workspace)


def test_every_example_is_well_formed() -> None:
    kinds = set(intent_chances(["DEF"]))
    for path in sorted(DATA.glob("*.jsonl")):
        for example in load(path):
            assert example["kind"] in kinds and example["lang"] in ("en", "fr"), example
            rest = "".join(text for slot, text in parts(example["text"]) if not slot)
            assert "</" not in rest, example


@pytest.mark.slow
def test_an_author_who_was_left_out_is_understood() -> None:
    """The same figure is printed for each of them by `python -m bench.train_intents --check`."""
    authors = {path.stem: load(path) for path in sorted(DATA.glob("*.jsonl"))}
    held = authors.pop("learners")
    kinds, fitted = fit([example for found in authors.values() for example in found])
    chances = fitted.predict_proba(matrix_of(held))
    best, sure = chances.argmax(1), chances.max(1) >= SURE
    right = [kinds[b] == example["kind"] for b, example in zip(best, held, strict=True)]
    certain = [r for r, s, b in zip(right, sure, best, strict=True) if s and kinds[b] != OTHER]
    assert sum(right) / len(right) > 0.85 and sum(certain) / len(certain) > 0.95
