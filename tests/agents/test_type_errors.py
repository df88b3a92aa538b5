"""The repository's own type checker, over versions of a change: only what is new counts against one."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from functools import partial

import pytest
from support.shop_workspace import traced, workspace_of
from tools.test_tools import opened

from repopilot.agents.generate.evidence import ChangeContext
from repopilot.agents.generate.judging import judged, types_of
from repopilot.project.node_project import NodeProject
from repopilot.resolve.lookups import Lookups
from repopilot.sandbox import stage
from repopilot.sandbox.run_program import RunnerSuite
from repopilot.sandbox.runners.runner_table import missing_programs
from repopilot.sandbox.type_checkers import TypeDiagnostic, TypeReport, mypy_checker, typescript_checker
from repopilot.tools import file_change
from repopilot.tools.checkout import checked_out
from repopilot.tools.verifying.check import warm_type_checker
from repopilot.tools.verifying.type_errors import _new, type_check
from repopilot.types import InstalledPackages

needs_node = pytest.mark.skipif("node" in missing_programs(["javascript"]), reason="node is not installed")
PRICES = 'def price(count: int) -> int:\n    return count * 9\n\n\ndef label() -> int:\n    return "old fault"\n'
CALLS = "from shop.prices import price\n\nprint(price(2))\n"
CONFIGURED = '[tool.mypy]\nfiles = ["shop"]\n'
FILES = {"pyproject.toml": CONFIGURED, "shop/__init__.py": "", "shop/prices.py": PRICES, "shop/calls.py": CALLS}
WRONG = PRICES.replace("count * 9", "str(count)")
CALLER_BROKEN = PRICES.replace("count: int", "count: str").replace("count * 9", "len(count)")


async def found_in(tmp_path, files, path: str, *versions: str):
    workspace = workspace_of(tmp_path, files)
    changes = [(file_change.change(path, text, files[path]),) for text in versions]
    context = ChangeContext("change it", workspace, workspace.snapshot.root)

    async def work(step):
        return [(await types_of(context, c, step)).findings for c in changes]

    found, outline, events = await traced(work)
    return found, f"{outline}\n{events}"


@pytest.mark.slow
@pytest.mark.parametrize("configured", [CONFIGURED, "[tool.mypy]\nstrict = true\n"])
@pytest.mark.sampled(1)
async def test_new_errors_count_and_old_ones_dont(tmp_path, configured):
    files = {**FILES, "pyproject.toml": configured}
    good = PRICES.replace("* 9", "* 10")
    (wrong, right), _ = await found_in(tmp_path, files, "shop/prices.py", WRONG, good)
    assert [(e.path, e.line, e.severity, e.source) for e in wrong] == [("shop/prices.py", 2, "high", "mypy")]
    assert "str" in wrong[0].message and right == ()


@pytest.mark.slow
@pytest.mark.thorough
async def test_what_was_checked_is_remembered_until_something_differs(tmp_path):
    workspace = workspace_of(tmp_path, FILES)
    changes = (file_change.change("shop/prices.py", WRONG, PRICES),)

    async def found():
        async with checked_out(workspace) as folder:
            typed, _, _ = await traced(partial(type_check, changes, folder, workspace))
        return [error.line for error in typed.findings]

    known = workspace.lookups.type_diagnostics
    assert await found() == [2] and len(known) == 2, "with the change, and without it"
    known.update(dict.fromkeys(known, TypeReport()))
    assert await found() == [], "it is not run again"
    (workspace.snapshot.root / "shop/calls.py").write_text(CALLS + "price('2')\n")
    assert await found() == [2] and len(known) == 4


@pytest.mark.slow
@pytest.mark.thorough
async def test_what_a_type_checker_found_out_is_kept_outside_of_the_repository(tmp_path):
    workspace = workspace_of(tmp_path, FILES)
    first = (file_change.change("shop/prices.py", WRONG, PRICES),)
    kept = workspace.index.folder.parent / "mypy"

    async def found(changes, workspace):
        async with checked_out(workspace) as folder:
            typed, _, _ = await traced(partial(type_check, changes, folder, workspace))
        return [error.line for error in typed.findings]

    assert await found(first, workspace) == [2]
    assert kept.is_dir() and not list(workspace.snapshot.root.rglob("*mypy*"))
    same_size = (file_change.change("shop/prices.py", PRICES.replace("count * 9", "'a' * 900"), PRICES),)
    again = replace(workspace, lookups=Lookups())
    assert await found(same_size, again) == [2], "a file of the same length, as soon as that"
    assert await found((file_change.change("shop/prices.py", PRICES + "\n", PRICES),), again) == []
    added = (file_change.change("shop/more.py", "def more() -> int:\n    return 'more'\n", None),)
    assert await found(added, again) == [2], "the file is not there before"


def test_what_is_kept_has_the_times_that_it_had(tmp_path):
    """Versions of mypy that keep JSON take their own files for changed by others else, and read everything anew."""
    (tmp_path / "made").mkdir()
    made = tmp_path / "made" / "prices.data.json"
    made.write_text("{}")
    os.utime(made, (5, 5))
    stage.keep(made.parent, tmp_path / "kept")
    stage.restore(tmp_path / "kept", tmp_path / "again")
    assert (tmp_path / "again" / made.name).stat().st_mtime == 5


@pytest.mark.parametrize("text", ["a = " + "[" * 20_000, "tool = 3\n", "[tool]\nmypy = 3\n", "[tool.mypy\n"])
def test_a_configuration_that_cannot_be_read_is_none(tmp_path, text):
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "mypy.ini").write_text("[mypy\n")
    assert mypy_checker(tmp_path, ["shop.py"], None) is None
    (tmp_path / "setup.cfg").write_text("[mypy]\nfiles = shop\n")
    checker = mypy_checker(tmp_path, ["shop.py"], None)
    assert checker is not None and checker.run.program.arguments[-1] == "--"


def test_a_link_in_place_of_what_a_run_leaves_is_not_followed(tmp_path):
    """Plugins of the repository run with the type checker: at some levels they can replace the folder itself."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key").write_text("secret")
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "prices.data.json").write_text("{}")
    (tmp_path / "left").symlink_to(tmp_path / "private")
    for left in ("left", "absent"):
        stage.keep(tmp_path / left, kept)
        assert [path.name for path in kept.iterdir()] == ["prices.data.json"]


