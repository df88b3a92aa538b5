"""Commits, revisions and differences, from clones over HTTP and from folders."""

import threading
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.git_server import GitServer, commit, git, publish

from repopilot.agents.review.scope import of_diff
from repopilot.errors import Cancelled, RepoPilotError, SourceError
from repopilot.repo import history
from repopilot.repo.patches.patch import FileDiff, added_lines, parse_patch
from repopilot.repo.read import find_raw, read
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.repo.walk import walk
from repopilot.settings import Settings
from repopilot.types import Snapshot


@pytest.fixture
def clone(server: GitServer, options: Settings) -> Snapshot:
    return open_source(parse_source(server.url + "/demo.git"), options)


@pytest.mark.slow
def test_history_is_fetched_on_demand_without_file_contents(clone: Snapshot, work: Path, options: Settings) -> None:
    assert history.commits(clone, 100) == []
    history.deepen(clone, options)
    assert len(history.commits(clone, options.history_commits)) == 3
    found = history.commits(clone, 100)
    assert [c.subject for c in found] == ["third", "second: add twice", "first"]
    assert found[0].paths == ("src/app.py",)
    assert found[0].sha == git(work, "rev-parse", "HEAD")
    assert [c.subject for c in history.commits(clone, 1)] == ["third"]
    assert clone.git_dir is not None
    deep = history.history_dir(clone.git_dir)
    assert "blob" not in git(deep, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split()
    assert len(list(read(clone, walk(clone, options)[0]))) == 3


@pytest.mark.slow
def test_authors_are_known_where_the_trees_of_old_commits_are_missing(work: Path, options: Settings) -> None:
    old = commit(work, {"src/app.py": "v = 1\n"}, "one").strip()
    new = commit(work, {"src/app.py": "v = 2\n"}, "two").strip()
    tree = git(work, "rev-parse", f"{old}^{{tree}}").strip()
    (work / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    snapshot = open_source(parse_source(str(work)), options)
    assert history.commit_authors(snapshot, [new, old]) == {new: "Ada", old: "Ada"}


@pytest.mark.slow
def test_the_oldest_commit_of_a_bounded_history_is_left_out(clone: Snapshot, work, server, options: Settings) -> None:
    for number in range(60):
        commit(work, {"src/app.py": f"v = {number}\n"}, f"change {number}")
    publish(work, server.folder)
    newest = open_source(parse_source(server.url + "/demo.git"), options)
    few = options.model_copy(update={"history_commits": 5})
    history.deepen(newest, few)
    assert len(history.commits(newest, few.history_commits)) == 5
    assert all(c.paths == ("src/app.py",) for c in history.commits(newest, 100))


@pytest.mark.slow
def test_messages_and_paths_of_commits_hold_no_secrets(work: Path, options: Settings) -> None:
    password, token, key = "hK9%dPw2qLx7Zt", "ghp_" + "aB3dE5fG7h" * 4, "AKIA" + "QWERTZUIOP234567"
    commit(work, {f"src/{key}.py": "v = 1\n"}, f"Use {token}\n\nThe old one was bad.\nDB_PASSWORD={password}\n")
    git(work, "mv", f"src/{key}.py", f"src/old-{key}.py")
    git(work, "commit", "-qm", "Move it")
    moved, used = history.commits(open_source(parse_source(str(work)), options), 2)
    assert used.subject == "Use [REDACTED:github-token]"
    assert used.body == "The old one was bad.\nDB_PASSWORD=[REDACTED:password]"
    assert used.paths == ("src/[REDACTED:aws-access-key].py",)
    assert key not in repr(moved)


@pytest.mark.slow
def test_a_commit_has_its_body_without_trailers(work: Path, options: Settings) -> None:
    body = "Why: the sum was wrong.\n\nCo-authored-by: Bob <bob@example.org>\nSigned-off-by: Ada <a@b.c>\n"
    commit(work, {"src/app.py": "v = 1\n"}, f"Mend the sum\n\n{body}")
    commit(work, {"src/app.py": "v = 2\n"}, "Long\n\n" + "word " * 20_000)
    long, short = history.commits(open_source(parse_source(str(work)), options), 2)
    assert (short.subject, short.body) == ("Mend the sum", "Why: the sum was wrong.")
    assert (long.subject, long.paths) == ("Long", ("src/app.py",))
    assert len(long.body) <= history.LONGEST_BODY


@pytest.mark.slow
def test_exact_renames_are_followed_in_clones_and_folders(work: Path, server, options: Settings) -> None:
    git(work, "mv", "src/util.py", "src/tools.py")
    commit(work, {}, "rename once")
    git(work, "mv", "src", "lib")
    commit(work, {"src/util.py": "another = 1\n"}, "move the folder; another file takes the old name")
    publish(work, server.folder)
    clone = open_source(parse_source(server.url + "/demo.git"), options)
    history.deepen(clone, options)
    for snapshot in (clone, open_source(parse_source(str(work)), options)):
        found = history.commits(snapshot, 10)
        assert found[1].renames == (("src/util.py", "src/tools.py"),)
        assert {c.subject: set(c.paths) for c in history.follow_renames(found)} == {
            "move the folder; another file takes the old name": {"lib/app.py", "lib/tools.py", "src/util.py"},
            "rename once": {"lib/tools.py"},
            "third": {"lib/app.py"},
            "second: add twice": {"lib/tools.py"},
            "first": {"lib/app.py", "README.md"},
        }


def test_two_files_that_change_places_keep_their_own_past() -> None:
    swap = history.Commit("2", "swap", ("a", "b"), 2, "", (("a", "b"), ("b", "a")))
    commits = [swap, history.Commit("1", "about a", ("a",), 1)]
    assert [c.paths for c in history.follow_renames(commits)] == [("a", "b"), ("b",)]


@pytest.mark.slow
def test_a_giant_commit_has_no_paths_but_its_renames(work: Path, options: Settings) -> None:
    commit(work, {f"old/m{n}.py": f"n = {n}\n" for n in range(40)}, "many")
    git(work, "mv", "old", "new")
    commit(work, {}, "move them all")
    commit(work, {f"new/m{n}.py": f"n = {n} + 1\n" for n in range(history.MOST_PATHS)}, "just few enough")
    few, move, many, *_ = history.commits(open_source(parse_source(str(work)), options), 10)
    assert len(few.paths) == history.MOST_PATHS
    assert move.paths == many.paths == ()
    assert ("old/m7.py", "new/m7.py") in move.renames


def test_paths_and_messages_that_look_like_the_separators(work: Path, options: Settings) -> None:
    odd = "a\x1e\x1fb\n.py"
    commit(work, {odd: "1\n", "\x1eM": "2\n"}, "s\x1f1\x1e\n\n\x1ebody\x1f2")
    (found,) = history.commits(open_source(parse_source(str(work)), options), 1)
    assert set(found.paths) == {odd, "\x1eM"}
    assert found.body == "\x1ebody\x1f2" or found.subject.startswith("s")


@pytest.mark.slow
def test_only_newer_commits_are_read_when_some_are_known(work: Path, options: Settings) -> None:
    known = git(work, "rev-parse", "HEAD")
    snapshot = open_source(parse_source(str(work)), options)
    assert history.commits(snapshot, 10, since=known) == []
    commit(work, {"src/app.py": "v = 1\n"}, "fourth")
    newer = open_source(parse_source(str(work)), options)
    assert [c.subject for c in history.commits(newer, 10, since=known)] == ["fourth"]
    assert history.leads_to(newer, known)
    git(work, "commit", "-q", "--amend", "-m", "fourth again")
    amended = open_source(parse_source(str(work)), options)
    assert history.leads_to(amended, known) and not history.leads_to(amended, newer.commit)
    assert not history.leads_to(amended, "0" * 40)


@pytest.mark.slow
def test_the_oldest_commit_of_a_shallow_clone_is_left_out_of_its_folders_too(work: Path, tmp_path, options) -> None:
    git(tmp_path, "clone", "-q", "--depth=2", work.as_uri(), "shallow")
    git(tmp_path / "shallow", "worktree", "add", "-q", "../tree")
    for folder in ("shallow", "shallow/src", "tree"):
        snapshot = open_source(parse_source(str(tmp_path / folder)), options)
        assert [c.subject for c in history.commits(snapshot, 10)] == ["third"], folder


def test_reading_a_history_can_be_stopped(work: Path, options: Settings) -> None:
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(Cancelled):
        history.commits(open_source(parse_source(str(work)), options), 10, cancel=stopped)


@pytest.mark.slow
def test_without_the_server_history_is_an_error_not_a_crash(clone: Snapshot, server, options: Settings) -> None:
    server.status = 503
    with pytest.raises(SourceError, match="internal error"):
        history.deepen(clone, options)
    assert history.commits(clone, 10) == []


@pytest.mark.slow
def test_a_server_without_filters_gives_no_history(clone: Snapshot, server, options: Settings) -> None:
    server.refuse_filter = True
    with pytest.raises(SourceError):
        history.deepen(clone, options)


@pytest.mark.slow
@pytest.mark.parametrize("ref", ["HEAD~1", "HEAD^", "main~1"])
def test_revisions_of_a_clone(clone: Snapshot, work: Path, options: Settings, ref: str) -> None:
    older = history.at(clone, ref, options)
    assert older.commit == git(work, "rev-parse", "HEAD~1")
    assert older.key != clone.key
    assert find_raw(older, "src/app.py") == b"def run():\n    return 1\n"


@pytest.mark.slow
def test_branches_tags_commits_and_pull_requests(clone: Snapshot, work, server, options: Settings) -> None:
    git(work, "checkout", "-q", "-b", "topic/one")
    new = commit(work, {"src/app.py": "def run():\n    return 3\n"}, "topic")
    git(work, "tag", "v1")
    bare = publish(work, server.folder)
    git(bare, "update-ref", "refs/pull/7/head", new)
    for ref in ("topic/one", "v1", new, "refs/pull/7/head"):
        assert history.at(clone, ref, options).commit == new, ref
    pull = open_source(parse_source(server.url + "/demo.git/pull/7"), options)
    assert pull.commit == new
    assert history.merge_base(pull, "main", None, options) == clone.commit
    assert [f.path for f in history.diff(pull, "main", None, options)] == ["src/app.py"]


@pytest.mark.slow
@pytest.mark.parametrize("ref", ["nope", "HEAD~99", "--upload-pack=x", "", "a..b", "0" * 40, "HEAD@{1}"])
def test_unknown_refs(clone: Snapshot, work: Path, options: Settings, ref: str) -> None:
    for snapshot in (clone, open_source(parse_source(str(work)), options)):
        with pytest.raises(SourceError):
            history.at(snapshot, ref, options)


@pytest.mark.slow
def test_renames_deletions_binaries_and_odd_names(work: Path, server, options: Settings) -> None:
    body = "".join(f"line {n}\n" for n in range(30))
    commit(work, {"a.txt": body, "gone.py": "x\n", "p.bin": b"\0\1", 'q"\n e.py': "1\n"}, "before")
    git(work, "mv", "a.txt", "b c.txt")
    commit(
        work,
        {
            "b c.txt": body.replace("line 7", "line seven"),
            "gone.py": None,
            "p.bin": b"\0\2",
            'q"\n e.py': "2\n",
            "new.py": "n\n",
            "latin.py": b"\xe9\n",
        },
        "after",
    )
    publish(work, server.folder)
    clone = open_source(parse_source(server.url + "/demo.git"), options)
    folder = open_source(parse_source(str(work)), options)
    for snapshot in (clone, folder):
        found = {f.path: f for f in history.diff(snapshot, "HEAD~1", "HEAD", options)}
        assert {p: (f.status, f.binary) for p, f in found.items()} == {
            "b c.txt": ("renamed", False),
            "gone.py": ("deleted", False),
            "p.bin": ("modified", True),
            'q"\n e.py': ("modified", False),
            "new.py": ("added", False),
            "latin.py": ("added", False),
        }
        assert found["b c.txt"].old_path == "a.txt"
        assert added_lines(found["b c.txt"]) == {8}
        assert history.diff(snapshot, "HEAD", "HEAD", options) == []


@pytest.mark.slow
def test_the_difference_to_the_disk_includes_untracked_files(work: Path, options: Settings) -> None:
    (work / "src" / "app.py").write_text("def run():\n    return 9\n")
    (work / "src" / "new file.py").write_text("a = 1\nb = 2\n")
    (work / "raw.bin").write_bytes(b"\0")
    snapshot = open_source(parse_source(str(work)), options)
    found = {f.path: f for f in history.diff(snapshot, "HEAD", None, options)}
    assert added_lines(found["src/app.py"]) == {2}
    assert added_lines(found["src/new file.py"]) == {1, 2}
    assert found["raw.bin"].binary
    assert set(found) == {"src/app.py", "src/new file.py", "raw.bin"}
    inside = open_source(parse_source(str(work / "src")), options)
    assert {f.path for f in history.diff(inside, "HEAD", None, options)} == {"app.py", "new file.py"}
    assert [c.paths for c in history.commits(inside, 1)] == [("app.py",)]


@pytest.mark.slow
def test_untracked_files_too_large_to_be_read_are_named_and_read_in_part(work: Path, options: Settings) -> None:
    options = options.model_copy(update={"max_file_kb": 16})
    most = 16 << 10
    (work / "fits.py").write_bytes(b"x" * most)
    (work / "book.ipynb").write_bytes(b"x" * 2 * most)
    for name, start in (
        ("large.py", b""),
        ("large.unknown", b""),
        ("large.bin", b"\0"),
        ("late.py", b"x" * 9000 + b"\0"),
    ):
        with (work / name).open("wb") as file:
            file.write(start or b"x" * 9000)
            file.truncate(1 << 28)  # takes no room, but would in memory
    tracemalloc.start()
    try:
        snapshot = open_source(parse_source(str(work)), options)
        found = {f.path: (f.binary, f.left_out) for f in history.diff(snapshot, "HEAD", None, options)}
        scope = of_diff(snapshot, history.commit_range("HEAD"), options)
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()
    large = {"large.py", "large.unknown", "late.py"}
    assert found == {
        "fits.py": (False, False),
        "book.ipynb": (False, False),
        "large.bin": (True, False),
        **dict.fromkeys(large, (False, True)),
    }
    said = " ".join(map(str, scope.notes))
    assert all(name in said for name in large) and "larger than 16 KB" in said and "clone" not in said


def test_a_folder_without_git_has_no_history(tmp_path: Path, options: Settings) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "a.py").write_text("a\n")
    snapshot = open_source(parse_source(str(tmp_path / "x")), options)
    assert history.commits(snapshot, 10) == []
    history.deepen(snapshot, options)
    assert history.commits(snapshot, options.history_commits) == []
    assert not history.leads_to(snapshot, "0" * 40)
    with pytest.raises(SourceError, match="not a git repository"):
        history.diff(snapshot, "HEAD", None, options)


PATCH = """\
diff --git a/src/app.py b/src/app.py
--- a/src/app.py
+++ b/src/app.py
@@ -1,2 +1,3 @@
 def run():
-    return 2
+    x = 3
+    return x
"""


def test_a_patch_is_parsed() -> None:
    (parsed,) = parse_patch(PATCH)
    assert (parsed.path, parsed.status, added_lines(parsed)) == ("src/app.py", "modified", {2, 3})


@pytest.mark.parametrize("text", ["", "hello", PATCH.replace("-1,2", "-1,9"), "@@ -1 +1 @@\n-a\n+b\n", "+++ b/x\n"])
def test_malformed_patches(text: str) -> None:
    with pytest.raises(SourceError, match="patch"):
        parse_patch(text)


def test_quoted_names_and_binary_patches() -> None:
    quoted = PATCH.replace("a/src/app.py", '"a/s\\303\\251 \\"q\\".py"').replace(
        "b/src/app.py", '"b/s\\303\\251 \\"q\\".py"'
    )
    assert parse_patch(quoted)[0].path == 'sé "q".py'
    binary = "diff --git a/x.bin b/x.bin\nindex 1..2 100644\nBinary files a/x.bin and b/x.bin differ\n"
    assert parse_patch(binary) == [FileDiff("x.bin", "x.bin", "modified", (), True)]


@pytest.mark.slow
@given(st.text(alphabet=st.sampled_from("+-@ \n\\a1,diff/"), max_size=300))
def test_any_text_is_a_patch_or_refused(text: str) -> None:
    try:
        parse_patch(text)
    except RepoPilotError as error:
        assert "patch" in str(error)
