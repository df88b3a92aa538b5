"""The repository's own type checker, over versions of a change: only what is new counts against one."""

from __future__ import annotations

import json
from functools import partial

import pytest
from support.shop_workspace import traced, workspace_of

from repopilot.agents.generate.evidence import Examination
from repopilot.agents.generate.pipeline import ordered_by_types, type_errors
from repopilot.review.type_errors import new_type_errors
from repopilot.sandbox.runners.runner_table import missing_programs
from repopilot.sandbox.type_checkers import mypy_checker
from repopilot.tools import file_change
from repopilot.tools.checkout import checked_out

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
    examination = Examination("change it", workspace, workspace.snapshot.root)

    async def work(step):
        ordered = await ordered_by_types(examination, changes, step)
        return [changes.index(each) for each in ordered], [await type_errors(examination, c, step) for c in changes]

    (order, found), outline, events = await traced(work)
    return order, found, f"{outline}\n{events}"


@pytest.mark.slow
@pytest.mark.parametrize("configured", [CONFIGURED, "[tool.mypy]\nstrict = true\n"])
async def test_new_errors_count_and_old_ones_dont(tmp_path, configured):
    files = {**FILES, "pyproject.toml": configured}
    good = PRICES.replace("* 9", "* 10")
    order, (wrong, right), _ = await found_in(tmp_path, files, "shop/prices.py", WRONG, good)
    assert order == [1, 0]
    assert [(e.path, e.line, e.severity, e.source) for e in wrong] == [("shop/prices.py", 2, "high", "mypy")]
    assert "str" in wrong[0].message and right == ()


@pytest.mark.slow
async def test_what_was_checked_is_remembered_until_something_differs(tmp_path):
    workspace = workspace_of(tmp_path, FILES)
    changes = (file_change.change("shop/prices.py", WRONG, PRICES),)

    async def found():
        async with checked_out(workspace) as folder:
            errors, _, _ = await traced(partial(new_type_errors, changes, folder, workspace))
        return [error.line for error in errors]

    known = workspace.lookups.type_diagnostics
    assert await found() == [2] and len(known) == 2, "with the change, and without it"
    known.update(dict.fromkeys(known, ()))
    assert await found() == [], "it is not run again"
    (workspace.snapshot.root / "shop/calls.py").write_text(CALLS + "price('2')\n")
    assert await found() == [2] and len(known) == 4


@pytest.mark.slow
async def test_a_broken_caller_is_found_where_the_repository_checks_all_of_it(tmp_path):
    _, (found,), _ = await found_in(tmp_path, FILES, "shop/prices.py", CALLER_BROKEN)
    assert [(e.path, e.line) for e in found] == [("shop/calls.py", 3)]


@pytest.mark.slow
async def test_a_missing_annotation_contradicts_nothing(tmp_path):
    files = {**FILES, "pyproject.toml": CONFIGURED + "strict = true\n"}
    plain = PRICES + "\n\ndef bare(x):\n    return x\n"
    order, (plain_, _), _ = await found_in(tmp_path, files, "shop/prices.py", plain, PRICES + "\nX = 1\n")
    assert order == [0, 1] and [e.severity for e in plain_] == ["low"]


async def test_a_repository_without_a_type_checker_has_no_step_for_it(tmp_path):
    files = {**FILES, "pyproject.toml": '[project]\nname = "shop"\n'}
    _, (found,), said = await found_in(tmp_path, files, "shop/prices.py", WRONG)
    assert found == () and "type checker" not in said


@pytest.mark.slow
async def test_a_type_checker_that_fails_is_said(tmp_path):
    files = {**FILES, "pyproject.toml": '[tool.mypy]\nplugins = ["no_such_plugin"]\n'}
    _, (found,), said = await found_in(tmp_path, files, "shop/prices.py", WRONG)
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
    assert mypy_checker(inside, [], None) is None


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
    examination = Examination("change it", workspace, workspace.snapshot.root)
    changes = (file_change.change("src/shop.ts", text, files["src/shop.ts"]),)

    async def work(step):
        return await type_errors(examination, changes, step)

    found, _, _ = await traced(work)
    assert [(e.path, e.line, e.source) for e in found] == [("src/shop.ts", 2, "tsc")]
