"""Values and renames in other languages without a model."""

from __future__ import annotations

import re

import pytest
from support.edited import carried_out, changed_lines, edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

FILES = {
    "web/limits.js": "const MAX_ITEMS = 10; // most\nconst NAMES = { first: 'a', 'second': 2 };\n"
    "function loadItems(count = 5) {\n  return count;\n}\nmodule.exports = { MAX_ITEMS, loadItems };\n",
    "web/app.js": "const { loadItems } = require('./limits');\nconst limits = require('./limits');\n\n"
    "// loadItems is slow\nlimits.loadItems(loadItems(2));\nfunction other(itemList) { return itemList; }\n",
    "web/theme.ts": "export enum Shade { Light = 1, Dark }\nexport class Theme {\n  private depth: number = 1;\n}\n",
    "src/main.go": 'package main\n\nconst (\n\tMaxDepth = 3 // deep\n\tTitle string = "x"\n)\n\n'
    "func parseDepth(n int) int { return n }\n\nfunc main() { parseDepth(MaxDepth) }\n",
    "src/lib.rs": "pub const CACHE_SIZE: usize = 3;\n\nimpl Shape for Square {\n    fn draw_shape(&self) {}\n}\n",
    "web/box.js": "class Box {\n  constructor() {\n    this.maxWidth = 40;\n    this.shown_once = false;\n  }\n\n"
    "  show(tall = true) {\n    tall = !!tall;\n    this.shown_once = tall;\n  }\n}\n",
    "src/conf.rs": "pub struct Conf {\n    pub depth_max: u8,\n}\n\nimpl Default for Conf {\n"
    "    fn default() -> Self {\n        Self { depth_max: 7 }\n    }\n}\n",
    "src/pause.go": 'package main\n\nimport "time"\n\nvar PauseTime = 5 * time.Second\n\n'
    "type Opts struct {\n\tWide int\n}\n\nfunc NewOpts() *Opts { return &Opts{Wide: 8} }\n",
    "src/App.java": 'class App {\n    static final int LIMIT_TOTAL = 3;\n    String title = "x";\n}\n',
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("polyglot"), FILES)


@pytest.mark.parametrize(
    ("task", "path", "old", "new"),
    [
        ("raise MAX_ITEMS from 10 to 20", "web/limits.js", "= 10;", "= 20;"),
        ("set 'second' in NAMES to 3", "web/limits.js", "'second': 2", "'second': 3"),
        ("set first in NAMES to 'b'", "web/limits.js", "first: 'a'", "first: 'b'"),
        ("set the default of count in loadItems to 7", "web/limits.js", "count = 5", "count = 7"),
        ("set Theme.depth to 4", "web/theme.ts", "= 1;", "= 4;"),
        ("set MaxDepth to 9", "src/main.go", "= 3 //", "= 9 //"),
        ("set `Title` to 'y'", "src/main.go", '"x"', '"y"'),
        ("double CACHE_SIZE", "src/lib.rs", "= 3;", "= 6;"),
        ("passe LIMIT_TOTAL de 3 à 5", "src/App.java", "= 3;", "= 5;"),
        ("set maxWidth to 60", "web/box.js", "= 40;", "= 60;"),
        ("set shown_once in Box to true", "web/box.js", "= false;", "= true;"),
        ("set the default of tall in Box.show to false", "web/box.js", "tall = true", "tall = false"),
        ("set Conf.depth_max to 9", "src/conf.rs", "depth_max: 7", "depth_max: 9"),
        ("set Opts.Wide to 9", "src/pause.go", "Wide: 8", "Wide: 9"),
        ("set PauseTime to `9 * time.Second`", "src/pause.go", "5 * time", "9 * time"),
    ],
)
def test_a_value_is_set(repo: Workspace, task: str, path: str, old: str, new: str) -> None:
    assert FILES[path].count(old) == 1
    assert texts(edited(repo, task)) == {path: FILES[path].replace(old, new)}


def test_a_name_that_one_thing_has_is_renamed(repo: Workspace) -> None:
    outcome = edited(repo, "rename loadItems to fetchItems")
    new = texts(outcome)
    assert new["web/limits.js"] == FILES["web/limits.js"].replace("loadItems", "fetchItems")
    assert new["web/app.js"] == FILES["web/app.js"].replace("loadItems", "fetchItems")
    assert not outcome.open_references
    new = texts(edited(repo, "rename `parseDepth` to `readDepth`"))
    assert new == {"src/main.go": FILES["src/main.go"].replace("parseDepth", "readDepth")}


def test_a_name_in_use_is_refused(repo: Workspace) -> None:
    with pytest.raises(GenerationFailed, match="itemList"):
        exact_edit("rename loadItems to itemList", repo)


