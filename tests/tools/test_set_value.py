"""A value is set where it stands, and nothing else of its file changes."""

from __future__ import annotations

import pytest
from support.shop_workspace import workspace_of
from tools.test_tools import opened, refusal

from repopilot.code.value_sites import sites_in
from repopilot.errors import UsageError
from repopilot.tools.set_value import with_value

TOML = """[tool.ruff]
line-length = 100  # characters
select = ["E", "F",]  # rules
"x.y".level = 'low' # now
at = 2024-01-01
inline = { a = 1, "b.c" = 2 }

[[server]]
port = 1

[[server]]
port = 2
name = "a"

[tool."a.b"]
deep.er = true
"""
YAML = """base: &base
  retries: &n 3 # tries
  url: "http://a/#x"
  single: 'it''s'
  plain: some words # said
job:
  <<: *base
  again: *n
  text: |
    retries: 9
    more

  steps:
  - run: a
    env: {A: 1, "B.C": two}
  - run: b
  list: [1, 2]
"""
JSON5 = """{
  // size of letters
  "editor.fontSize": 12, /* px */
  bare: 'x',
  "list": [1, 2,],
  "compilerOptions": {"paths": {"@/*": ["./src/*"]}, "strict": true,},
}
"""
INI = """[metadata]
name = app  ; said
max-line-length = 100  # characters
install_requires =
    one
    two
url: http://a/#x
[tool:pytest]
addopts = -q
"""
PROPERTIES = """# said
server.port=8080
server.name : the name
path   a\\
    b
last=1"""
ENV = """export A=1 # one
B="two # not said" # two
C='x'
D=
"""
TS = """export enum Level { Low = 1, High = 5 }
export const MAX_ROWS: number = 10; // most
export class Pool { static size = 4; readonly name: string = 'a'; }
export function open(path: string, retries = 3, { deep = 1 } = {}) { const retries2 = 9; return path + retries; }
export const close = (path: string, late: boolean = false) => late;
export const defaults = { retries: 7, nested: { 'a.b': 1 } };
"""
CODE = {
    "a.py": 'X = 1\nA = B = 2\nP, Q = 1, 2\nD = {"k": 1}\n'
    'class C:\n    y: int = 3\n    def f(self, z=4, *, w: int = 5): pass\nR = r"\\d"\n',
    "b.go": "package b\n\nconst (\n\tMaxConns = 10 // most\n\tTimeout  = 5 * second\n)\n"
    "\nvar a, b = 1, 2\nvar Raw = `x`\n",
    "C.java": 'class C {\n    static final int LIMIT = 10;\n    static final String NAME = "a\\"b";\n}\n',
    "d.rs": 'pub const BUFFER: usize = 1024;\nstatic MODE: &str = "slow";\nconst RAW: &str = r#"a"b"#;\n',
    "e.rb": "module E\n  LIMIT = 10\n  def self.go(times: 3, way = 1) = times\nend\n",
    "f.h": '#define LIMIT 10 /* rows */\n#define URL "http://a" // said\n'
    'static const char *NAME = "x";\nenum E { A = 1 };\n',
    "g.cpp": "int open(int a, int retries = 3);\nstruct S { int x = 3; };\nint one = 1, two = 2;\n",
    "h.cs": 'class C { const int X = 3; int P { get; set; } = 4; void M(int a, int r = 3) {} string V = @"c:\\d"; }\n',
    "i.php": "<?php\nconst A = 3;\nclass C { const B = 4; public $x = 5; function f($r = 3) {} }\n",
    "j.kt": "const val A = 3\nclass C(val x: Int = 3) { fun f(r: Int = 4, s: Int = 5) {} }\n",
    "k.swift": "let A = 3\nfunc f(r: Int = 4) {}\n",
}


def names_of(path: str, text: str) -> list[str]:
    return [site.name for site in sites_in(path, text)]


def set_in(path: str, text: str, name: str, value: str) -> str:
    whole = [site for site in sites_in(path, text) if site.is_called(name)]
    found = [site for site in whole if site.name == name] or whole
    assert len(found) == 1, (name, [site.name for site in whole])
    return with_value(found[0], value, text)


