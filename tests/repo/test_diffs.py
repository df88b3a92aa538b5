"""Differences through real git: any name a file can have, files too large for a clone, and what a range is."""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.git_server import commit, git, publish

from repopilot.agents.review.scope import ReviewTarget, of_diff
from repopilot.errors import UsageError
from repopilot.redaction.redact import shown_path
from repopilot.repo import history
from repopilot.repo.history import CommitRange, commit_range, range_in
from repopilot.repo.patches.patch import added_lines, parse_patch
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.settings import Settings
from repopilot.types import Snapshot

PIECES = (
    b' | b/|b/|a/|"|\\|\t|\n|\r|-|--- a|+++ b|@@ -1 +1 @@|:'
    b"|\xe9|\xc3\xa9|\xf0\x9f\xa6\x80|x|dev/null|diff --git a/x b/x| => |#|*"
)
NAMES = st.lists(st.sampled_from(PIECES.split(b"|")), min_size=1, max_size=5).map(
    lambda parts: b"/".join(part for part in (b"".join(parts) + b"z.py").split(b"/") if part)
)


def _made(versions: list[dict[bytes, bytes]], folder: Path) -> Snapshot:
    """A bare repository with a commit for each version: its files by their names."""
    git_dir = folder / "bare.git"
    subprocess.run(["git", "init", "-q", "--bare", str(git_dir)], check=True)
    feed = b""
    for files in versions:
        feed += b"commit refs/heads/main\ncommitter a <a@b> 1 +0000\ndata 0\ndeleteall\n"
        for name, data in files.items():
            quoted = b'"%b"' % b"".join(b"\\%03o" % byte for byte in name)
            feed += b"M 100644 inline %b\ndata %d\n%b\n" % (quoted, len(data), data)
    subprocess.run(["git", f"--git-dir={git_dir}", "fast-import", "--quiet"], input=feed, check=True)
    head = git(git_dir, "rev-parse", "main")
    return Snapshot(key="bare", name="bare", commit=head, git_dir=git_dir)


def _apart(names: list[bytes]) -> list[bytes]:
    """Names of which none is a folder of another."""
    return [name for name in names if not any(other != name and other.startswith(name + b"/") for other in names)]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(NAMES, min_size=4, max_size=6, unique=True).map(_apart).filter(lambda names: len(names) >= 4))
def test_every_name_a_file_can_have_is_read_and_reviewed_or_named(names: list[bytes]) -> None:
    added, changed, removed, moved = names[:4]
    body = b"".join(b"line_%d = %d\n" % (number, number) for number in range(20))
    with tempfile.TemporaryDirectory() as folder:
        other = b"old name.py"
        before = {changed: b"a = 1\nb = 2\n", removed: b"gone = 1\n", other: body, b"keep": b"k\n"}
        after = {changed: b"a = 1\nb = 3\n", added: b"x = 1\n--- a/x\n", moved: body + b"more = 1\n", b"keep": b"k\n"}
        snapshot = _made([before, after], Path(folder))
        conf = Settings(home=Path(folder) / "home", _env_file=None)
        found = history.diff(snapshot, "HEAD~1", "HEAD", conf)
        shown = {name: name.decode("utf-8", "replace") for name in (added, changed, removed, moved)}
        assert sorted((f.path, f.status, f.old_path, tuple(sorted(added_lines(f)))) for f in found) == sorted(
            [
                (shown[added], "added", shown[added], (1, 2)),
                (shown[changed], "modified", shown[changed], (2,)),
                (shown[removed], "deleted", shown[removed], ()),
                (shown[moved], "renamed", "old name.py", (21,)),
            ]
        )
        scope = of_diff(snapshot, CommitRange("HEAD~1", "HEAD"), conf)
        for name in (added, changed, moved):
            target = next((t for t in scope.targets if t.new.path == shown[name]), None)
            if target is None:
                assert any(shown_path(shown[name]) in str(note) for note in scope.notes)
            else:
                assert target.new.text.encode() == after[name]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(NAMES, min_size=2, max_size=2, unique=True).map(_apart).filter(lambda names: len(names) == 2))
