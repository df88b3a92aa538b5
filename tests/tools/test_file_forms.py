"""Edits keep what a file's bytes are: encoding, byte order mark, each line's own end, the end of the file."""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shop_workspace import workspace_of
from tools.test_tools import opened

from repopilot.repo.patches.apply import apply_changes
from repopilot.repo.text_encoding import decoded, encoded
from repopilot.tools.file_change import with_final_newline, with_line_ends

LINES = (
    "import sys",
    "import os",
    "",
    "# Größe",
    "LIMIT = 3  # most",
    "",
    "def area(w):",
    "    return w * LIMIT",
    "",
    "TEXT = '''a",
    "b'''",
    "print(area(LIMIT), os.sep, sys.path)",
)
ENDS = {"lf": ["\n"], "crlf": ["\r\n"], "mixed": ["\n", "\r\n", "\r\n"]}
ENCODINGS = {
    "utf-8": ("", "utf-8"),
    "mark": ("\ufeff", "utf-8"),
    "latin-1": ("# -*- coding: iso-8859-1 -*-\n", "iso-8859-1"),
}


def bytes_of(lines: tuple[str, ...], ends: str, encoding: str, *, final: bool) -> bytes:
    head, codec = ENCODINGS[encoding]
    cycle = itertools.cycle(ENDS[ends])
    text = "".join(line + next(cycle) for line in lines)
    return (head + (text if final else text.rstrip("\r\n"))).encode(codec)


TOOLS: dict[str, tuple[dict[str, object], Callable[[bytes], bytes]]] = {
    "replace_text": (
        {"path": "one.py", "old": "    return w * LIMIT", "new": "    return LIMIT * w"},
        lambda data: data.replace(b"w * LIMIT", b"LIMIT * w"),
    ),
    "set_value": ({"name": "LIMIT", "value": "7"}, lambda data: data.replace(b"LIMIT = 3", b"LIMIT = 7")),
    "rename_symbol": ({"name": "area", "new_name": "square"}, lambda data: data.replace(b"area", b"square")),
    "replace_symbol": (
        {"path": "one.py", "name": "area", "code": "def area(w):\n    return 1\n"},
        lambda data: data.replace(b"return w * LIMIT", b"return 1"),
    ),
    "change_signature": (
        {"name": "area", "rename": {"w": "width"}},
        lambda data: data.replace(b"area(w)", b"area(width)").replace(b"w * L", b"width * L"),
    ),
    "organize_imports": (
        {"path": "one.py"},
        lambda data: (
            data.replace(b"import sys", b"\0").replace(b"import os", b"import sys").replace(b"\0", b"import os")
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("final", [True, False])
@pytest.mark.sampled(6)
async def test_an_edit_and_its_acceptance_keep_the_form_of_a_file(
    tmp_path: Path, ends: str, encoding: str, final: bool
):
    before = bytes_of(LINES, ends, encoding, final=final)
    workspace = workspace_of(tmp_path, {"one.py": before})
    folder = workspace.snapshot.root
    assert folder is not None
    for name, (arguments, expected) in TOOLS.items():
        async with opened(workspace) as tools:
            await tools(name, **arguments)
            after = (tools.copy.root() / "one.py").read_bytes()
            apply_changes(folder, tools.copy.changes())
        assert (folder / "one.py").read_bytes() == after
        if name == "organize_imports":  # lines that change places take their ends along
            assert after.replace(b"\r\n", b"\n") == expected(before).replace(b"\r\n", b"\n")
            assert after.partition(b"LIMIT = ")[2] == before.partition(b"LIMIT = ")[2]
        else:
            assert after == expected(before), name
        (folder / "one.py").write_bytes(before)


@pytest.mark.slow
@pytest.mark.parametrize("ends", ENDS)
async def test_new_lines_end_as_those_around_them_and_all_others_stay(tmp_path: Path, ends: str):
    before = bytes_of(LINES, ends, "mark", final=False)
    async with opened(workspace_of(tmp_path, {"one.py": before})) as tools:
        await tools("insert_code", path="one.py", code="def more():\n    return 2\n")
        await tools("insert_code", path="one.py", anchor="area", position="before", code="def first():\n    return 0\n")
        after = (tools.copy.root() / "one.py").read_bytes()
    assert after.startswith(codecs.BOM_UTF8) and after.endswith(b"return 2")
    rest = iter(after.split(b"\n"))
    assert all(line in rest for line in before.split(b"\n")[:-1])
    assert (b"\r" in after) == (ends != "lf") and (ends != "crlf" or after.count(b"\r\n") == after.count(b"\n"))


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le"])
async def test_a_wide_encoding_is_kept(tmp_path: Path, codec: str):
    before = ('\ufeff{\r\n  "size": 12,\n  "name": "é"\r\n}').encode(codec)
    workspace = workspace_of(tmp_path, {"a.json": before})
    async with opened(workspace) as tools:
        await tools("set_value", name="size", value="14")
        await tools("replace_text", path="a.json", old='"é"', new='"è"')
        apply_changes(workspace.snapshot.root, tools.copy.changes())
    wanted = before.decode(codec).replace("12", "14").replace("é", "è")
    assert (workspace.snapshot.root / "a.json").read_bytes() == wanted.encode(codec)


LINE = st.text(st.sampled_from("ab =#é\x0c\r\u2028"), max_size=4).filter(lambda line: not line.endswith("\r"))


@pytest.mark.slow
@given(st.lists(st.tuples(LINE, st.sampled_from(["\n", "\r\n"])), max_size=12), LINE, st.booleans(), st.data())
def test_lines_that_stay_keep_their_ends(rows, tail: str, mark: bool, data):
    old = ("\ufeff" if mark else "") + "".join(line + end for line, end in rows) + tail
    plain = old.removeprefix("\ufeff").replace("\r\n", "\n")
    assert with_line_ends(plain, old) == old and with_line_ends(old, old) == old
    assert decoded(encoded(old, "utf-8"), "a.txt") in ((old, "utf-8"), None)
    lines = plain.split("\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    changed = "\n".join([*lines[:at], "changed", *lines[at + 1 :]])
    wanted = old.removeprefix("\ufeff").split("\n")
    wanted[at] = "changed" + ("\r" if wanted[at].endswith("\r") and at < len(wanted) - 1 else "")
    assert with_line_ends(changed, old).removeprefix("\ufeff") == "\n".join(wanted)
    assert with_final_newline(with_line_ends(plain, old), old) == old
