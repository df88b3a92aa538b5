"""Ranges of several lengths, one after the other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from repopilot.index.ragged import ragged


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 4)), max_size=6))
def test_ragged_ranges(pairs):
    starts, sizes = (
        (np.array(column, int) for column in zip(*pairs, strict=True)) if pairs else (np.array([], int),) * 2
    )
    assert ragged(starts, sizes).tolist() == [n for start, size in pairs for n in range(start, start + size)]
