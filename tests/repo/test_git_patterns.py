"""Patterns of git: the same as pathspec's, whatever the pattern, and no pattern that takes for ever."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from repopilot.repo.paths.git_patterns import git_pattern, ignore_spec

PIECE = st.sampled_from(["a", "b", "*", "**", "?", "[ab]", "[]b]", "\\*", "\\[", ".", "("])
"""Not `[!a]`, which pathspec lets match a slash."""
SEGMENT = st.one_of(st.just("**"), st.lists(PIECE, min_size=1, max_size=6).map("".join))
GLOB = st.builds(
    lambda sign, top, parts, end: f"{sign}{top}{'/'.join(parts)}{end}",
    st.sampled_from(["", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(SEGMENT, min_size=1, max_size=5),
    st.sampled_from(["", "/"]),
)
PATH = st.builds(
    lambda parts, end: "/".join(parts) + end,
    st.lists(st.text("ab.*[](", min_size=1, max_size=6), min_size=1, max_size=7),
    st.sampled_from(["", "/"]),
)


def matched(pattern: GitIgnoreSpecPattern, path: str) -> tuple:
    """Whether a pattern matches, by its folder or itself, and what that means."""
    found = pattern.match_file(path)
    return found and found.match.groupdict().get("ps_d"), found is not None, pattern.include


@pytest.mark.slow
@given(GLOB, PATH)
@example("**/a/**/b*a*/**/a/", "b/a/a/baa/b/a/a/a")
@example("*a*b*", "aab")
@example("?*[a*b]*", "ba*")
def test_patterns_match_what_those_of_pathspec_do(glob: str, path: str):
    assert matched(git_pattern(glob), path) == matched(GitIgnoreSpecPattern(glob), path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*a" * 60 + "b", "a" * 250),
        ("**/" + "*a" * 60 + "b/c", "/".join(["a" * 120] * 30)),
        ("**/a/" * 40 + "b", "a/" * 2000),
        ("a/" + "**/a*a/" * 40 + "b", "aa/" * 1200),
        ("*[]a]" * 60 + "b", "a" * 250),
    ],
)
def test_no_pattern_takes_for_ever(glob: str, path: str):
    assert ignore_spec([glob]).check_file(path).include is None


@pytest.mark.parametrize("line", ["a[z-a]", "a\\", "[", "//", "a[b"])
def test_a_pattern_that_is_not_valid_matches_nothing(line: str):
    assert ignore_spec([line, "*.log"]).check_file("a").include is None
    assert ignore_spec([line, "*.log"]).match_file("x.log")


@pytest.mark.slow
def test_a_pattern_itself_is_read_in_no_time():
    assert git_pattern("*" + "[]a]" * 5000 + "b").include
    assert isinstance(git_pattern("*a" * 5000).regex, re.Pattern)
