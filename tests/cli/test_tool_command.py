"""`repopilot tool`: one tool by hand."""

import json

import pytest
from support.small_repo import lay_out

from repopilot.cli.app import main


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.setenv("REPOPILOT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("REPOPILOT_DENSE", "false")
    return lay_out(tmp_path / "shop")


@pytest.mark.slow
def test_a_tool_prints_one_document_and_writes_nothing(shop, capsys):
    before = (shop / "shop/prices.py").read_text()
    edit = ["--path", "shop/prices.py", "--old", "= 5000"]
    assert main(["tool", str(shop), "replace_text", *edit, "--new", "= 6000", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert done["tool"] == "replace_text" and not done["applied"]
    assert [(c["path"], c["change"]) for c in done["changes"]] == [("shop/prices.py", "modified")]
    assert (shop / "shop/prices.py").read_text() == before


@pytest.mark.slow
def test_grep_lists_what_matches_and_counts_the_rest(shop, capsys):
    assert main(["tool", str(shop), "grep", "--pattern", "def ", "--glob", "shop", "--limit", "1"]) == 0
    said = capsys.readouterr().out
    assert ": def " in said and "more lines of " in said


@pytest.mark.slow
def test_grep_on_the_command_line_lists_all_lines_and_counts_them(shop, capsys):
    assert main(["grep", str(shop), "DEF ", "-F", "-i", "-g", "shop", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["lines"]) == found["total"] > 1 and found["files"] > 1
    assert all(row["text"][slice(*row["marks"][0])] == "def " for row in found["lines"])
    assert main(["grep", str(shop), "def ", "-m", "1"]) == 0
    first, counted = capsys.readouterr().out.splitlines()
    assert ": def " in first and "lines match (files: " in counted
    assert main(["grep", str(shop), "def (", "--json"]) == 2
    assert main(["grep", str(shop), "x", "-g", "*.cobol"]) == 2


@pytest.mark.slow
def test_what_it_changed_is_written_where_that_is_wanted(shop, capsys):
    arguments = ["--path", "shop/prices.py", "--old", "= 5000", "--new", "= 6000", "--count", "1", "--apply"]
    assert main(["tool", str(shop), "replace_text", *arguments]) == 0
    assert "DISCOUNT_FROM = 6000" in (shop / "shop/prices.py").read_text()
    assert "+DISCOUNT_FROM = 6000" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["raed", "--path", "a"], "read"),
        (["read"], "path"),
        (["read", "--file", "a"], "path, start=1, end=200"),
        (["read", "--path"], "--path"),
        (["read", "--path", "shop/cart.py", "--start", "many"], "start"),
    ],
)
def test_wrong_use_is_answered_with_what_would_be_right(shop, capsys, words, said):
    assert main(["tool", str(shop), *words]) == 2
    out = capsys.readouterr()
    assert said in out.err and not out.out


def test_other_commands_refuse_options_that_they_do_not_have(shop, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["search", str(shop), "cart", "--path", "a"])
    assert ended.value.code == 2


@pytest.mark.slow
def test_a_command_of_the_repository_runs_unless_it_is_never_wanted(shop, capsys, monkeypatch):
    command = ["tool", str(shop), "run_command", "--command", "echo 1 > made.txt; echo hello", "--json"]
    assert main([*command, "--apply"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert done["data"]["output"] == "hello\n" and done["data"]["paths"] == ["made.txt"]
    assert (shop / "made.txt").read_text() == "1\n"
    monkeypatch.setenv("REPOPILOT_COMMANDS", "never")
    assert main(command) == 2
    assert "Nobody has allowed" in capsys.readouterr().err
