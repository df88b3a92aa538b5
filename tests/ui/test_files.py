"""Generated files leave as a patch git takes and a zip that stays where it is unpacked."""

import difflib
import io
import subprocess
import zipfile
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repopilot.errors import UsageError
from repopilot.repo.read import blob_id
from repopilot.results import Answer
from repopilot.tools.file_change import change, deletion
from repopilot.types import FileChange
from repopilot.ui.answer.answer_view import decisions_kept
from repopilot.ui.changes.diff_rows import coloured, rows_of
from repopilot.ui.changes.diffs import (
    ShownFiles,
    checked_path,
    files_props,
    not_rejected,
    patch,
    zipped,
)
from repopilot.ui.chat import ShownAnswer
from repopilot.ui.file_ids import follow_up_id

if TYPE_CHECKING:
    from repopilot.index.store import Index

NO_NEWLINE = "\\ No newline at end of file\n"


def unified(path, old, new):
    """A diff as the agents make it."""
    lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{path}", f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}" for line in lines)


def modified(path, old, new):
    return FileChange(path, "modified", unified(path, old, new), new)


def test_rows_carry_the_line_numbers_of_both_sides():
    edited = modified("a.py", "one\ntwo\nthree\n", "one\n2\nthree\nfour\n")
    assert rows_of(edited) == [
        [(" ", 1, 1, "one"), ("-", 2, None, "two"), ("+", None, 2, "2"), (" ", 3, 3, "three"), ("+", None, 4, "four")]
    ]


@pytest.mark.slow
def test_the_words_that_differ_are_marked():
    (rows,) = rows_of(modified("a.py", "total = price * 2\n", "total = price * count\n"))
    before, after = coloured("a.py", rows)
    assert ["n m", "2"] in before[3] and [" m", "count"] in after[3]
    for shown, row in zip((before, after), rows, strict=True):
        assert "".join(text for _, text in shown[3]) == row[3]


texts = st.lists(st.sampled_from(["a", "b", "", "  c", "é", "-x", "+y", "@@ -1 +1 @@", "\\ No"]), max_size=8).map(
    "\n".join
)


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(old=texts, new=texts, added=texts, name=st.sampled_from(["a.py", "dir/b c.txt", 'q"uote.txt', "ünï.md"]))
def test_git_applies_the_patch(tmp_path_factory, old, new, added, name):
    root = tmp_path_factory.mktemp("work")
    target = root / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(old, newline="")
    (root / "gone.txt").write_text("bye\n")
    files = [deletion("gone.txt", "bye\n"), change(name, new, old)]
    files += [change("new/file.txt", added, None)] if added else []
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    done = subprocess.run(
        ["git", "-C", str(root), "apply", "--whitespace=nowarn", "-"], input=patch(files).encode(), capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode() + patch(files)
    assert target.read_text() == new
    assert not (root / "gone.txt").exists()
    if added:
        assert (root / "new/file.txt").read_text() == added


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "a/../../x", "", ".git/hooks/x", "a/.GIT/x", "C:/x", "a\\b", "a\0b"]
)
def test_a_path_that_leads_out_is_refused_everywhere(path):
    outside = FileChange(path, "added", "", "x\n")
    for leave in (lambda: checked_path(path), lambda: patch([outside]), lambda: zipped([outside])):
        with pytest.raises(UsageError):
            leave()


def test_the_zip_holds_the_new_texts():
    files = [FileChange("src/a.py", "added", "", "print('é')\n"), FileChange("old.py", "deleted", "", "")]
    with zipfile.ZipFile(io.BytesIO(zipped(files))) as archive:
        assert archive.namelist() == ["src/a.py"]
        assert archive.read("src/a.py").decode() == "print('é')\n"


def test_a_download_leaves_out_what_was_rejected():
    files = {path: FileChange(path, "added", "", "x\n") for path in ("a", "b", "c")}
    assert [file.path for file in not_rejected(files, {"a": "accepted", "b": "rejected"})] == ["a", "c"]


def test_follow_ups_are_downloaded_once_accepted_in_place_of_the_file_they_contain():
    first, more = FileChange("a", "added", "", "x\n"), FileChange("a", "added", "", "x\ny\n")
    other = FileChange("b", "added", "", "z\n")
    files = {"a": first, follow_up_id("a"): more, follow_up_id("b"): other}
    assert not_rejected(files, {}) == [first]
    assert not_rejected(files, {follow_up_id("a"): "accepted", follow_up_id("b"): "rejected"}) == [more]


def test_follow_ups_are_marked_with_their_reason():
    file = FileChange("a", "added", "", "x\n")
    shown = ShownFiles("m", {"a": file, follow_up_id("a"): file}, {}, {follow_up_id("a"): "It calls it."})
    props = files_props(shown, "", "en")
    assert props["title"] == "1 file"
    assert [(f["id"], f["follow_up"]) for f in props["files"]] == [("a", ""), ("follow-up:a", "It calls it.")]


def test_a_long_diff_is_cut_and_says_so():
    props = files_props(ShownFiles("m", {"a": change("a", "x\n" * 4000, None)}, {}), "", "en")
    more = 4000 - len(props["files"][0]["hunks"][0]["rows"])
    assert props["files"][0]["more"] == f"{more:,} more lines. Download the file or the patch to see them."
    assert props["files"][0]["added"] == 4000


def test_the_id_of_a_file_is_gits(tmp_path):
    (tmp_path / "f").write_bytes(b"hello\n")
    asked = subprocess.run(["git", "hash-object", str(tmp_path / "f")], capture_output=True, text=True, check=True)
    assert asked.stdout.strip() == blob_id(b"hello\n")


def test_what_is_decided_on_while_the_answer_goes_on_stays_decided() -> None:
    one, two = modified("a.py", "a\n", "b\n"), modified("b.py", "a\n", "b\n")
    before = ShownAnswer(Answer("", files=(one, two)), cast("Index", None))
    before.decisions["b.py"] = "rejected"
    kept = decisions_kept(before, Answer("", files=(one, modified("b.py", "a\n", "c\n"))))
    before.decisions["a.py"] = "accepted"  # its file was being written
    assert kept == {"a.py": "accepted"}
