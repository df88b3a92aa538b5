"""Properties of the pure parts: fusion, spreading over files, rarity."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from repopilot.retrieval import rank
from repopilot.retrieval.bm25 import idf

rankings = st.lists(st.lists(st.integers(0, 12), unique=True, max_size=8), max_size=5)


@given(rankings, st.randoms())
def test_fusion_does_not_depend_on_the_order_of_the_rankings(given_rankings, random):
    shuffled = list(given_rankings)
    random.shuffle(shuffled)
    first, second = (dict(rank.reciprocal_rank_fusion(r)) for r in (given_rankings, shuffled))
    assert first.keys() == second.keys()
    assert all(abs(first[item] - second[item]) < 1e-12 for item in first)


@given(rankings, st.lists(st.integers(0, 12), unique=True, min_size=2, max_size=8), st.data())
def test_fusion_is_monotone(others, ranking, data):
    place = data.draw(st.integers(1, len(ranking) - 1))
    better = list(ranking)
    better[place - 1], better[place] = better[place], better[place - 1]
    before, after = (dict(rank.reciprocal_rank_fusion([*others, r])) for r in (ranking, better))
    assert after[ranking[place]] > before[ranking[place]]


def test_fusion_counts_an_item_once_per_ranking_and_sorts():
    assert rank.reciprocal_rank_fusion([["a", "b", "a"], ["b"]], k=0) == [("b", 1.5), ("a", 1.0)]
    assert rank.reciprocal_rank_fusion([]) == []


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


@given(st.integers(1, 1000), st.data())
def test_rarer_is_worth_more_and_never_less_than_nothing(total, data):
    few, many = sorted(data.draw(st.tuples(st.integers(0, total), st.integers(0, total))))
    assert idf(few, total) >= idf(many, total) > 0
