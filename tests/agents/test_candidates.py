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
        f"~~~python\n{CODE}~~~",
        f"````python\n{CODE}````",
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


@pytest.mark.slow
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


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_ends_no_line_of_python_ends_none_here(end, newline):
    code = f"A = 'x{end}y'\n# {end}\nclass C:\n    def g(self):\n        return 'a{end}b'\n\ndef h():\n    return 2\n"
    code = code.replace("\n", newline)
    assert candidates.function_source(code, "C::g") == f"    def g(self):\n        return 'a{end}b'"
    assert candidates.function_source(code, "h") == "def h():\n    return 2"
    changed = candidates.replace_function(code, "C.g", f"# {end}\ndef g(self):\n    return 'c{end}d'\n")
    assert changed == code.replace(f"return 'a{end}b'{newline}", f"return 'c{end}d'\n").replace(
        f"def g(self):{newline}", "def g(self):\n"
    )
    assert candidates.without_definitions(code, ["C"]) == newline.join(
        [f"A = 'x{end}y'", f"# {end}", "", "def h():", "    return 2", ""]
    )
    assert candidates.change_between(code, code.replace("return 2", "return 3")) == "+1 −1 lines in h"


def test_definitions_are_removed():
    code = "import os\n\n@wraps\ndef f():\n    return 1\n\nclass C:\n    x = 1\n\ndef test_f():\n    f()\n"
    assert candidates.without_definitions(code, ["f", "C"]) == "import os\n\n\n\ndef test_f():\n    f()\n"
    assert candidates.without_definitions("def f(:", ["f"]) == "def f(:"
