"""Edits as a model writes them: indentation of another unit, texts that stand elsewhere, parameters as in Python."""

from __future__ import annotations

import pytest
from support.shop_workspace import workspace_of
from tools.test_tools import opened, refusal

GO = 'package a\n\nfunc Open(name string) error {\n\tif name == "" {\n\t\treturn nil\n\t}\n\treturn nil\n}\n'
TS = "class Box {\n  size() {\n    return 1;\n  }\n}\n"
TABS = "def one():\n\tif True:\n\t\treturn 1\n"
SPACES = "class A:\n    def one(self):\n        if True:\n            return 1\n"
JAVA = "class Box extends Shape implements\n        Sized, Named {\n    int one() {\n        return 1;\n    }\n}\n"
HANGING = "def one(a,\n        b):  # both\n    if a:\n        print(a)\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text", "anchor", "position", "code", "made"),
    [
        (
            "a.go",
            GO,
            "Open",
            "after",
            "func Close() {\n    if ok {\n        run()\n    }\n}",
            "\tif ok {\n\t\trun()\n\t}\n",
        ),
        ("a.go", GO, "", "after", "func Close() {\n  done()\n}", "func Close() {\n\tdone()\n}\n"),
        (
            "a.ts",
            TS,
            "Box",
            "inside",
            "name() {\n    if (a) {\n        b();\n    }\n}",
            "  name() {\n    if (a) {\n      b();",
        ),
        ("a.py", TABS, "one", "before", "def two():\n    return 2", "def two():\n\treturn 2\n"),
        ("b.py", SPACES, "A", "inside", "def two(self):\n\tif x:\n\t\treturn 2", "    def two(self):\n        if x:\n"),
        (
            "b.py",
            SPACES,
            "A",
            "inside",
            "def two(self,\n        other):\n    return 2",
            "            other):\n        return 2",
        ),
        ("A.java", JAVA, "Box", "inside", "int two() {\n    return 2;\n}", "\n    int two() {\n        return 2;\n"),
        ("c.py", HANGING, "one", "inside", "print(b)", "\n    print(b)\n"),
    ],
)
async def test_inserted_code_is_indented_by_the_unit_of_the_file(tmp_path, path, text, anchor, position, code, made):
    async with opened(workspace_of(tmp_path, {path: text})) as tools:
        await tools("insert_code", path=path, anchor=anchor, position=position, code=code)
        assert made in (tools.copy.text(path) or "")


@pytest.mark.parametrize("anchor", ["", "one"])
async def test_nothing_is_not_inserted(tmp_path, anchor):
    async with opened(workspace_of(tmp_path, {"a.py": TABS})) as tools:
        assert "no code to insert" in await refusal(tools, "insert_code", path="a.py", anchor=anchor, code=" \n")
        assert tools.copy.changes() == ()


@pytest.mark.slow
async def test_a_text_that_stands_elsewhere_is_answered_with_every_place(tmp_path):
    text = "def a():\n    go(1)\n    go(2)\n    go(1)\n"
    async with opened(workspace_of(tmp_path, {"a.py": text})) as tools:
        said = await refusal(tools, "replace_text", path="a.py", old="    go(1)\n", new="    go(3)\n")
        assert (
            "Found 2 matches" in said and "2     go(1)" in said and "4     go(1)" in said and "count=2 for all" in said
        )
        said = await refusal(tools, "replace_text", path="a.py", old="  go(1)\n  go(2)\n", new="go(3)\n")
        assert "Only the indentation" in said and "2     go(1)\n3     go(2)" in said
        said = await refusal(tools, "replace_text", path="a.py", old="go(7)", new="go(3)")
        assert "The nearest lines" in said and not said.rstrip().endswith("5")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("added", "made"),
    [
        ("strict: bool", "def price(n, strict: bool)"),
        ("strict: bool = False", "def price(n, strict: bool = False)"),
        ({"name": "strict: bool", "default": False}, "def price(n, strict: bool = False)"),
        ({"name": "strict", "annotation": "bool", "default": "True"}, "def price(n, strict: bool = True)"),
        ({"name": "strict: bool", "default": "False", "keyword_only": True}, "def price(n, *, strict: bool = False)"),
        ({"name": "rate=3"}, "def price(n, rate=3)"),
    ],
)
async def test_a_parameter_is_understood_as_python_writes_it_and_the_diff_shown(tmp_path, added, made):
    async with opened(workspace_of(tmp_path, {"a.py": "def price(n):\n    return n\n"})) as tools:
        done = await tools("change_signature", name="price", add=[added])
        assert f"+{made}:" in done.text and made in (tools.copy.text("a.py") or "")
        assert done.text.startswith("diff --git") and done.text.endswith("a.py +1 -1")


@pytest.mark.slow
async def test_lines_with_further_signs_are_counted_as_changed(tmp_path):
    async with opened(workspace_of(tmp_path, {"a.js": "let count = 0;\n++count;\n--count;\nlog(count);\n"})) as tools:
        done = await tools("rename_symbol", name="count", new_name="size")
        assert done.text.split("\n")[0] == "a.js +4 -4"


@pytest.mark.slow
async def test_a_parameter_that_can_not_be_is_refused(tmp_path):
    async with opened(workspace_of(tmp_path, {"a.py": "def price(n):\n    return n\n"})) as tools:
        assert "can't be a new parameter" in await refusal(tools, "change_signature", name="price", add=["a b"])
        assert "add" in await refusal(tools, "change_signature", name="price", add=[{"default": "1"}])


@pytest.mark.slow
async def test_an_edit_doesnt_send_back_what_it_was_given(tmp_path):
    """Long runs of a diff are cut in what a model reads, not in the data; short ones show what became of the code."""
    content = "".join(f"line {number}\n" for number in range(200))
    async with opened(workspace_of(tmp_path, {"a.py": TABS})) as tools:
        made = await tools("create_file", path="b.txt", content=content)
        assert "+line 3\n+… 192 more lines\n+line 196" in made.text and "+line 100\n" in made.data["diff"]
        gone = await tools("delete_file", path="b.txt")
        assert "-… 192 more lines" in gone.text
        small = await tools("insert_code", path="a.py", anchor="one", code="def two():\n    return 2\n")
        assert "+def two():\n+\treturn 2" in small.text and "more lines" not in small.text


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["insert_code", "replace_symbol"])
async def test_one_of_several_definitions_of_a_name_is_chosen_by_its_lines(tmp_path, tool) -> None:
    overloads = (
        "class Box {\n    int one() {\n        return 1;\n    }\n\n    int one(int n) {\n        return n;\n    }\n}\n"
    )
    code = "int two() {\n    return 2;\n}"
    async with opened(workspace_of(tmp_path, {"Box.java": overloads})) as tools:
        name = "anchor" if tool == "insert_code" else "name"
        said = await refusal(tools, tool, path="Box.java", code=code, **{name: "Box.one"})
        assert "name one with its lines" in said and "Box.one (2-4), Box.one (6-8)" in said
        done = await tools(tool, path="Box.java", code=code, **{name: "Box.one (6-8)"})
    assert "+    int two() {" in done.text and ("-    int one(int n)" in done.text) == (tool == "replace_symbol")
