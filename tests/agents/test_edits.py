"""Edits: symbols replaced, syntax, diffs that git applies, secrets, paths."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repopilot.agents.coding import edits
from repopilot.code.split import analyse
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


def spliced(code: str, text: str = SHOP, path: str = "shop.py") -> str:
    outline = analyse(path, text, "python", "code").symbols
    return edits.with_symbols(path, text, outline, code)[0]


def test_a_function_replaces_its_namesake_only() -> None:
    new = spliced("def total(cart):\n    return sum(cart)\n")
    assert new == SHOP.replace("return 0", "return sum(cart)")


def test_a_class_with_one_method_keeps_the_others() -> None:
    new = spliced("class Cart:\n    def add(self, item):\n        return [item]\n\n    def drop(self):\n        pass\n")
    assert new == SHOP.replace("return item\n", "return [item]\n\n    def drop(self):\n        pass\n")


def test_a_lone_method_is_put_back_into_its_class() -> None:
    assert spliced("def add(self, item):\n    return 2\n") == SHOP.replace("return item", "return 2")


def test_new_functions_and_imports_are_added() -> None:
    new = spliced("import json\n\ndef dump(cart):\n    return json.dumps(cart)\n")
    assert "import os\nimport json\n" in new
    assert new.endswith("\n\n\ndef dump(cart):\n    return json.dumps(cart)\n")


def test_a_reply_without_definitions_is_refused() -> None:
    with pytest.raises(GenerationFailed):
        spliced("x = 1\n")


@pytest.mark.slow
def test_a_twenty_thousand_line_file_is_changed_in_one_place() -> None:
    text = "".join(f"def f{n}(x):\n    y = x + {n}\n    return y\n\n\n" for n in range(4000))
    new = spliced("def f2000(x):\n    return None\n", text)
    diff = file_change.unified("big.py", text, new)
    assert [line for line in diff.split("\n") if line.startswith(("+", "-"))][2:] == [
        "-    y = x + 2000",
        "-    return y",
        "+    return None",
    ]


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
    assert edits.problem_of("a.py", "def f():\n    pass\n# ... rest of the code unchanged\n", None) is not None
    assert edits.problem_of("a.py", "# the same\nx = 1\n", None) is None


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x.py", "a/../../b", ".git/hooks/pre-commit", "a/.GIT/x", "C:\\x", "", "a\nb"]
)
def test_unsafe_paths_are_refused(path: str) -> None:
    with pytest.raises(GenerationFailed):
        file_change.safe_path(path)


def test_secrets_of_unchanged_lines_come_back_and_others_are_refused() -> None:
    raw, shown = "key = 'abc'\nn = 1\n", "key = '[REDACTED:key]'\nn = 1\n"
    assert edits.with_secrets("key = '[REDACTED:key]'\nn = 2\n", shown, raw) == "key = 'abc'\nn = 2\n"
    with pytest.raises(GenerationFailed):
        edits.with_secrets("token = '[REDACTED:key]'\nn = 2\n", shown, raw)


def test_line_ends_and_byte_order_mark_stay() -> None:
    assert file_change.with_line_ends("a\nb\n", "\ufeffx\r\ny\r\n") == "\ufeffa\r\nb\r\n"


LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "-x", "+y", "\x0c", "é", "a\r"]), max_size=12)


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
    assert edits.public_names("shop.py", SHOP) >= {"Cart", "Cart.add", "Cart.size", "total"}
    assert "_hidden" not in edits.public_names("a.py", "def _hidden():\n    pass\n")


def test_a_program_cut_off_keeps_its_complete_tests() -> None:
    assert edits.complete_tests("def test_a():\n    assert 1\n    assert (2,\n") == "def test_a():\n    assert 1\n"
    assert edits.complete_tests("x = 1\ndef f(") == ""


def test_a_reply_of_spaces_is_read_at_once() -> None:
    started = time.thread_time()
    edits.problem_of("shop.py", "x = 1\n" + " " * 20_000 + "#" + " " * 20_000 + "\n", None)
    assert time.thread_time() - started < 2
