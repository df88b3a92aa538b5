"""Deletions in languages with braces."""

from __future__ import annotations

import pytest
from support.edited import carried_out, texts, workspace_of

from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.recognise import carry_out
from repopilot.agents.editing.exact.sources import Sources
from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

FILES = {
    "web/index.js": "exports.pad = require('./lib').pad;\nexports.trimAll = require('./lib').trimAll;\n",
    "web/lib.js": "const os = require('os');\nconst { join, sep } = require('path');\n\n/**\n * Pads.\n */\n"
    "function pad(a) {\n  return join(a, os.EOL);\n}\n\nfunction trimAll(b) {\n  return sep + b;\n}\n\n"
    "const spare = 1;\n\nmodule.exports = { pad, trimAll };\n",
    "web/use.js": "const { pad, trimAll } = require('./lib');\n\ntrimAll(1);\n",
    "ts/shapes.ts": "import { Base, Other } from './base';\n\nexport function grow(a: string): void;\n"
    "export function grow(a: number): void;\nexport function grow(a: any) {\n  return new Other(a);\n}\n\n"
    "export class Circle extends Base {\n  @seen()\n  draw() {}\n\n  get size() { return 1; }\n  set size(v) {}\n}\n\n"
    "export type Unneeded = 1;\n",
    "ts/base.ts": "export class Base {}\nexport class Other {}\n",
    "ts/index.ts": "export { grow, Circle } from './shapes';\n",
    "ts/use.ts": "import { grow } from './index';\ngrow(1);\n",
    "ts/lone.ts": "import { Base } from './base';\n\nexport class Lone extends Base {}\n",
    "go/text.go": 'package text\n\nimport (\n\t"fmt"\n\t"os"\n)\n\n// Show prints.\nfunc Show() { fmt.Println(1) }\n\n'
    "type Box struct{}\n\n// Open opens.\nfunc (b *Box) Open() { os.Exit(1) }\n\nfunc keep() Box { return Box{} }\n\n"
    "const (\n\tLow = iota\n\tHigh\n)\n",
    "go/text_test.go": 'package text\n\nimport "testing"\n\nfunc TestShow(t *testing.T) { Show() }\n',
    "src/lib.rs": "mod shapes;\npub use shapes::{Circle, Dot, Square};\n",
    "src/shapes.rs": "use std::collections::HashMap;\nuse std::fmt;\n\n/// Round.\n#[derive(Debug)]\n"
    "pub struct Circle;\n\nimpl Circle {\n    fn area(&self) -> HashMap<u8, u8> { HashMap::new() }\n}\n\n"
    "impl fmt::Display for Square {\n"
    "    fn fmt(&self) {}\n}\n\npub struct Square;\n\nfn use_it() { Circle; }\n",
    "java/App.java": "package app;\n\nimport java.util.List;\nimport java.util.Set;\n\nclass App {\n"
    "    /** Counts. */\n    @Deprecated\n    int total(List<String> names) { return 1; }\n\n"
    '    Set<String> keep() { return null; }\n\n    @Override\n    public String toString() { return ""; }\n\n'
    "    void twice(int a) {}\n    void twice(String a) {}\n}\n",
}
PAD = "/**\n * Pads.\n */\nfunction pad(a) {\n  return join(a, os.EOL);\n}\n\n"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("gone"), FILES)


@pytest.mark.parametrize(
    ("name", "gone", "left"),
    [
        (
            "pad",
            {
                "web/lib.js": ["const os = require('os');\n", "join, ", PAD, "pad, "],
                "web/index.js": ["exports.pad = require('./lib').pad;\n"],
                "web/use.js": ["pad, "],
            },
            [],
        ),
        (
            "trimAll",
            {
                "web/lib.js": [", sep", "function trimAll(b) {\n  return sep + b;\n}\n\n", ", trimAll"],
                "web/index.js": ["exports.trimAll = require('./lib').trimAll;\n"],
            },
            ["const { pad, trimAll } = require('./lib');", "trimAll(1);"],
        ),
        ("spare", {"web/lib.js": ["const spare = 1;\n\n"]}, []),
        (
            "grow",
            {
                "ts/shapes.ts": [
                    ", Other",
                    "export function grow(a: string): void;\nexport function grow(a: number): void;\n"
                    "export function grow(a: any) {\n  return new Other(a);\n}\n\n",
                ],
                "ts/index.ts": ["grow, "],
            },
            ["import { grow } from './index';", "grow(1);"],
        ),
        ("Circle.draw", {"ts/shapes.ts": ["  @seen()\n  draw() {}\n\n"]}, []),
        ("size", {"ts/shapes.ts": ["\n  get size() { return 1; }\n  set size(v) {}\n"]}, []),
        ("Lone", {"ts/lone.ts": ["import { Base } from './base';\n\nexport class Lone extends Base {}\n"]}, []),
        ("Unneeded", {"ts/shapes.ts": ["\nexport type Unneeded = 1;\n"]}, []),
        (
            "Show",
            {"go/text.go": ['\t"fmt"\n', "// Show prints.\nfunc Show() { fmt.Println(1) }\n\n"]},
            ["func TestShow(t *testing.T) { Show() }"],
        ),
        (
            "Box",
            {
                "go/text.go": [
                    '\t"os"\n',
                    "type Box struct{}\n\n// Open opens.\nfunc (b *Box) Open() { os.Exit(1) }\n\n",
                ]
            },
            ["func keep() Box { return Box{} }"],
        ),
        (
            "src/shapes.rs:Circle",
            {
                "src/shapes.rs": [
                    "use std::collections::HashMap;\n",
                    "/// Round.\n#[derive(Debug)]\npub struct Circle;\n\n"
                    "impl Circle {\n    fn area(&self) -> HashMap<u8, u8> { HashMap::new() }\n}\n\n",
                ],
                "src/lib.rs": ["Circle, "],
            },
            ["fn use_it() { Circle; }"],
        ),
        (
            "total",
            {
                "java/App.java": [
                    "import java.util.List;\n",
                    "    /** Counts. */\n    @Deprecated\n    int total(List<String> names) { return 1; }\n\n",
                ]
            },
            [],
        ),
    ],
)
def test_a_definition_goes_with_what_only_it_needed(
    repo: Workspace, name: str, gone: dict[str, list[str]], left: list[str]
) -> None:
    path, _, wanted = name.rpartition(":")
    outcome = carried_out(repo, "delete", wanted, *filter(None, [path]))
    expected = {}
    for file, parts in gone.items():
        expected[file] = FILES[file]
        for part in parts:
            assert part in expected[file]
            expected[file] = expected[file].replace(part, "", 1)
    assert texts(outcome) == expected
    assert [o.text for o in outcome.open_references] == left


@pytest.mark.parametrize("name", ["toString", "twice", "High", "fmt"])
def test_what_something_else_needs_is_left(repo: Workspace, name: str) -> None:
    assert carry_out(ExactTask("delete", name, "method"), Sources(repo)) is None


def test_what_is_used_is_not_unused(repo: Workspace) -> None:
    with pytest.raises(GenerationFailed, match=r"web/use\.js:1"):
        carried_out(repo, "delete", "trimAll", unused="yes")
    assert carried_out(repo, "delete", "spare", unused="yes")
