"""The citation check: what a model writes about excerpts, and which of its citations remain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.citations import cases, measure
from repopilot.retrieval.cite import Excerpt, split_marks, verify
from repopilot.retrieval.claims import split_sentences
from repopilot.types import Symbol

CONTEXT = Excerpt(
    1,
    "src/click/core.py",
    10,
    13,
    "Command.make_context",
    "def make_context(self, info_name, args):\n    ctx = Context(self)\n    self.parse_args(ctx, args)\n    return ctx",
)
FOO = Excerpt(2, "src/x.py", 1, 2, "foo", "def foo():\n    return 'bar baz'")


def checked(text: str, *excerpts: Excerpt) -> tuple[str, list[tuple[int, str, bool]]]:
    out, citations = verify(text, excerpts or (CONTEXT, FOO), "c0ffee")
    return out, [(c.number, f"{c.path}:{c.start_line}-{c.end_line}", c.supported) for c in citations]


def test_a_true_citation_keeps_the_place_that_code_looked_up() -> None:
    out, citations = checked("`make_context` builds a `Context` [1].")
    assert out == "`make_context` builds a `Context` [1]."
    assert citations == [(1, "src/click/core.py:10-13", True)]


def test_a_number_that_names_no_excerpt_is_dropped() -> None:
    assert checked("It is very fast and robust indeed [7].") == ("It is very fast and robust indeed.", [])


def test_a_citation_of_the_wrong_excerpt_moves_to_the_supporting_one() -> None:
    out, citations = checked("`foo` returns `'bar baz'` [1].")
    assert out.endswith("[1].") and citations == [(1, "src/x.py:1-2", True)]


def test_a_sentence_that_no_excerpt_supports_is_left_out() -> None:
    assert checked("The token is validated by the server before storage [2].") == ("", [])


def test_a_sentence_without_a_number_gets_that_of_the_excerpt_with_its_names() -> None:
    assert checked("The function `foo` returns `'bar baz'`.")[1] == [(1, "src/x.py:1-2", True)]


def test_line_numbers_invented_by_the_model_are_removed() -> None:
    out, _ = checked("See src/x.py:120-140 and src/click/core.py#L5 for `foo`.")
    assert ":120" not in out and "#L5" not in out and "src/x.py" in out


@pytest.mark.parametrize("marker", ["[1, 2]", "[1][2]", "[1] [2]", "[1-2]", "【1】", "[^1]", "[ 1 ]", "`[1]`"])
def test_every_form_in_which_small_models_write_numbers_is_parsed(marker: str) -> None:
    out, citations = checked(f"`make_context` builds a `Context` {marker}.")
    assert out == "`make_context` builds a `Context` [1]." and citations[0][1] == "src/click/core.py:10-13"


def test_code_blocks_are_left_alone_and_links_left_out() -> None:
    code = "```python\nx = items[1]\n```\n"
    assert checked(f"{code}[1](https://example.org)\n") == (code, [])


def test_a_mention_is_no_definition() -> None:
    """`helper` is defined elsewhere: lines that merely call it don't support a sentence about what it does."""
    definition = Symbol("helper", "helper", "function", "src/y.py", 50, 60)
    _, citations = verify(
        "`helper` parses the command line [1].",
        [Excerpt(1, "src/z.py", 1, 2, "run", "def run():\n    helper()")],
        "c",
        lambda n: [definition] * (n == "helper"),
    )
    assert not citations


def test_a_long_excerpt_is_narrowed_to_the_supporting_lines() -> None:
    lines = [f"    step_{i}()" for i in range(60)]
    long = Excerpt(1, "a.py", 101, 160, "", "\n".join(lines))
    assert checked("It runs `step_30` and `step_31` [1].", long)[1] == [(1, "a.py:129-134", True)]


@pytest.mark.slow
def test_true_citations_are_accepted_and_moved_ones_rejected() -> None:
    """The adversarial set of the bench: at least 95 % each, on every kind taken together."""
    found = cases(("click", "httpx", "pathspec"))
    count, kept, rejected = measure(found)["all"]
    assert count >= 500 and kept >= 0.95 and rejected >= 0.95


@given(st.text(max_size=400))
def test_sentences_join_to_the_text(text: str) -> None:
    assert "".join(piece for piece, _ in split_sentences(text)) == text


@given(st.text(alphabet='ab `[]123,.\n-?"foo_bar()', max_size=200))
def test_only_numbers_of_shown_citations_remain(text: str) -> None:
    import re

    out, citations = verify(text, (CONTEXT, FOO), "c")
    prose = "".join(p for p, is_prose in split_sentences(out) if is_prose)
    assert {int(n) for n in re.findall(r" \[(\d+)\]", prose)} >= {c.number for c in citations}
    assert [c.number for c in citations] == list(range(1, len(citations) + 1))


@pytest.mark.parametrize(
    ("marks", "numbers"),
    [("[2-4]", [2, 3, 4]), ("[21-21-2]", []), ("[1-2-3]", [1, 2, 3]), ("[1–3, 7]", [1, 2, 3, 7]), ("[5]", [5])],
)
def test_ranges_of_citations_are_read_however_they_are_written(marks: str, numbers: list[int]) -> None:
    assert split_marks(f"It is so {marks}.")[1] == numbers


@pytest.mark.parametrize("unit", ["-", "9", ".", "a.", "a-", "A", "_", "e.g. ", "www.", "a/", "[1]", "` "])
def test_a_reply_that_goes_round_in_circles_is_checked_in_linear_time(unit):
    reply = "x " + unit * (150_000 // len(unit)) + " x."  # quadratic, this takes minutes
    text, _ = checked(reply)
    assert len(text) <= len(reply)