def test_names_of_files_that_are_not_committed(names: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = os.fsencode(folder) + b"/work"
        os.makedirs(root + b"/" + os.path.dirname(names[0]))
        for name in names:
            os.makedirs(os.path.dirname(root + b"/" + name), exist_ok=True)
            Path(os.fsdecode(root + b"/" + name)).write_bytes(b"a = 1\n")
        git(Path(folder) / "work", "init", "-q")
        git(Path(folder) / "work", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-qm", "x")
        git(Path(folder) / "work", "add", "-N", "--", f":(literal){os.fsdecode(names[0])}")
        conf = Settings(home=Path(folder) / "home", _env_file=None)
        snapshot = open_source(parse_source(f"{folder}/work"), conf)
        found = {f.path: (f.status, added_lines(f)) for f in history.diff(snapshot, "HEAD", None, conf)}
        assert found == {name.decode("utf-8", "replace"): ("added", {1}) for name in names}


def test_a_name_of_a_foreign_patch_is_what_stands_there() -> None:
    text = "--- /dev/null\t2020-01-01\n+++ b/a b/x.py\t2020-01-01\n@@ -0,0 +1 @@\n+a = 1\n"
    assert [(f.path, f.status) for f in parse_patch(text)] == [("a b/x.py", "added")]


BIG = "x = 1  # " + "x" * 100 + "\n"


@pytest.mark.slow
def test_files_too_large_for_the_clone_are_named_and_the_others_compared(work: Path, server, options: Settings) -> None:
    body = "".join(f"line_{n} = {n}\n" for n in range(30))
    large = BIG * 12_000
    commit(
        work, {"grown.py": "a = 1\n", "shrunk.py": large, "moved.py": body, "odd b/x y.py": "a = 1\n", "t": "f\n"}, "a"
    )
    git(work, "mv", "moved.py", "there.py")
    commit(
        work,
        {
            "grown.py": large,
            "shrunk.py": "import os\n\nos.system(input())\n",
            "there.py": body + "more = 1\n",
            "odd b/x y.py": "a = 2\n",
            "t": None,
            "t/big.csv": large,
            "picture.png": os.urandom(1_200_000),
        },
        "b",
    )
    publish(work, server.folder)
    clone = open_source(parse_source(server.url + "/demo.git"), options)
    found = {f.path: f for f in history.diff(clone, "HEAD~1", "HEAD", options)}
    assert {path: (f.status, f.left_out) for path, f in found.items()} == {
        "grown.py": ("modified", True),
        "shrunk.py": ("modified", True),
        "there.py": ("renamed", False),
        "odd b/x y.py": ("modified", False),
        "t": ("deleted", False),
        "t/big.csv": ("added", True),
        "picture.png": ("added", True),
    }
    scope = of_diff(clone, CommitRange("HEAD~1", "HEAD"), options)
    reviewed = {t.new.path: t.changed for t in scope.targets}
    assert reviewed == {"odd b/x y.py": {1}, "shrunk.py": None, "there.py": {31}}
    assert all(isinstance(t, ReviewTarget) for t in scope.targets)
    said = " ".join(map(str, scope.notes))
    assert all(name in said for name in ("grown.py", "t/big.csv", "picture.png", "shrunk.py"))
    narrowed = replace(clone, subdir="odd b")
    assert [f.path for f in history.diff(narrowed, "HEAD~1", "HEAD", options)] == ["odd b/x y.py"]


@pytest.mark.slow
def test_three_dots_leave_out_what_the_base_has_got_since(work: Path, options: Settings) -> None:
    git(work, "checkout", "-q", "-b", "topic")
    commit(work, {"src/new.py": "a = 1\n"}, "topic")
    git(work, "checkout", "-q", "main")
    commit(work, {"src/app.py": "def run():\n    return 3\n"}, "mend main")
    git(work, "checkout", "-q", "topic")
    snapshot = open_source(parse_source(str(work)), options)

    def paths(written: str) -> set[str]:
        return {target.new.path for target in of_diff(snapshot, commit_range(written), options).targets}

    assert paths("main..topic") == paths("main..") == {"src/app.py", "src/new.py"}
    assert paths("main...topic") == paths("main...") == paths(" main...HEAD ") == {"src/new.py"}
    assert "main...topic" in str(of_diff(snapshot, commit_range("main...topic"), options).what)
    for wrong in ("", "..", "...HEAD", " "):
        with pytest.raises(UsageError):
            commit_range(wrong)


@pytest.mark.parametrize("template", sorted(Path("docs/ci").glob("*.yml")), ids=lambda path: path.stem)
def test_the_workflows_to_copy_compare_with_where_the_branch_left(template: Path) -> None:
    written = set(re.findall(r'--diff "([^"]+)"', template.read_text()))
    assert written and all(commit_range(each).branched_off for each in written)


@pytest.mark.parametrize("template", sorted(Path("docs/ci").glob("*.yml")), ids=lambda path: path.stem)
def test_the_workflows_to_copy_install_by_hash_and_run_no_text_of_others(template: Path) -> None:
    text = template.read_text()
    assert "--require-hashes" in text and "@main" not in text
    assert set(re.findall(r"\$\{\{ *([\w.]+)", text)) <= {"github.event.pull_request.number"}, "no text of others"


@pytest.mark.parametrize(
    "file", [*Path("docs/ci").glob("*.yml"), *Path(".github/workflows").glob("*.yml"), Path("Dockerfile")], ids=str
)
def test_actions_and_images_are_named_by_their_hash(file: Path) -> None:
    text = file.read_text()
    actions = re.findall(r"uses: (\S+)", text)
    images = re.findall(r"^(?:FROM| *image:) (\S+)", text, re.MULTILINE)
    assert actions or images
    assert [each for each in actions if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", each)] == []
    assert [each for each in images if not re.fullmatch(r"[\w:.-]+@sha256:[0-9a-f]{64}", each)] == []


@pytest.mark.slow
@pytest.mark.parametrize("template", sorted(Path("docs/ci").glob("*.yml")), ids=lambda path: path.stem)
def test_the_workflows_to_copy_run_no_module_of_the_change(template: Path, tmp_path: Path) -> None:
    """Python looks for a module in the current folder first, which holds what is reviewed."""
    (tmp_path / "repopilot").mkdir()
    (tmp_path / "repopilot" / "__main__.py").write_text("print('of the change')\n")
    written = dict(re.findall(r'(PYTHON\w+): "([^"]+)"', template.read_text()))
    environment = {**os.environ, **written, "PYTHONPATH": str(Path.cwd())}
    command = [sys.executable, "-m", "repopilot", "--version"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert "of the change" not in done.stdout


@pytest.mark.parametrize(
    ("sentence", "written"),
    [
        ("review HEAD~1..HEAD", "HEAD~1..HEAD"),
        ("What did v1.2.0...main touch?", "v1.2.0...main"),
        ("Look at main..feature/x.", "main..feature/x"),
        ("What changed in HEAD~3..", "HEAD~3.."),
        ("Wait... what is a/../b or ./a..?", ""),
        ("a-" * 50_000 + "..", ""),
    ],
)
def test_a_range_is_read_in_a_sentence(sentence: str, written: str) -> None:
    assert range_in(sentence) == written
