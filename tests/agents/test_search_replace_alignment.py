"""What a small model repeats or leaves out around the lines it changes is put right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.agents.editing.search_replace.alignment import with_indentation, with_left_out, with_repeated

FORMATS = ("match self {", "  Second => s,", "  Milli => ms,", "  Micro => us,", "}", "", "more()")
lines = st.lists(st.sampled_from(["a = 1", "b(2)", "}", "", "  c"]), max_size=8)


def test_lines_that_are_repeated_below_belong_to_what_is_replaced() -> None:
    new = (*FORMATS[:4], "  Nano => ns,", "}")
    assert with_repeated(FORMATS[:2], new, FORMATS[2:]) == FORMATS[:5]
    assert with_repeated(FORMATS[1:2], ("  Second => sec,",), FORMATS[2:]) == FORMATS[1:2]


def test_lines_at_the_wrong_depth_are_shifted() -> None:
    assert with_indentation(("D = {", "  a: 1,"), ("a: 1,", "b: 2,", "", "  c")) == ("  a: 1,", "  b: 2,", "", "    c")
    assert with_indentation(("a: 1,",), ("\ta: 1,", "\tb: 2,")) == ("a: 1,", "b: 2,")
    assert with_indentation(("a: 1,",), ("a: 1,", "\tb: 2,")) == ("a: 1,", "\tb: 2,")
    assert with_indentation(("\ta",), ("  a", "  b")) == ("  a", "  b")


@given(lines, lines, lines)
def test_only_lines_below_are_added(old: list[str], new: list[str], following: list[str]) -> None:
    whole = with_repeated(old, new, following)
    assert whole == (*old, *following)[: len(whole)] and len(whole) >= len(old)


@given(lines, lines)
def test_without_a_word_of_removal_no_line_vanishes(old: list[str], new: list[str]) -> None:
    left = with_left_out(old, new, "say it louder")
    assert set(left) <= {*old, *new}
    assert sum(line.strip() != "" for line in left) >= sum(line.strip() != "" for line in new)
    assert with_left_out(old, new, "remove it") == tuple(new)
    assert with_left_out(old, old, "say it louder") == tuple(old)


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        (("  lv,", "}", ""), ("  lv,", "  nl,"), ("  lv,", "  nl,", "}")),
        (("  lv,",), ("  nl,",), ("  lv,", "  nl,")),
    ],
)
def test_lines_stay_in_their_order_and_brackets_close_last(
    old: tuple[str, ...], new: tuple[str, ...], left: tuple[str, ...]
) -> None:
    assert with_left_out(old, new, "add nl_NL") == left
