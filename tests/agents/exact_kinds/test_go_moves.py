"""Moves of Go definitions from one file of a package to another."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edited import edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

LOG = (
    'package log\n\nimport (\n\t"fmt"\n\t"strings"\n\t"time"\n)\n\n'
    "// stamp writes a time.\nfunc stamp(t time.Time) string {\n\treturn t.Format(layout)\n}\n\n"
    'const (\n\tlayout = "15:04"\n\twidth  = 3\n)\n\n'
    "const (\n\tlow = iota\n\thigh\n)\n\n"
    "// Fields has names.\ntype Fields map[string]string\n\n"
    "func (f Fields) resolve(key string) string { return strings.ToLower(f[key]) }\n\n"
    "func show() { fmt.Println(width) }\n"
)
FILES = {
    "go.mod": "module example.org/log\n",
    "log.go": LOG,
    "util.go": 'package log\n\nimport (\n\t"os"\n\t"unicode"\n)\n\nfunc leave() { os.Exit(int(unicode.MaxRune)) }\n',
    "bare.go": "package log\n\nfunc bare() {}\n",
    "one.go": 'package log\n\nimport "os"\n\nfunc one() { os.Exit(1) }\n',
    "clash.go": 'package log\n\nimport time "example.org/clock"\n\nvar now = time.Now()\n',
    "unix.go": "//go:build unix\n\npackage log\n",
    "log_test.go": "package log\n",
    "other/other.go": "package other\n",
}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("go"), FILES)


STAMP = "// stamp writes a time.\nfunc stamp(t time.Time) string {\n\treturn t.Format(layout)\n}\n"


@pytest.mark.parametrize(
    ("target", "imports"),
    [
        ("util.go", 'import (\n\t"os"\n\t"time"\n\t"unicode"\n)\n'),
        ("bare.go", 'package log\n\nimport "time"\n\nfunc bare'),
        ("one.go", 'import "os"\nimport "time"\n'),
    ],
)
def test_a_function_moves_with_its_comment_and_imports(log: Workspace, target: str, imports: str) -> None:
    new = texts(edited(log, f"move stamp from log.go to {target}"))
    assert new["log.go"] == LOG.replace(STAMP + "\n", "").replace('\t"time"\n', "")
    assert new[target].endswith("\n\n" + STAMP) and imports in new[target]


def test_a_type_moves_with_its_methods_and_a_value_out_of_its_group(log: Workspace) -> None:
    new = texts(edited(log, "move Fields to bare.go"))
    assert "resolve" not in new["log.go"] and '"strings"' not in new["log.go"]
    assert "type Fields map[string]string\n\nfunc (f Fields) resolve" in new["bare.go"]
    assert texts(edited(log, "move width to bare.go"))["bare.go"].endswith("\n\nconst width  = 3\n")


def test_a_new_file_gets_the_package(log: Workspace) -> None:
    new = texts(edited(log, "move stamp from log.go to a new file stamps.go"))
    assert new["stamps.go"] == f'package log\n\nimport (\n\t"time"\n)\n\n{STAMP}'


@pytest.mark.parametrize(
    "task",
    [
        "move stamp from log.go to clash.go",
        "move stamp from log.go to unix.go",
        "move stamp from log.go to log_test.go",
        "move stamp from log.go to other/other.go",
        "move high from log.go to bare.go",
    ],
)
def test_what_would_mean_something_else_there_stays(log: Workspace, task: str) -> None:
    assert exact_edit(task, log) is None


def test_a_missing_file_is_said(log: Workspace) -> None:
    with pytest.raises(GenerationFailed, match=r"gone\.go"):
        exact_edit("move stamp from log.go to gone.go", log)


def test_an_alias_is_deleted_with_its_comment(tmp_path: Path) -> None:
    text = "package log\n\n// Old is gone.\ntype Old = fresh\n\ntype fresh struct{}\n"
    box = workspace_of(tmp_path, {"a.go": text})
    assert texts(edited(box, "remove the alias Old from a.go")) == {"a.go": "package log\n\ntype fresh struct{}\n"}
