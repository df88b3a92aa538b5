"""What a citation is made of: the numbers a model writes, and how far lines support a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.citations import cases, measure
from repopilot.retrieval.cite import SUPPORTED, narrowed, split_marks, support, without_invented_lines
from repopilot.retrieval.claims import claim_of, split_sentences
from repopilot.types import Excerpt, Symbol


def test_line_numbers_invented_by_the_model_are_removed() -> None:
    text = "See src/x.py:120-140 and src/click/core.py#L5 for `foo`."
    assert without_invented_lines(text) == "See src/x.py and src/click/core.py for `foo`."


@pytest.mark.parametrize(
    "marker", ["[1, 2]", "[1][2]", "[1] [2]", "[1-2]", "【1】【2】", "[^1][2]", "[ 1 ; 2 ]", "`[1]` [2]"]
)
def test_every_form_in_which_small_models_write_numbers_is_parsed(marker: str) -> None:
    assert split_marks(f"`make_context` builds a `Context` {marker}.") == ("`make_context` builds a `Context`.", [1, 2])


def test_a_mention_is_no_definition() -> None:
    """`helper` is defined elsewhere: lines that merely call it don't support a sentence about what it does."""
    definition = Symbol("helper", "helper", "function", "src/y.py", 50, 60)
    claim = claim_of("`helper` parses the command line.")
    caller = Excerpt(1, "src/z.py", 1, 2, "run", "def run():\n    helper()")
    assert support(claim, caller, lambda name: [definition] * (name == "helper")) < SUPPORTED
    assert support(claim_of("`helper`"), caller, lambda name: ()) >= SUPPORTED


def test_a_long_excerpt_is_narrowed_to_the_supporting_lines() -> None:
    lines = [f"    step_{i}()" for i in range(60)]
    long = Excerpt(1, "a.py", 101, 160, "", "\n".join(lines))
    assert narrowed(claim_of("It runs `step_30` and `step_31`."), long) == (129, 134)


@pytest.mark.slow
def test_true_citations_are_accepted_and_moved_ones_rejected() -> None:
    """The adversarial set of the bench: at least 95 % each, on every kind taken together."""
    found = cases(("click", "httpx", "pathspec"))
    count, kept, rejected = measure(found)["all"]
    assert count >= 500 and kept >= 0.95 and rejected >= 0.95


@given(st.text(max_size=400))
def test_sentences_join_to_the_text(text: str) -> None:
    assert "".join(piece for piece, _ in split_sentences(text)) == text


@pytest.mark.parametrize(
    ("marks", "numbers"),
    [("[2-4]", [2, 3, 4]), ("[21-21-2]", []), ("[1-2-3]", [1, 2, 3]), ("[1–3, 7]", [1, 2, 3, 7]), ("[5]", [5])],
)
def test_ranges_of_citations_are_read_however_they_are_written(marks: str, numbers: list[int]) -> None:
    assert split_marks(f"It is so {marks}.")[1] == numbers
