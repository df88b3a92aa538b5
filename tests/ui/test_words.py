"""What messages mean, what numbers look like, what is kept: the small pure parts."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from repopilot import i18n
from repopilot.agents.impact.render import impact_markdown
from repopilot.agents.review.report import report_markdown
from repopilot.errors import SourceError
from repopilot.i18n.format import commit_words, count, duration, size
from repopilot.intents import commands
from repopilot.release import release
from repopilot.results import (
    AffectedPlace,
    Answer,
    ChangedFile,
    Completeness,
    CoveringTest,
    Explanation,
    ImpactReport,
    Plan,
    PlanPart,
    ReviewReport,
)
from repopilot.types import Citation, FileChange, Finding, Progress, Route, Skip, SourceFile
from repopilot.ui.answer.answer_view import alternatives
from repopilot.ui.answer.parts.folds import folds_props
from repopilot.ui.answer.parts.report_props import findings_props, fix_task, impact_props, review_summary, sarif
from repopilot.ui.answer.plan_view import edited
from repopilot.ui.chats.chat_list import ListedChat
from repopilot.ui.chats.chat_store import Exchange
from repopilot.ui.frame.chat_export import as_markdown
from repopilot.ui.help_text import help_text
from repopilot.ui.messages import LONGEST, ParsedMessage, from_address, parse_message
from repopilot.ui.progress_text import percent, progress_line
from repopilot.ui.repository.estimate import estimate
from repopilot.ui.repository.props import dense_words, skip_rows
from repopilot.ui.settings.settings_form import read_values


@pytest.mark.parametrize(
    ("text", "command", "kind"),
    [
        ("https://host.example/o/r", "", "open"),
        ("pallets/flask", "", "open"),
        ("git@host.example:o/r.git", "", "open"),
        ("/open anything at all", "", "open"),
        ("anything at all", "open", "open"),
        ("src/app", "", "question"),
        ("How does it work?", "", "question"),
        ("and/or?", "", "question"),
        ("   ", "", "empty"),
        ("/open", "", "empty"),
        ("x" * (LONGEST + 1), "", "too_long"),
    ],
)
def test_a_message_is_a_repository_or_a_question(text, command, kind):
    assert parse_message(text, command, commands(), {"src/app/main.py"}).kind == kind


def test_a_typed_command_counts_like_a_chosen_one():
    assert parse_message("/review src/a.py", "", commands()) == ParsedMessage("question", "src/a.py", "review")
    assert parse_message("src/a.py", "review", commands()) == ParsedMessage("question", "src/a.py", "review")
    assert parse_message("/nonsense x", "", commands()) == ParsedMessage("unknown", "/nonsense x", "/nonsense")
    assert parse_message("/help", "", commands()).kind == "help"
    assert parse_message("/rename a b", "", commands()).kind == "question"
    for typed in ("/review ", "/rename OLD NEW", "`/explain ", "`/callers NAME`"):
        assert typed in help_text("en")
    for language in ("en", "fr"):
        assert f"RepoPilot {i18n.translated(release(), language)}" in help_text(language)


@pytest.mark.slow
@given(st.text(max_size=200), st.sampled_from(["", *commands(), "open"]))
def test_every_message_means_something(text, command):
    assert parse_message(text, command, commands()).kind in ("open", "question", "empty", "too_long", "help", "unknown")


def test_the_address_of_the_page():
    assert from_address("http://127.0.0.1/?repo=a%2Fb&x=1", "repo") == "a/b"
    assert (
        from_address("http://127.0.0.1/", "repo") == from_address("", "repo") == from_address("http://[", "repo") == ""
    )


def test_numbers_as_people_read_them():
    assert [duration(s) for s in (0.0123, 3.21, 65, 3700)] == ["12 ms", "3.2 s", "1 min 5 s", "1 h 1 min"]
    assert [count(1, "file"), count(1200, "file"), count(2, "token")] == ["1 file", "1,200 files", "2 tokens"]
    assert [size(812), size(1_400_000), size(2.5e9)] == ["812 B", "1.4 MB", "2.5 GB"]
    assert commit_words("a" * 40 + "+dirty") == "commit aaaaaaa+dirty"
    assert dense_words(0.999, "en", embeds=True, filling=True) == "search by meaning: 99 % ready"
    assert dense_words(0, "en", embeds=True, filling=False) == "search by meaning on demand"
    assert dense_words(0, "en", embeds=False, filling=True) == "search by words only"
    assert dense_words(1, "en", embeds=False, filling=False) == "search by meaning ready"


def test_a_moment_of_progress_in_a_line():
    moment = Progress("receiving", 1_500_000, 3_000_000, "bytes", 500_000, 3.0)
    assert progress_line(moment, "en") == "receiving · 1.5 MB of 3.0 MB · 500 KB/s · 3.0 s left"
    assert progress_line(Progress("parsing", 12, 340, "files", 31, 10.6), "en") == (
        "parsing · 12 of 340 files · 31/s · 10.6 s left"
    )
    assert percent(Progress("x", 5, 0)) is None and percent(Progress("x", 5, 10)) == 50


def test_skips_are_counted_by_reason():
    rows = skip_rows([Skip("a", "binary"), Skip("b", "too large"), Skip("c", "binary")], "en")
    assert rows[0] == {"reason": "binary", "count": "2", "paths": ["a", "c"], "more": ""}


def test_of_very_many_skipped_files_some_are_listed_and_the_others_counted():
    (row,) = skip_rows([Skip(f"vendor/{n}.js", "dependency") for n in range(1500)], "en")
    assert len(row["paths"]) == 200
    assert (row["count"], row["more"]) == ("1,500", "and 1,300 more")


def test_the_estimate_keeps_the_order_of_indexing():
    files = [SourceFile(path, 3400, "h", "python", "code") for path in ("src/a.py", "docs/x.md", "src/b.py", "r.md")]
    found = estimate(files)
    assert [(f.name, f.lines) for f in found.folders] == [("src", 200), ("docs", 100), ("", 100)]
    assert found.files == 4 and found.lines == 400 and found.lexical_s == 0.0


def test_settings_of_a_chat():
    assert read_values({"ref": " main ", "include": "src/, *.py", "exclude": ""}) == {
        "ref": "main",
        "include": ["src/", "*.py"],
    }
    with pytest.raises(SourceError):
        read_values({"ref": "--upload-pack=x"})


PLAN = Plan("t", (PlanPart(1, "one", ("a.py",), "LOW", (), "done"), PlanPart(2, "two")))


def test_edited_parts_keep_what_was_known_of_them():
    parts = (PlanPart(1, "one", ("a.py",), "LOW", (), "done"), PlanPart(2, "two", ("b.py",), "HIGH", (1,)))
    assert [(p.number, p.title, p.state) for p in edited(parts, ["new", "two", "", "one"])] == [
        (1, "new", "open"),
        (2, "one", "done"),
        (3, "two", "open"),
    ]
    assert edited(parts, ["  "]) == ()


def test_a_reworded_part_keeps_its_place_and_is_open_again():
    draft = FileChange("a.py", "added", "+x", "x")
    parts = (
        PlanPart(1, "one", ("a.py",), "LOW", (), "done", place="a.py:A", drafts=(draft,), order=1),
        PlanPart(2, "two", ("b.py",), "HIGH", (1,)),
    )
    first, second = edited(parts, ["another one", "two"])
    assert (first.title, first.place, first.state, first.drafts) == ("another one", "a.py:A", "open", ())
    assert second == parts[1]
    assert edited(parts, ["rename x in c.py", "two"])[0].place == "", "the title says where"


FINDING = Finding("a.py", 3, "high", "B602", "shell", "bandit", "security", "  run(x)")
REPORT = ReviewReport("a.py", "c" * 40, (FINDING,), (FINDING, FINDING), ("a.py",), ("b.py is not Python",))


def test_a_review_is_listed_by_file_and_leaves_as_sarif():
    props = findings_props("m", REPORT, (Citation(1, "a.py", 3, 3, "c"),), "en")
    assert props["files"][0]["findings"][0]["number"] == 1
    assert props["scores"][:2] == [["overall", 90], ["security", 90]]
    assert fix_task(FINDING, "en") == "Fix this in a.py, line 3: shell (B602). The line reads: `run(x)`"
    report = json.loads(sarif(REPORT))
    assert report["runs"][0]["results"][0]["ruleId"] == "B602"


def test_a_review_is_summed_up_in_words():
    summary = "**Health 90/100** of a.py. 1 high in 1 file. 2 more were there before the change."
    assert review_summary(REPORT, "en") == f"{summary}\n\n- *b.py is not Python*"
    noted = dataclasses.replace(REPORT, note="No file was named.", notes=())
    assert review_summary(noted, "en") == f"No file was named.\n\n{summary}"
    clean = ReviewReport("a.py", "c" * 40, (), reviewed=("a.py", "b.py"))
    assert review_summary(clean, "en") == "**Health 100/100** of a.py. Nothing found in 2 files."
    assert review_summary(clean, "fr") == "**Santé 100/100** pour a.py. Rien trouvé dans 2 fichiers."


def test_a_review_of_nothing_has_no_score():
    nothing = ReviewReport("HEAD~1..HEAD", "c" * 40, (), notes=("README.md: documentation",))
    for told in (review_summary(nothing, "en"), report_markdown(nothing)):
        assert told == "Nothing in HEAD~1..HEAD was reviewed.\n\n- *README.md: documentation*"
    assert findings_props("a", nothing, (), "en")["scores"] == []


@pytest.mark.parametrize("ticks", range(7))
def test_no_excerpt_of_a_review_and_no_diff_of_a_chat_ends_its_block(ticks):
    code = f'text = """\n{"`" * ticks}\n# Out\n"""'
    excerpt = dataclasses.replace(REPORT, excerpts={f"{f.path}:{f.line}": code for f in REPORT.findings})
    answer = Answer("x", files=(FileChange("a.md", "added", f"{'`' * ticks}\n# Out\n", ""),))
    chat = ListedChat("t", "r", "Chat", 1, 0.0, "", "", False)
    for text in (report_markdown(excerpt), as_markdown(chat, [Exchange("q", "", answer)])):
        tokens = MarkdownIt().parse(text)
        fences = [each.content for each in tokens if each.type == "fence"]
        assert fences and all("# Out" in each for each in fences)
        assert not any("Out" in each.content for each in tokens if each.type == "inline")


