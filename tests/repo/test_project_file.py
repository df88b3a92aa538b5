"""`.repopilot.toml`: what a repository may say, and that it can only narrow."""

import pytest
from support import git_server
from support.shop_workspace import open_workspace

from repopilot import i18n, trace
from repopilot.agents.conventions import Conventions
from repopilot.agents.overview.compute import overview_of
from repopilot.agents.overview.render import overview_markdown
from repopilot.agents.review.agent import review_snapshot
from repopilot.repo.history import commit_range
from repopilot.repo.project_file import NAME, ProjectOptions, fits, project_file, project_options
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.repo.walk import walk
from repopilot.retrieval.search import search
from repopilot.settings import Settings

FILES = {
    "src/core/retry.py": "def retry(times):\n    return times\n",
    "src/other/retry.py": "def retry(times):\n    return times\n",
    "legacy/old.py": "def old():\n    return eval(input())\n",
    "app.py": "def run(text, found=[]):\n    return eval(text)\n",
    ".env": "PASSWORD=hunter2hunter2\n",
}


def settings(tmp_path):
    return Settings(home=tmp_path / "home", ollama_url="", embedded=False, dense=False)


def snapshot(tmp_path, text, **more):
    git_server.commit(tmp_path / "shop", {**FILES, **more, NAME: text})
    return open_source(parse_source(str(tmp_path / "shop")), settings(tmp_path))


def workspace(tmp_path, text, **more):
    snapshot(tmp_path, text, **more)
    return open_workspace(tmp_path / "shop", settings(tmp_path))


async def reviewed(space, *arguments):
    async with trace.root(lambda event: None, "review") as step:
        return await review_snapshot(space, step, *arguments)


@pytest.mark.slow
def test_paths_are_left_out_and_put_first_and_no_secret_comes_back(tmp_path):
    text = 'exclude = ["legacy/", "!.env", "*.toml"]\nfirst = ["src/other/", ".env"]\n'
    files, skips = walk(snapshot(tmp_path, text), settings(tmp_path))
    paths = [file.path for file in files]
    assert paths[0] == "src/other/retry.py" and NAME in paths and not {".env", "legacy/old.py"} & set(paths)
    assert "left out by .repopilot.toml" in {s.path: s.reason for s in skips}["legacy/old.py"]


@pytest.mark.slow
@pytest.mark.parametrize(("exclude", "said"), [('"*"', True), ('"src/", "legacy/", "app.py"', True), ('"*.md"', False)])
def test_a_file_that_leaves_no_code_is_said_with_the_overview_and_each_answer(tmp_path, exclude, said):
    space = workspace(tmp_path, f"exclude = [{exclude}]\n")
    note = i18n.joined(space.index.notes)
    assert ("`.repopilot.toml`" in note and "leaves out" in note and "no code remains" in note) == said
    assert "only documents" not in note
    text = overview_markdown(overview_of(space.index), "en")
    assert "\n; " not in text and (" in 1 file." in text) == said


@pytest.mark.slow
@pytest.mark.parametrize("first", ["core", "other"])
def test_of_equal_places_those_put_first_come_first(tmp_path, first):
    space = workspace(tmp_path, f'first = ["src/{first}/"]\n')
    hits = search(space.index, "retry times", 5).hits
    assert hits[0].chunk.path == f"src/{first}/retry.py" and hits[0].why["file: put first"] == 1.0


@pytest.mark.slow
def test_instructions_are_told_as_a_convention(tmp_path):
    text = 'instructions = "Log with structlog."\ntest_command = "make unit"\n'
    space = workspace(tmp_path, text, **{"AGENTS.md": "Use tabs.\n"})
    told = Conventions(space.index, "", 500, lambda text: len(text.split())).of("")
    assert told.index("Log with structlog.") < told.index("run with: make unit") < told.index("Use tabs.")


@pytest.mark.slow
async def test_a_review_reports_what_the_repository_wants_and_says_what_it_leaves_out(tmp_path):
    before = await reviewed(workspace(tmp_path / "a", ""))
    rules = {finding.rule for finding in before.findings if finding.path == "app.py"}
    assert len(rules) > 1
    off = sorted(rules)[0]
    text = f'[review]\noff = ["{off}"]\npaths = ["app.py"]\n'
    after = await reviewed(workspace(tmp_path / "b", text))
    assert {finding.rule for finding in after.findings} == rules - {off}
    said = " ".join(after.notes)
    assert f"({off})" in said and "keeps 1 finding out" in said
    assert "legacy/old.py" in said and "legacy/old.py" not in after.reviewed
    severe = await reviewed(workspace(tmp_path / "c", '[review]\nleast_severity = "critical"\n'))
    assert {finding.severity for finding in severe.findings} == {"critical"} and "keeps" in " ".join(severe.notes)


