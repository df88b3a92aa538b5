"""Programs as text: extraction from replies, comparison, replacement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.agents.testing import candidates

CODE = "def f(x):\n    return x\n"


@pytest.mark.parametrize(
    "reply",
    [
        f"```python\n{CODE}```",
        f"Sure!\n\n```py\n{CODE}```\nThat returns x.",
        f"```\n{CODE}```",
        CODE,
        f"```python\n{CODE}",
        f"```python\nprint(1)\n```\nand\n```python\n{CODE}```",
        "  ```python\n  def f(x):\n      return x\n  ```",
        f"```bash\npip install x\n```\n```python\n{CODE}```",
        f"```python\n{CODE}\ndef g(y):\n    return (y",
    ],
)
def test_code_is_found_however_it_is_fenced(reply):
    found = candidates.code_in_reply(reply)
    assert candidates.public_names(found) == ("f",)
    assert candidates.same_program(found, CODE)


@pytest.mark.parametrize("reply", ["", "I can't do that.", "```\n```", '{"code": "x"}', "42"])
def test_a_reply_without_code_gives_none(reply):
    assert candidates.code_in_reply(reply) == ""


@given(st.text())
def test_any_reply_is_survived(reply):
    assert candidates.problem_of(candidates.code_in_reply(reply), ["f"])


def test_problems():
    assert candidates.problem_of("", []) == "the reply holds no code"
    assert candidates.problem_of("def f(:", []) == "the code is not valid Python"
    assert candidates.problem_of(CODE, ["f", "g"]) == "it does not define g"
    assert candidates.problem_of("from m import f\ng = 1\n", ["f", "g"]) == ""


def test_same_program():
    assert candidates.same_program(CODE, "# new\n\ndef f(x):\n    return (x)\n")
    assert not candidates.same_program(CODE, "def f(x):\n    return -x\n")


MODULE = '''"""Doc."""
import os

LIMIT = 3


class Box:
    """A box."""

    def __init__(self, size: int = 1):
        self.size = size

    @property
    def big(self) -> bool:
        """Is it?"""
        return self.size > LIMIT

    def _hidden(self):
        return 0


def main(argv):
    return Box(len(argv)).big
'''


def test_signatures_hold_no_bodies():
    shown = candidates.signatures(MODULE)
    assert "class Box:" in shown
    assert "def big(self) -> bool:" in shown
    assert "Is it?" in shown
    assert "LIMIT" not in shown
    assert "_hidden" not in shown


def test_one_function_is_replaced_and_nothing_else():
    assert candidates.function_at(MODULE, 14) == "Box.big"
    assert candidates.function_at(MODULE, 4) == ""
    changed = candidates.replace_function(MODULE, "Box.big", "@property\ndef big(self) -> bool:\n    return False\n")
    before, after = MODULE.splitlines(), changed.splitlines()
    assert "    @property" in after
    assert "        return False" in after
    assert [line for line in before if line not in after] == [
        '        """Is it?"""',
        "        return self.size > LIMIT",
    ]
    assert candidates.replace_function(MODULE, "gone", CODE) == ""
    assert candidates.replace_function(MODULE, "main", CODE) == ""


def test_changes_in_words():
    assert candidates.change_between(CODE, CODE) == "nothing"
    assert candidates.change_between(CODE, CODE.replace("return x", "return -x")) == "+1 −1 lines in f"


def test_definitions_are_removed():
    code = "import os\n\n@wraps\ndef f():\n    return 1\n\nclass C:\n    x = 1\n\ndef test_f():\n    f()\n"
    assert candidates.without_definitions(code, ["f", "C"]) == "import os\n\n\n\ndef test_f():\n    f()\n"
    assert candidates.without_definitions("def f(:", ["f"]) == "def f(:"
