"""The review as a whole: what it looks at, what it reports, and what happens when a part is missing."""

import json
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace

import pytest
from support.git_server import GitServer, commit, git, publish, serve
from support.index_case import build_index
from support.scripted_models import scripted_model
from support.trace_outline import outline

from repopilot import trace
from repopilot.agents.review.agent import (
    report_json,
    report_markdown,
    report_sarif,
    review,
    review_changes,
    review_snapshot,
)
from repopilot.errors import SourceError, UsageError
from repopilot.repo.history import CommitRange
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.results import ReviewReport, Turn
from repopilot.sandbox import linter_runs
from repopilot.settings import Settings
from repopilot.types import FileChange
from repopilot.ui.answer.parts.report_props import review_summary
from repopilot.workspace import Workspace

pytestmark = pytest.mark.slow

BEFORE = {
    "pkg/db.py": 'def find(cursor, name):\n    return cursor.execute("SELECT 1 FROM t WHERE n = ?", (name,))\n\n\n'
                 "def old(items=[]):\n    return items\n",
    "pkg/use.py": "from pkg.db import find\n\n\ndef names(cursor):\n    return find(cursor, 'x')\n",
    "pkg/gone.py": "x = 1\n",
    "web/app.js": "export function ok() {\n  return 1;\n}\n",
}  # fmt: skip
AFTER = {
    "pkg/db.py": "def find(cursor, name):\n    return cursor.execute(f\"SELECT 1 FROM t WHERE n = '{name}'\")\n\n\n"
                 "def old(items=[]):\n    return items\n",
    "pkg/use.py": "def names(cursor):\n    return find(cursor, 'x')\n",
    "pkg/gone.py": None,
    "web/app.js": "export function ok(a) {\n  try { eval(a) } catch (e) { }\n  return 1;\n}\n",
    ".env": "TOKEN=abc\n",
    "logo.png": b"\x89PNG\0",
}  # fmt: skip
KEYS = ["path", "line", "severity", "domain", "rule", "message", "source", "quote", "failure", "proof"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    commit(work := tmp_path_factory.mktemp("made"), BEFORE, "before")
    commit(work, AFTER, "after")
    return work


@pytest.fixture
def work(tmp_path: Path, made: Path) -> Path:
    return Path(copytree(made, tmp_path / "work"))


def options(tmp_path: Path) -> Settings:
    return Settings(_env_file=None, home=tmp_path / "home", allow_http=True, allow_private_hosts=True, workers=1,
                    dense=False, history_commits=0)  # type: ignore[call-arg]  # fmt: skip


def workspace(source: str, tmp_path: Path, **more) -> Workspace:
    settings = options(tmp_path)
    snapshot = open_source(parse_source(source), settings)
    return Workspace(snapshot, build_index(snapshot, settings), settings, **more)


async def reported(space: Workspace, *arguments):
    events: list[trace.Event] = []
    async with trace.root(events.append, "review") as step:
        return await review_snapshot(space, step, *arguments), events


async def asked(space: Workspace, question: str):
    events: list[trace.Event] = []
    async with trace.root(events.append, "review") as step:
        return await review(question, space, step), events


async def test_a_diff_reports_what_it_brought_and_nothing_else(work: Path, tmp_path: Path) -> None:
    report, events = await reported(workspace(str(work), tmp_path), CommitRange("HEAD~1", "HEAD"))
    facts = report_json(report)
    places = {(f["path"], f["line"], f["domain"]) for f in facts["findings"]}
    assert {("pkg/db.py", 2, "security"), ("web/app.js", 2, "security"), ("web/app.js", 2, "style"),
            (".env", 1, "security"),
            ("pkg/use.py", 2, "style")} == places  # fmt: skip
    assert facts["pre_existing"] == 1  # the mutable default that was there before
    assert all(list(f) == KEYS for f in facts["findings"])
    assert facts["score"] == max(0, 100 - sum({"critical": 25, "high": 10, "medium": 4, "low": 1}[f["severity"]]
                                              for f in facts["findings"]))  # fmt: skip
    assert next(f for f in facts["findings"] if f["path"] == "pkg/use.py")["rule"] == "F821"
    assert any("logo.png" in note for note in facts["notes"])
    steps = outline(events)
    for name in ("scope", "security", "performance", "style", "bandit", "ruff"):
        assert name in steps


async def test_files_marked_as_generated_are_left_alone_unless_the_change_marks_them(tmp_path: Path) -> None:
    marks, bad = {".gitattributes": "gen/** linguist-generated\n"}, "def f(a={}):\n    return a\n"
    commit(work := tmp_path / "work", marks, "before")
    commit(work, {".gitattributes": "* linguist-generated\n", "gen/a.py": bad, "own.py": bad}, "after")
    space = workspace(str(work), tmp_path)
    report, _ = await reported(space, CommitRange("HEAD~1", "HEAD"))
    assert {f.path for f in report.findings} == {"own.py"}
    assert any("gen/a.py" in note and "gitattributes" in str(note) for note in report_json(report)["notes"])
    assert {path for path in space.index.files if space.index.lexical.role("generated")[_number(space, path)]} == {
        ".gitattributes",
        "gen/a.py",
        "own.py",
    }
    named, _ = await reported(space, None, ["gen/a.py"])
    assert {f.path for f in named.findings} == {"gen/a.py"}


def _number(space: Workspace, path: str) -> int:
    return space.index.lexical.files.index(path)


async def test_uncommitted_work_and_paths(work: Path, tmp_path: Path) -> None:
    (work / "pkg" / "use.py").write_text("import os\n")
    (work / "pkg" / "new.py").write_text("def f(a={}):\n    return a\n")
    space = workspace(str(work), tmp_path)
    report, _ = await reported(space, CommitRange("HEAD"))
    assert {(f.path, f.rule) for f in report.findings} == {("pkg/use.py", "F401"), ("pkg/new.py", "B006")}
    narrow, _ = await reported(space, CommitRange("HEAD"), ["pkg/new.py"])
    assert {f.path for f in narrow.findings} == {"pkg/new.py"}
    whole, _ = await reported(space, None, ["pkg"])
    assert {"pkg/db.py", "pkg/new.py", "pkg/use.py"} == set(whole.reviewed)
    everything, _ = await reported(space)
    assert "web/app.js" in everything.reviewed


async def test_renames_deletions_and_an_empty_diff(work: Path, tmp_path: Path) -> None:
    git(work, "mv", "pkg/db.py", "pkg/store.py")
    commit(work, {}, "renamed")
    space = workspace(str(work), tmp_path)
    report, _ = await reported(space, CommitRange("HEAD~1", "HEAD"))
    assert report.findings == () and report.reviewed == ("pkg/store.py",)
    assert len(report.pre_existing) == 2
    nothing, _ = await reported(space, CommitRange("HEAD", "HEAD"))
    assert "There are no changes to review." in nothing.notes and report_json(nothing)["score"] == 100


async def test_syntax_errors_of_a_change_are_one_finding(work: Path, tmp_path: Path) -> None:
    commit(work, {"pkg/use.py": "def f(:\n  x ==\n((\n"}, "broken")
    report, _ = await reported(workspace(str(work), tmp_path), CommitRange("HEAD~1", "HEAD"))
    assert [(f.rule, f.severity) for f in report.findings] == [("invalid-syntax", "high")]


async def test_files_that_no_rule_covers_are_named(work: Path, tmp_path: Path) -> None:
    commit(work, {"a.lua": "local x = 1\n", "b.lua": "local y = 2\n", "notes.md": "# Notes\n"}, "lua")
    report, _ = await reported(workspace(str(work), tmp_path))
    assert [note for note in report.notes if "No rules" in note] == [
        "No rules for lua: 2 files were not checked: `a.lua`, `b.lua`."
    ]


async def test_unknown_refs_and_paths(work: Path, tmp_path: Path) -> None:
    space = workspace(str(work), tmp_path)
    with pytest.raises(SourceError, match="nope"):
        await reported(space, CommitRange("nope", "HEAD"))
    with pytest.raises(UsageError, match="no file or folder"):
        await reported(space, None, ["nope.py"])


async def test_a_missing_and_a_breaking_analyser_are_said_and_the_others_go_on(work, tmp_path, monkeypatch) -> None:
    find_spec = linter_runs.importlib.util.find_spec
    monkeypatch.setattr(
        linter_runs.importlib.util, "find_spec", lambda name: None if name == "bandit" else find_spec(name)
    )
    monkeypatch.setattr(linter_runs, "sys", SimpleNamespace(executable="/bin/false"))
    report, events = await reported(workspace(str(work), tmp_path), CommitRange("HEAD~1", "HEAD"))
    assert any("bandit" in n and "not installed" in n for n in report.notes)
    assert any("ruff" in n and "failed" in n for n in report.notes)
    assert {"bandit ✗", "ruff ✗"} <= {line.strip() for line in outline(events).splitlines()}
    assert any("was skipped" in d for d in trace.degraded(events))
    assert ("web/app.js", "eval") in {(f.path, f.rule) for f in report.findings}
    assert "Health at most" in report_markdown(report)
    assert "Health at most" in review_summary(report, "en")


async def test_nothing_is_written_into_the_folder(work: Path, tmp_path: Path) -> None:
    space = workspace(str(work), tmp_path)
    before = {p: p.stat().st_mtime_ns for p in work.rglob("*")}
    await reported(space, CommitRange("HEAD~1", "HEAD"))
    assert before == {p: p.stat().st_mtime_ns for p in work.rglob("*")}


async def test_sarif_and_markdown(work: Path, tmp_path: Path) -> None:
    report, _ = await reported(workspace(str(work), tmp_path), CommitRange("HEAD~1", "HEAD"))
    sarif = json.loads(json.dumps(report_sarif(report)))
    (run,) = sarif["runs"]
    assert sarif["version"] == "2.1.0"
    names = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        assert names[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] >= 1
    states = [r["baselineState"] for r in run["results"]]
    assert states.count("new") == len(report.findings) and states.count("unchanged") == len(report.pre_existing)
    text = report_markdown(report)
    assert f"Health {report_json(report)['score']}/100" in text
    assert "### `pkg/db.py`" in text and "SELECT 1" in text and "1 more was there before" in text


async def test_a_pull_request_is_compared_with_where_it_left_the_main_branch(tmp_path: Path) -> None:
    work = tmp_path / "work"
    commit(work, BEFORE, "before")
    git(work, "checkout", "-q", "-b", "topic")
    head = commit(work, {"pkg/use.py": "import os\n"}, "topic")
    git(work, "checkout", "-q", "main")
    commit(work, {"pkg/other.py": "import sys\n"}, "main moves on")
    git(work, "branch", "-D", "topic")
    bare = publish(work, tmp_path / "served")
    git(work, "push", "-q", str(bare), f"{head}:refs/pull/7/head")
    with serve(tmp_path / "served") as server:
        report, _ = await reported(workspace(f"{server.url}/demo.git/pull/7", tmp_path))
        assert {(f.path, f.rule) for f in report.findings} == {("pkg/use.py", "F401")}
        await _through_a_question(server, tmp_path)


async def _through_a_question(server: GitServer, tmp_path: Path) -> None:
    space = workspace(f"{server.url}/demo.git", tmp_path)
    answer, _ = await asked(space, "please review pull request #7")
    assert ("pkg/use.py", "F401") in {(f.path, f.rule) for f in answer.result.findings}


@pytest.mark.parametrize(
    ("question", "reviewed"),
    [
        ("review pkg/db.py", {"pkg/db.py"}),
        ("what is wrong with `app.js`?", {"web/app.js"}),
        ("review the pkg folder", {"pkg/db.py", "pkg/use.py"}),
        ("review HEAD~1..HEAD", {"pkg/db.py", "pkg/use.py", "web/app.js"}),
        ("review the last commit please", {"pkg/db.py", "pkg/use.py", "web/app.js"}),
        ("review the whole project", {"pkg/db.py", "pkg/use.py", "web/app.js"}),
    ],
)
@pytest.mark.sampled(2)
async def test_a_question_says_what_to_review(work: Path, tmp_path: Path, question: str, reviewed: set[str]) -> None:
    answer, events = await asked(workspace(str(work), tmp_path), question)
    report = answer.result
    assert isinstance(report, ReviewReport) and set(report.reviewed) == reviewed
    assert f"Health {report_json(report)['score']}/100" in answer.text
    assert answer.text.endswith(trace.tree(events)[0]["children"][-1]["output"][-40:])


async def test_a_question_without_a_place_is_searched_for(work: Path, tmp_path: Path) -> None:
    answer, _ = await asked(workspace(str(work), tmp_path), "is finding by name in the cursor safe?")
    assert "pkg/db.py" in answer.result.reviewed and "No file or range was named" in answer.text
    assert [c.path for c in answer.citations] and all(c.start_line >= 1 for c in answer.citations)


async def test_generated_code_is_reviewed_by_its_changed_lines(work: Path, tmp_path: Path) -> None:
    space = workspace(str(work), tmp_path)
    old = space.index.text("pkg/use.py") or ""
    new = old + "\n\ndef late():\n    return eval('1')\n"
    import difflib

    diff = "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "a/pkg/use.py", "b/pkg/use.py"))
    changes = (FileChange("pkg/use.py", "modified", diff, new), FileChange("pkg/x.py", "added", "", "import os\n"))
    events: list[trace.Event] = []
    async with trace.root(events.append, "review") as step:
        report = await review_changes(space, step, changes)
    assert {(f.path, f.rule) for f in report.findings} == {("pkg/use.py", "B307"), ("pkg/x.py", "F401")}
    turn = Turn("write it", "done", "GENERATE", changes)
    answer, _ = await asked(Workspace(space.snapshot, space.index, space.settings, turns=(turn,)), "now review it")
    assert set(answer.result.reviewed) == {"pkg/use.py", "pkg/x.py"}


LOOPS = """def totals(orders, session):
    found = []
    for order in orders:
        customer = order.customer
        found.append(customer.account.name)
    return found
"""


async def test_no_model_is_asked(work: Path, tmp_path: Path) -> None:
    asked_for: list[str] = []

    def reply(messages) -> str:
        asked_for.append(str(messages[-1].content))
        return json.dumps("yes")

    commit(work, {"pkg/loops.py": LOOPS + "\n\ndef old(items=[]):\n    return items\n"}, "loops")
    report, _ = await reported(workspace(str(work), tmp_path, model=scripted_model(reply)), None, ["pkg/loops.py"])
    assert "B006" in {f.rule for f in report.findings} and not asked_for


async def test_a_french_question_gets_a_french_report(work: Path, tmp_path: Path) -> None:
    answer, _ = await asked(workspace(str(work), tmp_path), "relis le fichier pkg/db.py et dis-moi ce qui ne va pas")
    assert answer.text.startswith("**Santé ") and "sécurité" in answer.text
    assert "Health" not in answer.text
