"""Where definitions are used, by the server of Python and by the rules of the code graph, and when they aren't."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import typescript
from support.git_server import commit
from support.index_case import write
from support.shop_workspace import offline, open_workspace, workspace_of
from support.typescript import needs_typescript

from repopilot.agents.impact.assess import assess
from repopilot.agents.impact.change import changes_of_targets
from repopilot.errors import LanguageServerError
from repopilot.index.graph.code_graph import graph_of
from repopilot.resolve.uses import call_graph
from repopilot.resolve.uses.unused import said_unused
from repopilot.resolve.uses.usage import Usage, usage_of
from repopilot.workspace import Workspace

PYTHON = {
    "pkg/__init__.py": "from .jobs import (\n    start,\n    Runner,\n)\n\n__all__ = ['start', 'Runner']\n",
    "pkg/jobs.py": "class Base:\n    def run(self):\n        return 1\n\n\nclass Runner(Base):\n"
    "    def stop(self):\n        return self.stop()\n\n\n"
    "class Other:\n    def stop(self):\n        return 2\n\n\ndef start():\n    return 3\n\n\nalias = start\n",
    "use.py": "from pkg.jobs import Runner, start as begin\nfrom pkg.jobs import alias\n\n\n"
    "class Flow:\n    def __init__(self):\n        self.runner = Runner()\n\n"
    "    def both(self, unknown):\n        self.runner.stop()\n"
    "        self.runner.stop()\n        return unknown.stop()\n\n\n"
    "def more():\n    return begin() + alias()\n",
}


def used(workspace: Workspace, name: str, *, server: bool = True) -> Usage:
    index = workspace.index
    symbols = [s for s in index.symbols(name.rpartition(".")[2]) if f".{s.qualified}".endswith(f".{name}")]
    return usage_of(index, symbols, workspace.resolver if server else None)


def lines(usage: Usage) -> list[tuple[str, int]]:
    return [(place.path, place.line) for place in usage.sure]


@pytest.mark.slow
@pytest.mark.parametrize("server", [True, False])
def test_every_use_counts_sure_apart_from_by_name(tmp_path: Path, server: bool) -> None:
    workspace = workspace_of(tmp_path, PYTHON)
    usage = used(workspace, "Runner.stop", server=server)
    assert lines(usage) == [("pkg/jobs.py", 8), ("use.py", 10), ("use.py", 11)], "itself, and twice in one scope"
    assert [(p.path, p.line, p.scope) for p in usage.by_name] == [("use.py", 12, "Flow.both")]
    assert not usage.absent and usage.engine == ("ty" if server else "syntax")


@needs_typescript
def test_what_calls_an_interface_may_call_what_implements_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", typescript.PATH)
    text = (
        "export interface Kind<T> { check(value: T): void }\n"
        "export abstract class Base<T> implements Kind<T> { abstract check(value: T): void }\n"
        "export class Text extends Base<string> { check(value: string) {} }\n"
        "export class Other { check() {} }\n"
        "export const use = (kind: Kind<string>) => kind.check('x');\n"
        "new Other().check();\n"
    )
    usage = used(workspace_of(tmp_path, {"kinds.ts": text}), "Text.check")
    assert [place.line for place in usage.by_name] == [2, 5]


@pytest.mark.slow
@pytest.mark.parametrize("server", [True, False])
def test_uses_under_another_name_and_lines_of_imports_count(tmp_path: Path, server: bool) -> None:
    usage = used(workspace_of(tmp_path, PYTHON), "start", server=server)
    found = {(place.path, place.line): place.relation for place in usage.sure}
    assert found["pkg/__init__.py", 2] == "imports", "the line of the name, not of the statement"
    assert {("use.py", 1), ("use.py", 16), ("pkg/jobs.py", 20)} <= found.keys()
    assert (("pkg/__init__.py", 6) in found) == server, "an entry of __all__"


@pytest.mark.slow
def test_absence_is_said_only_where_it_is_known(tmp_path: Path) -> None:
    files = {
        "a.py": "import abc\n\n\ndef lonely():\n    return 1\n\n\ndef scripted():\n    return 2\n\n\n"
        "def halved():\n    return 2\n\n\n@abc.register\ndef routed():\n    return 3\n\n\n"
        "class Reader(abc.Unknown):\n    def feed(self):\n        return 4\n",
        "bin/tool": "#!/usr/bin/env python3\nfrom a import scripted\nscripted()\n",
        "data.py": "from elsewhere import lost\n\nlost.halved()\n",
    }
    folder = write(tmp_path / "repo", files)
    commit(folder, {}, "start")
    workspace = open_workspace(folder, offline(tmp_path / "home"))

    def said(name: str) -> str:
        index = workspace.index
        return said_unused(name, used(workspace, name), index, index.symbols(name))

    assert said("lonely") == "Nothing in this repository uses lonely."
    assert ("bin/tool", 3) in lines(used(workspace, "scripted")), "the index skips it"
    assert "No resolved use" in said("halved") and "data.py:3" in said("halved")
    assert "@abc.register" in said("routed")
    assert "inherits from code outside" in said("feed")


@pytest.mark.slow
def test_callers_impact_and_references_say_the_same(tmp_path: Path) -> None:
    workspace = workspace_of(tmp_path, PYTHON)
    index, resolver = workspace.index, workspace.resolver
    called = call_graph.callers(index, "Runner.stop", resolver=resolver).places
    referred = call_graph.references(index, "Runner.stop", resolver=resolver).places
    changes = changes_of_targets(["pkg/jobs.py:Runner.stop"], index, graph_of(index))
    report = assess(index, changes, (), resolver)
    assert {place.name for place in called if place.sure} == {"Flow.both", "Runner.stop"}
    assert {(p.path, p.name) for p in referred} == {(p.path, p.name) for p in called}
    assert [item.symbol for item in report.affected if item.distance == 1] == ["Flow.both"]
    assert report.completeness.unused == ""


@pytest.mark.slow
def test_uses_in_files_that_the_index_skips_are_in_every_answer(tmp_path: Path) -> None:
    script = "#!/usr/bin/env python3\nfrom pkg.jobs import Runner\n\nRunner().stop()\n"
    generated = f"# Generated by the protocol buffer compiler.  DO NOT EDIT!\n{script.partition(chr(10))[2]}"
    workspace = workspace_of(tmp_path, PYTHON | {"bin/go": script, "go_pb2.py": generated})
    index, resolver = workspace.index, workspace.resolver
    called = {(place.path, place.line) for place in call_graph.callers(index, "Runner.stop", resolver=resolver).places}
    changes = changes_of_targets(["pkg/jobs.py:Runner.stop"], index, graph_of(index))
    affected = {(item.path, item.line) for item in assess(index, changes, (), resolver).affected if item.distance == 1}
    assert {("bin/go", 4), ("go_pb2.py", 4)} <= called & affected


@pytest.mark.slow
def test_what_a_subclass_inherits_is_found_by_its_name(tmp_path: Path) -> None:
    workspace = workspace_of(tmp_path, PYTHON | {"more.py": "from pkg.jobs import Runner\n\nRunner().run()\n"})
    for name in ("Runner.run", "pkg/jobs.py:Runner.run"):
        places = call_graph.callers(workspace.index, name, resolver=workspace.resolver).places
        assert [(place.path, place.line) for place in places if place.sure] == [("more.py", 3)]


JAVASCRIPT = {
    "package.json": '{"name": "demo", "type": "module"}\n',
    "tsconfig.json": '{\n  // paths\n  "compilerOptions": {"paths": {"@/*": ["./src/*"],}}\n}\n',
    "src/work.ts": "export default function work() { return 1 }\nexport class Store {\n  rows: string[] = [];\n"
    "  push(row: string) { this.rows.push(row); return this }\n}\n",
    "src/index.ts": "export { default as task, Store } from './work'\n",
    "src/a.ts": "import { task, Store } from '@/index'\nconst store = new Store()\n"
    "export function a() { return task() }\n"
    "export function b() { return store.push('x') }\nexport function c(names: string[]) { names.push('y') }\n",
}


@pytest.mark.slow
def test_the_rules_of_javascript_follow_barrels_defaults_and_path_aliases(tmp_path: Path) -> None:
    workspace = workspace_of(tmp_path, JAVASCRIPT)
    assert {("src/a.ts", 3), ("src/a.ts", 1), ("src/index.ts", 1)} <= set(lines(used(workspace, "work", server=False)))
    usage = used(workspace, "Store.push", server=False)
    assert lines(usage) == [("src/a.ts", 4)]
    assert {(place.path, place.line) for place in usage.by_name} == {("src/work.ts", 4), ("src/a.ts", 5)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "name", "places"),
    [
        (
            {
                "engine.h": "class Engine {\npublic:\n    void apply(int n);\n    static Engine* instance();\n};\n",
                "engine.cpp": '#include "engine.h"\nvoid Engine::apply(int n) { (void)n; }\n',
                "main.cpp": '#include "engine.h"\nvoid a(Engine* e) { e->apply(1); }\n'
                "void b() { Engine::instance()->apply(2); }\n",
            },
            "Engine.apply",
            [("main.cpp", 2), ("main.cpp", 3)],
        ),
        (
            {
                "p/T.java": "package p;\npublic class T {\n  public static int f(int a) { return a; }\n"
                "  public static int f() { return 0; }\n}\n",
                "p/A.java": "package p;\nimport static p.T.f;\nclass A {\n  int a() { return f(1); }\n"
                "  int b() { return p.T.f(); }\n  Object c() { return map(T::f); }\n}\n",
            },
            "T.f",
            [("p/A.java", 2), ("p/A.java", 4), ("p/A.java", 5), ("p/A.java", 6)],
        ),
        (
            {
                "A.cs": "namespace S;\npublic partial class W\n{\n    public string Title => Build();\n}\n",
                "B.cs": 'namespace S;\npublic partial class W\n{\n    private string Build() => "x";\n}\n',
            },
            "W.Build",
            [("A.cs", 4)],
        ),
        (
            {
                "go.mod": "module example.com/m\n",
                "a.go": "package m\n\ntype Box struct{}\n\nfunc (b *Box) Size() int { return 1 }\n",
                "b.go": "package m\n\nfunc (b *Box) Twice() int { return 2 * b.Size() }\n",
            },
            "Box.Size",
            [("b.go", 3)],
        ),
    ],
)
def test_members_are_resolved_across_files(
    tmp_path: Path, files: dict[str, str], name: str, places: list[tuple[str, int]]
) -> None:
    assert lines(used(workspace_of(tmp_path, files), name, server=False)) == places


@pytest.mark.slow
def test_a_name_that_a_program_puts_together_may_be_a_use(tmp_path: Path) -> None:
    code = "class Jobs:\n    def index_code(self):\n        return 1\n\n    def run(self, kind):\n"
    code += '        return getattr(self, f"index_{kind}")()\n'
    workspace = workspace_of(tmp_path, {"jobs.py": code})
    usage = used(workspace, "index_code")
    assert [(place.path, place.line) for place in usage.mentions] == [("jobs.py", 6)]
    assert not usage.absent and "jobs.py:6" in said_unused("index_code", usage, workspace.index)


CHAINED = {
    "kit.py": "class Session:\n    def send(self):\n        return 1\n\n\n"
    "class Client:\n    def open(self) -> 'Session':\n"
    "        return Session()\n\n    def get(self):\n        return 2\n\n\nclass Other:\n    def send(self):\n"
    "        return 3\n\n    def get(self):\n        return 4\n\n\n"
    "class Factory:\n    def __call__(self, app: str) -> Client:\n        return Client()\n",
    "use.py": "from kit import Client, Factory\n\n\ndef made(factory: Factory):\n    client = factory('x')\n"
    "    with client.open() as session:\n        session.send()\n    return client.get()\n\n\n"
    "def named():\n    client = Client()\n    run(1, client='on')\n    return client.get()\n\n\n"
    "def unknown(client):\n    return client.get()\n",
}


@pytest.mark.slow
def test_what_a_called_object_and_what_it_gives_return_is_known_without_a_server(tmp_path: Path) -> None:
    workspace = workspace_of(tmp_path, CHAINED)
    usage = used(workspace, "Client.get", server=False)
    assert lines(usage) == [("use.py", 8), ("use.py", 14)], "an argument of that name sets no variable"
    assert [(place.path, place.line) for place in usage.by_name] == [("use.py", 18)]
    assert lines(used(workspace, "Session.send", server=False)) == [("use.py", 7)]


@pytest.mark.slow
def test_local_variables_in_callbacks_have_the_type_they_are_made_of_without_a_server(tmp_path: Path) -> None:
    source = "export class Queue {\n  add(item: string) {}\n}\nexport class Bag {\n  add(item: string) {}\n}\n"
    test = "import { Bag, Queue } from './queue'\ndescribe('queue', () => {\n  const one = new Queue()\n"
    test += "  const other = new Bag()\n  it('adds', () => {\n    one.add('a')\n    other.add('a')\n  })\n})\n"
    workspace = workspace_of(tmp_path, {"queue.ts": source, "uses.ts": test})
    assert workspace.resolver.engine("uses.ts") == "syntax"
    assert lines(used(workspace, "Queue.add")) == [("uses.ts", 6)]


@pytest.mark.slow
def test_a_failure_of_a_server_is_said_until_it_answers(tmp_path: Path) -> None:
    resolver = workspace_of(tmp_path, PYTHON).resolver
    failures = ["first", "second"]

    def work(_: object) -> str:
        if failures:
            raise LanguageServerError(failures.pop())
        return "found"

    assert resolver.at_server("use.py", work) is None and resolver.notes == ("first",)
    assert resolver.at_server("use.py", work) == "found" and resolver.notes == ()


@pytest.mark.slow
def test_the_first_overload_stands_for_what_is_called(tmp_path: Path) -> None:
    heads = "".join(f"@overload\ndef pick(a: {kind}) -> {kind}: ...\n" for kind in ("int", "str", "bytes", "float"))
    code = f"from typing import overload\n\n\n{heads}def pick(a):\n    return a\n\n\ndef use():\n    return pick(1)\n"
    workspace = workspace_of(tmp_path, {"a.py": code})
    [place] = call_graph.callees(workspace.index, "use", resolver=workspace.resolver).places
    assert (place.name, place.line) == ("pick", 4)