def test_an_impact_report_is_shown_as_a_picture():
    assert impact_props(Answer("x"), "en") is None
    assert impact_props(Answer("x", result=Explanation()), "en") is None
    props = impact_props(Answer("x", result=ImpactReport("LOW", affected=(AffectedPlace("A1", "a"),))), "en")
    assert [box["label"] for box in props["picture"]["boxes"]] == ["a"]
    assert props["counts"].startswith("1 place affected · ")
    assert (props["risk"], props["label"]) == ("LOW", "Risk LOW") and props["alt"].endswith(": a")


def test_the_numbers_of_an_impact_report_agree_wherever_they_stand():
    report = ImpactReport(
        "LOW",
        changed=(ChangedFile("M1", "shop/cart.py", whole=True),),
        affected=tuple(AffectedPlace(f"A{n}", f"shop/at{n}.py", "use") for n in range(1, 31)),
        covering_tests=(CoveringTest("T1", "tests/test_a.py", ("test_a",)), CoveringTest("T2", "tests/test_b.py")),
        completeness=Completeness(complete=False, gaps=("One gap.", "another"), affected=30, covering_tests=2),
    )
    answer = Answer("", result=report)
    folds = {fold["title"]: fold for fold in folds_props("a", answer, "en")["folds"]}
    assert folds["Used directly by"]["rows"][-1] == "and 10 more" and folds["Used directly by"]["count"] == 30
    assert folds["Tests that cover it"]["count"] == 1
    assert impact_props(answer, "en")["counts"].startswith("30 places affected · 1 test file · ")
    told = impact_markdown(report)
    assert "used at 30 places in 30 files. Its tests: 1 test file." in told
    assert "incomplete: One gap; another." in told


def test_only_close_routes_are_offered():
    route = Route(
        "EXPLAIN", 0.5, "", "classifier", (("EXPLAIN", 0.5), ("TEST", 0.45), ("IMPACT", 0.1), ("REFUSE", 0.5))
    )
    assert alternatives(Answer("", route=route), "en") == [("Try /test instead", "test")]
    assert alternatives(Answer("", route=dataclasses.replace(route, tier="forced")), "en") == []
