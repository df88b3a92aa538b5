"""Past commits as signals: relative and absolute votes, and what is said of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot import i18n
from repopilot.index.history import commit_index
from repopilot.index.lexical import LexicalIndex, terms_of
from repopilot.repo.history import Commit
from repopilot.retrieval.ranking.commit_votes import open_history, signals
from repopilot.types import Chunk

DAY = 86400
PATHS = ["shop/prices.py", "shop/cart.py", "shop/order.py", "web/cart.js", "web/page.js"]


@pytest.fixture(scope="module")
def lexical():
    chunks = [Chunk(path, path, 1, 2, "python", "module", "", "x = 1") for path in PATHS]
    return LexicalIndex.build(terms_of(chunk, ()) for chunk in chunks)


def commit(subject, *paths, at=0, body=""):
    return Commit("0" * 40, subject, paths, at, body)


COMMITS = [
    commit("Fix discount of large carts", "shop/prices.py"),
    commit("Cart keeps its order", "shop/cart.py", "shop/order.py"),
    commit("Discount of a file long gone", "gone.py"),
]


def read(commits, numbers):
    return open_history(commit_index.build(commits), numbers)


def found(commits, lexical, *terms, **weighted):
    history = read(commits, lexical.file_numbers)
    return signals(history, dict.fromkeys(terms, 1.0) | weighted, lexical)


def of(result, name):
    return dict(zip(PATHS, result.files[name].tolist(), strict=True))


def test_commits_vote_for_the_files_they_changed(lexical):
    votes = of(found(COMMITS, lexical, "discount"), "history")
    assert votes == {path: float(path == "shop/prices.py") for path in PATHS}
    both = of(found(COMMITS, lexical, "cart"), "history")
    assert both["shop/prices.py"] == 1.0  # alone in its commit, while the other two share a vote
    assert both["shop/cart.py"] == both["shop/order.py"] > 0


def test_a_word_of_the_body_votes_too_but_less(lexical):
    commits = [
        commit("Round", "shop/prices.py", body="The discount was wrong"),
        commit("Set discount", "shop/cart.py"),
        commit("Other", "shop/order.py"),
    ]
    votes = of(found(commits, lexical, "discount"), "history")
    assert votes["shop/cart.py"] == 1.0 > votes["shop/prices.py"] > votes["shop/order.py"] == 0
    assert of(found(commits, lexical, "discount"), "history, absolute")["shop/prices.py"] == 0


def test_history_without_use_is_none_or_says_nothing(lexical):
    assert read([], lexical.file_numbers) is None
    assert read(COMMITS[2:], lexical.file_numbers) is None
    assert read(COMMITS, {}) is None
    for terms in (["unheard"], []):
        result = found(COMMITS, lexical, *terms)
        assert not any(values.any() for values in result.files.values())
        assert result.similar == () and result.explanation(0) is None


def test_absolute_votes_grow_with_repetition_and_shrink_with_age_and_unknown_words(lexical):
    once = [commit("Fix discount", "shop/prices.py", at=700 * DAY), commit("Other", "web/page.js", at=700 * DAY)]
    twice = [once[0], *once]
    old = [commit("Fix discount", "shop/prices.py", at=335 * DAY), once[1]]

    def absolute(commits, *terms):
        return of(found(commits, lexical, *terms), "history, absolute")["shop/prices.py"]

    assert absolute(twice, "discount") > absolute(once, "discount") > 0
    assert absolute(old, "discount") == pytest.approx(absolute(once, "discount") / 4)
    assert absolute(once, "discount", "unheard") < absolute(once, "discount") / 2


def test_the_explanation_counts_the_commits_most_like_the_query(lexical):
    carts = [commit(f"Cart {n}", "shop/cart.py") for n in range(3)]
    others = [commit(f"Cart of web {n}", "web/cart.js") for n in range(4)]
    result = found([*carts, *others, commit("Else", "web/page.js")], lexical, "cart")
    assert result.touched(PATHS.index("shop/cart.py")) == (3, 5)
    said = result.explanation(PATHS.index("shop/cart.py"))
    assert said == "3 of the 5 most similar commits touched it"
    assert i18n.translated(said, "fr").startswith("3 des 5 commits")
    assert result.explanation(PATHS.index("web/page.js")) is None
    alone = found(COMMITS, lexical, "keep")
    assert alone.explanation(PATHS.index("shop/order.py")) == "the most similar commit touched it"


WORDS = st.lists(st.sampled_from(["cart", "price", "order", "page"]), max_size=4)
PAST = st.lists(
    st.builds(
        lambda words, body, paths, at: commit(" ".join(words), *paths, at=at, body=" ".join(body)),
        WORDS,
        WORDS,
        st.lists(st.sampled_from([*PATHS, "gone.py", "web/gone.js"]), unique=True, max_size=4),
        st.integers(0, 2000 * DAY),
    ),
    max_size=20,
)


@pytest.mark.slow
@given(PAST, WORDS)
def test_votes_are_between_none_and_one_and_only_for_what_was_changed(lexical, past, terms):
    history = read(past, lexical.file_numbers)
    if history is None:
        return
    result = signals(history, dict.fromkeys(terms, 1.0), lexical)
    changed = {path for c in past for path in c.paths}
    for name in ("history", "history, absolute"):
        votes = of(result, name)
        assert all(value >= 0 for value in votes.values())
        assert not any(value for path, value in votes.items() if path not in changed)
    assert result.files["history"].max() in (0.0, 1.0)
    assert all(np.isfinite(values).all() and values.dtype == np.float32 for values in result.files.values())
    for file in range(len(PATHS)):
        touched, shown = result.touched(file)
        assert 0 <= touched <= shown <= 5


@pytest.mark.slow
@given(PAST.filter(lambda past: len(past) <= 12), WORDS, st.randoms())
def test_the_order_of_commits_does_not_matter_while_all_of_them_vote(lexical, past, terms, random):
    shuffled = list(past)
    random.shuffle(shuffled)
    first, second = (read(commits, lexical.file_numbers) for commits in (past, shuffled))
    assert (first is None) == (second is None)
    if first is None:
        return
    one, other = (signals(history, dict.fromkeys(terms, 1.0), lexical).files for history in (first, second))
    for name, values in one.items():
        np.testing.assert_allclose(values, other[name], atol=1e-5)
