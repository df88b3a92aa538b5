import pickle
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repopilot.code import languages
from repopilot.code.chunks.spans import MAX_LINE_CHARS
from repopilot.code.file_analysis import FileAnalysis, defined_in
from repopilot.code.split import analyse

PIECES = [
    "def f(x):",
    "    return g(x)",
    "class A(B):",
    "    def m(self):",
    "        pass",
    "",
    "# note",
    "@deco",
    "x = 1",
    "function a() {",
    "}",
    "{",
    "module.exports = {",
    "import os",
    "## Title",
    "# Title",
    "Title",
    "=====",
    "```",
    "key: value",
    "  - item",
    "CREATE TABLE t (id int);",
    "model User {",
    "func (a *B) C() {",
    "if (",
    '"""',
    "é中\t",
    "\x00",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=150).map("\n".join)
LANGUAGES = st.sampled_from(
    [
        "python",
        "javascript",
        "typescript",
        "go",
        "rust",
        "cpp",
        "ruby",
        "php",
        "bash",
        "markdown",
        "rst",
        "yaml",
        "sql",
        "prisma",
        "graphql",
        "text",
        "json",
    ]
)
_EXTENSION = {"markdown": "doc", "rst": "doc", "text": "doc", "yaml": "config", "json": "config"}
_EXTENSION |= {"sql": "schema", "prisma": "schema", "graphql": "schema"}


def _analyse(text: str, language: str, path: str = "a/b") -> FileAnalysis:
    return analyse(path, text, language, _EXTENSION.get(language, "code"))


def _uncovered(text: str, analysis: FileAnalysis) -> list[int]:
    covered = {n for c in analysis.chunks for n in range(c.start_line, c.end_line + 1)}
    return [n for n, line in enumerate(text.split("\n"), 1) if line.strip() and n not in covered]


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(text=TEXTS, language=LANGUAGES)
def test_any_text_is_covered_by_exact_ordered_chunks(text, language):
    analysis = _analyse(text, language)
    lines = text.split("\n")
    assert _uncovered(text, analysis) == []
    for chunk in analysis.chunks:
        assert chunk.text == "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        assert chunk.text.strip()
        assert chunk.end_line - chunk.start_line < 80
    starts = [c.start_line for c in analysis.chunks]
    assert starts == sorted(starts)
    assert len({c.id for c in analysis.chunks}) == len(analysis.chunks)
    assert all(1 <= s.start_line <= s.end_line <= len(lines) for s in analysis.symbols)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(text=TEXTS, language=LANGUAGES)
def test_same_text_gives_the_same_analysis_and_survives_pickling(text, language):
    first = _analyse(text, language)
    assert first == _analyse(text, language)
    assert pickle.loads(pickle.dumps(first)) == first


def test_ids_depend_on_path_place_and_text():
    base = _analyse("x = 1\n", "python").chunks[0]
    others = [
        _analyse("x = 1\n", "python", "a/c").chunks[0],
        _analyse("\nx = 1\n", "python").chunks[0],
        _analyse("x = 2\n", "python").chunks[0],
    ]
    assert len({base.id, *(o.id for o in others)}) == 4


def _function(name: str, lines: int, indent: str = "") -> str:
    return f"{indent}def {name}():\n" + "".join(f"{indent}    v{i} = {i}\n" for i in range(lines - 1))


def _spans(analysis: FileAnalysis) -> list[tuple[int, int, str, str]]:
    return [(c.start_line, c.end_line, c.kind, c.symbol) for c in analysis.chunks]


def test_comments_and_decorators_belong_to_the_definition():
    text = _function("a", 24) + "\n# About b.\n# More.\n@deco\n" + _function("b", 24)
    assert _spans(_analyse(text, "python")) == [(1, 24, "function", "a"), (26, 52, "function", "b")]


def test_small_neighbours_are_merged_up_to_25_lines():
    text = "\n".join(_function(name, 8) for name in "abcd")
    assert _spans(_analyse(text, "python")) == [(1, 17, "function", "a"), (19, 35, "function", "c")]


def test_classes_over_60_lines_are_opened_with_their_head_apart():
    methods = "\n".join(_function(name, 24, "    ") for name in ("one", "two", "three"))
    text = 'class Big:\n    """Doc."""\n\n    rate = 1\n\n' + methods
    assert _spans(_analyse(text, "python")) == [
        (1, 4, "class", "Big"),
        (6, 29, "function", "Big.one"),
        (31, 54, "function", "Big.two"),
        (56, 79, "function", "Big.three"),
    ]


def test_small_classes_are_not_split():
    text = "class Small:\n" + "\n".join(_function(name, 10, "    ") for name in ("one", "two"))
    assert _spans(_analyse(text, "python")) == [(1, 22, "class", "Small")]


def test_long_functions_are_cut_between_statements_with_overlap():
    body = "".join(f"    if v{i}:\n        a{i} = [\n            {i},\n        ]\n\n" for i in range(50))
    analysis = _analyse("def long():\n" + body, "python")
    assert len(analysis.chunks) > 3
    assert {c.symbol for c in analysis.chunks} == {"long"}
    for before, after in zip(analysis.chunks, analysis.chunks[1:], strict=False):
        assert 1 <= before.end_line - after.start_line + 1 <= 10
        # The next new statement begins right behind the first window.
        assert analysis.chunks[0].text.rstrip().endswith("]")