@pytest.mark.parametrize(
    ("path", "text", "name", "value", "old", "new"),
    [
        ("p.toml", TOML, "line-length", "120", "= 100  #", "= 120  #"),
        ("p.toml", TOML, "select", '["E"]', '["E", "F",]  #', '["E"]  #'),
        ("p.toml", TOML, "level", "high", "'low' #", "'high' #"),
        ("p.toml", TOML, "level", "it's", "'low' #", '"it\'s" #'),
        ("p.toml", TOML, "level", "a\\d", "'low' #", "'a\\d' #"),
        ("p.toml", TOML, 'tool.ruff."x.y".level', "high", "'low' #", "'high' #"),
        ("p.toml", TOML, "server[1].port", "7", "port = 2", "port = 7"),
        ("p.toml", TOML, "server.name", 'a"b', '"a"', '"a\\"b"'),
        ("p.toml", TOML, "tool.a.b.deep.er", "false", "true", "false"),
        ("p.toml", TOML, "inline.b.c", "3", '"b.c" = 2', '"b.c" = 3'),
        ("p.toml", TOML, "select[1]", "W", '"F"', '"W"'),
        ("p.yaml", YAML, "base.retries", "5", "&n 3 #", "&n 5 #"),
        ("p.yaml", YAML, "job.again", "4", "again: *n", "again: 4"),
        ("p.yaml", YAML, "url", "http://b/#y", '"http://a/#x"', '"http://b/#y"'),
        ("p.yaml", YAML, "single", "that's", "'it''s'", "'that''s'"),
        ("p.yaml", YAML, "plain", "a: b # c", "some words #", '"a: b # c" #'),
        ("p.yaml", YAML, "text", "one\ntwo", "    retries: 9\n    more\n", "    one\n    two\n"),
        ("p.yaml", YAML, "steps[1].run", "c", "run: b", "run: c"),
        ("p.yaml", YAML, 'env."B.C"', "three", "two}", "three}"),
        ("p.yaml", YAML, "list[0]", "9", "[1, 2]", "[9, 2]"),
        ("p.jsonc", JSON5, "editor.fontSize", "14", "12, /*", "14, /*"),
        ("p.json5", JSON5, "bare", "y", "'x'", "'y'"),
        ("tsconfig.json", JSON5, "compilerOptions.strict", "false", "true", "false"),
        ("tsconfig.json", JSON5, "list", "[3]", "[1, 2,]", "[3]"),
        ("p.json", '{"a": "b"}', "a", 'c"d', '"b"', '"c\\"d"'),
        ("p.json", '{"a": "b"}', "a", "'c'", '"b"', '"c"'),
        ("setup.cfg", INI, "name", "web", "= app  ;", "= web  ;"),
        ("setup.cfg", INI, "metadata.max-line-length", "120", "= 100  #", "= 120  #"),
        ("setup.cfg", INI, "install_requires", "three", "    one\n    two\n", "    three\n"),
        ("setup.cfg", INI, "url", "http://b", "http://a/#x", "http://b"),
        ("setup.cfg", INI, "addopts", '"-x"', "-q", "-x"),
        ("a.properties", PROPERTIES, "server.port", "80", "=8080", "=80"),
        ("a.properties", PROPERTIES, "name", "other", "the name", "other"),
        ("a.properties", PROPERTIES, "path", "c", "a\\\n    b", "c"),
        ("a.properties", PROPERTIES, "last", "2", "last=1", "last=2"),
        (".env.example", ENV, "A", "2", "A=1 #", "A=2 #"),
        (".env.example", ENV, "B", "three", '"two # not said" #', '"three" #'),
        (".env.example", ENV, "C", "y", "'x'", "'y'"),
        (".env.example", ENV, "D", "4", "D=", "D=4"),
        ("a.ts", TS, "Level.High", "9", "High = 5", "High = 9"),
        ("a.ts", TS, "MAX_ROWS", "20", "= 10; //", "= 20; //"),
        ("a.ts", TS, "Pool.size", "8", "size = 4", "size = 8"),
        ("a.ts", TS, "Pool.name", "b", "'a'", "'b'"),
        ("a.ts", TS, "open.retries", "5", "retries = 3", "retries = 5"),
        ("a.ts", TS, "open.deep", "5", "deep = 1", "deep = 5"),
        ("a.ts", TS, "close.late", "true", "= false)", "= true)"),
        ("a.ts", TS, "defaults.retries", "8", "retries: 7", "retries: 8"),
        ("a.ts", TS, 'nested."a.b"', "8", "'a.b': 1", "'a.b': 8"),
        ("a.py", CODE["a.py"], "C.y", "9", "y: int = 3", "y: int = 9"),
        ("a.py", CODE["a.py"], "f.w", "9", "w: int = 5", "w: int = 9"),
        ("a.py", CODE["a.py"], "D.k", "9", '"k": 1', '"k": 9'),
        ("a.py", CODE["a.py"], "R", "\\w", 'r"\\d"', 'r"\\w"'),
        ("b.go", CODE["b.go"], "MaxConns", "12", "= 10 //", "= 12 //"),
        ("b.go", CODE["b.go"], "Timeout", "6 * second", "5 * second", "6 * second"),
        ("b.go", CODE["b.go"], "Raw", "a\\b", "`x`", "`a\\b`"),
        ("C.java", CODE["C.java"], "C.NAME", 'x"y', '"a\\"b"', '"x\\"y"'),
        ("d.rs", CODE["d.rs"], "BUFFER", "2048", "1024", "2048"),
        ("d.rs", CODE["d.rs"], "RAW", "c", 'r#"a"b"#', 'r#"c"#'),
        ("e.rb", CODE["e.rb"], "go.times", "4", "times: 3", "times: 4"),
        ("e.rb", CODE["e.rb"], "E.LIMIT", "11", "= 10", "= 11"),
        ("f.h", CODE["f.h"], "LIMIT", "20", "10 /*", "20 /*"),
        ("f.h", CODE["f.h"], "URL", "http://b", '"http://a" //', '"http://b" //'),
        ("f.h", CODE["f.h"], "NAME", "y", '"x"', '"y"'),
        ("f.h", CODE["f.h"], "E.A", "2", "A = 1", "A = 2"),
        ("g.cpp", CODE["g.cpp"], "open.retries", "4", "retries = 3", "retries = 4"),
        ("g.cpp", CODE["g.cpp"], "S.x", "4", "x = 3", "x = 4"),
        ("g.cpp", CODE["g.cpp"], "two", "4", "two = 2", "two = 4"),
        ("h.cs", CODE["h.cs"], "C.X", "4", "X = 3", "X = 4"),
        ("h.cs", CODE["h.cs"], "C.P", "5", "= 4;", "= 5;"),
        ("h.cs", CODE["h.cs"], "M.r", "5", "r = 3", "r = 5"),
        ("h.cs", CODE["h.cs"], "V", "c:\\e", '@"c:\\d"', '@"c:\\e"'),
        ("i.php", CODE["i.php"], "A", "4", "A = 3", "A = 4"),
        ("i.php", CODE["i.php"], "C.x", "6", "$x = 5", "$x = 6"),
        ("i.php", CODE["i.php"], "f.r", "6", "$r = 3", "$r = 6"),
        ("j.kt", CODE["j.kt"], "A", "4", "A = 3", "A = 4"),
        ("j.kt", CODE["j.kt"], "C.x", "4", "x: Int = 3", "x: Int = 4"),
        ("j.kt", CODE["j.kt"], "f.s", "6", "s: Int = 5", "s: Int = 6"),
        ("k.swift", CODE["k.swift"], "A", "4", "A = 3", "A = 4"),
        ("k.swift", CODE["k.swift"], "f.r", "6", "r: Int = 4", "r: Int = 6"),
    ],
)
def test_only_the_value_changes(path: str, text: str, name: str, value: str, old: str, new: str):
    assert text.count(old) == 1
    for each in (text, text.replace("\n", "\r\n"), "\ufeff" + text):
        ends = "\r\n" if "\r\n" in each else "\n"
        if "\n" in value and ends == "\r\n":
            continue
        wanted = each.replace(old.replace("\n", ends), new.replace("\n", ends))
        assert set_in(path, each, name, value) == wanted


