"""Servers of languages: what they may do, and what becomes of one that fails. The server is scripted, all else real."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.language_server import install
from support.shop_workspace import offline, workspace_of
from support.typescript import PINNED

from repopilot.errors import LanguageServerError
from repopilot.sandbox import levels
from repopilot.sandbox.language_servers import fetched
from repopilot.sandbox.language_servers.catalogue import program_of, server_of
from repopilot.sandbox.language_servers.client import LanguageClient
from repopilot.sandbox.language_servers.import_folders import import_settings
from repopilot.sandbox.language_servers.positions import Positions
from repopilot.sandbox.language_servers.session import NO_PACKAGES, LanguageSession, Servers, _edits
from repopilot.sandbox.usage.processes import descendants
from repopilot.types import ImportedPackages, SandboxLevel

CODE = "package p\n\nfunc run() { run() }\n"
Start = Callable[..., LanguageSession]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the scripted server on a folder with one file, which it is shown."""
    started: list[LanguageSession] = []
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "a.go").write_text(CODE)

    def begin(
        behaviour: str = "",
        level: str = "auto",
        memory: int = 300 << 20,
        imported: ImportedPackages = NO_PACKAGES,
        packages: str = "go",
    ) -> LanguageSession:
        server = server_of("go")
        assert server is not None
        program = install(tmp_path / "bin", "gopls", behaviour)
        settings = offline(tmp_path / "home").model_copy(update={"sandbox": level, "allow_weak_sandbox": True})
        patience = (
            6.0 if behaviour in ("hang", "deaf", "mute") else 30.0
        )  # it has to start first, on a busy machine, too
        row = replace(server, patience=patience, memory=memory, packages=packages)
        session = LanguageSession(row, program, tmp_path / "repo", settings, imported)
        started.append(session)
        session.show("a.go", "go", CODE)
        return session

    yield begin
    for session in started:
        session.close()


def asked(session: LanguageSession) -> list[tuple[str, bool, tuple[int, int]]]:
    places = [("a.go", CODE.index("run")), ("a.go", CODE.rindex("run"))]
    return [(target.path, target.inside, target.start) for found in session.definitions(places) for target in found]


def working() -> list[SandboxLevel]:
    found: list[SandboxLevel] = ["bwrap", "landlock", "limits"]
    return [level for level in found if not levels.why_unavailable(level)]


@pytest.mark.slow
def test_it_sees_packages_beside_the_folder(start: Start, tmp_path: Path) -> None:
    modules = tmp_path / "elsewhere" / "node_modules"
    for name in ("a", "@s/b"):
        (modules / name).mkdir(parents=True)
        (modules / name / "index.d.ts").write_text("")
    imported = ImportedPackages((modules,), {"member": ".", "../../etc": "."})
    for level in working():
        seen = [target for target, _, _ in asked(start("packages", level, imported=imported, packages="javascript"))]
        assert seen == (["a/index.d.ts,@s/b/index.d.ts,member/a.go"] * 2 if level == "bwrap" else [""] * 2)


@pytest.mark.slow
def test_it_reads_the_modules_of_go(start: Start, tmp_path: Path) -> None:
    modules = tmp_path / "elsewhere"
    (modules / "example.com").mkdir(parents=True)
    for level in working():
        seen = [target for target, _, _ in asked(start("packages", level, imported=ImportedPackages((modules,))))]
        assert seen == ["example.com"] * 2


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"a.js": "", "b.ts": "", "c.d.ts": ""}, {}),
        (
            {"a.js": "", "lib/b.mjs": "", "c.ts": "", "d.d.ts": ""},
            {"jsconfig.json": {"allowJs": True, "checkJs": True}},
        ),
        (
            {"a.js": "", "tsconfig.json": '{"compilerOptions": {"baseUrl": "src", "strict": true}}'},
            {"tsconfig.json": {"allowJs": True, "checkJs": True, "strict": True, "paths": {"*": ["./src/*"]}}},
        ),
        ({"a.js": "", "dist/b.ts": "", "c.ts": "", "jsconfig.json": "{"}, {}),
    ],
)
def test_javascript_is_checked_where_most_of_the_code_is(tmp_path: Path, files: dict[str, str], told) -> None:
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    found = {path: json.loads(text)["compilerOptions"] for path, text in import_settings(tmp_path).items()}
    assert found.keys() == told.keys()
    assert all(options.items() <= found[path].items() for path, options in told.items()), found


