"""Parts of several lengths, one after the other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from repopilot.index.ragged import parts, starts_of


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.data())
def test_the_places_of_some_parts(sizes, data):
    numbers = data.draw(st.lists(st.integers(0, len(sizes) - 1), max_size=6))
    expected = [range(sum(sizes[:number]), sum(sizes[: number + 1])) for number in numbers]
    places, found = parts(starts_of(np.array(sizes)), np.array(numbers, np.int64))
    assert places.tolist() == [place for part in expected for place in part]
    assert found.tolist() == [len(part) for part in expected]
