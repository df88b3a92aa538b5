"""Past commits on disk: what is stored, what an update reads, and what damage does."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.git_server import commit, git, serve
from support.index_case import settings, snapshot

from repopilot.errors import SourceError
from repopilot.index.build.update_history import update_history
from repopilot.index.history import commit_index, commit_store
from repopilot.index.history.commit_index import build
from repopilot.index.history.commit_store import HistoryState
from repopilot.index.storage import layout
from repopilot.repo.history import Commit, follow_renames
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source

TEXT = st.lists(st.sampled_from(["cart", "total", "fix", "prices", "the", "readCart"]), max_size=5).map(" ".join)
PATHS = st.lists(st.sampled_from(["a.py", "src/b.py", "src/c.py", "src/deep/d.py"]), unique=True, max_size=3)
COMMITS = st.lists(
    st.builds(Commit, st.just("0" * 40), TEXT, PATHS.map(tuple), st.integers(0, 2**33), TEXT), max_size=12
)


@pytest.mark.slow
@given(COMMITS)
def test_what_is_stored_is_read_again(tmp_path_factory, commits):
    folder = tmp_path_factory.mktemp("history")
    state = HistoryState("c" * 40, 2000, complete=True)
    commit_store.write_commits(folder, state, commits)
    assert commit_store.stored_state(folder) == state
    assert commit_store.read_commits(folder) == tuple(commits)
    assert same(commit_store.open_index(folder), build(follow_renames(commits)))


def same(one, other):
    """Whether two indexes of commits hold the same."""
    names = one.tokens.keys() | other.tokens.keys()
    arrays = all(
        np.array_equal(getattr(one, name), getattr(other, name))
        and getattr(one, name).dtype == getattr(other, name).dtype
        for name in commit_store._COLUMNS
    )
    return arrays and one.paths == other.paths and all(one.tokens[name] == other.tokens[name] for name in names)


def test_names_with_odd_characters_survive(tmp_path):
    commits = [Commit("0" * 40, "naïve 修复", ("é\n/修.py", 'q"\x1e.py'), 1, "", (("old\n", "é\n/修.py"),))]
    commit_store.write_commits(tmp_path, HistoryState("c", 1, complete=True), commits)
    assert commit_store.read_commits(tmp_path) == tuple(commits)
    found = commit_store.open_index(tmp_path)
    assert found is not None and {"é\n/修.py", 'q"\x1e.py'} == set(found.paths)


@pytest.mark.parametrize("at", [0, 20, -1, -1000])
def test_a_damaged_file_counts_as_missing(tmp_path, at):
    commits = [Commit("0" * 40, f"change {n}", (f"src/{n}.py",), n) for n in range(50)]
    commit_store.write_commits(tmp_path, HistoryState("c", 9, complete=True), commits)
    path = tmp_path / layout.HISTORY
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)
    lost = [commit_store.stored_state(tmp_path) is None, commit_store.open_index(tmp_path) is None]
    lost.append(commit_store.read_commits(tmp_path) == ())
    assert any(lost)
    path.write_bytes(data[: len(data) // 2])
    assert commit_store.open_index(tmp_path) is None and commit_store.read_commits(tmp_path) == ()
    path.write_bytes(b"")
    assert commit_store.stored_state(tmp_path) is None and commit_store.open_index(tmp_path) is None


def test_nothing_stored(tmp_path):
    assert commit_store.stored_state(tmp_path) is commit_store.open_index(tmp_path) is None
    assert commit_store.read_commits(tmp_path) == () and commit_store.stamp(tmp_path) is None


@pytest.fixture
def shop(tmp_path):
    root = tmp_path / "shop"
    commit(root, {"src/cart.py": "a = 1\n", "src/price.py": "p = 1\n"}, "Open the shop")
    commit(root, {"src/cart.py": "a = 2\n"}, "Count carts\n\nThey were lost.")
    return root


def updated(root, folder, limit=100):
    folder.mkdir(exist_ok=True)
    conf = settings(folder / "home").model_copy(update={"history_commits": limit})
    where = snapshot(root, git(root, "rev-parse", "HEAD").strip())
    update_history(where, conf, folder, lambda progress: None, threading.Event())
    return commit_store.read_commits(folder)


def marked(folder):
    """Mark the stored commits, to see whether they are read again."""
    state, commits = commit_store.stored_state(folder), list(commit_store.read_commits(folder))
    commits[-1] = Commit("0" * 40, "marked", (), 0)
    commit_store.write_commits(folder, state, commits)


@pytest.mark.slow
def test_an_update_reads_only_new_commits_and_equals_a_rebuild(shop, tmp_path):
    kept, fresh = tmp_path / "kept", tmp_path / "fresh"
    updated(shop, kept)
    git(shop, "mv", "src/cart.py", "src/basket.py")
    commit(shop, {"src/price.py": "p = 2\n"}, "Say basket")
    assert updated(shop, kept) == updated(shop, fresh)
    assert "src/cart.py" not in commit_store.open_index(kept).paths, "the old commits count for the new path"
    marked(kept)
    commit(shop, {"src/price.py": "p = 3\n"}, "Raise prices")
    assert [c.subject for c in updated(shop, kept)] == ["Raise prices", "Say basket", "Count carts", "marked"]


@pytest.mark.slow
def test_another_history_is_read_anew(shop, tmp_path):
    kept = tmp_path / "kept"
    updated(shop, kept)
    marked(kept)
    git(shop, "commit", "-q", "--amend", "-m", "Count carts again")
    assert [c.subject for c in updated(shop, kept)] == ["Count carts again", "Open the shop"]
    marked(kept)
    assert [c.subject for c in updated(shop, kept, limit=50)] == ["Count carts again", "Open the shop"]


@pytest.mark.slow
def test_no_more_commits_are_kept_than_wanted(shop, tmp_path):
    kept = tmp_path / "kept"
    assert len(updated(shop, kept, limit=2)) == 2
    commit(shop, {"src/price.py": "p = 3\n"}, "Raise prices")
    assert [c.subject for c in updated(shop, kept, limit=2)] == ["Raise prices", "Count carts"]
    assert len(commit_store.open_index(kept).at) == 2


@pytest.mark.slow
def test_what_is_stored_stays_while_the_remote_does_not_answer(tmp_path):
    conf = settings(tmp_path / "home", allow_http=True, allow_private_hosts=True)
    conf = conf.model_copy(update={"history_commits": 10})
    work, folder = tmp_path / "work", tmp_path / "index"
    folder.mkdir()

    def update():
        clone = open_source(parse_source(f"{server.url}/served.git"), conf)
        server.status = failing
        update_history(clone, conf, folder, lambda progress: None, threading.Event())
        return [c.subject for c in commit_store.read_commits(folder)]

    with serve(tmp_path / "served") as server:
        for subject in ("Open the shop", "Count carts"):
            commit(work, {"cart.py": f"# {subject}\n"}, subject)
        git(tmp_path, "clone", "-q", "--bare", "work", "served/served.git")
        failing = 0
        assert update() == ["Count carts", "Open the shop"]
        commit(work, {"cart.py": "# closed\n"}, "Close the shop")
        git(work, "push", "-q", "../served/served.git", "main")
        failing = 500
        with pytest.raises(SourceError, match="history could not be fetched"):
            update()
        assert [c.subject for c in commit_store.read_commits(folder)] == ["Count carts", "Open the shop"]
        server.status = failing = 0
        assert update() == ["Close the shop", "Count carts", "Open the shop"]


@pytest.mark.slow
def test_a_folder_without_commits_and_one_with_a_giant_commit(tmp_path):
    folder = tmp_path / "plain"
    folder.mkdir()
    conf = settings(tmp_path / "home").model_copy(update={"history_commits": 9})
    update_history(snapshot(folder), conf, folder, lambda progress: None, threading.Event())
    assert commit_store.read_commits(folder) == ()
    giant = tmp_path / "giant"
    commit(giant, {f"m{n}.py": "" for n in range(200)}, "Everything")
    assert [(c.subject, c.paths) for c in updated(giant, tmp_path / "kept")] == [("Everything", ())]
    found = commit_store.open_index(tmp_path / "kept")
    assert found is not None and found.paths == () and not len(found.commits)


def test_many_words_of_a_body_are_cut():
    found = build([Commit("0", "fix", ("a",), 0, " ".join(f"w{n}x" for n in range(5000)))])
    assert len(found.tokens) <= commit_index.MOST_BODY_TOKENS + 1
