import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.metrics import (
    distinct_files,
    file_at,
    file_rank,
    first_rank,
    overlap_at,
    overlaps,
    range_share_at,
    reciprocal_rank,
    with_lines,
)

RANKED = [("a.py", 1, 9), ("a.py", 30, 40), ("b.py", 5, 5), ("c.py", 0, 0)]

lines = st.tuples(st.integers(1, 30), st.integers(0, 10)).map(lambda pair: (pair[0], pair[0] + pair[1]))
places = st.builds(lambda path, span: (path, *span), st.sampled_from("abc"), lines | st.just((0, 0)))


@pytest.mark.parametrize(
    "gold, together",
    [
        (("a.py", 9, 12), True),
        (("a.py", 10, 12), False),
        (("a.py", 0, 0), True),
        (("b.py", 1, 9), False),
    ],
)
def test_places_overlap_by_lines_of_one_file(gold: tuple, together: bool) -> None:
    assert overlaps(("a.py", 1, 9), gold) is together


def test_a_rank_counts_places_and_a_file_rank_distinct_files() -> None:
    gold = [["b.py", 4, 6]]
    assert first_rank(RANKED, gold) == 3
    assert file_rank(RANKED, gold) == 2
    assert (overlap_at(RANKED, gold, 2), overlap_at(RANKED, gold, 3)) == (False, True)
    assert (file_at(RANKED, gold, 1), file_at(RANKED, gold, 2)) == (False, True)


def test_the_right_file_with_the_wrong_lines_counts_as_a_file_only() -> None:
    gold = [["a.py", 12, 20]]
    assert first_rank(RANKED, gold) is None
    assert file_rank(RANKED, gold) == 1


def test_the_share_counts_gold_places_not_results() -> None:
    gold = [["a.py", 8, 8], ["a.py", 9, 35], ["b.py", 9, 9], ["c.py", 7, 7]]
    assert range_share_at(RANKED, gold, 1) == 0.5
    assert range_share_at(RANKED, gold, 5) == 0.75


def test_a_query_without_gold_has_no_share() -> None:
    with pytest.raises(ValueError, match="without gold"):
        range_share_at(RANKED, [], 5)


def test_gold_places_that_name_no_lines_can_be_left_out() -> None:
    assert with_lines([["a.py", 0, 0], ["b.py", 2, 3]]) == [["b.py", 2, 3]]


@pytest.mark.slow
@given(places, places)
def test_overlap_is_symmetric(one: tuple, other: tuple) -> None:
    assert overlaps(one, other) == overlaps(other, one)


@pytest.mark.slow
@given(st.lists(places), st.lists(places, min_size=1), st.integers(1, 8))
def test_measures_agree(ranked: list, gold: list, k: int) -> None:
    rank, file = first_rank(ranked, gold), file_rank(ranked, gold)
    assert overlap_at(ranked, gold, k) == (range_share_at(ranked, gold, k) > 0) == (rank is not None and rank <= k)
    assert overlap_at(ranked, gold, k) <= file_at(ranked, gold, k)
    assert reciprocal_rank(rank) <= reciprocal_rank(file)
    assert len(distinct_files(ranked)) == len({place[0] for place in ranked})
