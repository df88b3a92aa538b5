import pytest

from repopilot.code.split import analyse


def _imports(text: str, language: str) -> list[tuple[str, tuple[tuple[str, str], ...], str]]:
    return [(i.module, i.names, i.alias) for i in analyse("a/b", text, language, "code").imports]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("import a.b, c as d\n", "python", [("a.b", (), "a"), ("c", (), "d")]),
        ("from ..x.y import (  # why\n    a,\n    b as c,\n)\n", "python", [("..x.y", (("a", "a"), ("b", "c")), "")]),
        ("from . import *\n", "python", [(".", (("*", "*"),), "")]),
        ("import 'side';\n", "javascript", [("side", (), "")]),
        (
            "import D, { a as b, default as c } from './m.js';\n",
            "javascript",
            [("./m.js", (("a", "b"), ("default", "c"), ("default", "D")), "")],
        ),
        ("export { a } from './x'\n", "javascript", [("./x", (("a", "a"),), "")]),
        ("export * as ns from './x'\n", "javascript", [("./x", (), "ns")]),
        ("var x = require('y').z;\n", "javascript", [("y", (("z", "x"),), "")]),
        ("var debug = require('debug')('app');\n", "javascript", [("debug", (), "debug")]),
        ("const { a, b: c } = require('./d');\n", "javascript", [("./d", (("a", "a"), ("b", "c")), "")]),
        ("run(await import('./lazy'));\n", "javascript", [("./lazy", (), "")]),
        ("import type { A } from './a';\n", "typescript", [("./a", (("A", "A"),), "")]),
        ("import { type A, b } from './a';\n", "typescript", [("./a", (("A", "A"), ("b", "b")), "")]),
        ('import "a/b/v3"\n', "go", [("a/b/v3", (), "b")]),
        ('import _ "a/b"\n', "go", [("a/b", (), "b")]),
        (
            "use a::{self, b::c as d, e::*};\n",
            "rust",
            [("a", (), "a"), ("a::b", (("c", "d"),), ""), ("a::e", (("*", "*"),), "")],
        ),
        ("pub mod shop;\n", "rust", [("self::shop", (), "shop")]),
        ("use super::a;\n", "rust", [("super", (("a", "a"),), "")]),
        ("mod tests { use super::*; use super::{b, c::d}; }\n", "rust", [("self::c", (("d", "d"),), "")]),
        ("mod a { mod tests { use super::super::super::b::c; } }\n", "rust", [("super::b", (("c", "c"),), "")]),
        ("use A\\B as C, D\\E;\n", "php", []),
        ("<?php use A\\B as C, D\\E;\n", "php", [("A", (("B", "C"),), ""), ("D", (("E", "E"),), "")]),
        ("import a.b.{C, D => E}\n", "scala", [("a.b", (("C", "C"), ("D", "E")), "")]),
        ("require_relative '../a'\n", "ruby", [("./../a", (("*", "*"),), "")]),
        ("using static A.B;\n", "csharp", [("A.B", (("*", "*"),), "")]),
    ],
)
def test_imports(text, language, expected):
    assert _imports(text, language) == expected


def test_names_in_import_statements_are_no_uses():
    analysis = analyse("a.py", "from os import Path\n\nPath()\n", "python", "code")
    assert [(u.name, u.line, u.kind) for u in analysis.uses] == [("Path", 3, "call")]
    assert [(r.name, r.line, r.kind) for r in analysis.references] == [("Path", 1, "import"), ("Path", 3, "call")]
