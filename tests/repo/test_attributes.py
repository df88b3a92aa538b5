"""Which files the repository's attributes mark as generated or vendored."""

from __future__ import annotations

import pytest

from repopilot.repo.paths.attributes import LinguistAttributes

FILES = {
    ".gitattributes": (
        "gen/** linguist-generated=true\n*.lock text linguist-generated\n"
        "sub linguist-vendored\n/third/** linguist-vendored\n"
        '*.js linguist-vendored\nsrc/*.js -linguist-vendored\n# x linguist-generated\n"odd name.c" linguist-generated\n'
        "off.c linguist-generated=false\n[z-a] linguist-generated\n"
        "[ linguist-generated\n[attr]mine linguist-generated\n!a linguist-generated\n"
    ),
    "a/.gitattributes": "b.py linguist-generated\n*.js !linguist-vendored\n",
}


@pytest.mark.parametrize(
    ("path", "generated", "vendored"),
    [
        ("gen/x/y.py", True, None),
        ("x/gen/a.py", None, None),
        ("x/y.lock", True, None),
        ("sub/a.py", None, None),
        ("third/q.c", None, True),
        ("x/third/q.c", None, None),
        ("z.js", None, True),
        ("src/z.js", None, False),
        ("a/c/b.py", True, None),
        ("a/z.js", None, None),
        ("off.c", False, None),
        ("mine", None, None),
    ],
)
def test_the_last_line_of_the_nearest_file_counts(path: str, generated: bool | None, vendored: bool | None):
    found = LinguistAttributes(FILES.get)
    assert (found.says("generated", path), found.says("vendored", path)) == (generated, vendored)