@pytest.mark.slow
async def test_a_type_checker_reads_on_while_nothing_is_changed_yet(tmp_path):
    workspace = workspace_of(tmp_path, FILES)
    known = workspace.lookups.type_diagnostics

    async def read(step):
        async with warm_type_checker(["shop/prices.py", "tests/test_prices.py"], workspace, step):
            while not known:
                await asyncio.sleep(0.05)
        async with warm_type_checker(["shop/calls.py"], workspace, step):
            return len(known)

    (count, _, _) = await traced(read)
    assert count == 1
    changes = (file_change.change("shop/prices.py", WRONG, PRICES),)
    async with checked_out(workspace) as folder:
        await traced(partial(type_check, changes, folder, workspace))
    assert len(known) == 2, "only the change is left to be read"


@pytest.mark.slow
async def test_what_a_type_checker_said_of_more_files_is_not_asked_again(tmp_path):
    workspace = workspace_of(tmp_path, {**FILES, "pyproject.toml": "[tool.mypy]\nwarn_return_any = true\n"})
    known = workspace.lookups.type_diagnostics

    async def read(step):
        async with warm_type_checker(["shop/prices.py", "shop/calls.py"], workspace, step):
            while not known:
                await asyncio.sleep(0.05)

    await traced(read)
    changes = (file_change.change("shop/prices.py", WRONG, PRICES),)
    async with checked_out(workspace) as folder:
        (found, _, _) = await traced(partial(type_check, changes, folder, workspace))
    assert [each.path for each in found.findings] == ["shop/prices.py"] and len(known) == 2


