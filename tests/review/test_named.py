"""What a review says of everything it looks at: what the author silenced, what it can't review, and equal lines."""

import json
from pathlib import Path

import pytest
from support.git_server import commit, git
from support.index_case import build_index, settings

from repopilot import trace
from repopilot.agents.review.agent import report_json, report_markdown, report_sarif, review_snapshot
from repopilot.forge.review_comments import plan
from repopilot.repo.history import commit_range
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.results import ReviewReport
from repopilot.workspace import Workspace

FAULT = "import subprocess\n\n\ndef f(x):\n    subprocess.call(x, shell=True)\n"
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": [*FAULT.splitlines(keepends=True), "f\n"]},
    ],
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


async def reviewed(folder: Path, tmp_path: Path, written: str | None, paths: tuple[str, ...] = ()) -> ReviewReport:
    conf = settings(tmp_path / "home")
    snapshot = open_source(parse_source(str(folder)), conf)
    space = Workspace(snapshot, build_index(snapshot, conf), conf)
    async with trace.root(lambda event: None, "review") as step:
        return await review_snapshot(space, step, commit_range(written) if written else None, paths)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    commit(tmp_path / "work", {"a.py": "x = 1\n"}, "first")
    return tmp_path / "work"


@pytest.mark.slow
async def test_a_finding_that_the_author_silences_is_named(work: Path, tmp_path: Path) -> None:
    text = (
        FAULT.replace("shell=True)", "shell=True)  # nosec")
        + "import os  # noqa: E402, F401\ny: int = ''  # type: ignore\n"
    )
    commit(work, {"a.py": text, "b.ts": "// @ts-ignore\nlet x: number = '';\n"}, "second")
    report = await reviewed(work, tmp_path, "HEAD~1..HEAD")
    silenced = {(f.path, f.line, f.rule) for f in report.silenced}
    assert {
        ("a.py", 5, "B602"),
        ("a.py", 6, "F401"),
        ("a.py", 7, "type: ignore"),
        ("b.ts", 1, "@ts-ignore"),
    } <= silenced
    assert not silenced & {(f.path, f.line, f.rule) for f in report.findings}
    note = next(note for note in report.notes if "Silenced by the author" in note)
    assert "`a.py`:5 (B602)" in note and "`a.py`:6 (F401)" in note and note in report_markdown(report)
    assert ("a.py", 5) in {(f["path"], f["line"]) for f in report_json(report)["silenced"]}
    results = report_sarif(report)["runs"][0]["results"]
    assert {r["ruleId"] for r in results if r.get("suppressions") == [{"kind": "inSource"}]} >= {"B602", "F401"}
    later = commit(work, {"c.py": "z = 1\n"}, "third")
    assert not (await reviewed(work, tmp_path, f"HEAD~1..{later}")).silenced


@pytest.mark.slow
async def test_two_equal_lines_are_two_findings_everywhere(work: Path, tmp_path: Path) -> None:
    commit(work, {"a.py": FAULT + FAULT.partition("\n\n\n")[2].replace("def f", "\n\ndef g")}, "second")
    report = await reviewed(work, tmp_path, "HEAD~1..HEAD")
    lines = [f.line for f in report.findings if f.rule == "B602"]
    assert len(lines) == 2
    posted = plan(report, {"a.py": range(1, 20)}, ())
    assert [f.line for f, _ in posted.new if f.rule == "B602"] == lines
    results = report_sarif(report)["runs"][0]["results"]
    prints = [r["partialFingerprints"]["repopilot/v1"] for r in results]
    assert len(set(prints)) == len(prints)


@pytest.mark.slow
async def test_python_by_any_name_is_reviewed_and_the_rest_is_named(work: Path, tmp_path: Path) -> None:
    node = "#!/usr/bin/env -S node --trace\nconst x = eval(process.argv[2]);\n"
    files = {
        "w.pyw": FAULT,
        "n.ipynb": json.dumps(NOTEBOOK, indent=1),
        "bin/tool": f"#!/usr/bin/python3.11 -u\n{FAULT}",
        "bin/run": node,
        "bin/go": "#!/bin/sh\necho hi\n",
        "README.md": "# Hi\n",
        "data.weird": "1 2 3\n",
        "p.png": b"\x89PNG\0\0",
        "empty.xyz": "",
    }
    commit(work, files, "second")
    for written, paths in (("HEAD~1..HEAD", ()), (None, ()), (None, ("bin",))):
        report = await reviewed(work, tmp_path, written, paths)
        shell = {f.path: f for f in report.findings if f.rule in ("B602", "shell-injection")}
        wanted = {"w.pyw", "n.ipynb", "bin/tool"} if not paths else {"bin/tool"}
        assert wanted <= set(shell), written
        assert "eval" in {f.rule for f in report.findings if f.path == "bin/run"}
        said = " ".join(report.notes)
        assert "`bin/go`" in said
        if not paths:
            assert all(f"`{name}`" in said for name in ("README.md", "data.weird", "p.png", "empty.xyz"))
            assert "Cell 2, line 5:" in shell["n.ipynb"].message
            assert not [f for f in report.findings if f.path == "n.ipynb" and f.rule == "B018"]
            posted = plan(report, {"n.ipynb": range(1, 99)}, ())
            assert "n.ipynb" in {f.path for f in posted.outside} and not posted.new
    git(work, "status")
