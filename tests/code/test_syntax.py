"""Syntax trees: parsed by several threads at once, and within a time limit."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from repopilot.code.syntax import parse

TEXT = "".join(f"def f{n}(x):\n    return x + {n}\n" for n in range(3000)).encode()


@pytest.mark.slow
def test_threads_parse_at_once() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            trees = list(threads.map(lambda _: parse(TEXT, "python", 60.0), range(32)))
    finally:
        sys.setswitchinterval(before)
    assert [len(tree.root_node.children) for tree in trees if tree] == [3000] * 32


def test_a_text_that_takes_too_long_has_no_tree() -> None:
    assert parse(TEXT, "python", 0.0) is None
