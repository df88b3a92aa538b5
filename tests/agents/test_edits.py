"""Edits: symbols replaced, syntax, diffs that git applies, secrets, paths."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repopilot.agents.coding.blocks import SearchReplaceBlock, read_blocks
from repopilot.agents.coding.checks import preserve
from repopilot.errors import GenerationFailed
from repopilot.tools import file_change

SHOP = '''"""A module."""

import os

LIMIT = 3


class Cart:
    """Things to buy."""

    @property
    def size(self):
        return 1

    def add(self, item):
        return item


def total(cart):
    return 0
'''


@pytest.mark.parametrize(
    ("path", "text", "wrong"),
    [
        ("a.py", "def f(:\n  pass\n", True),
        ("a.py", "print('x'", True),
        ("a.py", "x = 1\n", False),
        ("a.js", "function f( { return 1 }\n", True),
        ("a.ts", "const a: number = 1;\n", False),
        ("a.go", "package a\nfunc f() { return\n", True),
        ("A.java", "class A { int f() { return 1; } }\n", False),
        ("a.rs", "fn f( -> i32 { 1 }\n", True),
        ("notes.md", "# ( [ {\n", False),
        ("a.unknown", "((((", False),
    ],
)
def test_syntax(path: str, text: str, wrong: bool) -> None:
    assert (file_change.syntax_error(path, text) is not None) == wrong


def test_left_out_code_is_a_problem() -> None:
    remark = "def f():\n    pass\n# ... rest of the code unchanged\n"
    assert preserve.leaves_out(file_change.change("a.py", remark, "def f():\n    return 1\n"))
    assert not preserve.leaves_out(file_change.change("a.py", f"{remark}x = 1\n", remark))
    assert not preserve.leaves_out(file_change.change("a.py", "# the same\nx = 1\n", None))


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x.py", "a/../../b", ".git/hooks/pre-commit", "a/.GIT/x", "C:\\x", "", "a\nb"]
)
def test_unsafe_paths_are_refused(path: str) -> None:
    with pytest.raises(GenerationFailed):
        file_change.safe_path(path)


def test_line_ends_and_byte_order_mark_stay() -> None:
    assert file_change.with_line_ends("a\nb\n", "\ufeffx\r\ny\r\n") == "\ufeffa\r\nb\r\n"


LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "-x", "+y", "\x0c", "é", "a\r"]), max_size=12)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(old=LINES, new=LINES, old_end=st.booleans(), new_end=st.booleans())
def test_git_applies_every_diff(tmp_path_factory, old: list[str], new: list[str], old_end: bool, new_end: bool) -> None:
    before = "\n".join(old) + ("\n" if old and old_end else "")
    after = "\n".join(new) + ("\n" if new and new_end else "")
    folder: Path = tmp_path_factory.mktemp("apply")
    (folder / "f é.txt").write_bytes(before.encode())
    diff = file_change.unified("f é.txt", before, after)
    if diff:
        git = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
        subprocess.run(
            git, cwd=folder, input=diff.encode(), check=True, env={"PATH": "/usr/bin:/bin", "HOME": str(folder)}
        )
    assert (folder / "f é.txt").read_bytes() == after.encode()


def test_public_names() -> None:
    assert preserve.public_names("shop.py", SHOP) >= {"Cart", "Cart.add", "Cart.size", "total"}
    assert "_hidden" not in preserve.public_names("a.py", "def _hidden():\n    pass\n")


def test_a_reply_of_spaces_is_read_in_linear_time() -> None:
    spaces = " " * 400_000  # quadratic, this takes longer than a test may
    preserve.leaves_out(file_change.change("shop.py", f"x = 1\n{spaces}#{spaces}\n", None))


def test_the_complete_blocks_of_a_reply_are_read_in_their_order():
    first = "a.py\n<<<<<<< SEARCH\none\ntwo\n=======\nthree\n>>>>>>> REPLACE\n"
    second = "b.py\n<<<<<<< SEARCH\nfour\n=======\n>>>>>>> REPLACE\n"
    cut_off = "c.py\n<<<<<<< SEARCH\nfive\n=======\nsix\n"
    assert read_blocks(first + second + cut_off) == [
        SearchReplaceBlock("a.py", ("one", "two"), ("three",)),
        SearchReplaceBlock("b.py", ("four",), ()),
    ]