@pytest.mark.slow
def test_it_answers_in_every_level(start: Start) -> None:
    for level in working():
        assert asked(start(level=level)) == [("a.go", True, (2, 5))] * 2


@pytest.mark.slow
def test_it_reads_its_folder_and_reaches_nothing_else(start: Start, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        for level in (found for found in working() if found != "limits"):
            session = start(f"escape {listening.getsockname()[1]} {secret}", level=level)
            assert asked(session)[0][:2] == ("", False), "nothing was possible"
    assert not (tmp_path / "repo" / "written").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ("die", "resolve.ended"),
        ("hang", "resolve.silent"),
        ("deaf", "resolve.silent"),
        ("nonsense", "resolve.nonsense"),
        ("endless", "resolve.nonsense"),
        ("no object", "resolve.nonsense"),
        ("greedy", "resolve.memory"),
    ],
)
def test_one_that_fails_is_ended_and_said(start: Start, behaviour: str, said: str) -> None:
    session = start(behaviour)
    with pytest.raises(LanguageServerError) as failed:
        asked(session)
    assert failed.value.message.key == said  # type: ignore[attr-defined]
    with pytest.raises(LanguageServerError):
        asked(session)
    session.close()


@pytest.mark.slow
def test_one_that_never_gets_ready_is_silent(start: Start) -> None:
    with pytest.raises(LanguageServerError) as failed:
        asked(start("mute"))
    assert failed.value.message.key == "resolve.silent"  # type: ignore[attr-defined]


@pytest.mark.slow
def test_one_that_reads_nothing_holds_up_nobody(start: Start) -> None:
    session = start("deaf")
    questions = [("a.go", CODE.index("run"))] * 200_000
    with pytest.raises(LanguageServerError):
        session.definitions(questions)


@pytest.mark.slow
def test_what_is_no_place_is_no_answer(start: Start) -> None:
    for behaviour in ("odd", "refuse"):
        session = start(behaviour)
        assert asked(session) == []
        assert session.renames("a.go", CODE.index("run"), "go") == []


@pytest.mark.parametrize(
    "answer",
    [
        {"changes": 3, "documentChanges": 7},
        {"documentChanges": [3, {"textDocument": 4}, {"textDocument": {"uri": 5}, "edits": [{"newText": "x"}]}]},
        {"changes": {"file:///a": [{"range": 3, "newText": None}, 4], "file:///b": 5}},
    ],
)
def test_what_is_no_edit_is_none(answer: object) -> None:
    assert [place for place, _ in _edits(answer) if isinstance(place["uri"], str)] == []


@pytest.mark.slow
def test_it_is_told_its_options_and_may_change_nothing(start: Start) -> None:
    assert [path for path, _, _ in asked(start("demanding"))] == ["{'applied': False}[None, None]"] * 2


@pytest.mark.slow
def test_nothing_is_left_of_one_that_is_closed(start: Start, tmp_path: Path) -> None:
    session = start()
    asked(session)
    assert session._client.process is not None
    tree = descendants(session._client.process.pid)
    folder = session._folder
    session.close()
    assert tree
    while any(descendants(pid) for pid in tree):  # the kernel takes a moment; pytest's limit ends it
        time.sleep(0.05)
    assert not folder.exists()


