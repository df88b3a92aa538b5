"""The language model over the tree of paths, against its formula written out."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.index.history import path_tree
from repopilot.index.history.path_tree import MU, build, paths_of, pushed_down
from repopilot.index.ragged import ragged

FILES = ["a", "f/b", "f/c", "f/g/d", "h/e"]
TOKENS = 4
COMMITS = st.lists(
    st.tuples(
        st.dictionaries(st.integers(0, TOKENS - 1), st.sampled_from([0.3, 1.0, 1.3, 2.0]), max_size=3),
        st.lists(st.sampled_from(FILES), unique=True, min_size=1, max_size=3),
    ),
    max_size=8,
)


def model(commits, files=FILES):
    paths = paths_of(files)
    number = {name: n for n, name in enumerate(paths.names)}
    words = (
        np.cumsum([0, *(len(bag) for bag, _ in commits)]),
        np.array([token for bag, _ in commits for token in bag], np.int64),
        np.array([weight for bag, _ in commits for weight in bag.values()], float),
    )
    touched = (
        np.cumsum([0, *(len(changed) for _, changed in commits)]),
        np.array([number[path] for _, changed in commits for path in changed], np.int32),
    )
    return paths, build(paths, TOKENS, words, touched)


def counted(commits):
    """Counts by node name and token, as the formula has them."""
    counts = Counter()
    for bag, changed in commits:
        for path in changed:
            while True:
                for token, weight in bag.items():
                    counts[path, token] += weight / math.sqrt(len(changed))
                if not path:
                    break
                path = path.rpartition("/")[0]
    return counts


def probability(counts, name, token):
    total = sum(counts[name, t] for t in range(TOKENS))
    if not name:
        return counts[name, token] / total
    return (counts[name, token] + MU * probability(counts, name.rpartition("/")[0], token)) / (total + MU)


def log_ratios(tree, token):
    """ln P(token | node)/P(token | root) by node, from what the model stores."""
    own = slice(tree.starts[token], tree.starts[token + 1])
    return pushed_down(tree, np.bincount(tree.nodes[own], tree.gains[own], minlength=len(tree.parents))) + tree.base


@pytest.mark.slow
@given(COMMITS)
def test_it_is_the_formula(commits):
    paths, tree = model(commits)
    counts = counted(commits)
    for token in range(TOKENS):
        if not counts["", token]:
            assert tree.root[token] == -np.inf
            continue
        assert tree.root[token] == pytest.approx(math.log(probability(counts, "", token)), abs=1e-5)
        expected = [math.log(probability(counts, name, token)) - tree.root[token] for name in paths.names]
        assert log_ratios(tree, token) == pytest.approx(expected, abs=1e-4)


@given(COMMITS.filter(lambda commits: any(bag for bag, _ in commits)))
def test_the_probabilities_of_every_node_add_up_to_one(commits):
    paths, tree = model(commits)
    known = [token for token in range(TOKENS) if np.isfinite(tree.root[token])]
    total = sum(np.exp(log_ratios(tree, token) + tree.root[token]) for token in known)
    assert total == pytest.approx(np.ones(len(paths.names)), abs=1e-4)


@given(COMMITS)
def test_a_file_without_a_past_is_like_its_folder(commits):
    paths, tree = model(commits, [*FILES, "f/g/new"])
    new, folder = paths.names.index("f/g/new"), paths.names.index("f/g")
    for token in range(TOKENS):
        ratios = log_ratios(tree, token)
        assert ratios[new] == pytest.approx(ratios[folder])


@pytest.mark.slow
@given(COMMITS)
def test_counting_in_blocks_changes_nothing(commits):
    whole, block = model(commits)[1], path_tree.BLOCK
    path_tree.BLOCK = 2
    try:
        parts = model(commits)[1]
    finally:
        path_tree.BLOCK = block
    for name in ("root", "starts", "nodes", "gains", "base"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-5)


def test_it_learns_scopes():
    commits = [({0: 1.0}, ["f/g/d"]), ({0: 1.0}, ["f/b"]), ({1: 1.0}, ["h/e"]), ({1: 1.0}, ["a"])]
    paths, tree = model(commits)
    ratios = dict(zip(paths.names, log_ratios(tree, 0), strict=True))
    assert ratios["f/c"] > 0 > ratios["h/e"], "a file never changed with this word, in a folder that was"
    assert ratios["f/b"] > ratios["f/c"]


def test_folders_come_before_what_is_in_them():
    paths = paths_of(["x/y/z", "x", "b"])
    assert paths.names == ["", "b", "x", "x/y", "x/y/z"]
    assert paths.parents.tolist() == [0, 0, 0, 2, 3]
    assert paths.levels.tolist() == [0, 1, 3, 4, 5]
    assert paths_of([]).names == [""]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 4)), max_size=6))
def test_ragged_ranges(pairs):
    starts, sizes = (
        (np.array(column, int) for column in zip(*pairs, strict=True)) if pairs else (np.array([], int),) * 2
    )
    assert ragged(starts, sizes).tolist() == [n for start, size in pairs for n in range(start, start + size)]
