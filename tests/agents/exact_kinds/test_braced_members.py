"""Members of literals, enumerations, unions, fields and constants in languages with braces."""

from __future__ import annotations

import pytest
from support.edited import carried_out, changed_lines, workspace_of

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.recognise import carry_out
from repopilot.agents.editing.exact.sources import Sources
from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

FILES = {
    "web/lists.js": "const NAMES = ['ant', 'bee', 'cow'];\nconst RULES = {\n  'a-b': 1,\n  plain: 2, // two\n};\n"
    "const FROZEN = Object.freeze(new Set(['x']));\nexports.defaults = {\n  paths: {\n    main: 'src',\n  },\n};\n"
    "const PAIRS = new Map([\n  ['a', 1],\n  ['b', 2]\n]);\n"
    "function setUp() {\n  const inner = [];\n  return inner;\n}\n"
    "class Box {\n  static LIMIT = 3;\n  width = 1;\n\n  grow() {}\n}\nmodule.exports = { NAMES, setUp };\n",
    "web/types.ts": "export enum Shade {\n  Light = 'light',\n  VeryDark = 'very-dark',\n}\nenum Level { Low, High }\n"
    "type Kind = 'a' | 'b';\nexport type Long =\n  | 'one'\n  | 'two'\n\nexport interface Options {\n"
    "  /** Wide. */\n  width: number;\n  title?: string;\n}\ntype Small = { a: string }\n"
    "export const KINDS = ['a', 'b'] as const;\nfunction pick(l: Level) {\n  switch (l) {\n"
    "    case Level.Low: return 1\n    case Level.High: return 2\n  }\n}\n",
    "go/level.go": "package level\n\ntype Level int\n\nconst (\n\tLow Level = iota\n\tHigh\n)\n\ntype Status string\n\n"
    'const (\n\tStatusOpen   Status = "open"\n\tStatusClosed Status = "closed" // shut\n)\n\n'
    'type Options struct {\n\t// Name is shown.\n\tName string\n\n\tWidth int `json:"width"`\n'
    '\tTop   int `json:"top"`\n}\n\nvar known = map[string]int{\n\t"a": 1,\n\t"bb": 2,\n}\n\n'
    'var aligned = map[string]int{\n\t"a":  1, // one\n\t"bb": 2,\n}\n\nvar short = []string{"x", "y"}\n'
    'var o = Options{"a", 1, 2}\n',
    "rs/lib.rs": "pub enum Shape {\n    /// Round.\n    Circle,\n    Square { side: u8 },\n}\n\npub struct Config {\n"
    '    pub depth: u8,\n}\n\nconst NAMES: [&str; 2] = ["a", "b"];\nstatic LIST: &[&str] = &[\n    "one",\n];\n\n'
    'fn area(shape: &Shape) -> u8 {\n    let list = vec!["p", "q"];\n    let map = HashMap::from([("k", 1)]);\n'
    "    match shape {\n        Shape::Circle => 1,\n        Shape::Square { side } => *side,\n    }\n}\n\n"
    "fn make() -> Config {\n    Config { depth: 3 }\n}\n",
    "java/Kinds.java": 'public enum Kinds {\n    FIRST("first"),\n    LAST_ONE("last_one");\n\n'
    "    final String text;\n"
    "    Kinds(String text) { this.text = text; }\n}\n",
    "java/App.java": 'class App {\n    private static final List<String> NAMES = List.of("a", "b");\n'
    '    static final Map<String, Integer> SIZES = Map.of("a", 1);\n    private int count;\n\n    void run() {}\n}\n',
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("braced"), FILES)