@pytest.mark.slow
async def test_a_broken_caller_is_found_where_the_repository_checks_all_of_it(tmp_path):
    (found,), _ = await found_in(tmp_path, FILES, "shop/prices.py", CALLER_BROKEN)
    assert [(e.path, e.line) for e in found] == [("shop/calls.py", 3)]


@pytest.mark.slow
@pytest.mark.thorough
async def test_a_missing_annotation_contradicts_nothing(tmp_path):
    files = {**FILES, "pyproject.toml": CONFIGURED + "strict = true\n"}
    plain = PRICES + "\n\ndef bare(x):\n    return x\n"
    (bare, _), _ = await found_in(tmp_path, files, "shop/prices.py", plain, PRICES + "\nX = 1\n")
    assert [e.severity for e in bare] == ["low"]


@pytest.mark.slow
async def test_a_repository_without_a_type_checker_has_no_step_for_it(tmp_path):
    files = {**FILES, "pyproject.toml": '[project]\nname = "shop"\n'}
    (found,), said = await found_in(tmp_path, files, "shop/prices.py", WRONG)
    assert found == () and "type checker" not in said


@pytest.mark.slow
async def test_a_type_checker_that_fails_is_said(tmp_path):
    files = {**FILES, "pyproject.toml": '[tool.mypy]\nplugins = ["no_such_plugin"]\n'}
    (found,), said = await found_in(tmp_path, files, "shop/prices.py", WRONG)
    assert found == ()
    assert "mypy could not check the types" in said


@pytest.mark.parametrize(
    ("name", "text", "configured"),
    [
        ("mypy.ini", "[mypy]\nstrict = True\n", True),
        (".mypy.ini", "[mypy]\n", True),
        ("setup.cfg", "[mypy]\nfiles = shop\n", True),
        ("setup.cfg", "[metadata]\nname = shop\n", False),
        ("setup.cfg", "[mypy\n", False),
        ("pyproject.toml", "[tool]\nmypy = 3\n", False),
        ("pyproject.toml", "[tool.mypy", False),
    ],
)
def test_what_configures_mypy(tmp_path, name, text, configured):
    (tmp_path / name).write_text(text)
    assert (mypy_checker(tmp_path, ["shop/prices.py"], None) is not None) == configured


def test_a_configuration_that_leads_outside_is_not_read(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "mypy.ini").write_text("[mypy]\n")
    (inside / "mypy.ini").symlink_to(tmp_path / "mypy.ini")
    assert mypy_checker(inside, ["shop/prices.py"], None) is None
    (inside / "mypy.ini").unlink()
    (inside / "mypy.ini").write_text("[mypy]\n")
    assert mypy_checker(inside, [], None) is None, "there is nothing to check"


@pytest.mark.slow
@needs_node
async def test_the_compiler_of_a_typescript_project_is_asked(tmp_path):
    """A stand-in for the compiler, which is not on every machine: what it prints is tsc's own form."""
    compiler = (
        "const fs = require('fs');\n"
        "const text = fs.readFileSync('src/shop.ts', 'utf8');\n"
        "const line = text.split('\\n').findIndex((each) => each.includes('wrong')) + 1;\n"
        "if (line) { console.log(`src/shop.ts(${line},7): error TS2322: Type 'string' is not assignable.`); }\n"
        "process.exit(line ? 2 : 0);\n"
    )
    files = {
        "package.json": json.dumps({"name": "shop", "devDependencies": {"typescript": "*"}}),
        "tsconfig.json": "{}",
        "src/shop.ts": "export const price: number = 1;\n",
    }
    text = "export const price: number = 1;\nconst wrong: number = 'x';\n"
    workspace = workspace_of(tmp_path, files)
    place = workspace.snapshot.root / "node_modules" / "typescript" / "bin"
    place.mkdir(parents=True)
    (place / "tsc").write_text(compiler)
    context = ChangeContext("change it", workspace, workspace.snapshot.root)
    changes = (file_change.change("src/shop.ts", text, files["src/shop.ts"]),)

    async def work(step):
        return await types_of(context, changes, step)

    typed, _, _ = await traced(work)
    assert [(e.path, e.line, e.source) for e in typed.findings] == [("src/shop.ts", 2, "tsc")]