def test_what_implements_a_trait_is_left_to_the_model(repo: Workspace) -> None:
    assert exact_edit("rename draw_shape to paint_shape", repo) is None


CALLS = {
    "a/text.go": "package a\n\n// ld measures.\nfunc ld(s, t string, fold bool, more ...int) int {\n"
    "\treturn ld(s, ld2(ld(t, s, true)), fold, more...)\n}\n\nfunc (m *M) WidenBy(by int, at int) {}\n",
    "a/use.go": "package a\n\nfunc use(m *M, x T) {\n\tld(pair())\n\tf := ld\n\tm.WidenBy(1, 2)\n\tx.ld(1)\n}\n",
    "b/text.go": "package b\n\nfunc ld(a int) {}\n",
    "web/pad.js": "exports.padStart2 = function padStart2(text, width, fill = ' ') { return text; };\n"
    "function fit(a, b) { return fit(b, a); }\n",
    "web/use.js": "const { padStart2 } = require('./pad');\npadStart2('a', 3);\npadStart2(...parts);\n"
    "padStart2('a', 3, padStart2('b', 1, '-'));\nlist.map(padStart2);\nobj.fit(1, 2);\n",
    "src/fit.rs": "fn squeeze(text: &str, width: usize) -> usize {\n    assert_eq!(squeeze(text, g(1, 2)), 1);\n"
    "    width\n}\n",
    "App.java": "class App {\n    int addUp(int one, int two) { return this.addUp(two, one); }\n}\n",
}


@pytest.fixture(scope="module")
def calling(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("calls"), CALLS)


@pytest.mark.parametrize(
    ("place", "name", "position", "lines", "open_"),
    [
        (
            "ld",
            "fold",
            "first",
            ["func ld(fold bool, s, t string, more ...int) int {", "return ld(fold, s, ld2(ld(true, t, s)), more...)"],
            ["ld(pair())", "f := ld"],
        ),
        (
            "ld",
            "t",
            "before:s",
            [
                "func ld(t, s string, fold bool, more ...int) int {",
                "return ld(ld2(ld(s, t, true)), s, fold, more...)",
            ],
            ["ld(pair())", "f := ld"],
        ),
        ("M.WidenBy", "at", "first", ["func (m *M) WidenBy(at int, by int) {}", "m.WidenBy(2, 1)"], []),
        (
            "padStart2",
            "fill",
            "first",
            [
                "exports.padStart2 = function padStart2(fill = ' ', text, width) { return text; };",
                "padStart2(undefined, 'a', 3);",
                "padStart2(padStart2('-', 'b', 1), 'a', 3);",
            ],
            ["padStart2(...parts);", "list.map(padStart2);"],
        ),
        ("fit", "b", "first", ["function fit(b, a) { return fit(a, b); }"], []),
        (
            "squeeze",
            "width",
            "first",
            ["fn squeeze(width: usize, text: &str) -> usize {", "assert_eq!(squeeze(g(1, 2), text), 1);"],
            [],
        ),
        ("addUp", "two", "first", ["int addUp(int two, int one) { return this.addUp(one, two); }"], []),
    ],
)
def test_parameters_are_put_in_order(
    calling: Workspace, place: str, name: str, position: str, lines: list[str], open_: list[str]
) -> None:
    places = (place, "a/text.go") if place == "ld" else (place,)
    outcome = carried_out(calling, "reorder_parameter", name, *places, position=position)
    assert [line[1:] for line in changed_lines(outcome) if line[0] == "+"] == lines
    assert [o.text for o in outcome.open_references] == open_


def test_a_name_is_renamed_where_it_can_only_mean_one_thing(calling: Workspace) -> None:
    new = texts(edited(calling, "rename ld in a/text.go to distance"))
    assert new == {
        "a/text.go": re.sub(r"\bld\b", "distance", CALLS["a/text.go"]),
        "a/use.go": CALLS["a/use.go"].replace("\tld(", "\tdistance(").replace(":= ld", ":= distance"),
    }


@pytest.mark.parametrize(("body", "moves"), [("(...arguments_) => f(...arguments_)", True), ("arguments[0]", False)])
def test_a_function_that_reads_its_arguments_by_number_keeps_their_order(tmp_path, body, moves):
    files = {
        "src/pass.js": f"export default function passOn(from, to, names) {{\n\treturn {body};\n}}\n",
        "src/a.js": "import passOn from './pass.js';\npassOn(1, 2, []);\n",
    }
    outcome = exact_edit("passOn(names, from, to) instead of passOn(from, to, names)", workspace_of(tmp_path, files))
    assert (outcome is not None and "passOn([], 1, 2)" in "".join(c.content for c in outcome.changes)) is moves