@pytest.mark.slow
def test_several_may_ask_at_once(start: Start) -> None:
    session = start()
    found: list[list[tuple[str, bool, tuple[int, int]]]] = []
    threads = [threading.Thread(target=lambda: found.append(asked(session))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[("a.go", True, (2, 5))] * 2] * 8


def test_a_program_of_the_repository_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = server_of("go")
    assert server is not None
    inside = tmp_path / "repo"
    inside.mkdir()
    program = install(inside / "bin", "gopls")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gopls").symlink_to(program)
    settings = offline(tmp_path / "home")
    for folder in (program.parent, tmp_path / "bin", Path("bin"), Path()):
        monkeypatch.chdir(inside)
        monkeypatch.setenv("PATH", f"{folder}")
        assert program_of(server, inside, settings) is None


def test_a_server_that_can_t_be_started_is_said(tmp_path: Path) -> None:
    def launch() -> None:
        raise LanguageServerError("no room")

    with pytest.raises(LanguageServerError, match="no room"):
        LanguageClient("x", launch, {}).notify("initialized", {})  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_server_that_dies_is_started_once_more_then_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = install(tmp_path / "bin", "gopls", "die")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    resolver = workspace_of(tmp_path, {"go.mod": "module p\n", "a.go": CODE}).resolver
    found = [one.occurrence.line for one in resolver.meanings("run")]
    assert found == [3, 3] and len(resolver.notes) == 1, "a fallback, said"
    install(program.parent, "gopls")
    assert resolver.engine("a.go") == "syntax" and len(resolver.notes) == 1


def test_positions_count_units_of_utf_16_and_no_byte_order_mark() -> None:
    text = "\ufeffa😀b\r\nç\rx"
    positions = Positions(text)
    for offset, place in ((1, (0, 0)), (2, (0, 1)), (3, (0, 3)), (6, (1, 0)), (8, (2, 0)), (9, (2, 1))):
        assert positions.position(offset) == {"line": place[0], "character": place[1]}
        assert positions.offset(*place) == offset
    assert positions.offset(0, 99) == 6 and positions.offset(9, 0) == len(text)


def test_typescript_is_found_among_the_packages_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = server_of("tsx")
    assert server is not None
    settings, repository = offline(tmp_path / "home"), tmp_path / "repo"
    kind = fetched.folders_of(settings, [Path()])[0].parent.name
    for top in (tmp_path / "usr" / "lib", repository / "lib"):
        folder = top / "node_modules" / "typescript" / "node_modules" / "@typescript" / kind / "lib"
        folder.parent.mkdir(parents=True)
        install(folder, "tsc")
    monkeypatch.setenv("PATH", f"{repository / 'bin'}:{tmp_path / 'usr' / 'bin'}")
    found = program_of(server, repository, settings)
    assert found is not None and found.is_relative_to(tmp_path / "usr")
    monkeypatch.setenv("PATH", f"{repository / 'bin'}")
    assert program_of(server, repository, settings) is None


@pytest.mark.slow
def test_a_server_is_fetched_with_consent_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncp package.json {tmp_path}/wanted\nexit 1\n')
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:/usr/bin:/bin")
    for consent in ("ask", "never"):
        settings = offline(tmp_path / "home").model_copy(update={"environments": consent})
        assert Servers(settings).session("typescript", tmp_path) is None
    assert not (tmp_path / "asked").exists()
    settings = offline(tmp_path / "home").model_copy(update={"environments": "always"})
    servers = Servers(settings)
    for _ in range(5):
        with pytest.raises(LanguageServerError):
            servers.session("typescript", tmp_path)
    ways = ["--force" in line for line in (tmp_path / "asked").read_text().splitlines()]
    assert ways == [False, True] * 2, "it isn't tried for ever"
    assert "--ignore-scripts" in (tmp_path / "asked").read_text()
    assert f'"typescript": "{PINNED}"' in (tmp_path / "wanted").read_text(), "the tests ask the same version"


@pytest.mark.slow
def test_a_server_that_nobody_asks_ends_and_starts_again_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "repo").mkdir()
    program = install(tmp_path / "bin", "gopls")
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    settings = offline(tmp_path / "home").model_copy(update={"sandbox": "limits", "allow_weak_sandbox": True})
    servers = Servers(settings, idle=0.2)
    for _ in range(3):
        session = servers.session("go", tmp_path / "repo")
        assert session is not None and session.failure is None
        while servers.running():
            time.sleep(0.05)
        assert session.closed
    servers.close()