@pytest.mark.slow
async def test_a_change_does_not_turn_off_its_own_review_and_nobody_turns_off_secrets(tmp_path):
    key = "AKIA" + "IOSFODNN7ABCDEFG"
    snapshot(tmp_path, '[review]\noff = ["secret-aws"]\nleast_severity = "critical"\n')
    own = {NAME: '[review]\npaths = ["nowhere/"]\n', "new.py": f'KEY = "{key}"\nVALUE = eval(input())\n'}
    git_server.commit(tmp_path / "shop", own, "own")
    report = await reviewed(open_workspace(tmp_path / "shop", settings(tmp_path)), commit_range("HEAD~1..HEAD"))
    assert "new.py" in report.reviewed and any(f.source == "secrets" for f in report.findings)


@pytest.mark.slow
@pytest.mark.parametrize("text", ['exclude = ["legacy/"]\n', '[review]\npaths = ["app.py"]\n'])
async def test_of_files_that_a_repository_leaves_out_a_change_has_its_secrets_reported_alone(tmp_path, text):
    snapshot(tmp_path, text)
    code = f'KEY = "AKIA{"IOSFODNN7ABCDEFG"}"\nVALUE = eval(input())\n'
    git_server.commit(tmp_path / "shop", {"legacy/new.py": code, "app.py": "VALUE = eval(input())\n"}, "more")
    report = await reviewed(open_workspace(tmp_path / "shop", settings(tmp_path)), commit_range("HEAD~1..HEAD"))
    assert {(f.path, f.source == "secrets") for f in report.findings} == {("legacy/new.py", True), ("app.py", False)}
    assert report.reviewed == ("app.py",) and any("legacy/new.py" in note for note in report.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exclude = [", "end of document"),
        ("\0\1binary", "Invalid"),
        ("x = 1\n" * 1_700_000, "larger than 64 KB"),
        ("a = " + "[" * 30_000, ""),
        (".".join(["a"] * 30_000) + " = 1", "more than 100 parts"),
        ('allow_network = true\n[sandbox]\nlevel = "limits"\n', "allow_network: Extra inputs are not permitted"),
        ('exclude = "legacy/"', "exclude: Input should be a valid tuple"),
        ("exclude = [" + '"a",' * 60 + "]", "exclude: Tuple should have at most 50 items"),
        ('exclude = ["{a,b}{a,b}{a,b}"]', "no braces"),
        ('exclude = ["**/a/**/b/**/c"]', "at most 2 times"),
        ('[review]\nleast_severity = "none"', "review.least_severity"),
        (f'instructions = "{"x" * 9_000}"', "instructions"),
    ],
)
def test_a_file_that_can_not_be_used_changes_nothing_and_is_said(tmp_path, text, said):
    found = project_file(snapshot(tmp_path, text))
    assert found.options == ProjectOptions() and NAME in found.note and said in found.note
    assert "legacy/old.py" in {file.path for file in walk(snapshot(tmp_path, text), settings(tmp_path))[0]}
    assert found.note in open_workspace(tmp_path / "shop", settings(tmp_path)).index.notes


def test_links_out_and_no_file_are_the_defaults(tmp_path):
    shot = snapshot(tmp_path, "")
    (tmp_path / "outside.toml").write_text('exclude = ["legacy/"]')
    (tmp_path / "shop" / NAME).unlink()
    assert project_file(shot) == project_options(None)
    (tmp_path / "shop" / NAME).symlink_to(tmp_path / "outside.toml")
    assert project_file(shot).options == ProjectOptions()


@pytest.mark.slow
def test_no_pattern_takes_long():
    options = project_options("exclude = [" + ", ".join(f'"**/{"*a" * n}*b"' for n in range(1, 50)) + "]").options
    assert options.exclude and not fits("x/" + "a" * 250, options.exclude), "matchers that try all ways take years"
