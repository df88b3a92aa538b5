"""Text of others in what is posted: whatever it is, nothing comes of it but text."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from repopilot.foreign_text import code_span, literal, literal_lines, literal_subject, visible
from repopilot.forge.items import parse_item
from repopilot.forge.review_comments import comment_text, plan, summary_text
from repopilot.forge.solve import pull_text, question_text
from repopilot.results import Answer, Generation, ImpactReport, ReviewReport
from repopilot.tools.file_change import change
from repopilot.types import Finding

GFM = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
ITEM = parse_item("https://github.com/o/r/issues/5")
MARKS = r"` `` ``` ~~~ --- === \ | < ]( ![ ** _ $x$ 1. [x](http://y) <http://y> http://y www.y.org @ada @ #1 !1 a@b.o"
SPACED = [
    "<img src=x>",
    "<!-- repopilot:summary -->",
    "[x]: /y",
    "fixes #1",
    "closes o/r#1",
    "resolves GH-1",
    "\n/close",
]
LINES = [
    "\n",
    "\r\n",
    "\n\n",
    "\n# ",
    "# ",
    "> ",
    "* ",
    "\n    ",
    "\u200b",
    "\u202e",
    "\u2028",
    "\x0b",
    "&#64;ada",
    "&lt;",
    " ",
]
PIECES = st.sampled_from([*MARKS.split(), *SPACED, *LINES, "Fix: https://h/o/r/issues/1"])
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join)
REFERENCES = (
    r"@\w",
    r"(?i)\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?)\b:?\s+(?:[\w.-]+/[\w.-]+)?(?:#|GH-|GL-|https?://)\d?\w*(?<=\w)",
    r"[#!]\d",
    r"(?i)https?://|\bwww\.",
)


def rendered(markdown):
    """(the kinds of tokens, the prose: text outside code)."""
    kinds, prose = set(), []
    for token in GFM.parse(markdown):
        kinds.add(token.type)
        for child in token.children or ():
            kinds.add((child.type, child.content) if child.type == "html_inline" else child.type)
            if child.type == "text":
                prose.append(child.content)
            elif child.type in ("softbreak", "hardbreak"):
                prose.append("\n")
        prose.append("\n")
    return kinds, "".join(prose)


def check(markdown, *own):
    """That nothing but text, code and emphasis comes of it, besides our own HTML, prose and closing line."""
    kinds, prose = rendered(markdown)
    for html in ("<sub>", "</sub>"):
        kinds.discard(("html_inline", html))
    wrong = {"heading_open", "link_open", "image", "hr", "fence", "code_block", "blockquote_open", "table_open"}
    assert not wrong & kinds and not [kind for kind in kinds if isinstance(kind, tuple)], kinds
    for each in own:
        prose = prose.replace(each, "", 1)
    for pattern in REFERENCES:
        assert not re.search(pattern, prose), (pattern, prose)
    assert not re.search(r"^/\w", markdown, re.MULTILINE), "a command of GitLab"


def finding(path, text):
    return Finding(path or "p", 3, "high", text or "r", text, "tool", "security", "quote")


@pytest.mark.slow
@given(TEXTS, TEXTS)
@example("a`b\n# Heading @ada\n\nfixes #1", "`x` fixes #1")
@example("`", "`` ` fixes #1")
@example("", "```~~~``<!-- repopilot:summary -->``")
def test_a_review_posts_text_alone(path, text):
    comment = comment_text(finding(path, text), "0" * 16, "en")
    own, mark = comment.rsplit("\n", 1)
    assert mark == f"<!-- repopilot:{'0' * 16} high -->" and "<!--" not in own.replace("\\<!--", "")
    check(own)
    report = ReviewReport("it", "c" * 40, (finding(path, text),), (text,), ())
    check(summary_text(report, plan(report, {}, []), "en").rsplit("\n", 1)[0])


@pytest.mark.slow
@given(TEXTS, TEXTS)
@example("a`b\n# Heading @ada\n\nfixes #1", "- a list\n- @ada fixes #1")
def test_a_pull_request_and_a_question_post_text_alone(path, text):
    files = (change(path, "x\n", None),) if re.fullmatch(r"[\w.]+", path) else ()
    result = Generation(summary=text, failure=text, choices=(path,), impact=ImpactReport("low"))
    done = Answer(text, result=result, files=files, degraded=(text,))
    check(pull_text(ITEM, done, files, "en"), "Closes #5")
    check(question_text(done, "en"))


@pytest.mark.slow
@given(TEXTS)
@example("x\n\nCo-authored-by: a <a@b.org>\n\nskip-checks: true")
@example("[skip ci] fix #1")
@example("***NO_CI***")
def test_the_title_of_an_issue_is_the_line_of_a_commit_alone(title):
    subject = literal_subject(title)
    assert len(subject.splitlines()) <= 1 and not re.search(r"\[|\*\*\*|@\w|#\d|://", subject)


@pytest.mark.slow
@given(TEXTS)
def test_a_path_is_code_whatever_is_in_it(path):
    _, prose = rendered(f"- {code_span(visible(path))} (added)")
    assert prose.strip() == "(added)" or not path.strip() or set(path) <= {"`", " "}
    check(f"- {code_span(visible(path))} (added)")


def test_lines_stay_lines_and_bold_text_is_plain():
    assert literal_lines("✓ **10/10**, as is\n\n- a**b\n- **kw") == "✓ 10/10, as is\n\n- a\\*\\*b\n- \\*\\*kw"


@pytest.mark.parametrize(
    "text", ["use of eval() in a_b", "5 < 6 & 7 > 3", "`eval` runs `x`", "a*b*c", "1. one", "Ünïcode"]
)
def test_what_is_escaped_reads_as_it_was(text):
    kinds, prose = rendered(literal(text))
    plain = re.sub("`[^`]*`", "", text)
    assert prose.strip() == plain.strip() and ("code_inline" in kinds) == ("`" in text)
