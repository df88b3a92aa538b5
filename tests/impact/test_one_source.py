"""What calls a definition is one answer, whoever is asked: the tool, the impact report or a question."""

from __future__ import annotations

import os
import re

import pytest
from support.language_server import install
from support.shop_workspace import workspace_of

from repopilot.agents.explain.forms.dispatch import answer_by_code
from repopilot.agents.impact.assess import assess
from repopilot.agents.impact.change import Change
from repopilot.resolve.uses.call_graph import callers
from repopilot.retrieval.search import search
from repopilot.workspace import Workspace

PYTHON = {
    "store/queue.py": "class Queue:\n    def push(self, item):\n        return item\n\n\n"
    "def flush(queue):\n    return queue\n",
    "store/user.py": (
        "from store.queue import Queue, flush as drain\n\n\nclass Runner:\n    def __init__(self):\n"
        "        self.queue = Queue()\n\n    def run(self):\n        self.queue.push(1)\n"
        "        return drain(self.queue)\n\n\ndrain(None)\n"
    ),
    "store/other.py": "def guess(thing):\n    return thing.push(2)\n",
}
GO = {
    "go.mod": "module example.com/m\n",
    "queue/queue.go": "package queue\n\ntype Queue struct{}\n\nfunc (q *Queue) Push(n int) int { return n }\n\n"
    "func Flush(q *Queue) int { return q.Push(1) }\n",
    "main.go": 'package main\n\nimport "example.com/m/queue"\n\nfunc main() { queue.Flush(&queue.Queue{}) }\n',
}
TYPESCRIPT = {
    "src/queue.ts": "export class Queue { push(n: number) { return n } }\n"
    "export function flush(q: Queue) { return q.push(1) }\n",
    "src/main.ts": "import { flush, Queue } from './queue'\n\nexport function main() { return flush(new Queue()) }\n",
}
JAVA = {
    "Queue.java": "class Queue {\n  int push(int n) { return n; }\n  int flush() { return push(1); }\n}\n",
    "Main.java": "class Main {\n  static int run(Queue queue) {\n    return queue.flush();\n  }\n}\n",
}
C = {
    "queue.h": "int flush(int n);\n",
    "queue.c": '#include "queue.h"\n\nint flush(int n) { return n; }\n',
    "main.c": '#include "queue.h"\n\nint main(void) { return flush(1); }\n',
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "path", "name"),
    [
        (PYTHON, "store/queue.py", "Queue.push"),
        (PYTHON, "store/queue.py", "flush"),
        (GO, "queue/queue.go", "Queue.Push"),
        (GO, "queue/queue.go", "Flush"),
        (TYPESCRIPT, "src/queue.ts", "flush"),
        (TYPESCRIPT, "src/queue.ts", "Queue.push"),
        (JAVA, "Queue.java", "Queue.flush"),
        (C, "queue.c", "flush"),
    ],
)
def test_the_tool_the_report_and_the_answer_name_the_same_callers(tmp_path, files, path, name):
    workspace = workspace_of(tmp_path, files)
    listed = {
        (place.path, place.name, place.sure)
        for place in callers(workspace.index, f"{path}:{name}", resolver=workspace.resolver).places
        if place.relation in ("calls", "uses")
    }
    assert listed
    assert reported(workspace, path, name) == listed
    question = f"what calls `{name}`?"
    answer = answer_by_code(question, search(workspace.index, question, 12), workspace, "en")
    assert answer is not None
    answered = {(at, scope) for scope, at in re.findall(r"- `(.+?)` \(`(.+?):\d+`\)", answer.text)}
    assert answered == {(at, scope or at) for at, scope, _ in listed}


def reported(workspace: Workspace, path: str, name: str) -> set[tuple[str, str, bool]]:
    report = assess(workspace.index, [Change(path, (name,))], resolver=workspace.resolver)
    direct = [place for place in report.affected if place.distance == 1]
    return {(place.path, place.symbol, place.confidence >= 0.5) for place in direct}


def test_what_implements_an_interface_of_go_is_surer_where_the_server_says_so_too(tmp_path, monkeypatch):
    files = {
        "go.mod": "module example.com/m\n",
        "store.go": "package m\n\ntype Store interface {\n\tLoad() int\n}\n",
        "memory.go": "package m\n\ntype Memory struct{}\n\nfunc (Memory) Load() int { return 1 }\n",
    }
    workspace = workspace_of(tmp_path / "one", files)
    change = [Change("store.go", ("Store.Load",))]
    for confidence in (0.6, 0.95):
        report = assess(workspace.index, change, resolver=workspace.resolver)
        assert [(each.symbol, each.confidence) for each in report.affected] == [("Memory.Load", confidence)]
        monkeypatch.setenv("PATH", f"{install(tmp_path / 'bin', 'gopls').parent}:{os.environ['PATH']}")


@pytest.mark.slow
@pytest.mark.parametrize(("more", "places"), [({}, []), ({"Makefile": "run:\n\tpython tool.py\n"}, ["Makefile:2"])])
def test_a_file_is_called_unused_only_where_its_name_stands_nowhere_else(tmp_path, more, places: list[str]) -> None:
    tool = "def inner():\n    return 1\n\n\ndef outer():\n    return inner()\n"
    workspace = workspace_of(tmp_path, {"tool.py": tool, "README.md": "Run `tool.py`.\n", **more})
    report = assess(workspace.index, [Change("tool.py", whole=True)], resolver=workspace.resolver)
    said = report.completeness.unused
    assert said.startswith("No resolved use" if places else "Nothing in this repository uses")
    assert all(place in said for place in places)