@pytest.mark.parametrize(
    ("path", "text", "name", "value"),
    [
        ("p.toml", "a = 1\n", "a", "2\nb = 3"),
        ("p.toml", "a = 1\n", "a", "high"),
        ("p.json", '{"a": 1}', "a", '2, "b": 3'),
        ("p.json", '{"a": 1}', "a", "{x: 1}"),
        ("p.yaml", "a: 1\nb: 2\n", "a", "[1"),
        ("setup.cfg", "[a]\nb = 1\n", "b", "2\nc = 3"),
        ("a.properties", "b=1\n", "b", "2\nc=3"),
        ("a.py", "def f(a=1): pass\n", "f.a", "2, b=3"),
        ("a.py", "X = 1\n", "X", "2; import os"),
        ("a.ts", "const X = 1;\n", "X", "2, y = 3"),
        ("f.h", "#define LIMIT 10\n", "LIMIT", "1\n#define B 2"),
    ],
)
def test_more_than_a_value_is_refused(path: str, text: str, name: str, value: str):
    with pytest.raises(UsageError):
        set_in(path, text, name, value)


def test_a_value_that_belongs_to_several_names_is_none_of_theirs():
    assert names_of("a.py", CODE["a.py"])[:3] == ["X", "B", "D"]
    assert "a" not in names_of("b.go", CODE["b.go"])
    assert names_of("p.yaml", YAML).count("job.text") == 1 and "job.text.retries" not in names_of("p.yaml", YAML)


