"""Commands of the repository in the real sandbox: what they write becomes an edit, and nothing else does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from support.index_case import write
from support.shop_workspace import workspace_of

from repopilot import trace
from repopilot.errors import UsageError
from repopilot.project.node_test_packages import of_tests
from repopilot.project_environment import declared_packages
from repopilot.sandbox.environments.environment_store import EnvironmentFacts, write_facts
from repopilot.sandbox.environments.package_install import packages_key
from repopilot.sandbox.levels import STRONG, why_unavailable
from repopilot.sandbox.runners.runner_table import missing_programs
from repopilot.tools import registry
from repopilot.tools import run_tests as module
from repopilot.tools.registry import ToolContext, ToolResult
from repopilot.tools.toolbox import toolbox
from repopilot.tools.verifying.repository_command import can_run_commands
from repopilot.tools.working_copy import working_copy
from repopilot.types import Environment
from repopilot.workspace import Workspace

pytestmark = pytest.mark.skipif(all(map(why_unavailable, STRONG)), reason="no strong sandbox works here")
FILES: dict[str, str | bytes] = {
    ".gitignore": "build/\n*.log\n",
    "src/a.py": "x = 1\n",
    "src/b.py": "y = 1\n",
    "old.txt": "old\n",
    "latin.py": "# coding: latin-1\nname = 'd\xe9j\xe0 vu'\n".encode("latin-1"),
    "logo.bin": bytes(range(256)),
    "gen.py": "open('made.py', 'w').write('z = 3\\n')\n",
}


class Shell:
    def __init__(self, context: ToolContext) -> None:
        self.context, self.copy = context, context.working_copy

    async def __call__(self, command: str, seconds: int = 30) -> ToolResult:
        tool = registry.find("run_command", toolbox())
        return await registry.call(tool, {"command": command, "seconds": seconds}, self.context)

    def changed(self) -> dict[str, str]:
        return {change.path: change.change for change in self.copy.changes()}


@asynccontextmanager
async def shell(tmp: Path, files: dict[str, str | bytes] = FILES) -> AsyncIterator[Shell]:
    made = workspace_of(tmp, files)
    made = replace(made, settings=made.settings.with_commands())
    async with trace.root(lambda event: None, "tools") as step, working_copy(made) as copy:
        yield Shell(ToolContext(made, copy, step))


def stored(workspace: Workspace) -> dict[str, bytes]:
    root = workspace.snapshot.root
    assert root is not None
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.slow
async def test_what_a_command_writes_becomes_one_edit_that_undo_takes_back(tmp_path: Path):
    async with shell(tmp_path) as run:
        before = stored(run.context.workspace)
        done = await run("python gen.py && sed -i s/1/2/ src/a.py && rm old.txt && echo done")
        assert done.data["exit_code"] == 0 and "done" in done.text and "made.py" in done.text
        assert run.changed() == {"made.py": "added", "src/a.py": "modified", "old.txt": "deleted"}
        assert run.copy.text("made.py") == "z = 3\n" and run.copy.text("src/a.py") == "x = 2\n"
        await run("test -e made.py && ! test -e old.txt && echo y = 5 > src/b.py")
        assert run.copy.text("src/b.py") == "y = 5\n"
        run.copy.undo(2)
        assert not run.changed()
        assert (await run("cat old.txt src/a.py")).data["output"].split() == ["old", "x", "=", "1"]
        assert stored(run.context.workspace) == before


@pytest.mark.slow
async def test_what_git_ignores_and_what_is_secret_or_no_text_is_no_change(tmp_path: Path):
    written = (
        "mkdir build && echo 1 > build/out.js; echo 1 > x.log; echo K=1 > .env; printf '\\0\\1' > new.bin; mkdir d"
    )
    async with shell(tmp_path, {**FILES, ".env.local": "TOKEN=hunter2hunter2\n"}) as run:
        done = await run(f"{written}; rm logo.bin; ln -s /etc/passwd link; cat .env.local; exit 3")
        assert done.data["exit_code"] == 3 and not run.changed()
        assert done.data["left_out"] == [".env", "link", "logo.bin", "new.bin"]
        assert "hunter2" not in done.text
        await run("sed -i s/vu/VU/ latin.py")
        assert run.copy.text("latin.py") == "# coding: latin-1\nname = 'd\xe9j\xe0 VU'\n"


@pytest.mark.slow
async def test_a_failing_formatter_keeps_its_output_and_long_output_says_what_was_cut(tmp_path: Path):
    async with shell(tmp_path) as run:
        done = await run("for i in $(seq 20000); do echo line $i; done; printf '\\033[31m\\0\\377red'; exit 1")
        output = done.data["output"]
        assert output.startswith("line 1\n") and output.rstrip().endswith("red") and "\x1b" not in output
        assert "left out" in output and len(output) < 7000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo y = 9 > src/b.py; echo started; sleep 1000", "longer than"),
        ("echo y = 9 > src/b.py; while :; do sleep 100 & done", "processes"),
        (":(){ :|:& };:; echo y = 9 > src/b.py; sleep 60", "processes"),
    ],
)
async def test_of_a_command_that_exceeds_a_limit_nothing_is_kept(tmp_path: Path, command: str, said: str):
    async with shell(tmp_path) as run:
        done = await run(command, seconds=4)
        assert (said in done.data["stopped"] or "longer" in done.data["stopped"]) and not run.changed()
        assert "Nothing that it wrote is kept" in done.text


@pytest.mark.slow
async def test_a_full_disk_ends_the_command_or_fails_it(tmp_path: Path):
    async with shell(tmp_path) as run:
        done = await run("for i in 1 2 3 4 5 6 7 8 9; do head -c 200000000 /dev/zero > build$i.log || exit 9; done")
        assert (done.data["stopped"] or done.data["exit_code"]) and not run.changed()


@pytest.mark.slow
async def test_nothing_outside_of_the_copy_is_reached(tmp_path: Path):
    async with shell(tmp_path) as run:
        root = run.context.workspace.snapshot.root
        outside = tmp_path / "outside.txt"
        outside.write_text("outside")
        attempts = [
            "echo 1 > ../escaped.txt",
            f"echo 1 > {outside}",
            f"cat {outside}",
            f"echo 1 > {root}/src/a.py",
            f"ln -s {tmp_path} out; echo 1 > out/through.txt",
            "mkdir -p ../../x/y; echo 1 > ../../x/y/z",
            "mv src moved; ln -s /etc src",
            "(sleep 2; echo late > late.txt) &",
            "setsid -f sh -c 'sleep 2; echo later > later.txt'",
            "mkdir -p .git/hooks; echo 'echo caught' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        ]
        for attempt in attempts:
            done = await run(attempt)
            assert "outside\n" not in done.data["output"]
            assert not {path for path in run.changed() if not path.startswith(("moved/", "src/"))}
        assert outside.read_text() == "outside" and not (tmp_path / "through.txt").exists()
        assert not list(tmp_path.rglob("escaped.txt")) and (root / "src/a.py").read_text() == "x = 1\n"
        network = "python -c 'import socket; socket.create_connection((\"1.1.1.1\", 53), 2)'"
        assert (await run(network)).data["exit_code"] != 0


@pytest.mark.slow
async def test_everything_deleted_is_a_change_that_undo_takes_back(tmp_path: Path):
    async with shell(tmp_path) as run:
        done = await run("rm -rf ./* .gitignore")
        assert set(run.changed()) == {*FILES} - {"logo.bin"} and done.data["left_out"] == ["logo.bin"]
        assert (await run("find . -type f")).data["output"].strip() == "./logo.bin"
        run.copy.undo(1)
        assert not run.changed() and "gen.py" in (await run("ls")).data["output"]


@pytest.mark.slow
async def test_too_many_files_are_not_taken_over(tmp_path: Path):
    async with shell(tmp_path) as run:
        done = await run("for i in $(seq 1100); do echo $i > f$i.txt; done")
        assert "files: 1100" in done.text and not run.changed()


@pytest.mark.slow
async def test_too_much_text_is_not_taken_over_and_the_reason_is_said(tmp_path: Path):
    async with shell(tmp_path) as run:
        done = await run("head -c 9000000 /dev/zero | tr '\\0' x > big.txt")
        assert "8 MB" in done.text and "files: 1" in done.text and not run.changed()


@pytest.mark.slow
async def test_commands_need_an_agreement_and_a_strong_sandbox(tmp_path: Path):
    asked = []

    def answering(answer: bool):
        async def agree(command: str) -> bool:
            asked.append(command)
            return answer

        return agree

    async with shell(tmp_path) as run:
        original = run.context.workspace
        settings = original.settings.model_copy(update={"commands": "ask"})
        never = original.settings.model_copy(update={"commands": "never"})
        for workspace, offered in [
            (replace(original, settings=settings), False),
            (replace(original, settings=settings, agree=answering(False)), True),
            (replace(original, settings=never, agree=answering(True)), False),
        ]:
            assert await can_run_commands(workspace) is offered
            events: list[trace.Event] = []
            async with trace.root(events.append, "tools") as step:
                refused = Shell(replace(run.context, workspace=workspace, step=step))
                with pytest.raises(UsageError, match="allowed"):
                    await refused("echo 1 > new.txt")
            told = any("as you decided" in note for note in trace.degraded(events))
            assert told is offered, "said to the user where they were asked"
        assert never.with_commands().commands == "never"
        agreed = Shell(replace(run.context, workspace=replace(original, settings=settings, agree=answering(True))))
        assert (await agreed("echo hello")).data["output"] == "hello\n" and asked == ["echo 1 > new.txt", "echo hello"]
        weak = original.settings.model_copy(update={"sandbox": "limits", "allow_weak_sandbox": True})
        assert not await can_run_commands(replace(original, settings=weak))


@pytest.mark.slow
async def test_the_packages_of_the_repository_are_there(tmp_path: Path):
    package = '{"name": "p", "devDependencies": {"maker": "1.0.0"}}'
    maker = "#!/usr/bin/env node\nrequire('fs').writeFileSync('made.js', 'let made;\\n');\n"
    site = write(tmp_path / "site", {"bin/pymake": "#!/bin/sh\npython -m pymake\n", "pymake.py": "print('py made')\n"})
    (site / "bin/pymake").chmod(0o755)
    async with shell(tmp_path, {"package.json": package, ".gitignore": "node_modules\n", "a.py": "a = 1\n"}) as run:
        root = write(
            run.context.workspace.snapshot.root, {"node_modules/.bin/maker": maker, "node_modules/maker/x.js": ""}
        )
        (root / "node_modules/.bin/maker").chmod(0o755)
        run.copy.original = replace(run.copy.original, environment=Environment("", packages=(site,)))
        done = await run("pymake && maker && echo 1 > node_modules/new.js")
        assert "py made" in done.data["output"] and (done.data["exit_code"] or run.changed() == {"made.js": "added"})
        assert done.data["exit_code"] == (127 if "node" in missing_programs(["javascript"]) else 0)


@pytest.mark.slow
async def test_so_are_those_that_were_fetched_for_its_tests_only(tmp_path: Path):
    package = '{"name": "p", "devDependencies": {"eslint": "9.0.0", "maker": "1.0.0"}}'
    async with shell(tmp_path, {"package.json": package, "a.test.js": "import 'maker';\n"}) as run:
        workspace = run.context.workspace
        [declaration] = declared_packages(workspace.snapshot)
        fewer = of_tests(declaration, workspace.index.files, workspace.index.text)
        assert fewer.requirements == ("maker@1.0.0",)
        folder = workspace.settings.environments_folder / packages_key(fewer)
        write(folder, {"node_modules/maker/made.txt": "by maker\n"})
        write_facts(EnvironmentFacts(), folder)
        done = await run("cat node_modules/maker/made.txt")
        assert "by maker" in done.data["output"] or "node" in missing_programs(["javascript"])


@pytest.mark.slow
async def test_the_maven_that_the_wrapper_once_fetched_is_there(tmp_path: Path, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.setattr(Path, "home", lambda: home)
    fetched = home / ".m2/wrapper/dists/apache-maven-3.9.9/4f9d"
    write(fetched, {"bin/mvn": '#!/bin/sh\ncat "$(dirname "$0")/../lib/said"\n', "lib/said": "the fetched one\n"})
    (fetched / "bin/mvn").chmod(0o755)
    wrapper = 'exec "$MAVEN_USER_HOME/wrapper/dists/apache-maven-3.9.9/4f9d/bin/mvn" "$@"\n'
    async with shell(tmp_path, {"pom.xml": "<project/>", "mvnw": wrapper}) as run:
        done = await run("mvn test && sh mvnw test; touch $MAVEN_USER_HOME/x")
        here = not missing_programs(["java"])
        assert done.data["output"].count("the fetched one\n") == (2 if here else 0)
        assert not (home / ".m2/x").exists()


async def test_a_command_runs_without_the_build_tool_of_the_repository(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    async with shell(tmp_path, {"build.gradle": "", "a.txt": "a\n"}) as run:
        assert (await run("cat a.txt")).data["output"] == "a\n"


PHP: dict[str, str | bytes] = {
    "lib/price.php": "<?php const PRICE = 42;\n",
    "tests/price_test.php": "<?php assert(PRICE === 42);\n",
    ".repopilot.toml": 'test_command = "sh check.sh"\n',
    "check.sh": "echo checked >> log.txt\ngrep -q 42 lib/price.php || { echo wrong price; exit 3; }\n",
}


async def run_tests(run: Shell, *paths: str) -> ToolResult:
    return await registry.call(registry.find("run_tests", toolbox()), {"paths": list(paths)}, run.context)


@pytest.mark.slow
async def test_the_command_of_the_repository_runs_its_tests_where_no_runner_is_known(tmp_path: Path):
    async with shell(tmp_path, PHP) as run:
        near = await module.places_near("the price", run.context.workspace)
        assert (await module.tests_before(near, run.context)).can_run
        for paths in ((), ("tests/price_test.php",)):
            done = await run_tests(run, *paths)
            assert (done.data["passed"], done.data["failed"]) == (1, 0), done.text
        run.copy.edit({"lib/price.php": "<?php const PRICE = 41;\n"})
        done = await run_tests(run)
        assert done.data["turned_red"] == ["sh check.sh"] and "wrong price" in done.text
        run.copy.edit({"check.sh": "exit 0\n", ".repopilot.toml": 'test_command = "echo other"\n'})
        assert (await run_tests(run)).data["turned_red"] == []
        assert {*run.changed()} == {"lib/price.php", "check.sh", ".repopilot.toml"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("nowhere-to-be-found", "nowhere-to-be-found"),
        ("sleep 100", "longer"),
        ("cat {outside}", "No such file"),
        ("python3 -c 'import socket; socket.create_connection((str(127), 53), 2)'", "rror"),
    ],
)
async def test_the_command_of_the_repository_has_the_limits_of_tests(tmp_path: Path, command: str, said: str):
    outside = tmp_path / "outside.txt"
    outside.write_text("outside")
    options = f'test_command = "{command.format(outside=outside)}"\n'
    async with shell(tmp_path, PHP | {".repopilot.toml": options}) as run:
        limit = 3 if said == "longer" else 180
        settings = run.context.workspace.settings.model_copy(update={"test_timeout_s": limit})
        run.copy.original = replace(run.copy.original, settings=settings)
        done = await run_tests(run)
        assert done.data["passed"] == 0 and said in done.text, done.text


@pytest.mark.slow
async def test_the_command_isnt_run_where_a_runner_is_known(tmp_path: Path):
    files: dict[str, str | bytes] = {"a.py": "a = 1\n", "tests/test_a.py": "def test_a():\n    assert 1\n"}
    async with shell(tmp_path, files | {".repopilot.toml": 'test_command = "exit 1"\n'}) as run:
        assert (await run_tests(run, "tests/test_a.py")).data["passed"] == 1
        assert not (await run_tests(run)).data["tests"]
