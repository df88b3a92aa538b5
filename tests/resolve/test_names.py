"""The resolver with the real server of Python, on repositories and on working copies with edits."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from support.shop_workspace import offline, open_workspace, workspace_of

from repopilot.resolve.names import Resolver
from repopilot.resolve.values import NameSpan
from repopilot.tools.working_copy import WorkingCopy, working_copy

QUEUE = """class Queue:
    def push(self, item):
        return item


class Other:
    def push(self, item):
        return item
"""
RUNNER = """from pkg.queue import Queue


class Runner:
    def __init__(self) -> None:
        self.queue = Queue()

    def run(self, items: "list[Queue]"):
        "push it"  # then push
        found = []
        self.queue.push(found)
        found.insert(0, 1)
        return unknown.push(1)
"""
FILES = {"pkg/__init__.py": "", "pkg/queue.py": QUEUE, "pkg/runner.py": RUNNER}


def places(resolver: Resolver, name: str) -> dict[tuple[str, int], set[tuple[str, int]]]:
    """What each occurrence in code means: (path, line) to (path, line)."""

    def line(span: NameSpan) -> tuple[str, int]:
        return span.path, (resolver.text(span.path) or "")[: span.start].count("\n") + 1

    found = resolver.meanings(name)
    assert resolver.notes == ()
    return {(one.occurrence.span.path, one.occurrence.line): {line(s) for s in one.meaning.inside} for one in found}


@pytest.mark.slow
def test_each_occurrence_means_what_the_server_says(tmp_path: Path) -> None:
    resolver = workspace_of(tmp_path, FILES).resolver
    assert places(resolver, "push") == {
        ("pkg/queue.py", 2): {("pkg/queue.py", 2)},
        ("pkg/queue.py", 7): {("pkg/queue.py", 7)},
        ("pkg/runner.py", 11): {("pkg/queue.py", 2)},
        ("pkg/runner.py", 13): set(),
    }
    kinds = {(found.line, found.kind) for found in resolver.occurrences("push") if found.span.path == "pkg/runner.py"}
    assert kinds == {(9, "text"), (9, "comment"), (11, "code"), (13, "code")}
    [outside] = resolver.meanings("insert")
    assert (outside.meaning.inside, outside.meaning.outside) == (frozenset(), frozenset({"stdlib/builtins.pyi"}))
    assert ("pkg/runner.py", 8) in places(resolver, "Queue"), "an annotation that is written as a text"
    assert resolver.engine("pkg/queue.py") == "ty"


@pytest.mark.slow
def test_what_is_imported_from_nowhere_is_unknown(tmp_path: Path) -> None:
    files = {
        "a.py": "from nowhere import gone, there as here\n\nprint(gone, here)\n",
        "b.py": "def gone(): ...\n",
    }
    resolver = workspace_of(tmp_path, files).resolver
    assert places(resolver, "gone") == {("a.py", 1): set(), ("a.py", 3): set(), ("b.py", 1): {("b.py", 1)}}
    assert places(resolver, "here")["a.py", 3] == {("a.py", 1)}, "it is named here"


@pytest.mark.slow
def test_projects_below_the_top_import_one_another(tmp_path: Path) -> None:
    files = {
        "tests/__init__.py": "",
        "tests/help.py": "def aid(): ...\n",
        "tests/test_a.py": "from tests.help import aid\n",
        "packages/one/pyproject.toml": "[project]\nname = 'one'\n",
        "packages/one/src/one/__init__.py": "def uno(): ...\n",
        "packages/one/tests/__init__.py": "",
        "packages/two/setup.py": "",
        "packages/two/two/__init__.py": "from one import uno\n",
    }
    resolver = workspace_of(tmp_path, files).resolver
    assert places(resolver, "uno")["packages/two/two/__init__.py", 1] == {("packages/one/src/one/__init__.py", 1)}
    assert places(resolver, "aid")["tests/test_a.py", 1] == {("tests/help.py", 1)}


@pytest.mark.slow
def test_uses_are_apart_from_what_only_has_the_name(tmp_path: Path) -> None:
    resolver = workspace_of(tmp_path, FILES).resolver
    start = QUEUE.index("push")
    uses = resolver.uses(NameSpan("pkg/queue.py", start, start + 4), "push")
    assert [(use.span.path, use.line) for use in uses.sure] == [("pkg/runner.py", 11)]
    assert [(use.span.path, use.line) for use in uses.by_name] == [("pkg/runner.py", 13)]
    assert resolver.engine("pkg/queue.py") == "ty"


@pytest.mark.slow
async def test_a_working_copy_is_resolved_as_edited(tmp_path: Path) -> None:
    async with working_copy(workspace_of(tmp_path, FILES)) as copy:
        assert places(copy.resolver, "push")["pkg/runner.py", 11] == {("pkg/queue.py", 2)}
        copy.edit(
            {"pkg/runner.py": "\n" + RUNNER.replace("Queue()", "Other()").replace("import Queue", "import Other")}
        )
        assert places(copy.resolver, "push")["pkg/runner.py", 12] == {("pkg/queue.py", 7)}
        copy.edit(
            {
                "pkg/queue.py": None,
                "pkg/moved.py": QUEUE,
                "pkg/runner.py": "from pkg.moved import Queue\nQueue().push(1)\n",
            }
        )
        assert places(copy.resolver, "push")["pkg/runner.py", 2] == {("pkg/moved.py", 2)}
        assert copy.workspace.resolver is copy.resolver
        assert not copy.resolver.problems(["pkg/runner.py"])["pkg/runner.py"]
        copy.edit({"pkg/runner.py": "from pkg.queue import Queue\n"})
        [problem] = copy.resolver.problems(["pkg/runner.py"])["pkg/runner.py"]
        assert problem.line == 1 and "pkg.queue" in problem.message
        copy.undo(3)
        assert places(copy.resolver, "push")["pkg/runner.py", 11] == {("pkg/queue.py", 2)}


@pytest.mark.slow
async def test_a_name_stands_after_edits_where_a_new_resolver_finds_it(tmp_path: Path) -> None:
    def found(resolver: Resolver) -> list[tuple[NameSpan, str, str]]:
        return [(one.span, one.kind, one.source) for one in resolver.occurrences("push")]

    async with working_copy(workspace_of(tmp_path, {**FILES, "notes.md": "push\n", "a.py": "x = 1\n"})) as copy:
        before = found(copy.resolver)
        edits = (
            {"a.py": "def push(): ...\n"},
            {"pkg/runner.py": None, "pkg/new.py": "# push\n", "pkg/queue.py": f"# moved down\n{QUEUE}"},
            {"notes.md": "no more", "pkg/new.py": None},
        )
        for edit in edits:
            copy.edit(edit)
            tree = tmp_path / f"state{copy.steps}"
            shutil.copytree(copy.root(), tree)
            assert found(copy.resolver) == found(open_workspace(tree, offline(tmp_path / "home2")).resolver)
        copy.undo(len(edits))
        assert found(copy.resolver) == before


@pytest.mark.slow
def test_files_without_a_name_are_not_kept_and_may_change(tmp_path: Path) -> None:
    workspace = workspace_of(tmp_path, {"queue.rb": "def push(item)\nend\n", "notes.md": "nothing\n"})
    resolver, root = workspace.resolver, workspace.snapshot.root
    assert root is not None
    assert {source.path for source in resolver.syntax().sources("push")} == {"queue.rb"}
    found = resolver.occurrences("push")
    (root / "notes.md").write_text("something else\n")
    assert resolver.syntax().sources("unheard") == []
    assert resolver.occurrences("push") is found, "they are looked up again only where a file that was read has changed"


def test_the_syntax_looks_for_a_name_in_files_of_code_alone(tmp_path: Path) -> None:
    files = {"queue.rb": "def push(item)\nend\n", "other.rb": "pushed = 1\n", "notes.md": "push\n", "push": "push\n"}
    resolver = workspace_of(tmp_path, files).resolver
    assert list(resolver.syntax().holding("push")) == ["queue.rb"]
    assert {one.span.path for one in resolver.occurrences("push")} == {"notes.md", "push", "queue.rb"}


@pytest.mark.slow
async def test_positions_are_characters_whatever_the_file_is_written_in(tmp_path: Path) -> None:
    def checked(resolver: Resolver) -> None:
        found = {one.occurrence.span.path: one for one in resolver.meanings("größe") if one.occurrence.line > 1}
        for path in ("astral.py", "marked.py"):
            text = resolver.text(path) or ""
            [target] = found[path].meaning.inside
            assert text[target.start : target.end] == text[slice(*found[path].occurrence.span[1:])] == "größe"

    files = {
        "astral.py": "größe = 1; 𝔘 = '😀'; größe\r\nx = '😀' + str(größe)\r\n",
        "marked.py": b"\xef\xbb\xbf" + "größe = 1\nprint(größe)\n".encode(),
    }
    async with working_copy(workspace_of(tmp_path, {**files, "x.py": ""})) as copy:
        checked(copy.original.resolver)
        copy.edit({"x.py": "größe = 2\n"})
        checked(copy.resolver)


@pytest.mark.slow
def test_a_clone_is_laid_out_and_removed(tmp_path: Path) -> None:
    bare = bare_repository(tmp_path, FILES)
    workspace = open_workspace(bare, offline(tmp_path / "home"))
    assert places(workspace.resolver, "push")["pkg/runner.py", 11] == {("pkg/queue.py", 2)}
    laid_out = workspace.resolver.root
    workspace.lookups.close()
    assert not laid_out.exists()


@pytest.mark.slow
def test_files_that_the_index_skips_are_looked_through_but_no_secret_ones(tmp_path: Path) -> None:
    files = {
        **FILES,
        ".gitignore": "ignored.py\n",
        "ignored.py": "push()\n",
        ".env": "A=push\n",
        "deps/lib.py": "push = 1\n",
        "target/out.txt": "push\n",
        "run": "#!/usr/bin/env python3\nfrom pkg.queue import Queue\nQueue().push(1)\n",
        "page.html.j2": "{{ q.push(1) }}",
        "long.js": "x" * 20_000 + ";push()",
        "logo.png": b"\x89PNG push",
    }
    workspace = workspace_of(tmp_path, files)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "repo", check=True)
    found = {one.span.path: one.kind for one in workspace.resolver.occurrences("push")}
    assert set(found) == {*FILES, "deps/lib.py", "target/out.txt", "run", "page.html.j2", "long.js"} - {
        "pkg/__init__.py"
    }
    assert found["target/out.txt"] == "document" and found["page.html.j2"] == "document"
    assert places(workspace.resolver, "push")["run", 3] == {("pkg/queue.py", 2)}


@pytest.mark.slow
async def test_no_server_is_started_before_a_name_is_looked_up(tmp_path: Path) -> None:
    workspace = workspace_of(tmp_path, FILES)
    async with working_copy(workspace) as copy:
        copy.edit({"pkg/queue.py": QUEUE + "\n"})
        assert isinstance(copy, WorkingCopy) and copy.workspace.index
        assert workspace.lookups.running() == {}
        copy.resolver.meanings("push")
        assert list(workspace.lookups.running()) == ["ty"], "the health line says it"


def bare_repository(tmp_path: Path, files: dict[str, str]) -> Path:
    work, bare = tmp_path / "work", tmp_path / "work.git"
    for path, text in files.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "init", "-q"], cwd=work, check=True)
    subprocess.run([*git, "add", "-A"], cwd=work, check=True)
    subprocess.run([*git, "commit", "-qm", "x"], cwd=work, check=True)
    subprocess.run([*git, "clone", "-q", "--bare", str(work), str(bare)], check=True)
    return bare


@pytest.mark.slow
def test_a_file_that_others_change_is_read_again(tmp_path: Path) -> None:
    resolver = workspace_of(tmp_path, FILES).resolver
    assert places(resolver, "push")["pkg/runner.py", 11] == {("pkg/queue.py", 2)}
    (tmp_path / "repo/pkg/queue.py").write_text("# first\n" + QUEUE)
    assert places(resolver, "push")["pkg/runner.py", 11] == {("pkg/queue.py", 3)}
    (tmp_path / "repo/pkg/queue.py").unlink()
    assert places(resolver, "push")["pkg/runner.py", 11] == set()


@pytest.mark.slow
def test_a_server_that_dies_is_started_again_and_said(tmp_path: Path) -> None:
    resolver = workspace_of(tmp_path, FILES).resolver
    [process] = resolver.at_server("pkg/queue.py", lambda session: [session._client.process]) or [None]
    assert process is not None
    os.killpg(process.pid, signal.SIGKILL)
    found = resolver.meanings("push")
    assert all(one.meaning.known for one in found if one.occurrence.line < 13)


@pytest.mark.slow
def test_names_of_files_are_any(tmp_path: Path) -> None:
    path = "a b#%20/größe?😀 [x]+.py"
    resolver = workspace_of(tmp_path, {path: "def push(): ...\npush()\n", "pkg/c.py": ""}).resolver
    assert places(resolver, "push") == {(path, 1): {(path, 1)}, (path, 2): {(path, 1)}}


@pytest.mark.slow
def test_what_only_this_user_may_read_is_resolved(tmp_path: Path) -> None:
    workspace = workspace_of(tmp_path, FILES)
    (tmp_path / "repo" / "pkg" / "queue.py").chmod(0o600)
    (tmp_path / "repo" / "pkg").chmod(0o700)
    (tmp_path / "repo").chmod(0o700)
    assert places(workspace.resolver, "push")["pkg/runner.py", 11] == {("pkg/queue.py", 2)}
    assert not workspace.resolver.problems(["pkg/__init__.py"])["pkg/__init__.py"]
    [meant] = [m for m in workspace.resolver.meanings("Queue") if m.occurrence.source.startswith("from")]
    assert meant.meaning.inside


@pytest.mark.slow
def test_names_in_the_cells_of_a_notebook_are_resolved_in_place(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["Call push.\n", "Twice: push"]},
        {
            "cell_type": "code",
            "source": "%matplotlib inline\nfrom pkg.queue import Queue\nq = Queue()\n",
            "outputs": [],
        },
        {
            "cell_type": "code",
            "source": ["x = '\"\\u00e9\\t😀'; q.push(x)\n", "q.push(1)  # push"],
            "outputs": ["push"],
        },
    ]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    resolver = workspace_of(tmp_path, {**FILES, "a.ipynb": text}).resolver
    found = [one for one in resolver.occurrences("push") if one.span.path == "a.ipynb"]
    assert [one.kind for one in found] == ["document", "document", "code", "code", "comment"]
    assert {text[one.span.start : one.span.end] for one in found} == {"push"}
    meant = [one.meaning.inside for one in resolver.meanings("push") if one.occurrence.span.path == "a.ipynb"]
    start = QUEUE.index("push")
    assert meant == [{NameSpan("pkg/queue.py", start, start + 4)}] * 2
    named = [one for one in resolver.meanings("q") if one.occurrence.span.path == "a.ipynb"]
    [target] = {place for one in named for place in one.meaning.inside}
    assert target.path == "a.ipynb" and text[target.start : target.end] == "q"
    assert resolver.problems(["a.ipynb"]) == {"a.ipynb": []}
    wrong = text.replace("Queue()", "Quexe()")
    (tmp_path / "repo" / "a.ipynb").write_text(wrong)
    [problem] = resolver.problems(["a.ipynb"])["a.ipynb"]
    assert "Quexe" in wrong.split("\n")[problem.line - 1]


@pytest.mark.slow
def test_declaration_and_definition_of_c_are_one(tmp_path: Path) -> None:
    files = {
        "shape.h": "int area(int w, int h);\n",
        "shape.c": '#include "shape.h"\nint area(int w, int h) { return w * h; }\n',
        "main.c": '#include "shape.h"\nint main(void) { return area(3, 4); }\n',
        "other.c": "static int area(void) { return 1; }\nint other(void) { return area(); }\n",
        ".clangd": "CompileFlags:\n  Add: [-fplugin=./evil.so]\n",
    }
    resolver = workspace_of(tmp_path, files).resolver
    for path in ("shape.h", "shape.c"):
        start = files[path].index("area")
        uses = resolver.uses(NameSpan(path, start, start + 4), "area")
        assert [(use.span.path, use.line) for use in uses.sure] == [("main.c", 2)]
        assert resolver.engine(path) == "clangd" and not uses.by_name
