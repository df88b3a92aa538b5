"""Python is parsed in threads all over (reviews, controls, candidates): that must not fail by itself."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from repopilot.code.python_ast import parse_python


@pytest.mark.slow
def test_many_threads_parse_deep_trees_at_once():
    text = (
        "x = "
        + "(" * 60
        + "1"
        + ")" * 60
        + "\n"
        + "\n".join(f"def f{i}(a, b):\n    return a + b * {i}" for i in range(200))
    )
    with ThreadPoolExecutor(8) as pool:
        assert {len(tree.body) for tree in pool.map(parse_python, [text] * 64)} == {201}