def test_long_functions_in_a_language_of_braces():
    body = "".join(f"  if (v{i}) {{\n    run({i});\n  }}\n" for i in range(60))
    analysis = _analyse(f"class A {{\n go() {{\n{body} }}\n}}\n", "javascript")
    assert analysis.chunks[0].symbol == "A"
    assert sum(c.symbol == "A.go" for c in analysis.chunks) >= 3
    assert all(c.end_line - c.start_line < 80 for c in analysis.chunks)


def test_symbols_of_a_chunk():
    analysis = _analyse("\n".join(_function(name, 5) for name in "abcd"), "python")
    assert [[s.name for s in defined_in(c, analysis.symbols)] for c in analysis.chunks] == [["a", "b", "c", "d"]]
    half = replace(analysis.chunks[0], end_line=8)
    assert [s.name for s in defined_in(half, analysis.symbols)] == ["a", "b"]


def test_markdown_by_section_with_the_path_of_headings():
    text = "Intro\n\n# Shop\n\n## Install\n\nRun it.\nTwice.\n\n```sh\n# no heading\n```\n\n## Use\n\nBuy.\nSell.\n"
    assert _spans(_analyse(text, "markdown")) == [
        (1, 1, "doc", ""),
        (3, 12, "doc", "Shop > Install"),
        (14, 17, "doc", "Shop > Use"),
    ]


def test_rst_by_underlined_titles():
    text = "Shop\n====\n\nA shop.\nFor all.\n\nUse\n---\n\nBuy.\nSell.\n"
    assert _spans(_analyse(text, "rst")) == [(1, 5, "doc", "Shop"), (7, 11, "doc", "Shop > Use")]


def test_small_configuration_is_one_chunk_and_large_is_cut_at_keys():
    small = "".join(f"k{i}: {i}\n" for i in range(80))
    assert len(_analyse(small, "yaml").chunks) == 1
    large = "".join(f"service{i}:\n  image: x\n  ports:\n    - {i}\n" for i in range(50))
    analysis = _analyse(large, "yaml")
    assert len(analysis.chunks) > 2
    assert all(c.text.startswith("service") for c in analysis.chunks)


def test_a_bare_heading_is_joined_only_to_a_section_below_it():
    text = "# Install\n\n# Installation guide\n\nRun it.\n\n# Use\n\n## Usage\n\nCall it.\n"
    assert [symbol for *_, symbol in _spans(_analyse(text, "markdown"))] == [
        "Install",
        "Installation guide",
        "Use > Usage",
    ]


def test_tables_are_chunks_of_their_own():
    sql = (
        '-- People.\nCREATE TABLE users (\n  id int\n);\n\nCREATE TABLE IF NOT EXISTS "app"."orders" (\n  id int\n);\n'
    )
    assert _spans(_analyse(sql, "sql")) == [(1, 4, "schema", "users"), (6, 8, "schema", "app.orders")]
    prisma = "datasource db {\n  url = 1\n}\n\nmodel User {\n  id Int @id\n}\n"
    assert [c.symbol for c in _analyse(prisma, "prisma").chunks] == ["db", "User"]
    assert [s.kind for s in _analyse(sql, "sql").symbols] == ["table", "table"]


@pytest.mark.parametrize("language", ["python", "javascript", "c", "markdown", "json", "bash", "sql"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "\n\n\n",
        "   \n\t\n",
        "# only\n# comments\n",
        "\x00\x00\n\x00",
        "a\x0cb\u2028c\n",
        "no newline",
        "\ufeffx = 1\n",
        "(" * 5000,
        "[" * 5000 + "]" * 5000,
        "{\n" * 5000,
        '"' * 3001,
        "\\\n" * 200,
        "'''",
        "/*",
        "\udcff\n",
    ],
)
def test_hostile_text(language, text):
    analysis = _analyse(text, language)
    assert _uncovered(text, analysis) == []
    pickle.dumps(analysis)


def test_a_line_of_100_kb_is_cut_in_the_text_of_its_chunk():
    text = "x = '" + "a" * 100_000 + "'\ny = 2\n"
    analysis = _analyse(text, "python")
    assert _uncovered(text, analysis) == []
    assert max(len(line) for c in analysis.chunks for line in c.text.split("\n")) <= MAX_LINE_CHARS + 2


def test_long_lines_make_small_chunks():
    text = "\n".join("v = '" + "x" * 1500 + "'" for _ in range(60))
    assert all(len(c.text) < 15_000 for c in _analyse(text, "python").chunks)


def test_deep_nesting_in_a_long_function():
    text = "function f() {\n" + "{\n" * 400 + "x();\n" + "}\n" * 400 + "}\n"
    analysis = _analyse(text, "javascript")
    assert _uncovered(text, analysis) == []


def test_parsing_that_takes_too_long_falls_back_to_lines():
    text = "(" * 200_000 + "\nx = 1\n"
    analysis = analyse("a.py", text, "python", "code", seconds=0.0)
    assert analysis.notes == ("parsing took too long",)
    assert not analysis.parsed
    assert _uncovered(text, analysis) == []
    assert analyse("a.py", "def f(): pass\n", "python", "code").symbols  # the parser is fit for use again


def test_files_without_grammar_are_cut_at_blank_lines():
    text = "\n\n".join("\n".join(f"echo {i} {j}" for j in range(9)) for i in range(20))
    analysis = _analyse(text, "fish")
    assert all(c.text.startswith("echo") and c.text.split("\n")[0].endswith(" 0") for c in analysis.chunks)
    assert languages.grammar("fish") is None
