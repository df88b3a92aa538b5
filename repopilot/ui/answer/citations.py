"""Citations in the browser: their marks in the text as links, their places as props of elements. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repopilot import i18n
from repopilot.i18n.format import commit_words
from repopilot.types import Citation
from repopilot.ui.answer.step_text import inert, outside_code

CONTEXT_LINES = 400
"""Lines shown around a cited place: enough to read on, few enough to draw at once."""
_MARK = re.compile(r"\[(\d{1,3})\??\](?!\\?\()")


def linked(text: str, citations: Sequence[Citation], anchor: str) -> str:
    """Turn the marks `[1]`, `[2?]` of an answer into links, and disarm its images.

    Args:
        text: the answer in Markdown.
        citations: what the marks stand for. An unsupported citation gets a warning sign.
        anchor: the links lead to `#cite-<anchor>-<number>`.

    Returns:
        The Markdown. Marks in code, and numbers that cite nothing, are left as they are.
    """
    by_number = {citation.number: citation for citation in citations}

    def link(match: re.Match[str]) -> str:
        citation = by_number.get(int(match[1]))
        if citation is None:
            return match[0]
        sign = "" if citation.supported else "⚠ "
        return f"[{sign}{citation.number}](#cite-{anchor}-{citation.number})"

    return outside_code(inert(text), lambda prose: _MARK.sub(link, prose))


def source_rows(citations: Sequence[Citation]) -> list[dict]:
    """The list under an answer: {number, place, symbol, supported}."""
    return [
        {
            "number": citation.number,
            "place": f"{citation.path}:{citation.start_line}-{citation.end_line}",
            "symbol": citation.symbol,
            "supported": citation.supported,
        }
        for citation in citations
    ]


def code_props(citation: Citation, text: str, language: str) -> dict:
    """Props of the element `Code`: the file around the cited lines, which are highlighted.

    Args:
        citation: the cited lines.
        text: of the file.
        language: of the reader.
    """
    lines = text.split("\n")
    start, end = max(1, citation.start_line), min(max(citation.end_line, citation.start_line), len(lines))
    first = max(1, start - CONTEXT_LINES // 2)
    last = min(len(lines), end + CONTEXT_LINES // 2)
    kind = "lines" if end > start else "line"
    facts = [
        i18n.text(f"ui.code.{kind}", language, start=start, end=end, total=len(lines)),
        commit_words(citation.commit, language),
        citation.symbol,
    ]
    return {
        "path": citation.path,
        "facts": " · ".join(fact for fact in facts if fact),
        "supported": citation.supported,
        "first": first,
        "lines": lines[first - 1 : last],
        "total": len(lines),
        "start": start,
        "end": end,
        "words": i18n.section("ui.code.words", language),
    }
