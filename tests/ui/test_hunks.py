"""Hunks are taken and left one by one: what is left is what would have been written without the others."""

import difflib
import subprocess
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repopilot.agents.coding.render import changes_sentence
from repopilot.repo.patches.diff_hunks import NO_NEWLINE, before_change, hunks_of, line_counts
from repopilot.types import FileChange
from repopilot.ui.changes.diffs import patch
from repopilot.ui.changes.hunks import divisible, only

LINES = st.sampled_from(
    ["a", "b", "", "é", "-x", "+y", "--x", "-- x", "++i;", "++ i", "@@ -1 +1 @@", "\\ No newline", "w\r"]
)
TEXTS = st.lists(LINES, max_size=30).map("\n".join)


def modified(old: str, new: str) -> FileChange:
    one, two = (text.split("\n") for text in (old, new))
    keep = [[line + "\n" for line in lines[:-1]] + [lines[-1]] * bool(lines[-1]) for lines in (one, two)]
    rows = difflib.unified_diff(*keep, "a/a.py", "b/a.py", n=1)
    diff = "".join(row if row.endswith("\n") else f"{row}\n{NO_NEWLINE}\n" for row in rows)
    return FileChange("a.py", "modified", diff, new)


@pytest.mark.slow
@given(TEXTS, TEXTS)
def test_all_hunks_are_the_change_and_none_is_the_text_before(old, new):
    change = modified(old, new)
    numbers = range(len(hunks_of(change)))
    assert only(change, numbers) == change
    assert only(change, ()).content == before_change(change) == old


@pytest.mark.slow
@given(TEXTS, TEXTS)
def test_lines_are_counted_whatever_they_begin_with(old, new):
    added, removed = line_counts(modified(old, new))
    before, after = (text.count("\n") + (not text.endswith("\n")) if text else 0 for text in (old, new))
    assert added - removed == after - before


@pytest.mark.parametrize("line", ["-x", "--x", "-- x", "--- x", "+x", "++i;", "++ i", "+++ i", "@@ -1 +1 @@"])
def test_a_line_counts_once_whatever_it_looks_like(line):
    assert line_counts(modified("a\nb\n", f"a\n{line}\nb\n")) == (1, 0)
    assert line_counts(modified(f"a\n{line}\nb\n", "a\nb\n")) == (0, 1)
    assert "(+1 −0)" in changes_sentence([modified("a\nb\n", f"a\n{line}\nb\n")], "en")


@pytest.mark.parametrize(("language", "more"), [("en", " and 3 more"), ("fr", " et 3 de plus")])
def test_of_many_files_the_first_are_named_and_the_others_counted(language, more):
    changes = [replace(modified("a\n", "b\n"), path=f"f{number}.py") for number in range(8)]
    said = changes_sentence(changes, language)
    assert [f"f{number}.py" in said for number in range(8)] == [True] * 5 + [False] * 3
    assert more in said


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINES, min_size=12, max_size=40), st.data())
def test_git_applies_some_hunks_and_the_text_is_theirs(tmp_path_factory, lines, data):
    new = list(lines)
    for at in data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=4, unique=True)):
        new[at] = data.draw(st.sampled_from(["changed", "two\nlines", lines[at]]))
    change = modified("\n".join(lines), "\n".join(new))
    kept = {n for n in range(len(hunks_of(change))) if data.draw(st.booleans())}
    part = only(change, kept)
    folder = tmp_path_factory.mktemp("work")
    (folder / "a.py").write_bytes("\n".join(lines).encode())
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    if part.diff:
        command = ["git", "-C", str(folder), "apply", "--whitespace=nowarn", "--unidiff-zero", "-"]
        done = subprocess.run(command, input=patch([part]).encode(), capture_output=True)
        assert done.returncode == 0, done.stderr.decode() + patch([part])
    assert (folder / "a.py").read_bytes().decode() == part.content


def test_what_does_not_fit_its_text_or_is_one_piece_is_decided_on_as_a_whole():
    change = modified("\n".join("abcdefghij"), "\n".join("aBcdefghIj"))
    assert len(hunks_of(change)) == 2 and divisible(change)
    assert not divisible(FileChange("a.py", "modified", change.diff, "another\ntext\n"))
    assert not divisible(FileChange("a.py", "added", "", "x\n"))