@pytest.mark.slow
@needs_node
async def test_the_compilers_word_counts_for_calls_that_it_has_judged(tmp_path):
    """The syntax can't tell whether they fit; of a file that the compiler doesn't list nobody has judged them."""
    compiler = "for (const each of ['shop', 'calls']) { console.log(`${process.cwd()}/src/${each}.ts`); }\n"
    call = "import { price } from '../src/shop';\n\nprice(2);\n"
    files = {
        "package.json": json.dumps({"name": "shop", "devDependencies": {"typescript": "*"}}),
        "tsconfig.json": "{}",
        "src/shop.ts": "export function price(count: number) {\n  return count;\n}\n",
        "src/calls.ts": call.replace("../src", "."),
        "spec/calls.ts": call,
    }
    workspace = workspace_of(tmp_path, files)
    place = workspace.snapshot.root / "node_modules" / "typescript" / "bin"
    place.mkdir(parents=True)
    (place / "tsc").write_text(compiler)
    async with opened(workspace) as tools:
        await tools("replace_text", path="src/shop.ts", old="count: number", new="count: Amount")
        said = (await tools("check")).text
    assert "`spec/calls.ts`:3" in said and "src/calls.ts" not in said
    text = files["src/shop.ts"].replace("count: number", "count: Amount")
    changes = (file_change.change("src/shop.ts", text, files["src/shop.ts"]),)
    context = ChangeContext("change it", workspace, workspace.snapshot.root)
    version, _, _ = await traced(lambda step: judged(context, changes, None, step))
    told = [each.message for each in version.evidence.findings if each.rule == "possibly-broken-use"]
    assert len(told) == 1 and "spec/calls.ts" in told[0] and "src/calls.ts" not in told[0]


@needs_node
def test_the_members_of_a_workspace_are_packages_for_the_compiler_too(tmp_path):
    (tmp_path / "tsconfig.json").write_text("{}")
    compiler = tmp_path / "installed" / "node_modules" / "typescript" / "bin" / "tsc"
    compiler.parent.mkdir(parents=True)
    compiler.touch()
    project = NodeProject(links={"@shop/prices": "packages/prices"})
    packages = InstalledPackages("key", compiler.parents[2])
    checker = typescript_checker(tmp_path, RunnerSuite("javascript", project=project, packages=packages))
    assert checker is not None and checker.run.links == project.links


def _told(line: int, message: str, path: str = "shop/prices.py") -> TypeDiagnostic:
    return TypeDiagnostic(path, line, message)


@pytest.mark.slow
def test_errors_are_compared_by_what_they_say(tmp_path):
    workspace = workspace_of(tmp_path, {**FILES, "shop/prices.py": "import a\n\n\n" + PRICES})
    untyped = "Function is missing a type annotation  [no-untyped-def]"
    missing = 'Cannot find implementation or library stub for module named "{}"  [import-not-found]'
    wrong = "Incompatible return value type  [return-value]"
    before = [_told(4, untyped), _told(1, missing.format("a")), _told(9, wrong)]
    texts = {"shop/prices.py": "import b\nimport a\n\n\n" + PRICES.replace("count * 9", '"9"')}
    moved = [_told(5, untyped), _told(2, missing.format("a")), _told(10, wrong)]
    assert _new(moved, before, texts, workspace) == []
    assert _new([*moved, _told(9, untyped)], before, texts, workspace) == [], "of a kind that the file has"
    unknown = _told(1, missing.format("b"))
    assert _new([*moved, unknown], before, texts, workspace) == [unknown]
    elsewhere = _told(1, untyped, "shop/calls.py")
    assert _new([*moved, elsewhere], before, texts, workspace) == [elsewhere]
    other = _told(6, wrong)
    assert _new([*moved[:2], other], before, texts, workspace) == [other], "in another definition"
    redefined = 'Name "x" already defined on line {}  [no-redef]'
    assert _new([_told(7, redefined.format(3))], [_told(6, redefined.format(1))], texts, workspace) == []
