"""Which lines of a place bear on a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.retrieval.places.focused_lines import focused_lines, line_scores

LINES = st.lists(st.sampled_from(["", "x = 1", "return total", "# the total", "def total_of(cart):", "}"]), max_size=30)
WEIGHTS = st.dictionaries(st.sampled_from(["total", "cart", "x", "return"]), st.floats(0.1, 9), max_size=4)


@pytest.mark.slow
@given(LINES, WEIGHTS, st.integers(1, 12), st.lists(st.integers(-2, 40), max_size=3))
def test_as_many_lines_as_there_is_room_for_in_order_with_those_wanted(lines, weights, count, always):
    scores = line_scores(lines, weights)
    chosen = focused_lines(lines, scores, max(weights.values(), default=0.0), count, always)
    assert chosen == sorted(set(chosen)) and len(chosen) == min(count, len(lines))
    wanted = list(dict.fromkeys(number for number in always if 0 <= number < len(lines)))
    assert set(wanted[:count]) <= set(chosen)


@pytest.mark.slow
@given(LINES, WEIGHTS)
def test_a_line_without_a_word_comes_last(lines, weights):
    for line, score in zip(lines, line_scores(lines, weights), strict=True):
        assert (score < 0) == (not any(character.isalnum() for character in line))


def test_a_name_in_the_best_line_leads_to_the_lines_that_use_it():
    lines = ["threads = default_threads()", *["other = 1"] * 8, "def default_threads():", "    pass"]
    weights = {"thread": 2.0}
    chosen = focused_lines(lines, line_scores(lines, weights), 2.0, 2)
    assert [lines[number] for number in chosen] == [lines[0], "def default_threads():"]


def test_scores_dont_depend_on_the_order_of_a_set():
    weights = {f"word{n}": 0.1 * 3**n for n in range(12)}
    line = " ".join(weights)
    assert line_scores([line], weights) == line_scores([" ".join(reversed(weights))], weights)
