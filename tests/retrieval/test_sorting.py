"""Stable orders, compared with NumPy's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.retrieval.ranking.sorting import descending, grouped, places_in_groups

FEW_VALUES = st.lists(st.sampled_from([-2.5, 0.0, -0.0, 0.5, 3.0, float("-inf")]), max_size=60)
GROUPS = st.lists(st.integers(0, 5), max_size=60)


@given(FEW_VALUES)
def test_larger_values_come_first_and_equal_ones_keep_their_order(values):
    array = np.array(values, float)
    assert descending(array).tolist() == np.argsort(-array, kind="stable").tolist()


@pytest.mark.slow
@given(GROUPS, st.randoms())
def test_an_order_is_kept_inside_groups(groups, random):
    order = list(range(len(groups)))
    random.shuffle(order)
    found = grouped(np.array(groups, np.int32), np.array(order, np.int64))
    assert found.tolist() == sorted(order, key=lambda number: groups[number])


@pytest.mark.slow
@given(GROUPS)
def test_places_count_from_nought_in_every_group(groups):
    ordered = sorted(groups)
    found = places_in_groups(np.array(ordered, np.int32)).tolist()
    assert found == [ordered[:n].count(group) for n, group in enumerate(ordered)]
