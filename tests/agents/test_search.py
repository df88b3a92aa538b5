"""The agent of /search: places as data, as evidence and as text; no model is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from support.index_case import write
from support.shop_workspace import offline, open_workspace, shop_workspace, traced, workspace_of
from support.small_repo import run_git

from repopilot.agents.search.grep import grep_report
from repopilot.agents.search.render import search_json
from repopilot.assistant import answer
from repopilot.results import Answer
from repopilot.types import SearchReport


@pytest.mark.slow
async def test_a_search_lists_places_as_data_evidence_and_text(tmp_path: Path) -> None:
    workspace = shop_workspace(tmp_path)
    done, outline, _ = await traced(lambda step: answer("validate token lang:python", workspace, step, "SEARCH"))
    assert isinstance(done.result, SearchReport) and done.result.places[0].path == "shop/auth.py"
    assert done.route is not None and done.route.intent == "SEARCH"
    assert done.evidence[0].lines and done.evidence[0].path == "shop/auth.py"
    assert "shop/auth.py:" in done.text and "places, in" in done.text
    assert "retrieve" in outline and "answer" not in outline
    stored = TypeAdapter(Answer)
    assert stored.validate_json(stored.dump_json(done)) == done


@pytest.mark.slow
async def test_the_command_alone_shows_examples(tmp_path: Path) -> None:
    done, _, _ = await traced(lambda step: answer("", shop_workspace(tmp_path), step, "SEARCH"))
    assert done.text.count("`/search ") > 3


@pytest.mark.slow
async def test_nothing_found_is_said_in_the_language_of_the_question(tmp_path: Path) -> None:
    workspace = shop_workspace(tmp_path)
    done, _, _ = await traced(lambda step: answer("zzyzx qwxyz dans les fichiers", workspace, step, "SEARCH"))
    assert isinstance(done.result, SearchReport)
    document = search_json(done.result)
    assert json.loads(json.dumps(document)) == document


@pytest.mark.slow
async def test_a_name_that_only_skipped_files_have_is_found_in_them(tmp_path: Path) -> None:
    """Scripts without a suffix, files with one long line; never one that is ignored or may hold secrets."""
    table = "const table = {" + ",".join(f"k{number}: {number}" for number in range(20_000)) + "};"
    files = {
        "script": "#!/usr/bin/env python3\ndef without_suffix():\n    return 1\n",
        "long.js": f"{table}\nexport function behindLongLine() {{ return table; }}\n",
        ".env": "without_suffix=hK9%dPw2qLx7Zt\n",
        "left/debug": "without_suffix\n",
        ".gitignore": "left/\n",
        "a.py": "known = 1\n",
    }
    folder = write(tmp_path / "r", files)
    run_git(folder, "init", "-q")
    workspace = open_workspace(folder, offline(tmp_path / "home"))

    async def found(query: str) -> list[tuple[str, int]]:
        done, _, _ = await traced(lambda step: answer(query, workspace, step, "SEARCH"))
        return [(place.path, place.start_line) for place in done.result.places]

    assert await found("without_suffix") == [("script", 2)]
    assert (await found("behindLongLine"))[0] == ("long.js", 2)
    assert await found("stands_nowhere_at_all") == []
    assert [path for path, _ in await found("known")] == ["a.py"]


@pytest.mark.slow
async def test_grep_lists_every_line_by_file_counted_and_keeps_nothing_but_secrets_back(tmp_path: Path) -> None:
    """What ranking leaves out is found as well: a stop word, a bracket, a file that the index skips."""
    files = {
        "app/a.py": "def f(x):\n    return x if x else f(0)\n",
        "app/b.py": "from app.a import f\nf(1); f(2)\n",
        "data.json": '{"f(": [' + ",".join(str(number) for number in range(90_000)) + "]}",
        ".env": "CALL=f(hK9%dPw2qLx7Zt)\n",
    }
    workspace = open_workspace(write(tmp_path / "repo", files), offline(tmp_path / "home"))
    done, outline, _ = await traced(lambda step: answer(r"/grep \bf\(", workspace, step))
    report = done.result
    assert isinstance(report, SearchReport) and report.exact and "grep" in outline
    found = {place.path: [(line.number, line.marks) for line in place.lines] for place in report.places}
    assert found["app/a.py"] == [(1, ((4, 6),)), (2, ((23, 25),))]
    assert found["app/b.py"] == [(2, ((0, 2), (6, 8)))]
    assert set(found) == {"app/a.py", "app/b.py", "data.json"}
    assert (report.total, report.files, report.more) == (4, 3, False)
    assert "4 lines match" in done.text and "f(1); f(2)" in done.text
    assert done.evidence[0].path == "app/a.py"
    stored = TypeAdapter(Answer)
    assert stored.validate_json(stored.dump_json(done)) == done


async def test_grep_says_how_many_lines_it_does_not_list(tmp_path: Path) -> None:
    lines = {f"n{number}.txt": "same\n" * 300 for number in range(5)}
    workspace = open_workspace(write(tmp_path / "repo", lines), offline(tmp_path / "home"))
    report = await grep_report("-F same", workspace, count=2)
    assert (report.total, report.files, len(report.places), report.more) == (1500, 5, 2, True)
    assert "1,000 of 1,500" in report.notes[0]


@pytest.mark.slow
async def test_grep_reads_texts_in_an_unknown_encoding(tmp_path: Path) -> None:
    workspace = workspace_of(tmp_path, {"a.py": "x = 1\n"})
    (workspace.snapshot.root / "short.txt").write_bytes(b"\xe9t\xe9 needle\n")
    (workspace.snapshot.root / "image.bin").write_bytes(b"\0\1needle\0")
    report = await grep_report("needle", workspace)
    assert [(place.path, report.total) for place in report.places] == [("short.txt", 1)]
