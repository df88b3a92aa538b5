"""The review of a change says which uses it leaves behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from review.test_review import reported, workspace
from support.git_server import commit

from repopilot.repo.history import CommitRange
from repopilot.resolve.uses.broken_uses import FileVersions, changed_definitions

LIB = "def used(x):\n    return x\n\n\ndef other():\n    return 1\n"
MAIN = "from lib import other, used\n\nprint(used(1), other())\n"
BOTH = {"lib.py": LIB, "main.py": MAIN}
SHAPES = "class Shape:\n    def area(self):\n        return 1\n\n    def name(self):\n        return 'a'\n"
DRAWING = "from shapes import Shape\n\n\ndef draw(one: Shape, rows: list):\n    rows.pop()\n    return one.area()\n"
WRONG = "from shapes import Shape\n\nShape().width\n"
GO = {
    "go.mod": "module m\n",
    "lib/lib.go": "package lib\n\nfunc Used() int { return 1 }\n\nfunc Other() {}\n",
    "main.go": 'package main\n\nimport "m/lib"\n\nfunc main() { lib.Used(); lib.Other() }\n',
}
TYPED = {"lib.py": "def used(x: int | str) -> int:\n    return 1\n", "main.py": "from lib import used\n\nused('a')\n"}
DATA = "from dataclasses import dataclass\n\n\n@dataclass\nclass Order:\n    rows: int\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "found", "named"),
    [
        (BOTH, {"lib.py": "def other():\n    return 1\n"}, "lib.py", ["used", "main.py", ":1", ":3"]),
        (BOTH, {"lib.py": None}, "main.py", ["used", ":3"]),
        (BOTH, {"lib.py": LIB.replace("(x)", "(x, y)")}, "lib.py", ["used", "main.py", ":3", "`y`"]),
        (BOTH, {"lib.py": LIB.replace("(x)", "(*, x)")}, "lib.py", ["used", "main.py", ":3"]),
        (
            {
                "shapes.py": SHAPES,
                "box.py": "from shapes import Shape\n\n\nclass Box(Shape):\n    def area(self):\n        return 2\n",
            },
            {"shapes.py": SHAPES.replace("area(self)", "area(self, scale)")},
            "shapes.py",
            ["Shape.area", "box.py", ":5"],
        ),
        (
            {
                "p/__init__.py": "from p.lib import (\n    used,\n)\n",
                "p/lib.py": LIB,
                "main.py": "from p import used\n\nused(1)\n",
            },
            {"p/__init__.py": ""},
            "p/__init__.py",
            ["used", "main.py", ":1"],
        ),
        (
            {"lib.py": "LIMIT = 1\nMORE = 2\n", "main.py": "import lib\n\nprint(lib.LIMIT)\n"},
            {"lib.py": "MORE = 2\n"},
            "lib.py",
            ["LIMIT", "main.py", ":3"],
        ),
        (
            {"shapes.py": SHAPES, "draw.py": DRAWING},
            {"shapes.py": SHAPES.replace("def area", "def surface")},
            "shapes.py",
            ["Shape.area", "draw.py", ":6"],
        ),
        (
            {"data.py": DATA, "main.py": "from data import Order\n\nOrder(1)\n"},
            {"data.py": f"{DATA}    note: str\n"},
            "data.py",
            ["Order", "main.py", ":3"],
        ),
        (GO, {"lib/lib.go": "package lib\n\nfunc Other() {}\n"}, "lib/lib.go", ["Used", "main.go", ":5"]),
    ],
)
@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.sampled(5)
async def test_what_still_uses_a_changed_definition_is_one_high_finding(
    tmp_path: Path, before, after, found: str, named: list[str], committed: bool
) -> None:
    commit(work := tmp_path / "work", before, "before")
    if committed:
        commit(work, after, "after")
    else:
        for path, text in after.items():
            (work / path).unlink() if text is None else (work / path).write_text(text)
    commits = CommitRange("HEAD~1", "HEAD") if committed else CommitRange("HEAD")
    report, _ = await reported(workspace(str(work), tmp_path), commits)
    broken = [each for each in report.findings if each.rule == "broken-use"]
    assert [(each.path, each.severity) for each in broken if each.message.count(named[0])][:1] == [(found, "high")]
    text = " ".join(str(each.message) for each in broken)
    assert all(part in text for part in named), text


@pytest.mark.slow
@pytest.mark.parametrize(("main", "line"), [(TYPED["main.py"], 3), ("from lib import used\n\nused(\n    'a',\n)\n", 4)])
async def test_annotations_that_calls_no_longer_fit_are_no_proof_as_python_does_not_run_them(
    tmp_path: Path, main: str, line: int
) -> None:
    commit(work := tmp_path / "work", {**TYPED, "main.py": main}, "before")
    commit(work, {"lib.py": TYPED["lib.py"].replace(" | str", "")}, "after")
    report, _ = await reported(workspace(str(work), tmp_path), CommitRange("HEAD~1", "HEAD"))
    assert not report.findings
    [found] = report.folded
    assert (found.path, found.rule, found.severity) == ("lib.py", "possibly-broken-use", "medium")
    assert all(part in str(found.message) for part in ("used", f"`main.py`:{line}", "`int`"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BOTH, {"lib.py": LIB.replace("(x)", "(x, y=1)")}),
        (BOTH, {"lib.py": LIB.replace("used", "taken"), "main.py": MAIN.replace("used", "taken")}),
        (BOTH, {"lib.py": None, "core.py": LIB, "main.py": MAIN.replace("lib", "core")}),
        (
            BOTH,
            {
                "impl.py": "def used(x):\n    return x\n",
                "lib.py": "from impl import used as used\n\n\ndef other():\n    return 1\n",
            },
        ),
        ({**BOTH, "main.py": "print(1)\n"}, {"lib.py": "def other():\n    return 1\n"}),
        (
            {
                **BOTH,
                "lib.pyi": "def used(x): ...\ndef other(): ...\n",
                "main.py": "import lib\n\n\ndef run():\n    used = lib.used\n    return used(1)\n",
            },
            {"lib.pyi": None},
        ),
        (
            {"shapes.py": SHAPES, "draw.py": DRAWING},
            {"shapes.py": f"{SHAPES}\n\nclass Box(Shape):\n    def area(self):\n        return 2\n"},
        ),
        (
            {"shapes.py": SHAPES, "draw.py": DRAWING},
            {
                "shapes.py": f"{SHAPES}\n    def size(self):\n        return 2\n",
                "new.py": "from shapes import Shape\n\nShape().width\n",
                "draw.py": DRAWING.replace("rows.pop()", "rows.pop(Shape)"),
            },
        ),
        (
            {**BOTH, "more.py": "from absent import box\n"},
            {
                "lib.py": LIB.replace("(x)", "(x, y=1)"),
                "more.py": "from absent import box\nfrom absent import other, used\n",
            },
        ),
        (
            {"p/__init__.py": "x = 1\n", "a.py": "import p\n\nprint(p.x)\n", "b.py": "import p\n\nprint(p.x)\n"},
            {"b.py": "from p import x\n\nprint(x)\n"},
        ),
        (
            {**GO, "main.go": GO["main.go"].replace("lib.Used(); ", "")},
            {"lib/lib.go": "package lib\n\nfunc Other() {}\n"},
        ),
        (
            {"shapes.py": SHAPES, "draw.py": WRONG},
            {"shapes.py": f"{SHAPES}\n    def size(self):\n        return 2\n", "draw.py": f"{WRONG}{WRONG}"},
        ),
    ],
)
@pytest.mark.sampled(4)
async def test_a_change_whose_users_follow_breaks_nothing(tmp_path: Path, before, after) -> None:
    commit(work := tmp_path / "work", before, "before")
    commit(work, after, "after")
    report, _ = await reported(workspace(str(work), tmp_path), CommitRange("HEAD~1", "HEAD"))
    assert [each for each in report.findings if each.rule == "broken-use"] == []


@pytest.mark.slow
def test_a_function_that_is_no_longer_exported_has_changed() -> None:
    code = "export const isOk = (code: number): boolean => {\n  return code < 400\n}\n"
    [changed] = changed_definitions([FileVersions("a.ts", "a.ts", code, code.removeprefix("export "))])
    assert changed.symbol.name == "isOk" and not changed.gone
    assert not changed_definitions([FileVersions("a.ts", "a.ts", code, code.replace("400", "300"))])


@pytest.mark.parametrize(
    ("path", "before", "after", "changed"),
    [
        ("a.py", "MOST = 20\n", "MOST = 30\n", []),
        ("a.py", "MOST: int = -20_000\n", "MOST: int = 3\n", []),
        ("a.py", "class A:\n    name = 'a'\n", "class A:\n    name = 'b c'\n", []),
        ("a.py", "MOST = 20\n", "MOST = 20.5\n", ["MOST"]),
        ("a.py", "MOST = 20\n", "MOST = '20'\n", ["MOST"]),
        ("a.py", "MOST: int = 20\n", "MOST: float = 20\n", ["MOST"]),
        ("a.py", "both = lambda a: a\n", "both = lambda a, b: a\n", ["both"]),
        ("a.go", "package a\n\nconst Most = 3\n", "package a\n\nconst Most = 4\n", []),
        ("a.ts", "export const most: number = 3;\n", "export const most: number = 4;\n", []),
        ("a.ts", "type Way = 'up';\n", "type Way = 'down';\n", ["Way"]),
    ],
)
def test_a_value_is_the_same_while_one_of_its_kind_is_given(path, before, after, changed) -> None:
    found = changed_definitions([FileVersions(path, path, before, after)])
    assert [each.symbol.name for each in found] == changed


GO_QUEUES = {
    "go.mod": "module m\n",
    "lib/queue.go": "package lib\n\ntype Queue struct{}\n\nfunc (q Queue) Push(n int) {}\n",
    "lib/stack.go": "package lib\n\ntype Stack struct{}\n\nfunc (s Stack) Push(n int) {}\n",
    "main.go": 'package main\n\nimport "m/lib"\n\nfunc main() {\n\tlib.Queue{}.Push(1)\n'
    "\tfor _, q := range []lib.Queue{} {\n\t\tq.Push(2)\n\t}\n}\n",
}
JAVA_QUEUES = {
    "a/Queue.java": "package a;\n\npublic class Queue {\n    public void push(int n) {}\n}\n",
    "a/Stack.java": "package a;\n\npublic class Stack {\n    public void push(int n) {}\n}\n",
    "a/Main.java": "package a;\n\nclass Main {\n    void run(Queue queue, java.util.List<Queue> all) {\n"
    "        queue.push(1);\n        for (var one : all) one.push(2);\n    }\n}\n",
}
JS_QUEUES = {
    "queue.js": "export class Queue {\n  push(one) {}\n}\n",
    "main.js": "import { Queue } from './queue.js'\n\nnew Queue().push(1)\n\n"
    "export function run(queue) {\n  queue.push(2)\n}\n",
}
GO_STORES = {
    "go.mod": "module m\n",
    "store/store.go": "package store\n\ntype Store interface {\n\tLoad(key string) string\n}\n",
    "cache/memory.go": "package cache\n\ntype Memory struct{}\n\n"
    "func (m Memory) Load(key string) string { return key }\n",
}
C_SHAPES = {
    "shape.h": "int area(int width);\n",
    "shape.c": '#include "shape.h"\n\nint area(int width) {\n    return width;\n}\n',
    "main.c": '#include "shape.h"\n\nint main(void) {\n    return area(2);\n}\n\nint (*chosen)(int) = area;\n',
}
TS_RUN = {
    "run.ts": "type Work = { a: number };\nexport function run(work: Work | (() => string)) {\n  return work;\n}\n",
    "main.ts": "import { run } from './run';\n\nrun(() => 'a');\n",
}
RUST_SHAPES = {
    "Cargo.toml": '[package]\nname = "m"\nversion = "0.1.0"\n',
    "src/lib.rs": "pub mod draw;\npub mod shape;\n",
    "src/shape.rs": "pub enum Shape {\n    Box { side: u32, deep: bool },\n    Dot,\n}\n",
    "src/draw.rs": "use crate::shape::Shape;\n\npub fn draw(shape: &Shape) -> u32 {\n    match shape {\n"
    "        Shape::Box { side, .. } => {\n            return twice(side);\n        }\n        Shape::Dot => 0,\n"
    "    }\n}\n\nfn twice(n: &u32) -> u32 {\n    2 * n\n}\n",
}
MANY = {f"m{n}.js": f"export class M{n} {{\n  push(one) {{}}\n}}\n" for n in range(4)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "sure", "maybe"),
    [
        (GO_QUEUES, {"lib/queue.go": ("func (q Queue) Push(n int) {}", "")}, ["main.go`:6"], ["main.go`:8"]),
        (GO_QUEUES, {"lib/queue.go": ("Push(n int)", "Push(n int, m ...int)")}, [], []),
        (GO_QUEUES, {"lib/queue.go": ("Push(n int)", "Push(count int)")}, [], []),
        (GO_QUEUES, {"lib/queue.go": ("Push(n int)", "Push(n, m int)")}, ["main.go`:6"], ["main.go`:8"]),
        (GO_QUEUES, {"lib/queue.go": ("Push(n int)", "Push(n string)")}, [], ["main.go`:6", "main.go`:8"]),
        (GO_STORES, {"store/store.go": ("key string", "key int")}, [], ["memory.go`:3", "store.go`:3"]),
        (GO_STORES, {"store/store.go": ("Load(", "Shut()\n\tLoad(")}, [], ["memory.go`:3", "store.go`:3"]),
        (GO_STORES, {"cache/memory.go": (") string", ") int")}, [], ["memory.go`:3", "store.go`:3"]),
        (GO_STORES, {"cache/memory.go": ("key string", "name string")}, [], []),
        (GO_QUEUES, {"lib/queue.go": ("Push(n int)", "Push(n any)")}, [], []),
        (TS_RUN, {"run.ts": ("work: Work", "work: Promise<A | B> | Work")}, [], []),
        (TS_RUN, {"run.ts": ("work: Work | (() => string)", "work: Work")}, [], ["main.ts`:3"]),
        (JAVA_QUEUES, {"a/Queue.java": ("push", "add")}, ["Main.java`:5"], ["Main.java`:6"]),
        (JAVA_QUEUES, {"a/Queue.java": ("int n", "int n, int m")}, ["Main.java`:5"], ["Main.java`:6"]),
        (JAVA_QUEUES, {"a/Queue.java": ("public void push", "void push(int n, int m) {}\n    void push")}, [], []),
        (JS_QUEUES, {"queue.js": ("push", "add")}, ["main.js`:3"], ["main.js`:6"]),
        (JS_QUEUES, {"queue.js": ("(one)", "(one, two = 1)")}, [], []),
        (JS_QUEUES, {"queue.js": ("(one)", "(one, two)")}, ["main.js`:3"], ["main.js`:6"]),
        ({**JS_QUEUES, **MANY}, {"queue.js": ("push", "add")}, ["main.js`:3"], ["One place", " 4 "]),
        (
            C_SHAPES,
            {"shape.h": ("int width", "int width, int height"), "shape.c": ("int width", "int width, int height")},
            ["main.c`:4"],
            [],
        ),
        (
            RUST_SHAPES,
            {
                "src/shape.rs": ("Box { side: u32, deep: bool }", "Box"),
                "src/draw.rs": ("Shape::Box { side, .. } => {\n", "Shape::Box => {\n            let side = &4;\n"),
            },
            [],
            [],
        ),
        (C_SHAPES, {"shape.h": ("int width", "long width"), "shape.c": ("int width", "long width")}, [], ["main.c`:4"]),
    ],
)
@pytest.mark.sampled(5)
async def test_without_a_server_uses_that_cannot_be_proved_are_a_finding_of_their_own(
    tmp_path: Path, before, after, sure: list[str], maybe: list[str]
) -> None:
    commit(work := tmp_path / "work", before, "before")
    commit(work, {path: before[path].replace(*change) for path, change in after.items()}, "after")
    report, _ = await reported(workspace(str(work), tmp_path), CommitRange("HEAD~1", "HEAD"))
    for rule, severity, places in (("broken-use", "high", sure), ("possibly-broken-use", "medium", maybe)):
        found = [each for each in (report.findings if severity == "high" else report.folded) if each.rule == rule]
        text = " ".join(str(each.message) for each in found)
        assert bool(found) == bool(places) and all(place in text for place in places), (rule, text)
        assert {each.severity for each in found} <= {"low" if " 4 " in places else severity}
        assert len(re.findall(r"`:\d+", text)) == sum("`:" in place for place in places), text
