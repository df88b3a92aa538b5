"""What tests are made of before they run: aims, replies, single behaviours, doctests, observed values, what is kept."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.agents.testing.writing.aims import aims_of
from repopilot.agents.testing.writing.behaviours import single_behaviours
from repopilot.agents.testing.writing.doctests import doctest_body
from repopilot.agents.testing.writing.keeping import keep
from repopilot.agents.testing.writing.mutation_run import KillMatrix
from repopilot.agents.testing.writing.observed_values import MARK, observed, observing
from repopilot.agents.testing.writing.samples import TestDraft, shown_code, test_in, without_unused
from repopilot.agents.testing.writing.suite_style import in_quotes_of, in_unittest_style

test_in.__test__ = False

CODE = '''class Till:
    """Money."""

    def __init__(self, start=0):
        self.sum = start

    def take(self, coins: list[int], tip: int = 0) -> int:
        """Put coins in.

        >>> till = Till(3)
        >>> till.take([1, 2])
        6
        >>> till.take([-1])
        Traceback (most recent call last):
            ...
        ValueError: no debts
        """
        if min(coins) < 0:
            raise ValueError("no debts")
        if tip > self.sum:
            return -1
        self.sum += sum(coins) - tip
        return self.sum
'''


def test_aims_are_read_from_the_branches() -> None:
    aims = aims_of(CODE, "Till.take")
    assert [a.slug for a in aims] == [
        "",
        "raises_value_error",
        "tip_over_sum",
        "empty",
        "with_tip",
    ]
    assert "`ValueError` when `min(coins) < 0`" in aims[1].wording
    assert [a.slug for a in aims_of(CODE, "Till")][:2] == ["init", "take"]
    assert aims_of("def (", "f") == () and aims_of(CODE, "gone") == ()


HEAD = "def test_take():"


@pytest.mark.parametrize(
    "reply",
    [
        "    assert take(1) == 2\n",
        "assert take(1) == 2",
        "    assert take(1) == 2\n```\nThis test checks it.",
        "```python\ndef test_take():\n    assert take(1) == 2\n```",
        "def test_take():\n    assert take(1) == 2\n\n\ndef test_other():\n    assert 0\n",
        "    assert take(1) == 2\n    assert take(",
        "\tassert take(1) == 2\n",
    ],
)
def test_the_test_in_a_reply(reply: str) -> None:
    assert test_in(reply, HEAD) == "def test_take():\n    assert take(1) == 2\n"


@given(st.text(alphabet="abc(=1 \n`:\t#\"'", max_size=60))
def test_whatever_is_read_from_a_reply_parses(reply: str) -> None:
    source = test_in(reply, HEAD)
    assert not source or isinstance(ast.parse(source).body[0], ast.FunctionDef)


@pytest.mark.parametrize("reply", ["", "I can't.", "```\n```", "    (", "x = = 2"])
def test_no_test_in_a_reply(reply: str) -> None:
    source = test_in(reply, HEAD)
    assert not source or not single_behaviours(source)


def test_a_test_of_two_things_becomes_two() -> None:
    source = (
        "def test_a():\n    # one\n    a = f(1)\n    assert a == 2\n    assert a\n\n    b = 3\n"
        "    with pytest.raises(KeyError):\n        f(b)\n"
    )
    assert single_behaviours(source) == [
        "def test_a():\n    a = f(1)\n    assert a == 2\n    assert a\n",
        "def test_a():\n    b = 3\n    with pytest.raises(KeyError):\n        f(b)\n",
    ]
    assert single_behaviours("def test_a():\n    f(1)\n") == []
    apart = "def test_a():\n    # one\n    assert f(1)\n    assert f(2)\n\n    # two\n    assert f(3)\n"
    assert [text.count("assert") for text in single_behaviours(apart)] == [2, 1]


def test_a_test_gets_the_quotes_of_its_module() -> None:
    source = "def test_a():\n    assert f('a', b'c', r'\\\\d', 'it\"s') == \"b\"\n"
    assert in_quotes_of('x = "a" + "b"', source) == source.replace("'a'", '"a"').replace("b'c'", 'b"c"')
    assert in_quotes_of("x = 'a'", source) == source.replace('"b"', "'b'")


def test_unittest_style() -> None:
    source = "def test_a(self):\n    assert f(1) == 2\n    assert f(2)\n    with pytest.raises(E):\n        f(3)\n"
    assert in_unittest_style(source) == (
        "def test_a(self):\n    self.assertEqual(f(1), 2)\n    self.assertTrue(f(2))\n"
        "    with self.assertRaises(E):\n        f(3)\n"
    )


def test_unused_fixtures_are_left_out() -> None:
    source = "def test_a(self, till, drawer):\n    assert till == 1\n"
    assert without_unused(source, ("till", "drawer")) == "def test_a(self, till):\n    assert till == 1\n"


def test_a_method_is_shown_with_its_class_and_a_long_function_shortened() -> None:
    shown = shown_code(CODE, "Till.take")
    assert shown.startswith("class Till:\n    def __init__") and "def take" in shown
    long = "def f():\n" + "\n".join(f"    x{n} = {n}" for n in range(200)) + "\n    return x1\n"
    assert len(shown_code(long, "f").split("\n")) < 70 and shown_code(long, "f").endswith("return x1")


def test_doctest_examples_become_assertions() -> None:
    assert doctest_body(CODE, "Till.take", "shop.Till.take") == (
        "till = shop.Till(3)\nassert till.take([1, 2]) == 6\nwith pytest.raises(ValueError):\n    till.take([-1])"
    )


@pytest.mark.parametrize(
    "doc, body",
    [
        (">>> f(1)\n    True", "assert f(1) is True"),
        (">>> f(1)\n    <F object>", "assert repr(f(1)) == '<F object>'"),
        (">>> f(1)\n    <F at 0x...>", ""),
        (">>> print(f(1))\n    1", ""),
        (">>> f(1)  # doctest: +SKIP\n    1", ""),
        (">>> f(1)", ""),
        ("Nothing.", ""),
    ],
)
def test_which_doctests_become_assertions(doc: str, body: str) -> None:
    source = f'def f(x):\n    """Doc.\n\n    {doc}\n    """\n'
    assert doctest_body(source, "f", "f") == body


def values_seen(source: str, results: dict[str, object]) -> str:
    """The message of the failing probe, by running it with `f` giving these results."""
    space: dict[str, object] = {"f": lambda key: results[key], "self": None}
    exec(observing(source, "ab"), space)
    with pytest.raises(AssertionError) as failure:
        space["test_a"]()
    return str(failure.value)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


@pytest.mark.slow
@given(PLAIN, PLAIN)
def test_the_observed_value_is_put_in_and_marked(expected: object, value: object) -> None:
    source = f"def test_a():\n    x = 'a'\n    assert f(x) == {expected!r}\n"
    text, before = observed(source, values_seen(source, {"a": value}), "ab")
    if type(value) is type(expected) and value == expected:
        assert text == ""
        return
    if not text:
        assert len(repr(value)) > 100
        return
    assert MARK in text and ast.literal_eval(before) == expected
    space: dict[str, object] = {"f": {"a": value}.__getitem__}
    exec(text, space)
    space["test_a"]()


def test_only_plain_values_are_put_in() -> None:
    source = "def test_a():\n    assert f('a') == 1\n"
    for value in (object(), 1.5, "x" * 500, {1, 2}):
        assert observed(source, values_seen(source, {"a": value}), "ab") == ("", "")
    assert observed(source, "AssertionError: forged", "ab") == ("", "")
    assert observing("def test_a():\n    assert f('a')\n", "ab") == ""


def test_unittest_assertions_and_right_ones_stay() -> None:
    source = "def test_a(self):\n    assert f('a') == 1\n    self.assertEqual(f('b'), 'x')\n"
    text, before = observed(source, "observed ab [1, 'y']", "ab")
    assert text == f"def test_a(self):\n    {MARK}\n    assert f('a') == 1\n    self.assertEqual(f('b'), 'y')\n"
    assert before == "'x'"


def matrix(**caught: str) -> KillMatrix:
    by_test = {("", name): frozenset(map(int, numbers)) for name, numbers in caught.items()}
    return KillMatrix(frozenset(by_test), by_test, frozenset(range(9)))


def test_what_is_kept() -> None:
    drafts = [TestDraft(name, "") for name in ("weak", "one", "both", "other", "wrong")]
    kept, reasons = keep(drafts, matrix(weak="", one="1", both="12", other="3"), "")
    assert [(k.draft.name, sorted(k.caught)) for k in kept] == [("both", [1, 2]), ("other", [3])]
    assert reasons == {"weak": "notices_nothing", "one": "nothing_more", "wrong": "fails"}


def test_a_test_is_kept_though_others_noticed_the_same_but_only_one() -> None:
    kept, _ = keep([TestDraft("a", ""), TestDraft("b", "")], matrix(a="1", b="2"), "", (), known={1, 2})
    assert len(kept) == 1
    kept, _ = keep([TestDraft("a", ""), TestDraft("b", "", expected="3")], matrix(a="1", b="1"), "")
    assert kept[0].draft.name == "a"
