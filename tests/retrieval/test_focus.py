"""Which lines of a place are shown, and which words in them are marked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from repopilot.index.tokens import expand
from repopilot.retrieval.places.focus import LONGEST_LINE, best_lines, clipped, matched_spans


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 5))), st.integers(1, 40), st.integers(0, 30))
def test_lines_to_show_lie_in_the_passage(spans, start, length) -> None:
    ranges = [(first, first + more) for first, more in spans]
    numbers = best_lines(ranges, start, start + length, 6)
    assert numbers == sorted(set(numbers)) and 1 <= len(numbers) <= 6
    assert all(start <= number <= start + length for number in numbers)


def test_a_short_passage_is_shown_whole_and_one_without_matches_from_its_start() -> None:
    assert best_lines([], 3, 5, 6) == [3, 4, 5]
    assert best_lines([], 3, 50, 3) == [3, 4, 5]


def test_every_range_gets_its_share_of_the_lines() -> None:
    assert best_lines([(40, 41), (7, 7)], 3, 50, 2) == [7, 40]
    assert best_lines([(10, 30), (40, 41)], 3, 50, 6) == [10, 11, 12, 13, 40, 41]


def test_the_matching_parts_of_an_identifier_are_marked() -> None:
    def marked(line: str, word: str) -> list[str]:
        return [line[start:end] for start, end in matched_spans(line, set(expand(word)))]

    assert marked("max_retries = retry(request)", "retry") == ["retries", "retry"]
    assert marked("HTTPResponse.read_timeout", "response") == ["Response"]
    assert marked("a = max_upload_bytes", "max_upload_bytes") == ["max_upload_bytes"]
    assert marked("nothing", "retry") == []


@given(st.text(max_size=400), st.sets(st.sampled_from(["retri", "a", "b", "timeout", "1"])))
def test_marks_are_apart_and_inside_even_when_the_line_is_cut(line, tokens) -> None:
    text, spans = clipped(line, matched_spans(line, tokens))
    assert len(text) <= LONGEST_LINE + 2
    ends = [0, *(edge for span in spans for edge in span), len(text)]
    assert ends == sorted(ends)


def test_a_long_line_is_cut_around_its_first_marked_word() -> None:
    line = "x " * 400 + "retry " + "y " * 400
    text, spans = clipped(line, matched_spans(line, {"retri"}))
    assert text.startswith("…") and text.endswith("…") and [text[a:b] for a, b in spans] == ["retry"]