@pytest.mark.parametrize(
    ("name", "new", "lines"),
    [
        ("NAMES web/lists.js", "'cat'", ["+const NAMES = ['ant', 'bee', 'cat', 'cow'];"]),
        ("RULES", "other: 3", ["+other: 3,"]),
        ("RULES", "c-d = 3", ["+'c-d': 3,"]),
        ("FROZEN", '"y"', ["+const FROZEN = Object.freeze(new Set(['x', 'y']));"]),
        ("defaults.paths", "test: 'spec'", ["+test: 'spec',"]),
        ("PAIRS", "c: 3", ["-['b', 2]", "+['b', 2],", "+['c', 3]"]),
        ("inner setUp", "'z'", ["+const inner = ['z'];"]),
        ("Box", "static MOST = 9", ["+static MOST = 9;"]),
        ("Box", "height = 2", ["+height = 2;"]),
        ("Shade", "MidTone", ["+MidTone = 'mid-tone',"]),
        ("Level web/types.ts", "Middle", ["+enum Level { Low, High, Middle }", "?switch (l) {"]),
        ("Kind", "'c'", ["+type Kind = 'a' | 'b' | 'c';"]),
        ("Long", "three", ["+| 'three'"]),
        ("Options web/types.ts", "depth?: number", ["+depth?: number;"]),
        ("Small", "b: number", ["+type Small = { a: string; b: number }"]),
        ("KINDS", "c", ["+export const KINDS = ['a', 'b', 'c'] as const;"]),
        ("Level go/level.go", "Extreme", ["+Extreme"]),
        (
            "Status",
            "StatusSuspended",
            [
                '-StatusOpen   Status = "open"',
                '-StatusClosed Status = "closed" // shut',
                '+StatusOpen      Status = "open"',
                '+StatusClosed    Status = "closed" // shut',
                '+StatusSuspended Status = "suspended"',
            ],
        ),
        (
            "Options go/level.go",
            "MaxHeight int",
            [
                '-Width int `json:"width"`',
                '-Top   int `json:"top"`',
                '+Width     int `json:"width"`',
                '+Top       int `json:"top"`',
                "+MaxHeight int",
                '?var o = Options{"a", 1, 2}',
            ],
        ),
        ("known", "c: 3", ['+"c": 3,']),
        (
            "aligned",
            '"long" = 3',
            ['-"a":  1, // one', '-"bb": 2,', '+"a":    1, // one', '+"bb":   2,', '+"long": 3,'],
        ),
        ("short", "z", ['+var short = []string{"x", "y", "z"}']),
        ("Shape", "Line(u8, u8)", ["+Line(u8, u8),", "?match shape {"]),
        ("Config", "width: Option<u8>", ["+pub width: Option<u8>,", "?Config { depth: 3 }"]),
        (
            "NAMES rs/lib.rs",
            "c",
            ['-const NAMES: [&str; 2] = ["a", "b"];', '+const NAMES: [&str; 3] = ["a", "b", "c"];'],
        ),
        ("LIST", "two", ['+"two",']),
        ("list area", "r", ['+let list = vec!["p", "q", "r"];']),
        ("map area", "l: 2", ['+let map = HashMap::from([("k", 1), ("l", 2)]);']),
        ("Kinds", "MIDDLE", ['-LAST_ONE("last_one");', '+LAST_ONE("last_one"),', '+MIDDLE("middle");']),
        ("NAMES java/App.java", "c", ['+private static final List<String> NAMES = List.of("a", "b", "c");']),
        ("SIZES", "b = 2", ['+static final Map<String, Integer> SIZES = Map.of("a", 1, "b", 2);']),
        ("App", "int total", ["+private int total;"]),
    ],
)
def test_what_is_added(repo: Workspace, name: str, new: str, lines: list[str]) -> None:
    container, *places = name.split()
    outcome = carried_out(repo, "add_member", container, *places, new=new)
    added = [line for line in changed_lines(outcome) if line[0] == "+" or len(lines) > 2 or lines[0][0] == "-"]
    assert sorted([*added, *(f"?{o.text}" for o in outcome.open_references)]) == sorted(lines)


@pytest.mark.parametrize(
    ("name", "new"),
    [
        ("RULES", "other: someName"),  # nothing has the name
        ("Level go/level.go", "Extreme = 7"),
        ("Shape", "lower-case"),
        ("App", "return total"),
        ("NAMES web/lists.js", "4x + 3"),
        ("Config", "width: Unknown"),
        ("Status", "StatusOnHold"),  # on-hold, on_hold or onhold
    ],
)
def test_what_is_not_certain_is_left(repo: Workspace, name: str, new: str) -> None:
    container, *places = name.split()
    task = ExactTask("add_member", container, new=new, places=tuple(NamedPlace(p) for p in places))
    assert carry_out(task, Sources(repo)) is None


@pytest.mark.parametrize(
    ("name", "gone", "lines"),
    [
        ("NAMES web/lists.js", "'bee'", ["+const NAMES = ['ant', 'cow'];"]),
        ("RULES", "plain", ["-plain: 2, // two"]),
        ("PAIRS", "'a'", ["-['a', 1],"]),
        ("Kind", "'a'", ["+type Kind = 'b';"]),
        ("Level web/types.ts", "High", ["+enum Level { Low }", "?case Level.High: return 2"]),
        ("Options web/types.ts", "width", ["-/** Wide. */", "-width: number;"]),
        ("Status", "StatusClosed", ['+StatusOpen Status = "open"']),
        ("Options go/level.go", "Name", ["-// Name is shown.", "-Name string", "-"]),
        ("Shape", "Circle", ["-/// Round.", "-Circle,", "?Shape::Circle => 1,"]),
        ("NAMES rs/lib.rs", "a", ['+const NAMES: [&str; 1] = ["b"];']),
        ("Kinds", "LAST_ONE", ['+FIRST("first");']),
        ("App", "count", ["-private int count;"]),
    ],
)
def test_what_is_removed(repo: Workspace, name: str, gone: str, lines: list[str]) -> None:
    container, *places = name.split()
    outcome = carried_out(repo, "remove_member", container, *places, new=gone)
    changed = [line for line in changed_lines(outcome) if line[0] == "+" or lines[0][0] == "-"]
    assert sorted([*changed, *(f"?{o.text}" for o in outcome.open_references)]) == sorted(lines)


def test_values_that_would_shift_are_left(repo: Workspace) -> None:
    assert (
        carry_out(ExactTask("remove_member", "Level", new="Low", places=(NamedPlace("go/level.go"),)), Sources(repo))
        is None
    )
    with pytest.raises(GenerationFailed, match="Triangle"):
        carried_out(repo, "remove_member", "Shape", new="Triangle")
    with pytest.raises(GenerationFailed, match="ant"):
        carried_out(repo, "add_member", "NAMES", "web/lists.js", new="'ant'")
