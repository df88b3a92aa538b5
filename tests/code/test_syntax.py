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


@pytest.mark.parametrize(
    "text",
    [
        "interface Get {\n  (path: string): Map<string, number>\n\n  // and\n  <P extends string>(path: P): void\n}\n",
        "interface Use {\n  <T>(first: T): [T, () => void]\n  <T = undefined>(): T\n}\n",
        "export type * from './types'\n",
        "export type * as shapes from './types'\n",
    ],
)
def test_what_the_grammar_of_typescript_lacks_is_parsed(text: str) -> None:
    trees = [parse(text.encode(), language, 5.0) for language in ("typescript", "tsx")]
    roots = [tree.root_node for tree in trees if tree is not None]
    assert [(root.has_error, root.end_byte) for root in roots] == [(False, len(text))] * 2
