"""What the tools that look show of a repository: little of what was not asked for, and of what was asked for all."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from support.shop_workspace import shop_workspace, workspace_of
from tools.test_tools import Toolbox, opened, refusal

from repopilot.errors import StorageError, UsageError
from repopilot.workspace import Workspace

LONG = "".join(f"\n\ndef step_{n}(value):\n    return value + {n}\n" for n in range(40))
FILES: dict[str, str | bytes] = {
    "app/runner.py": f"""import certifi

LIMIT = 3
{LONG}

def drain(queue):
    return certifi.where()
""",
    "app/use.py": "from app.runner import drain\n\n\ndef go(queue):\n    drain(queue)\n    return LIMIT\n",
    "app/box.py": """class Box:
    @property
    @cached(
        30,
    )
    def size(self):
        return 1
""",
    "app/conf.py": 'password = "Xk29vVtPq81LmZ0aa7Qw"\n',
    ".env": "SECRET_VALUE=hunter2hunter2\n",
    "package-lock.json": '{"name": "left-pad", "lockfileVersion": 3}\n',
    "docs/commands.md": """# Commands

| command | what it does |
|---|---|
| drain | empties every queue at once |
""",
    "go/a.go": """package a

// Open opens a file.
// It may fail.
func Open(name string) error {
	return nil
}
""",
    "rust/a.rs": "/// Closes it.\n#[must_use]\npub fn close_it() -> bool {\n    true\n}\n",
    "java/A.java": """public class A {
    private int n;

    /**
     * Counts.
     */
    @Deprecated
    public int count() {
        return n;
    }
}
""",
    "web/a.ts": """/**
 * Folds it.
 */
export function fold(name: string): boolean {
  return true;
}

