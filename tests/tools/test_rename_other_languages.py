"""Renames in other languages than Python, without a language server and (`renames/server`) with one: the program does
the same afterwards, or the rename is refused with the places.

Each case in `renames` is a text: the rename, what runs the program, what has to stand in the files afterwards and what
must not (`+`, `-`), what is left for the user (`?`), or what is said where it is refused (`!`); then the files, each
behind `=== path`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from support import typescript
from support.shop_workspace import offline, open_workspace
from support.typescript import needs_typescript
from tools.test_tools import opened

from repopilot.errors import UsageError
from repopilot.sandbox.language_servers import session

CASES = Path(__file__).with_name("renames")


@dataclass(frozen=True)
class Case:
    """One rename of a small repository."""

    files: dict[str, str]
    name: str
    new: str
    path: str
    run: str
    has: tuple[str, ...]
    lacks: tuple[str, ...]
    refused: tuple[str, ...]
    left: tuple[str, ...]


def read_case(text: str) -> Case:
    head, *parts = re.split(r"^=== (\S+)\n", text, flags=re.M)
    files = dict(zip(parts[::2], parts[1::2], strict=True))
    rows = [row.split(" ", 1) for row in head.strip().split("\n")]
    found: dict[str, list[str]] = {}
    for key, value in rows:
        found.setdefault(key, []).append(value)
    name, new, *path = found["rename"][0].split()
    has, lacks, refused, left = (tuple(found.get(key, ())) for key in "+-!?")
    return Case(files, name, new, "".join(path), "".join(found.get("run", ())), has, lacks, refused, left)


def cases(folder: Path = CASES) -> list:
    found = []
    for file in sorted(folder.glob("*.txt")):
        for part in re.split(r"^##### ", file.read_text("utf-8"), flags=re.M)[1:]:
            title, _, text = part.partition("\n")
            found.append(pytest.param(read_case(text), id=f"{file.stem}: {title}"))
    return found


@pytest.fixture
def no_servers(monkeypatch: pytest.MonkeyPatch):
    """None is installed, whatever is on this machine."""
    monkeypatch.setattr(session, "program_of", lambda *_: None)


def output(command: str, root: Path) -> str:
    quick = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}  # a third off for programs this short
    done = subprocess.run(command, shell=True, cwd=root, capture_output=True, text=True, env={**os.environ, **quick})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("no_servers")
@pytest.mark.parametrize("case", cases())
@pytest.mark.sampled(20)
async def test_a_program_does_the_same_after_a_rename_or_the_rename_is_refused(case: Case, tmp_path: Path):
    await renamed_or_refused(case, tmp_path)


@pytest.mark.slow
@needs_typescript
@pytest.mark.parametrize("case", cases(CASES / "server"))
@pytest.mark.sampled(4)
async def test_a_server_of_typescript_renames_what_it_resolves(case: Case, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PATH", typescript.PATH)
    await renamed_or_refused(case, tmp_path)


async def renamed_or_refused(case: Case, tmp_path: Path) -> None:
    if case.run and shutil.which(case.run.split()[0]) is None:
        pytest.skip(f"{case.run.split()[0]} is not installed")
    for path, text in case.files.items():
        target = tmp_path / "app" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    async with opened(open_workspace(tmp_path / "app", offline(tmp_path / "home"))) as tools:
        arguments = {"name": case.name, "new_name": case.new, "path": case.path}
        if case.refused:
            with pytest.raises(UsageError) as error:
                await tools("rename_symbol", **arguments)
            assert not tools.copy.steps and all(part in str(error.value) for part in case.refused), str(error.value)
            return
        before = shutil.copytree(tmp_path / "app", tmp_path / "before")
        done = await tools("rename_symbol", **arguments)
        rows = [f"{row['path']}:{row['line']}" for row in done.data["left"]]
        assert rows == list(case.left) and done.data["done"] == (not case.left)
        after = tools.copy.root()
        whole = "\n".join(f"{path}\n{tools.copy.text(path)}" for path in tools.copy.paths())
        assert [part for part in case.has if part not in whole] == [], whole
        assert [part for part in case.lacks if re.search(rf"\b{part}\b", whole)] == [], whole
        assert not case.run or output(case.run, after) == output(case.run, before)


@pytest.mark.slow
async def test_a_server_tells_of_what_the_syntax_leaves_open(tmp_path: Path):
    text = (
        "#include <cstdio>\n#include <vector>\nstruct Cart { int size() { return 1; } };\nstd::vector<Cart> all(2);\n"
        'int main() { int n = all.size(); for (auto& c : all) n += c.size(); std::printf("%d", n); return 0; }\n'
    )
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "main.cpp").write_text(text)
    async with opened(open_workspace(tmp_path / "app", offline(tmp_path / "home"))) as tools:
        done = await tools("rename_symbol", name="Cart.size", new_name="count")
        made = tools.copy.text("main.cpp") or ""
        assert "int count()" in made and "c.count()" in made and "n = all.size()" in made and done.data["done"]
        assert output("g++ -o out main.cpp && ./out", tools.copy.root()) == "4"


@pytest.mark.slow
@pytest.mark.usefixtures("no_servers")
@pytest.mark.parametrize(
    ("name", "files", "left"),
    [
        (
            "usual_port",
            {"src/lib.rs": '#[serde(default = "usual_port")]\npub struct C;\nfn usual_port() {} // usual_port\n'},
            [("src/lib.rs", 1)],
        ),
        (
            "double",
            {"src/lib.rs": "/// double\n/// ```\n/// lib::double(2);\n/// ```\n/// double\npub fn double() {}\n"},
            [("src/lib.rs", 3)],
        ),
        (
            "lib_open",
            {
                "a.c": "int lib_open(void) { return 3; }\n",
                "lib.map": "V1 { global: lib_open; };\n",
                "NEWS": "lib_open is new\n",
            },
            [("lib.map", 1)],
        ),
    ],
)
async def test_what_a_program_reads_of_a_text_is_left_for_the_user(
    name: str, files: dict[str, str], left: list[tuple[str, int]], tmp_path: Path
):
    for path, text in files.items():
        (tmp_path / "app" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "app" / path).write_text(text)
    async with opened(open_workspace(tmp_path / "app", offline(tmp_path / "home"))) as tools:
        done = await tools("rename_symbol", name=name, new_name="another")
        assert [(row["path"], row["line"]) for row in done.data["left"]] == left and not done.data["done"]


@pytest.mark.slow
@pytest.mark.usefixtures("no_servers")
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (
            "area",
            {
                "a.js": "export const area = 1;\nprint(area, area); // area of all\n/* é area */\n",
                "README.md": "area!\n",
            },
            {"a.js": "export const size_of = 1;\nprint(size_of, size_of); // size_of of all\n/* é size_of */\n"},
        ),
        (
            "Cart",
            {"Cart.java": "/** A Cart. */\npublic class Cart { Cart other; }\n// Cart\n", "README.md": "Cart!\n"},
            {"size_of.java": "/** A size_of. */\npublic class size_of { size_of other; }\n// size_of\n"},
        ),
    ],
)
async def test_a_name_is_changed_everywhere_also_where_comments_follow_code(
    name: str, before: dict[str, str], after: dict[str, str], tmp_path: Path
):
    (tmp_path / "app").mkdir()
    for path, text in before.items():
        (tmp_path / "app" / path).write_text(text)
    async with opened(open_workspace(tmp_path / "app", offline(tmp_path / "home"))) as tools:
        await tools("rename_symbol", name=name, new_name="size_of", everywhere=True)
        found = {path: tools.copy.text(path) for path in tools.copy.paths()}
        assert found == {**after, "README.md": "size_of!\n"}


@pytest.mark.slow
@pytest.mark.usefixtures("no_servers")
async def test_places_that_are_left_keep_their_lines_after_a_longer_name(tmp_path: Path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "a.js").write_text("export const area = 1;\nprint(area, area, area);\n\n// area\n")
    async with opened(open_workspace(tmp_path / "app", offline(tmp_path / "home"))) as tools:
        done = await tools("rename_symbol", name="area", new_name="surface_of_a_rectangle")
        assert [(row["line"], row["text"]) for row in done.data["unsure"]] == [(4, "// area")]


@pytest.mark.usefixtures("no_servers")
@pytest.mark.parametrize(("mark", "left"), [('@SuppressWarnings({"unused", "rawtypes"})', 0), ("@Entity", 1)])
async def test_only_a_mark_that_may_read_names_leaves_a_member_for_the_user(mark: str, left: int, tmp_path: Path):
    text = f"{mark}\nclass Pool {{\n    private int size = 10;\n    int twice() {{ return size * 2; }}\n}}\n"
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "Pool.java").write_text(text)
    async with opened(open_workspace(tmp_path / "app", offline(tmp_path / "home"))) as tools:
        done = await tools("rename_symbol", name="Pool.size", new_name="extent")
        assert len(done.data["left"]) == left and "return extent * 2" in (tools.copy.text("Pool.java") or "")