def test_names_with_dots_and_positions_are_told_apart():
    names = names_of("p.toml", TOML)
    assert 'tool.ruff."x.y".level' in names and 'tool."a.b".deep.er' in names
    assert {"server[0].port", "server[1].port"} <= set(names)


@pytest.mark.slow
async def test_what_the_type_checker_says_newly_is_left_for_the_user(tmp_path):
    files = {"a.py": "LIMIT: int = 3\n", "b.py": "from a import LIMIT\n\nprint(LIMIT + 1)\n"}
    async with opened(workspace_of(tmp_path, files)) as tools:
        fine = await tools("set_value", name="LIMIT", value="4")
        assert fine.data["done"] and not fine.data["left"]
        wrong = await tools("set_value", name="LIMIT", value="'many'")
        assert not wrong.data["done"] and wrong.data["left"][0]["path"] == "a.py"
        assert "a.py:1" in wrong.text


@pytest.mark.slow
async def test_values_of_one_name_are_listed_and_can_be_chosen(tmp_path):
    files = {"c.toml": TOML, "d.py": "RATE = 1\nRATE = 2\n", "n.ipynb": '{"cells": [], "port": 1}'}
    async with opened(workspace_of(tmp_path, files)) as tools:
        said = await refusal(tools, "set_value", name="server.port", value="7")
        assert "c.toml:server[0].port, c.toml:server[1].port" in said
        await tools("set_value", name="c.toml:server[1].port", value="7")
        assert "port = 1" in (tools.copy.text("c.toml") or "") and "port = 7" in (tools.copy.text("c.toml") or "")
        assert "(line 1), d.py:RATE (line 2)" in await refusal(tools, "set_value", name="RATE", value="7")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.json", "[" * 20_000 + "]" * 20_000),
        ("a.json", '{"a":' * 3_000 + "1" + "}" * 3_000),
        ("a.yaml", "".join(" " * depth + "a:\n" for depth in range(600))),
        ("a.yaml", "- " * 600 + "a: 1\n"),
        ("a.ini", "x = " + "\\" * 50_000 + '"a' * 50_000),
    ],
)
def test_hostile_nesting_has_no_values_and_breaks_nothing(path: str, text: str):
    assert len(names_of(path, text)) < 2
