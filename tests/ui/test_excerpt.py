"""What is shown of code: which lines of a place, and their syntax colours."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.ui.answer.parts.excerpt import SMALLEST_HOLE, WHOLE, excerpt
from repopilot.ui.highlight import LONGEST, highlighted

TEXTS = st.text(st.sampled_from("ab1 (){}[]\"'#\\\n\r\t\x0cé\u2028/*:"), max_size=200)


@pytest.mark.slow
@given(st.sampled_from(["a.py", "a.ts", "a.rs", "Makefile", "a.nothing", ""]), TEXTS)
def test_the_colours_change_nothing_of_the_text(path, text):
    lines = highlighted(path, text)
    assert ["".join(piece for _, piece in line) for line in lines] == text.split("\n")


def test_strings_of_several_lines_comments_and_names_are_told_apart():
    lines = highlighted("a.py", 'def f(x):\n    """One\n    two."""\n    return x + 1  # sum\n')
    assert ["k", "def"] in lines[0] and ["f", "f"] in lines[0]
    assert [kind for kind, _ in lines[2]] == ["s"]
    assert ["n", "1"] in lines[3] and ["c", "# sum"] in lines[3]
    assert highlighted("a.py", "x" * (LONGEST + 1)) == [[["", "x" * (LONGEST + 1)]]]


@pytest.mark.slow
@given(st.lists(TEXTS.map(lambda text: text.replace("\n", " ")), min_size=1, max_size=80), st.data())
def test_an_excerpt_is_in_order_has_what_was_chosen_and_no_small_hole(lines, data):
    start = data.draw(st.integers(1, len(lines)))
    end = data.draw(st.integers(start, len(lines)))
    chosen = data.draw(st.sets(st.integers(start, end)))
    shown = excerpt(lines, start, end, chosen)
    head = next((n for n in range(start, end) if any(map(str.isalnum, lines[n - 1]))), start)
    assert {head, *chosen} <= set(shown) and shown == sorted(set(shown))
    assert start <= shown[0] <= head and shown[-1] <= end
    holes = [b - a - 1 for a, b in pairwise(shown) if b > a + 1]
    assert all(hole >= SMALLEST_HOLE for hole in holes)
    assert end - start >= WHOLE or shown == list(range(start, end + 1))


@pytest.mark.parametrize(("chosen", "shown"), [([20], [1, 2, 3, 20]), ([11], [1, 2, 3, 10, 11, 12])])
def test_a_long_definition_shows_its_signature_and_whole_statements(chosen, shown):
    lines = ["def add(", "    first,", "):", *["    pass"] * 6, "    call(", "        1,", "    )", *["    go()"] * 30]
    assert excerpt(lines, 1, 42, chosen) == shown


def test_a_place_that_begins_with_a_comment_begins_with_its_words():
    lines = ["/**", " * Finds close matches.", *[" * More of it."] * 30, " */", *["step()"] * 40]
    assert excerpt(lines, 1, len(lines), [60]) == [2, 60]