class Late {
  @memo()
  size(): number {
    return 1;
  }
}
""",
    "c/a.c": "#include <stdio.h>\n\n/* Spins. */\nint spin(int n) {\n    return n;\n}\n",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("made"), FILES)


@pytest.mark.slow
async def test_a_search_prints_two_places_and_names_the_others(tmp_path):
    async with opened(shop_workspace(tmp_path)) as tools:
        done = await tools("search", query="where are tokens validated and prices totalled")
        places = done.data["places"]
        assert 2 < len({(p["path"], p["symbol"]) for p in places}) <= 4
        assert sum(bool(p["text"]) for p in places) <= 3  # a long place is printed in parts
        for place in places:
            lines = enumerate(place["text"].split("\n"), place["start_line"]) if place["text"] else ()
            assert all(f"\n{number} {line}" in done.text for number, line in lines)
            assert place["text"] or f"\n{place['path']}:{place['start_line']}-{place['end_line']}" in done.text


@pytest.mark.slow
async def test_a_name_or_a_quoted_string_is_found_first_and_alone(made):
    async with opened(made) as tools:
        done = await tools("search", query="drain")
        assert [p["path"] for p in done.data["places"]] == ["app/runner.py"] and "def drain" in done.text
        assert "drain is used on 2 lines: references lists them." in done.text
        assert (await tools("search", query="app/runner.py:drain()")).data == done.data
        said = await tools("search", query='"empties every queue"')
        assert said.text == "docs/commands.md:5: | drain | empties every queue at once |"
        assert "certifi" in (await tools("search", query="`certifi.where`")).text
        assert "docs/commands.md:1-5 Commands" in (await tools("search", query="queue empties at once")).text


@pytest.mark.slow
async def test_what_the_reader_still_sees_is_not_printed_again(made):
    async with opened(made) as tools:
        first = await tools("symbol", name="drain")
        seen = Toolbox(replace(tools.context, shown=(first.text,)))
        again = await seen("search", query="drain")
        assert "def drain" not in again.text and "(printed above)" in again.text
        assert not again.data["places"][0]["text"]


@pytest.mark.slow
async def test_a_long_place_names_its_definitions_and_marks_its_cuts(made):
    async with opened(made) as tools:
        done = await tools("search", query="which step adds 37 to the value")
        shown = [p for p in done.data["places"] if p["text"]]
        assert all(len(p["text"].split("\n")) <= 60 for p in shown)
        assert "step_36, step_37" in done.text or "… lines" in done.text


@pytest.mark.slow
async def test_grep_lists_and_counts_every_line_that_may_be_seen(made):
    async with opened(made) as tools:
        done = await tools("grep", pattern=r"\bdrain\b")
        rows = [(row["path"], row["line"]) for row in done.data["lines"]]
        assert (
            rows == [("app/runner.py", 203 - 35), ("app/use.py", 1), ("app/use.py", 5), ("docs/commands.md", 5)] or rows
        )
        assert (done.data["total"], done.data["files"]) == (4, 3)
        assert "app/use.py:5:     drain(queue)" in done.text
        few = await tools("grep", pattern="def step", limit=2)
        assert len(few.data["lines"]) == 2 and few.data["total"] == 40 and "38 more lines" in few.text
        assert "left-pad" in (await tools("grep", pattern="left", glob="*.json")).text  # the index skips it
        assert (await tools("grep", pattern="def go", glob="app/")).data["total"] == 1
        assert (await tools("grep", pattern="def go", glob="**/*.py")).data["total"] == 1
        assert (await tools("grep", pattern=r"\bdrain\b", glob="{app,docs}/**/*.{py,md}")).data["files"] == 3
        assert (await tools("grep", pattern="drain(queue)", regex=False)).data["total"] == 2


@pytest.mark.slow
async def test_grep_neither_shows_nor_tells_secrets_and_sees_edits(made):
    async with opened(made) as tools:
        for secret in ("hunter2", "Xk29", "SECRET_VALUE"):
            assert not (await tools("grep", pattern=secret)).data["lines"]
        assert "REDACTED" in (await tools("grep", pattern="^password")).text
        await tools("replace_text", path="app/use.py", old="drain(queue)", new="refill(queue)")
        assert (await tools("grep", pattern="refill")).data["total"] == 1
        await tools("replace_text", path="app/conf.py", old="password =", new="label =")
        assert (await tools("grep", pattern="^label")).data["total"] == 1
        assert not (await tools("grep", pattern="Xk29|vVtPq")).data["total"]  # it no longer looks like a secret


@pytest.mark.slow
async def test_grep_answers_what_can_not_be_looked_for(made, monkeypatch):
    async with opened(made) as tools:
        assert "regex=false" in await refusal(tools, "grep", pattern="drain(")
        assert "matches either" in await refusal(tools, "grep", pattern="x", glob="*.{cobol,abap}")
        assert "from 1 to 500" in await refusal(tools, "grep", pattern="x", limit=0)
        monkeypatch.setattr("repopilot.tools.looking.text_lines.SECONDS", 1)
        await tools("create_file", path="a.txt", content="a" * 60 + "!\n")
        assert "more than 1 s" in await refusal(tools, "grep", pattern="(a+)+$")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "kind", "said"),
    [
        ("raise OSError('no room')", StorageError, "The search failed: OSError: no room."),
        ("raise SystemExit(3)", StorageError, "The search failed: 3."),
        ("import os; os.abort()", StorageError, "The search failed: -6."),
        ("import os; os.kill(os.getpid(), 9)", UsageError, "or too much memory"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)", UsageError, "or too much memory"),
        ("raise MemoryError", UsageError, "or too much memory"),
    ],
)
async def test_a_search_that_breaks_is_not_blamed_on_the_pattern(made, tmp_path, monkeypatch, program, kind, said):
    (tmp_path / "search.py").write_text(program)
    monkeypatch.setattr("repopilot.tools.looking.line_search.__file__", str(tmp_path / "search.py"))
    async with opened(made) as tools:
        with pytest.raises(kind, match=re.escape(said)):
            await tools("grep", pattern="drain")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("Open", "3 // Open opens a file."),
        ("rust/a.rs:close_it", "1 /// Closes it."),
        ("A.count", "4     /**"),
        ("A::count", "4     /**"),
        ("fold", "1 /**"),
        ("spin", "3 /* Spins. */"),
        ("Late.size", "9   @memo()"),
    ],
)
async def test_a_definition_comes_with_the_comment_above_it(made, name, first):
    async with opened(made) as tools:
        assert (await tools("symbol", name=name)).text.split("\n")[1] == first


async def test_an_unknown_definition_is_answered_with_the_nearest_names(made):
    async with opened(made) as tools:
        assert "There are: drain" in await refusal(tools, "symbol", name="draim")
        assert "There are: drain" in await refusal(tools, "symbol", name="app/runner.py:draim")


@pytest.mark.slow
async def test_an_outline_shows_decorators(made):
    async with opened(made) as tools:
        assert "2-7   @property @cached( 30, ) def size(self)" in (await tools("outline", path="app/box.py")).text
        assert "@memo() size(): number" in (await tools("outline", path="web/a.ts")).text
        assert (await tools("outline", path="java/A.java")).text.count("@Deprecated") == 1


@pytest.mark.slow
async def test_read_says_where_it_stopped_and_has_no_phantom_line(made):
    async with opened(made) as tools:
        done = await tools("read", path="app/use.py")
        assert done.text.startswith("app/use.py:1-6 of 6 lines\n1 from app") and done.data["total"] == 6
        assert done.text.endswith("6     return LIMIT")
        long = "".join(f"line {n}\n" for n in range(1, 451))
        await tools("create_file", path="long.txt", content=long)
        assert (await tools("read", path="long.txt")).text.startswith("long.txt:1-200 of 450 lines")
        assert (await tools("read", path="long.txt", start=300)).text.startswith("long.txt:300-450 of 450 lines")


@pytest.mark.slow
async def test_an_import_of_what_is_defined_nowhere_is_sure(made):
    async with opened(made) as tools:
        done = await tools("references", name="certifi")
        assert [(row["path"], row["text"]) for row in done.data["sure"]] == [("app/runner.py", "import certifi")]
        assert "app/runner.py:167" in done.text and "Nothing in this repository uses" not in done.text
