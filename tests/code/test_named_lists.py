"""Enumerations, unions of literals, tables and compared literals, in many languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.code.declared.named_lists import FEWEST, MOST, compared_literals, named_lists

SAMPLES = {
    "python enum": (
        "python",
        "class Colour(str, Enum):\n    '''x'''\n    RED = 'r'\n    BLUE = 'b'\n\n    def f(self):\n        pass\n",
        "Colour",
        [("RED", 3), ("BLUE", 4)],
    ),
    "python literal": ("python", "Mode = Literal['r', 'w']\n", "Mode", [("r", 1), ("w", 1)]),
    "python dict": (
        "python",
        "KINDS: dict[str, T] = {\n    'int': Int(),  # x\n    'str': Str(),\n}\n",
        "KINDS",
        [("int", 2), ("str", 3)],
    ),
    "python words": ("python", "NAMES = 'a b c'.split()\n", "NAMES", [("a", 1), ("b", 1), ("c", 1)]),
    "rust enum": (
        "rust",
        "/// The kinds.\n#[derive(Clone)]\npub enum Kind {\n    /// Plain\n    File,\n"
        '    #[value(alias = "d")]\n    Folder(u8),\n}\n',
        "Kind",
        [("File", 5), ("Folder", 7)],
    ),
    "typescript union": (
        "typescript",
        "export type Method =\n  | 'get'\n  | 'post';\n",
        "Method",
        [("get", 2), ("post", 3)],
    ),
    "typescript type": (
        "typescript",
        "export type Delays = {\n\tlookup?: number;\n\tconnect?: number;\n};\n",
        "Delays",
        [("lookup", 2), ("connect", 3)],
    ),
    "c enum": ("c", "enum op { ADD, REMOVE = 2 };\n", "op", [("ADD", 1), ("REMOVE", 1)]),
    "c defines": (
        "c",
        "#define T_A (1 << 0)\n#define T_B (1 << 1)\n#define T_C 4 /* x */\n",
        "T",
        [("T_A", 1), ("T_B", 2), ("T_C", 3)],
    ),
    "go slice": ("go", 'var Remotes = []string{"etcd", "consul"}\n', "Remotes", [("etcd", 1), ("consul", 1)]),
    "go constants": ("go", "const (\n\tRed Colour = iota\n\tBlue\n)\n", "Colour", [("Red", 2), ("Blue", 3)]),
    "ruby words": ("ruby", "VERBS = %w[GET HEAD].freeze\n", "VERBS", [("GET", 1), ("HEAD", 1)]),
    "java enum": ("java", "public enum Level {\n  LOW(1), // x\n  HIGH(2)\n}\n", "Level", [("LOW", 2), ("HIGH", 3)]),
    "javascript object": (
        "javascript",
        "const hooks = {\n  init: [],\n  done: [],\n};\n",
        "hooks",
        [("init", 2), ("done", 3)],
    ),
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_list_with_its_members_and_their_lines(sample: str) -> None:
    language, text, name, members = SAMPLES[sample]
    found = [item for item in named_lists("a", text, language) if item.name == name]
    assert found and [(m.name, m.line) for m in found[0].members] == members


def test_what_a_comment_says_about_list_and_member() -> None:
    (kind,) = named_lists("a.rs", SAMPLES["rust enum"][1], "rust")
    assert kind.about == "The kinds." and kind.members[0].help == "Plain"


@pytest.mark.parametrize(
    "text",
    [
        'switch (x) {\n  case "a":\n  case "b": f();\n  case "c":\n}\n',
        "if x == 'a':\n  f()\nelif x == 'b' or x == 'c':\n  g()\n",
        'if (strcmp(v(x), "a") == 0) {}\nif (strcmp(x, "b")) {}\nif (!strcmp(x, "c")) {}\n',
        'match s {\n    "a" | "b" => 1,\n    "c" => 2,\n}\n',
        "case x\nwhen 'a', 'b' then 1\nwhen 'c' then 2\nend\n",
    ],
)
def test_literals_that_a_function_compares(text: str) -> None:
    found = compared_literals("a", text, 10)
    assert found is not None and [m.name for m in found.members] == ["a", "b", "c"]
    assert all(f'"{m.name}"' in text.split("\n")[m.line - 10].replace("'", '"') for m in found.members)


def test_two_literals_are_no_list() -> None:
    assert compared_literals("a", "x == 'a' or x == 'b'", 1) is None


@given(st.sampled_from(sorted(SAMPLES)), st.text(alphabet="ab{}[]()'\",:=|\n/*# ", max_size=60), st.integers(0, 80))
def test_any_text_can_be_read(sample: str, inserted: str, at: int) -> None:
    language, text, _, _ = SAMPLES[sample]
    changed = text[:at] + inserted + text[at:]
    last = changed.count("\n") + 1
    for item in named_lists("a", changed, language):
        assert FEWEST <= len(item.members) <= MOST
        assert 1 <= item.start_line <= item.end_line <= last
        assert all(1 <= member.line <= last for member in item.members)
    compared_literals("a", changed, 1)


def test_the_keyword_arguments_of_a_call_are_no_list():
    text = "bar = Bar(width=50, total=100, style='x')\nnames = dict(red=1, green=2)\nkinds = frozenset(('a', 'b'))\n"
    assert [item.name for item in named_lists("a.py", text, "python")] == ["names", "kinds"]
