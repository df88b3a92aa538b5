"""Code blocks out of replies of small models."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.agents.coding.replies.reply_parser import blocks, blocks_by_path


@pytest.mark.parametrize(
    "reply",
    [
        "shop/cart.py\n```python\nx = 1\n```",
        "Here you go.\n\n**shop/cart.py**\n\n```python\nx = 1\n```\nThis sets x.",
        "File: `shop/cart.py`\n```py\nx = 1\n```",
        "```python shop/cart.py\nx = 1\n```",
        "```python:shop/cart.py\nx = 1\n```",
        "```python\n# shop/cart.py\nx = 1\n```",
        "### shop/cart.py\n~~~python\nx = 1\n~~~",
        "shop/cart.py:\n  ```python\n  x = 1\n  ```",
        "shop/cart.py\n````python\nx = 1\n````",
    ],
)
def test_a_path_near_the_block_is_its_path(reply: str) -> None:
    (block,) = blocks(reply)
    assert (block.path, block.body, block.closed) == ("shop/cart.py", "x = 1\n", True)


def test_a_reply_that_ends_inside_a_block_says_so() -> None:
    (block,) = blocks("```python\nx = 1\ny = ")
    assert not block.closed


def test_code_without_a_fence_is_found() -> None:
    (block,) = blocks("Sure:\n\nimport os\n\ndef f():\n    return os.getcwd()\n\nThis returns the folder.")
    assert block.body == "import os\n\ndef f():\n    return os.getcwd()\n"


@pytest.mark.parametrize("reply", ["", "   ", "I can't do that.", "It works like this: first read, then write."])
def test_prose_holds_no_block(reply: str) -> None:
    assert blocks(reply) == []


def test_fences_inside_markdown_belong_to_it() -> None:
    body = "# Shop\n\n```sh\npip install .\n```\n\nEnd.\n"
    (block,) = blocks(f"README.md\n```markdown\n{body}```\n")
    assert block.body == body


def test_blocks_go_to_their_targets() -> None:
    found = blocks("cart.py\n```python\na = 1\n```\n```javascript\nlet b = 2\n```\nnew/thing.py\n```python\nc = 3\n```")
    bodies = {path: block.body for path, block in blocks_by_path(found, ["shop/cart.py", "web/basket.js"]).items()}
    assert bodies == {"shop/cart.py": "a = 1\n", "web/basket.js": "let b = 2\n", "new/thing.py": "c = 3\n"}


def test_a_short_example_after_the_file_does_not_replace_it() -> None:
    found = blocks("```python\n" + "x = 1\n" * 20 + "```\nUse it:\n```python\nprint(x)\n```")
    assert blocks_by_path(found, ["a.py"])["a.py"].body == "x = 1\n" * 20


@given(st.text(alphabet="`~ab.py/\n #:*", max_size=200))
def test_any_reply_is_read(reply: str) -> None:
    for block in blocks(reply):
        assert block.body.strip() and block.body.endswith("\n")
