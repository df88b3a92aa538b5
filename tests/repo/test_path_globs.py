"""Patterns for paths: what they match, by examples and by what must hold of any."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.repo.paths.path_globs import matches

PART = st.text("ab.-_[]{},é", min_size=1, max_size=5).filter(lambda part: part != ".")
PATH = st.lists(PART, min_size=1, max_size=4).map("/".join)
PLAIN = st.text("abc._", min_size=1, max_size=5).filter(lambda part: part != ".")


@pytest.mark.parametrize(
    "glob,path,fits",
    [
        ("*", "a/b.py", True),
        ("*.{py,toml}", "src/a.toml", True),
        ("*.{py,toml}", "src/a.pyc", False),
        ("src/**/x.py", "src/x.py", True),
        ("src/**/x.py", "src/a/b/x.py", True),
        ("src/**/x.py", "src/a/yx.py", False),
        ("**/test_*.py", "test_a.py", True),
        ("**/test_*.py", "tests/a/test_a.py", True),
        ("test_*.py", "tests/test_a.py", True),
        ("test_*.py", "tests/my_test_a.py", False),
        ("{src,tests}", "tests/a.py", True),
        ("{src,tests}/**", "docs/a.py", False),
        ("./src/", "src/a/b.py", True),
        ("a{b,{c,d}e}f", "adef", True),
        ("app/[slug]/page.tsx", "app/[slug]/page.tsx", True),
        ("{{cookiecutter.slug}}", "{{cookiecutter.slug}}/setup.py", True),
        ("{a,b", "{a,b", True),
    ],
)
def test_what_a_pattern_matches(glob, path, fits):
    assert matches(path, glob) == fits


@pytest.mark.slow
@given(PATH)
def test_a_path_fits_itself_and_so_does_what_lies_in_it(path):
    assert matches(path, path) and matches(path, f"./{path}") and matches(f"{path}/x", f"{path}/")


@pytest.mark.slow
@given(st.lists(PLAIN, min_size=1, max_size=5), st.data())
def test_parts_of_a_path_may_be_left_open(parts, data):
    ways = [lambda part: part, lambda part: "*", lambda part: "**", lambda part: f"{{zz,{part}}}"]
    glob = "/".join(data.draw(st.sampled_from(ways))(part) for part in parts)
    assert matches("/".join(parts), glob)


@pytest.mark.slow
@given(PLAIN, st.lists(PLAIN, min_size=2, max_size=4), PLAIN, st.text("abc._/", max_size=15))
def test_braces_fit_where_one_of_what_they_hold_does(before, either, after, path):
    glob = f"{before}{{{','.join(either)}}}{after}"
    assert matches(path, glob) == any(matches(path, f"{before}{part}{after}") for part in either)


@pytest.mark.slow
@given(st.text("ab/*?[]{},!-\n", max_size=80), PATH)
def test_any_text_is_a_pattern(glob, path):
    assert matches(path, glob) in (True, False)


@pytest.mark.slow
def test_many_braces_take_neither_time_nor_memory():
    assert not matches("b" * 200, "{a,aa}" * 60)