FIELDS = {
    "srv/pool.go": "package srv\n\ntype Pool struct {\n\tidleWorkrs int // kept\n\tmaxWorkrs int\n\tsize int\n}\n",
    "srv/run.go": "package srv\n\nfunc Run(p *Pool) int {\n\tp.idleWorkrs++\n\treturn p.maxWorkrs + p.size\n}\n",
    "srv/other.go": "package srv\n\ntype Other struct {\n\tsize int\n}\n",
    "src/lib.rs": "pub struct Conf {\n    depth_max: u8,\n}\n\nfn deep(c: &Conf) -> u8 {\n    c.depth_max\n}\n",
    "web/box.ts": "export class Box {\n  private widthMax = 3;\n\n  wide() {\n    return this.widthMax;\n  }\n}\n",
}


@pytest.fixture(scope="module")
def fields(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("fields"), FIELDS)


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("Rename idleWorkrs to idleWorkers", {"idleWorkrs": "idleWorkers"}),
        ("rename the field `Pool.idleWorkrs` to `idleWorkers`", {"idleWorkrs": "idleWorkers"}),
        (
            "Typos in Pool: idleWorkrs and maxWorkrs should be idleWorkers and maxWorkers",
            {"idleWorkrs": "idleWorkers", "maxWorkrs": "maxWorkers"},
        ),
        (
            "rename idleWorkrs and maxWorkrs to idleCount and workerLimit",
            {"idleWorkrs": "idleCount", "maxWorkrs": "workerLimit"},
        ),
        ("rename depth_max to max_depth", {"depth_max": "max_depth"}),
        ("rename widthMax in Box to maxWidth", {"widthMax": "maxWidth"}),
    ],
)
def test_a_field_that_one_type_declares_is_renamed(fields: Workspace, task: str, names: dict[str, str]) -> None:
    found = texts(edited(fields, task))
    for path, text in FIELDS.items():
        for old, new in names.items():
            text = text.replace(old, new)
        assert found.get(path, FIELDS[path]) == text


def test_a_field_that_several_types_declare_is_left_alone(fields: Workspace) -> None:
    assert exact_edit("rename the field size to capacity", fields) is None
    with pytest.raises(GenerationFailed, match="maxWorkrs"):
        exact_edit("rename idleWorkrs to maxWorkrs", fields)


PACKAGE = {
    "go.mod": "module example.com/pen\n",
    "pen.go": """package pen

type Pen struct {
\twidth int
}

type Shape interface {
\tGetSize() int
}

// format writes it out.
func (p *Pen) format() string {
\treturn show(p.width)
}

func (p *Pen) GetSize() int { return p.width }

func show(format int) string { return string(rune(format)) }

func New() *Pen { return &Pen{width: 2} }
""",
    "ink.go": """package pen

type Ink struct{}

func (Ink) GetSize() int { return 0 }

func use(s Shape, p *Pen) int {
\t_ = p.format()
\treturn s.GetSize()
}
""",
    "pen_test.go": """package pen

func TestFormat(t int) {
\ttests := []struct{ format string }{{format: "a"}}
\tfor _, test := range tests {
\t\tfunc() { _ = test.format }()
\t\t_ = New().format()
\t}
}
""",
    "other/other.go": "package other\n\ntype T struct{ width, format int }\n\n"
    "func (t T) sum() int { return t.width + t.format }\n",
}


def test_a_member_that_only_its_package_can_name_is_renamed(tmp_path):
    workspace = workspace_of(tmp_path, PACKAGE)
    found = texts(edited(workspace, "rename the method `format` of `Pen` to `written`"))
    assert sorted(found) == ["ink.go", "pen.go", "pen_test.go"]
    assert "// written writes it out.\nfunc (p *Pen) written()" in found["pen.go"]
    assert "func show(format int) string { return string(rune(format)) }" in found["pen.go"]
    assert "p.written()" in found["ink.go"]
    assert "_ = test.format }" in found["pen_test.go"] and "New().written()" in found["pen_test.go"]
    found = texts(edited(workspace, "rename the field `width` of `Pen` to `thickness`"))
    assert sorted(found) == ["pen.go"]
    assert "\tthickness int" in found["pen.go"] and "&Pen{thickness: 2}" in found["pen.go"]


def test_a_method_of_several_types_is_renamed_where_all_are_meant(tmp_path):
    workspace = workspace_of(tmp_path, PACKAGE)
    found = texts(edited(workspace, "In Shape, rename GetSize to Size, in all the types that implement it too."))
    assert "GetSize" not in "".join(found.values()) and "return s.Size()" in found["ink.go"]
    with pytest.raises(GenerationFailed):
        exact_edit("GetSize had better be called `Size`.", workspace)
