"""A rename there and back leaves every byte as it was, whatever uses the name."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.edited import carried_out, workspace_of

DEFINITIONS = (
    "def {n}(a=1):\n    return a\n",
    "class {n}:\n    def run(self):\n        return '{n} runs', {n}\n",
    "{n} = 1\n",
    "@property\ndef {n}(): ...\n\n\nasync def other():\n    global {n}\n    {n} = 2\n",
)
USES = (
    "import pkg.core\n\nx = pkg.core.{n}\n",
    "from pkg.core import {n}\n\n__all__ = ['{n}']\n",
    "from pkg.core import {n} as other\n\nother\n",
    "from pkg.core import *\n\n{n}\n",
    "from pkg import core\n\ngetattr(core, '{n}'), core.{n}.x, f'{{core.{n}!r}}'\n",
    "from pkg.core import {n}\n\nd = [{n} for {n} in {n}]\n\n\ndef f({n}=1, *a: {n}):\n    return {n}\n",
    "from pkg.core import {n}\n\n\ndef f():\n    {n} = 1\n    return lambda: {n}\n",
    "from unittest import mock\n\nmock.patch('pkg.core.{n}')\n",
    "try:\n    from pkg.core import {n}\nexcept ImportError:\n    {n} = None  # type: ignore\n",
    "class K:\n    {n} = 1\n\n    def f(self, x: 'pkg.core.{n}'):\n        self.{n} = x  # {n}\n",
    '"""Says {n}, :func:`pkg.core.{n}` and `{n}`."""\n',
)
NAMES = (("load_all", "fetch_all"), ("LoadAll", "FetchAll"), ("load", "fetch"), ("LOAD_é", "FETCH_é"))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(DEFINITIONS),
    st.lists(st.sampled_from(USES), max_size=4, unique=True),
    st.sampled_from(NAMES),
    st.sampled_from((b"\n", b"\r\n")),
    st.sampled_from((b"", b"\xef\xbb\xbf")),
)
def test_there_and_back(definition: str, uses: list[str], names: tuple[str, str], end: bytes, bom: bytes) -> None:
    old, new = names
    parts = {"pkg/__init__.py": "x = 1\n", "pkg/core.py": definition, "docs/a.md": "See `pkg.core.{n}`, `{n}`, {n}.\n"}
    parts |= {f"pkg/use{n}.py": use for n, use in enumerate(uses)}
    files: dict[str, str | bytes] = {
        path: bom + text.format(n=old).encode().replace(b"\n", end) for path, text in parts.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        there = _renamed(Path(folder) / "1", files, old, new)
        assert there != files
        assert _renamed(Path(folder) / "2", there, new, old) == files


def _renamed(folder: Path, files: dict[str, str | bytes], old: str, new: str) -> dict[str, str | bytes]:
    outcome = carried_out(workspace_of(folder, files), "rename", old, "pkg/core.py", new=new)
    return {**files, **{c.path: c.content.encode() for c in outcome.changes}}
