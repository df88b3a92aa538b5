"""Questions about the project as such, answered by code over real indexes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.index_case import write
from support.shop_workspace import offline, open_workspace

from repopilot import i18n, trace
from repopilot.agents.explain.agent import explain
from repopilot.agents.explain.forms.code_answer import CodeAnswer
from repopilot.agents.explain.forms.dispatch import answer_by_code
from repopilot.agents.explain.forms.project import answerers
from repopilot.agents.explain.forms.project.change_question import asked_about
from repopilot.agents.explain.forms.project.changelog import entries_in, is_changelog
from repopilot.agents.explain.forms.project.command_answers import asked_purpose
from repopilot.agents.explain.forms.project.dependency_question import read_question
from repopilot.agents.explain.forms.project.list_question import asks_for_several
from repopilot.agents.explain.forms.project.tests_answers import asks_for_tests
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.search import search
from repopilot.workspace import Workspace

Ask = Callable[[str], CodeAnswer | None]

FILES = {
    "pyproject.toml": '[project]\nname = "orchard"\nversion = "2.1.0"\nlicense = "MIT"\nrequires-python = ">=3.11"\n'
    'dependencies = [\n    "httpx>=0.27",\n    "watchfiles",\n]\n[project.optional-dependencies]\n'
    'dev = ["pytest>=8"]\n',
    "README.md": "# Orchard\n\nKeeps apples.\n\n## Install\n\n```sh\npip install orchard\n```\n\n"
    "`watchfiles` notices when the settings file changes.\n",
    "CONTRIBUTING.md": "# Contributing\n\nRun the tests before you send a change:\n\n```sh\nmake test\n```\n",
    "Makefile": "test:\n\tpytest -q\n\nlint:\n\truff check .\n",
    "CHANGELOG.md": "# Changes\n\n## Unreleased\n\n* Pears.\n\n## 2.1.0 (2024-05-01)\n\n"
    "* Drop support for Python 3.10.\n\n"
    "## 2.0.0 (2023-01-02)\n\n* Drop support for Python 3.9.\n* Add ripeness levels\n  to every apple.\n",
    "src/orchard/apples.py": 'import httpx\n\n\ndef pick_apple(tree: str) -> str:\n    """Pick an apple."""\n'
    "    return httpx.get(tree).text\n",
    "src/orchard/cli.py": "import argparse\nimport os\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
    "    commands = parser.add_subparsers()\n    pick = commands.add_parser('pick', help='pick apples')\n"
    "    pick.add_argument('-r', '--ripe', help='only those that are ripe')\n    pick.add_argument('--basket')\n"
    "    plant = commands.add_parser('plant')\n    plant.add_argument('--depth', help='of the hole')\n"
    "    plant.add_argument('--colour', default=os.environ.get('ORCHARD_COLOR'))\n"
    "    home = os.getenv('ORCHARD_HOME')\n",
    "src/orchard/ripeness.py": "from enum import Enum\n\n\nclass Ripeness(Enum):\n    GREEN = 0\n    RIPE = 1\n"
    "    ROTTEN = 2\n",
    "src/orchard/web.py": "from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.get('/apples')\n"
    "def apples(): ...\n\n\n"
    "@app.route('/apples/<int:n>', methods=['PUT', 'DELETE'])\ndef apple(n): ...\n",
    "src/orchard/settings.py": "import watchfiles\n\n\ndef reload_settings():\n"
    "    for _ in watchfiles.watch('x'):\n        pass\n",
    "tests/test_apples.py": "from orchard.apples import pick_apple\n\n\ndef test_an_apple_is_picked():\n"
    "    assert pick_apple('t')\n\n\n"
    "def test_symlinked_baskets_are_swapped():\n    assert True\n",
}


def commit(folder: Path, subject: str, when: str, body: str = "") -> None:
    identity = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "HOME": str(folder), "PATH": "/usr/bin:/bin"}
    base = ["git", "-C", str(folder), "-c", "user.name=Ada Apple", "-c", "user.email=ada@example.org"]
    subprocess.run([*base, "add", "-A"], check=True, env=identity)
    subprocess.run([*base, "commit", "-q", "-m", subject, *(["-m", body] if body else [])], check=True, env=identity)


@pytest.fixture(scope="module")
def orchard(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("orchard")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    write(folder, {"README.md": "# Orchard\n"})
    commit(folder, "Start the orchard", "2020-01-01T12:00:00Z")
    write(folder, {path: FILES[path] for path in ("src/orchard/apples.py", "pyproject.toml")})
    commit(folder, "Add picking of apples", "2021-02-03T12:00:00Z", "Hands get cold, so a function does it.")
    write(folder, FILES)
    commit(folder, "Watch the settings file", "2022-03-04T12:00:00Z")
    return open_workspace(folder, offline(tmp_path_factory.mktemp("home")))


@pytest.fixture(scope="module")
def ask(orchard: Workspace) -> Ask:
    def asked(question: str) -> CodeAnswer | None:
        language = parse(question).language
        return answer_by_code(question, search(orchard.index, question, 12), orchard, language)

    return asked


def cited(answer: CodeAnswer) -> list[tuple[str, int]]:
    assert [place.number for place in answer.places] == list(range(1, len(answer.places) + 1))
    assert all(f"[{place.number}]" in answer.text for place in answer.places)
    return [(place.path, place.start_line) for place in answer.places]


def test_all_dependencies_are_listed_with_their_lines(ask: Ask) -> None:
    found = ask("Which dependencies does this project have?")
    assert found is not None and found.sure and found.left_out == 0
    assert all(name in found.text for name in ("`httpx` >=0.27", "`watchfiles`", "`pytest` >=8"))
    assert cited(found) == [("pyproject.toml", 7), ("pyproject.toml", 8), ("pyproject.toml", 11)]


@pytest.mark.parametrize(
    "question",
    [
        "Which third-party library notices changes of the settings file?",
        "Quelle bibliothèque tierce surveille les réglages ?",
    ],
)
def test_the_dependency_that_serves_a_purpose(ask: Ask, question: str) -> None:
    found = ask(question)
    assert found is not None and "`watchfiles`" in found.text


@pytest.mark.parametrize(
    ("question", "text", "place"),
    [
        ("Which Python version is required?", ">=3.11", ("pyproject.toml", 5)),
        ("Quelle version de Python faut-il ?", ">=3.11", ("pyproject.toml", 5)),
        ("What version of httpx is needed?", ">=0.27", ("pyproject.toml", 7)),
        ("What is the current version of this project?", "2.1.0", ("pyproject.toml", 3)),
        ("Under which licence is it published?", "MIT", ("pyproject.toml", 4)),
        ("How do I run the tests?", "make test", ("CONTRIBUTING.md", 6)),
        ("Comment lancer les tests ?", "make test", ("CONTRIBUTING.md", 6)),
        ("How do I install this project?", "pip install orchard", ("README.md", 8)),
        ("Which tests cover `pick_apple`?", "test_an_apple_is_picked", ("tests/test_apples.py", 4)),
        (
            "Is there a test about swapped symlinks of baskets?",
            "test_symlinked_baskets_are_swapped",
            ("tests/test_apples.py", 8),
        ),
        ("In which release was Python 3.9 support dropped?", "**2.0.0** (2023-01-02)", ("CHANGELOG.md", 11)),
        ("Dans quelle version les niveaux de ripeness ont-ils été ajoutés ?", "**2.0.0**", ("CHANGELOG.md", 11)),
    ],
)
def test_an_answer_and_the_place_it_cites(ask: Ask, question: str, text: str, place: tuple[str, int]) -> None:
    found = ask(question)
    assert found is not None and text in found.text
    assert place in cited(found)


@pytest.mark.parametrize(
    ("question", "names", "others"),
    [
        ("Which options does `pick` take?", ["--ripe", "-r", "--basket"], ["--depth"]),
        ("Quelles options prend la commande plant ?", ["--depth", "--colour"], ["--ripe"]),
        ("Which subcommands are there?", ["pick", "plant"], ["--ripe"]),
        ("Which environment variables are read?", ["ORCHARD_HOME", "ORCHARD_COLOR"], []),
        ("Quelles variables d'environnement sont lues ?", ["ORCHARD_HOME", "ORCHARD_COLOR"], []),
        ("Which routes are there?", ["/apples", "PUT", "DELETE", "/apples/<int:n>"], []),
        ("Which levels of ripeness are there?", ["GREEN", "RIPE", "ROTTEN"], []),
        ("Which option is about the hole?", ["--depth"], ["--ripe"]),
    ],
)
def test_a_list_is_complete(ask: Ask, question: str, names: list[str], others: list[str]) -> None:
    found = ask(question)
    assert found is not None and found.form == "list" and found.left_out == 0
    assert all(f"`{name}`" in found.text for name in names)
    assert not any(f"`{name}`" in found.text for name in others)
    assert cited(found)


@pytest.mark.parametrize(
    ("files", "question", "text"),
    [
        ({"go.mod": "module example.org/x\n\ngo 1.23\n"}, "How do I run the tests?", "go test ./..."),
        ({"Cargo.toml": '[package]\nname = "x"\nversion = "1.0"\n'}, "Comment lancer les tests ?", "cargo test"),
    ],
)
def test_where_no_file_names_a_command_the_usual_one_is_unsure(
    tmp_path: Path, files: dict[str, str], question: str, text: str
) -> None:
    workspace = open_workspace(write(tmp_path / "x", files), offline(tmp_path / "home"))
    found = answer_by_code(question, search(workspace.index, question, 12), workspace, parse(question).language)
    assert found is not None and text in found.text and not found.sure


def test_a_command_that_may_not_heed_a_condition_is_unsure(ask: Ask) -> None:
    plain, limited = ask("How do I run the tests?"), ask("How do I run the tests without the network?")
    assert plain is not None and limited is not None
    assert plain.sure and not limited.sure


def test_every_text_of_these_forms_is_in_the_catalogue() -> None:
    folder = Path(answerers.__file__).parent
    used = {
        key
        for path in folder.glob("*.py")
        for key in re.findall(r'"((?:project_)?forms\.[a-z_.]+[a-z_])"', path.read_text())
    }
    known = i18n.section("project_forms", "en")
    missing = [key for key in used if not any(k == key[14:] or k.startswith(f"{key[14:]}.") for k in known)]
    assert used and not missing


def test_when_something_was_added(ask: Ask) -> None:
    found = ask("When was picking of apples added?")
    assert found is not None and found.text.startswith("2021-02-03")
    assert "Hands get cold" in found.text and "2020-01-01" in found.text, "why, and how far the history goes"


def test_who_added_something(ask: Ask) -> None:
    found = ask("Who added picking of apples?")
    assert found is not None and "Ada Apple" in found.text


def test_what_changed_last_in_a_file(ask: Ask) -> None:
    found = ask("What changed last in src/orchard/apples.py?")
    assert found is not None and "Add picking of apples" in found.text and "Watch" not in found.text


@pytest.mark.parametrize(
    "question",
    [
        "How does picking an apple work?",
        "Where are settings read?",
        "When is pick_apple called?",
        "Which module reads the settings?",
        "Who calls pick_apple?",
        "Why is the token compared in constant time?",
        "Which version of the protocol does the handshake use?",
        "",
        "?",
    ],
)
def test_other_questions_are_left_alone(question: str) -> None:
    assert asked_about(question) is None
    assert asked_purpose(question) is None
    assert not asks_for_tests(question)
    found = read_question(question)
    assert found is None or found.asked == "version", "a version of something that no manifest names"


@given(st.text(max_size=300))
def test_any_text_can_be_asked(question: str) -> None:
    asked_about(question), asked_purpose(question, "shop"), asks_for_tests(question), read_question(question)


@given(st.text(alphabet="#*-=1.20 vab()\n", max_size=300))
def test_entries_of_a_change_log_lie_in_it(text: str) -> None:
    last = text.count("\n") + 1
    for entry in entries_in(text):
        assert 1 <= entry.heading <= entry.line <= entry.last_line <= last


def test_change_logs_are_known_by_name() -> None:
    assert all(map(is_changelog, ("CHANGELOG.md", "docs/release-notes.md", "HISTORY.rst", "CHANGES", "NEWS")))
    assert not any(map(is_changelog, ("src/history.py", "docs/news/index.html", "historic.md")))


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("Which header names are refused after the body?", True),
        ("Which columns does the file always have?", True),
        ("What does the program read on its way in? I need the complete list.", True),
        ("Quelles valeurs sont refusées ?", True),
        ("Which class compresses the responses?", False),
        ("Where is the basket emptied?", False),
        ("What happens to unripe apples?", False),
        ("Which process starts the picker?", False),
        ("Which function validates session tokens?", False),
        ("Which helper keeps the password out of messages?", False),
        ("Which helpers keep the password out of messages?", False),
        ("Which media types will it compress?", True),
    ],
)
def test_several_things_are_asked_for(question: str, several: bool) -> None:
    assert asks_for_several(question) is several


async def test_a_list_that_may_be_meant_is_shown_whole_among_the_first_places(tmp_path: Path) -> None:
    filler = "\n".join(f"function crate{n} (apple) {{ return send(apple, {n}) }}" for n in range(60))
    forbidden = ", ".join(f"'{name}'" for name in ("te", "host", "trailer", "set-cookie", "max-forwards"))
    write(
        tmp_path / "r", {"reply.js": f"// header names refused as trailers\nconst DENIED = [{forbidden}]\n\n{filler}\n"}
    )
    workspace = open_workspace(tmp_path / "r", offline(tmp_path / "home"))
    async with trace.root(lambda event: None, "explain") as step:
        done = await explain("Which header names does it refuse to send after the body?", workspace, step)
    first = done.evidence[0]
    assert (first.path, first.symbol) == ("reply.js", "DENIED")
    assert all(name in "\n".join(line for _, line in first.lines) for name in ("te", "host", "trailer", "set-cookie"))
    assert [e.number for e in done.evidence] == list(range(1, len(done.evidence) + 1))


def test_a_list_is_found_by_its_name_where_the_search_finds_other_files(tmp_path: Path) -> None:
    log = "package log\n\n// Log writes to the log.\nfunc Log{n}(log string) string {{\n\treturn log + log\n}}\n"
    files = {f"log{n}/log.go": log.format(n=n) for n in range(14)}
    names = "\n".join(f"\t{name}Level{' Level = iota' * (name == 'Panic')}" for name in ("Panic", "Warn", "Info"))
    write(tmp_path / "r", {**files, "base.go": f"package base\n\ntype Level int\n\nconst (\n{names}\n)\n"})
    workspace = open_workspace(tmp_path / "r", offline(tmp_path / "home"))
    question = "Which log levels exist?"
    results = search(workspace.index, question, 8)
    others = tuple(hit for hit in results.hits if hit.chunk.path != "base.go")
    answer = answer_by_code(question, replace(results, hits=others), workspace, "en")
    assert answer is not None and all(f"`{name}Level`" in answer.text for name in ("Panic", "Warn", "Info"))
