"""Which definition a place is shown as."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repopilot.retrieval.places.place_symbol import definition_spans, place_symbol
from repopilot.types import Chunk, Symbol

TEXT = """func IsSet() bool { return true }

// Automatic looks at the environment.
func Automatic() { v.Automatic() }

// Automatic looks at the environment.
func (v *V) Automatic() {
	v.on = true
}

// Unset forgets.
func Unset() {}"""
CHUNK = Chunk("x", "v.go", 11, 22, "go", "function", "IsSet", TEXT)
OUTLINE = [
    Symbol(name, qualified, "function", "v.go", start, end, "")
    for name, qualified, start, end in (
        ("IsSet", "IsSet", 11, 11),
        ("Automatic", "Automatic", 14, 14),
        ("Automatic", "V.Automatic", 17, 19),
        ("Unset", "Unset", 22, 22),
    )
]


@pytest.mark.parametrize(
    ("line", "names", "expected"),
    [
        (11, ("Automatic",), "V.Automatic"),  # named by the query: the one that does it
        (18, (), "V.Automatic"),
        (21, (), "Unset"),  # its comment
        (12, (), "IsSet"),
        (20, ("Nothing",), "IsSet"),
    ],
)
def test_a_place_is_shown_as_what_was_asked_for(line: int, names: tuple[str, ...], expected: str) -> None:
    symbol = place_symbol(OUTLINE, CHUNK, line, names)
    assert symbol is not None
    assert symbol.qualified == expected


def test_a_place_is_divided_by_definition_and_what_a_function_defines_belongs_to_it():
    outline = [
        Symbol("A", "A", "class", "a.py", 1, 12),
        Symbol("f", "A.f", "method", "a.py", 2, 8),
        Symbol("inner", "A.f.inner", "function", "a.py", 4, 6),
        Symbol("g", "A.g", "method", "a.py", 10, 12),
    ]
    chunk = Chunk("1", "a.py", 1, 14, "python", "class", "A", "\n" * 13)
    assert definition_spans(outline, chunk) == [(1, 1), (2, 8), (9, 9), (10, 12), (13, 14)]
    assert definition_spans(outline, replace(chunk, kind="doc")) == [(1, 14)]


def test_a_place_keeps_fields_with_their_class_and_comments_with_what_they_are_above():
    text = "# Kinds.\nclass Color:\n    red = 1\n    blue = 2\n\n/* Paints.\n */\n\n@once\ndef paint(): ...\n\nLAST = 1"
    outline = [
        Symbol("Color", "Color", "class", "a.py", 2, 4),
        Symbol("red", "Color.red", "variable", "a.py", 3, 3),
        Symbol("blue", "Color.blue", "variable", "a.py", 4, 4),
        Symbol("paint", "paint", "function", "a.py", 10, 10),
        Symbol("LAST", "LAST", "variable", "a.py", 12, 12),
    ]
    chunk = Chunk("1", "a.py", 1, 12, "python", "class", "Color", text)
    assert definition_spans(outline, chunk) == [(1, 4), (5, 5), (6, 10), (11, 11), (12, 12)]
    color = replace(chunk, end_line=4)
    assert [place_symbol(outline, color, 4, names).qualified for names in ((), ("blue",))] == ["Color", "Color.blue"]
