"""Answers computed from the index: relations, commands, dependencies and history."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.index_case import write
from support.shop_workspace import offline, open_workspace, traced

from repopilot.agents.explain.agent import explain
from repopilot.agents.explain.forms.code_answer import CodeAnswer
from repopilot.agents.explain.forms.dispatch import answer_by_code
from repopilot.agents.explain.forms.recognise import recognise
from repopilot.agents.impact.question import read_request
from repopilot.agents.overview.compute import overview_of
from repopilot.project.project_commands import Purpose
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.search import search
from repopilot.workspace import Workspace

Ask = Callable[[str], CodeAnswer | None]
FILES = {
    "pyproject.toml": '[project]\nname = "orchard"\nversion = "2.1.0"\nlicense = "MIT"\nrequires-python = ">=3.11"\n'
    'dependencies = [\n    "httpx>=0.27",\n    "watchfiles",\n]\n',
    "README.md": "# Orchard\n\n## Install\n\n```sh\npip install orchard\n```\n\n"
    "`watchfiles` notices when the settings file changes.\n",
    "docs/README.md": "# About\n\nOf apples.\n",
    "Makefile": "test:\n\tpytest\n",
    "CONTRIBUTING.md": "# Contributing\n\nRun the tests before you send a change:\n\n```sh\nmake test\n```\n",
    "orchard/apples.py": 'import httpx\n\nMAX_APPLES = 12\n\n\nclass Fruit:\n    """Grows."""\n\n\n'
    "class Apple(Fruit):\n"
    '    """Grows on trees."""\n\n    def pick(self, ripe=True, wait=30):\n        return pick_apple(self)\n\n\n'
    "def pick_apple(tree):\n    return httpx.get(tree).text\n",
    "orchard/settings.py": "import watchfiles\n\n\ndef reload_settings():\n"
    "    for _ in watchfiles.watch('x'):\n        pass\n",
    "tests/test_apples.py": "from orchard.apples import pick_apple\n\n\ndef test_an_apple_is_picked():\n"
    "    assert pick_apple('t')\n",
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
    write(folder, {path: FILES[path] for path in ("orchard/apples.py", "pyproject.toml")})
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


@pytest.mark.parametrize(
    ("question", "form", "told"),
    [
        ("what calls `pick_apple`?", "callers", "`Apple.pick`"),
        ("qui appelle pick_apple ?", "callers", "`Apple.pick`"),
        ("where is pick_apple called?", "callers", "One more is in tests"),
        ("what does Apple.pick call?", "callees", "`pick_apple`"),
        ("which functions are called by `pick`?", "callees", "`pick_apple`"),
        ("Which classes inherit from Fruit?", "subclasses", "`Apple`"),
        ("what is the base class of Apple?", "bases", "`Fruit`"),
        ("where is pick_apple used?", "references", "`Apple.pick`"),
        ("how do I run the tests?", "run", "`make test`"),
        ("How can I install it?", "run", "`pip install orchard`"),
        ("Which dependencies does it have?", "dependency", "`watchfiles`"),
        ("Which Python version is required?", "version", ">=3.11"),
        ("Under which licence is it?", "licence", "MIT"),
        ("who wrote orchard/settings.py?", "history", "2022-03-04"),
        ("who wrote settings.py?", "history", "Ada Apple"),
        ("Why was `pick_apple` changed?", "reason", "Add picking of apples"),
        ("why was `README.md` changed?", "reason", "`README.md` was changed by 2 commits"),
        ("When was `pick_apple` added?", "history", "Add picking of apples"),
        ("when was the picking of apples introduced?", "history", "2021-02-03"),
    ],
)
def test_a_question_is_answered_from_the_index(ask: Ask, question: str, form: str, told: str) -> None:
    answer = ask(question)
    assert answer is not None and answer.form == form
    assert told in answer.text
    assert all(f"[{place.number}]" in answer.text for place in answer.places)


@pytest.mark.parametrize(
    "question",
    [
        "How does the orchard notice changes?",
        "why does the picker wait?",
        "what calls nothing_like_it?",
        "what is the value of an apple to a hungry person on a cold day in the mountains?",
        "is there a cache?",
        "what breaks if I change Apple.command.run?",
        "How does an Apple pick with httpx before it is installed?",
    ],
)
def test_what_no_key_word_tells_is_left_to_the_evidence(ask: Ask, question: str) -> None:
    assert ask(question) is None


@pytest.mark.slow
@given(st.text(max_size=120))
def test_any_text_has_a_form_or_none(text: str) -> None:
    form = recognise(text, lambda name, coded: name.startswith("a"))
    assert form is None or all(name.startswith("a") for name in form.names)


@pytest.mark.slow
def test_a_list_names_all_there_are_or_says_how_many_it_leaves_out(tmp_path: Path) -> None:
    files = {"shop/prices.py": "def price_of(article):\n    return 1\n"}
    for count, among in ((3, ()), (40, ("not listed",))):
        calls = {
            f"shop/m{n}.py": f"from shop.prices import price_of\n\n\ndef total_{n}():\n    return price_of({n})\n"
            for n in range(count)
        }
        unclear = {"shop/any.py": "def of_anything(thing):\n    return thing.price_of(1)\n"}
        folder = tmp_path / str(count)
        workspace = open_workspace(write(folder / "shop", {**files, **calls, **unclear}), offline(folder / "home"))
        question = "what calls `price_of`?"
        found = answer_by_code(question, search(workspace.index, question, 12), workspace, "en")
        assert found is not None
        named = sum(f"`{name}`" in found.text for name in ["of_anything", *(f"total_{n}" for n in range(count))])
        left_out = re.search(r"(\d+) more (?:is|are) not listed", found.text)
        assert named + int(left_out[1] if left_out else 0) == count + 1, found.text
        assert all(text in found.text for text in among)


@pytest.mark.slow
def test_every_package_of_a_repository_is_told_how_it_is_tested(tmp_path: Path) -> None:
    packages = {
        "packages/api/pyproject.toml": '[project]\nname = "api"\n',
        "packages/api/src/api/prices.py": "def price():\n    return 1\n",
        "packages/api/tests/test_prices.py": "def test_price():\n    assert True\n",
        "packages/web/package.json": '{"name": "web", "scripts": {"test": "vitest run"}}',
    }
    workspace = open_workspace(write(tmp_path / "shop", packages), offline(tmp_path / "home"))
    question = "how do I run the tests?"
    found = answer_by_code(question, search(workspace.index, question, 5), workspace, "en")
    assert (
        found is not None
        and "`cd packages/web && npm test`" in found.text
        and "`cd packages/api && pytest`" in found.text
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "purpose"), [("how do I run the tests?", "test"), ("How do I install it?", "install")]
)
def test_the_chat_names_the_command_that_the_overview_names(tmp_path: Path, question: str, purpose: Purpose) -> None:
    files = {
        "README.md": "# Till\n\nTested with `pytest`.\n\n```\napt install cmake\npip install till\n```\n",
        "pyproject.toml": '[project]\nname = "till"\n',
        "till.py": "def total():\n    return 1\n",
        "docs/Makefile": "test:\n\tsphinx-build -b doctest\n",
    }
    workspace = open_workspace(write(tmp_path / "till", files), offline(tmp_path / "home"))
    found = answer_by_code(question, search(workspace.index, question, 5), workspace, "en")
    command = overview_of(workspace.index).commands[purpose]
    assert found is not None and f"with `{command.command}` [1]" in found.text
    assert command.command == {"test": "pytest", "install": "pip install till"}[purpose]


@pytest.mark.slow
def test_a_file_that_says_how_code_is_built_is_not_what_a_command_is_asked_of(tmp_path):
    files = {
        "go.mod": "module example.org/hey\n\ngo 1.20\n",
        "main.go": "package main\n\nfunc main() {\n}\n",
        "Dockerfile": "# Build it from source\nFROM golang AS build\nRUN go mod download\nRUN go build -o /bin/hey .\n",
    }
    workspace = open_workspace(write(tmp_path / "hey", files), offline(tmp_path / "home"))
    question = "How do I build it from source?"
    results = search(workspace.index, "FROM golang, go mod download", 5)
    assert results.hits[0].chunk.path == "Dockerfile"
    found = answer_by_code(question, results, workspace, "en")
    assert found is not None and "`go build ./...`" in found.text


@pytest.mark.parametrize(
    "stack",
    [
        'Traceback (most recent call last):\n  File "/srv/orchard/apples.py", line 18, in pick_apple\nTypeError: bad',
        "> /srv/orchard/apples.py(18)pick_apple()\n-> return httpx.get(tree).text\n(Pdb)",
        "orchard/apples.py in pick_apple at line 18\nTypeError: bad",
        "tests/test_apples.py:5: TypeError",
        "panic: bad\n\ngoroutine 1 [running]:\nmain.pick_apple(0x1)\n\t/srv/orchard/apples.py:18 +0x1d",
    ],
)
async def test_a_pasted_stack_finds_its_place(orchard: Workspace, ask: Ask, stack: str) -> None:
    assert ask(stack) is None, "its words ask for no callers"
    answer, _, _ = await traced(lambda step: explain(stack, orchard, step))
    assert answer.evidence[0].path in ("orchard/apples.py", "tests/test_apples.py")
    assert answer.result.lead.startswith("Best match")


@pytest.mark.slow
@pytest.mark.parametrize("question", ["which version of httpx is required{}?", "what does `{}` break if it changes?"])
def test_a_long_run_of_signs_takes_no_time(orchard: Workspace, ask: Ask, question: str) -> None:
    text = question.format("." * 100_000)
    assert ask(text) is None or "0.27" in ask(text).text
    assert not read_request(text, orchard).diff
