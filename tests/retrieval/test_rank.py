"""Properties of the pure parts: fusion, spreading over files, rarity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.retrieval import rank
from repopilot.retrieval.ranking.bm25 import idf

rankings = st.lists(st.lists(st.integers(0, 12), unique=True, max_size=8), max_size=5)


scored = st.lists(st.tuples(st.floats(-10, 10), st.integers(0, 3)), max_size=20)


@given(scored, st.floats(0, 5))
def test_spreading_keeps_the_best_of_each_file_and_the_order_within_a_file(items, cost):
    scores, files = np.array([s for s, _ in items]), np.array([f for _, f in items], int)
    spread = rank.spread(scores, files, cost)
    for file in set(files.tolist()):
        own = files == file
        assert spread[own].max() == scores[own].max()
        order = np.argsort(-scores[own], kind="stable")
        assert (np.diff(spread[own][order]) <= 0).all()
        earlier = np.argsort(order, kind="stable")
        assert np.allclose(spread[own], scores[own] - cost * earlier)


@pytest.mark.slow
@given(st.integers(1, 1000), st.data())
def test_rarer_is_worth_more_and_never_less_than_nothing(total, data):
    few, many = sorted(data.draw(st.tuples(st.integers(0, total), st.integers(0, total))))
    assert idf(few, total) >= idf(many, total) > 0
