"""Properties that a function promises: which are guessed, and that only the telling ones become tests."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shop_workspace import answering, shop_workspace, traced

from repopilot.agents.testing.agent import test as answer_test
from repopilot.agents.testing.writing.properties import properties_of, property_test

PAIR = "def encode(text: str) -> bytes:\n    return text.encode()\n\n\ndef decode(data: bytes) -> str:\n    return ''\n"


def guessed(text: str, symbol: str, call: str = "") -> dict[str, str]:
    return {each.slug: each.assertion for each in properties_of(text, symbol, call or symbol)}


def test_the_inverse_in_the_same_module_gives_the_argument_back():
    assert guessed(PAIR, "encode")["round_trip"] == "assert decode(encode(text)) == text"
    assert "round_trip" not in guessed(PAIR, "decode"), "not every value can be decoded"
    assert guessed(PAIR, "encode", "codec.encode")["round_trip"] == "assert codec.decode(codec.encode(text)) == text"
    both = "def rgb_to_hex(rgb: tuple[int, int, int]): ...\ndef hex_to_rgb(text: str): ...\n"
    assert guessed(both, "rgb_to_hex") == {"round_trip": "assert hex_to_rgb(rgb_to_hex(rgb)) == rgb"}


def test_what_is_normalized_stays_so():
    text = "def normalize_path(path: str, base=None) -> str:\n    return path\n"
    assert guessed(text, "normalize_path") == {
        "idempotent": "assert normalize_path(normalize_path(path)) == normalize_path(path)",
        "result_type": "assert isinstance(normalize_path(path), str)",
    }


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return x\n",  # nothing says what may be given
        "def f(x: Shop) -> int:\n    return 1\n",
        "def f(*, x) -> int:\n    return 1\n",
        "def f() -> int:\n    return 1\n",
        "def f(x: int) -> int:\n    yield x\n",
        "def f(x: int) -> Shop:\n    return Shop(x)\n",
        "class f:\n    pass\n",
        "def f(:\n",
    ],
)
def test_nothing_is_guessed_where_nothing_is_promised(text):
    assert guessed(text, "f") == {}


@pytest.mark.slow
@given(
    st.recursive(
        st.sampled_from(["int", "str", "bytes", "bool", "float"]),
        lambda inner: st.one_of(
            inner.map(lambda i: f"list[{i}]"),
            inner.map(lambda i: f"Optional[{i}]"),
            st.tuples(inner, inner).map(lambda two: f"tuple[{two[0]}, {two[1]}]"),
            st.tuples(inner, inner).map(lambda two: f"{two[0]} | {two[1]}"),
        ),
        max_leaves=4,
    )
)
def test_every_strategy_is_one_of_hypothesis_and_fits_the_type(annotation):
    found = properties_of(f"def f(x: {annotation}) -> int:\n    return 1\n", "f", "f")[0]
    strategy = eval(found.strategies["x"], {"st": st})
    assert isinstance(strategy, st.SearchStrategy)
    strategy.validate()
    assert isinstance(ast.parse(property_test("test_f", found)).body[0], ast.FunctionDef)


EXTRA = {
    "shop/codes.py": (
        "def encode_code(number: int) -> str:\n    return f'{number:+d}'\n\n\n"
        "def decode_code(text: str) -> int:\n    return int(text)\n"
    ),
    "tests/test_codes.py": (
        "from hypothesis import given\nfrom hypothesis import strategies as st\n"
        "from shop.codes import decode_code\n\n\n"
        "@given(st.integers())\ndef test_decode_code(number):\n    assert decode_code(str(number)) == number\n"
    ),
    "tests/test_plain.py": "def test_plain():\n    assert 1 == 1\n",
}


@pytest.mark.slow
async def test_a_round_trip_is_written_without_a_model_where_the_repository_uses_hypothesis(tmp_path):
    workspace = replace(shop_workspace(tmp_path, EXTRA), model=None)
    answer, _, _ = await traced(lambda step: answer_test("write tests for encode_code", workspace, step))
    (change,) = answer.files
    assert change.path == "tests/test_codes.py" and answer.result.genuine
    assert "assert decode_code(encode_code(number)) == number" in change.content
    assert change.content.count("import decode_code") == 1 and "import encode_code" in change.content
    assert "with values that Hypothesis chooses" in answer.text


@pytest.mark.slow
async def test_no_dependency_is_added(tmp_path):
    files = {**EXTRA, "tests/test_codes.py": "from shop.codes import decode_code\n"}
    workspace = replace(shop_workspace(tmp_path, files), model=answering(lambda prompt: "    pass\n"))
    answer, _, _ = await traced(lambda step: answer_test("write tests for encode_code", workspace, step))
    assert not any("hypothesis" in change.content for change in answer.files)
