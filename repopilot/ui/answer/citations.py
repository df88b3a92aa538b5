"""Citations in the browser: their marks in the text as links, their places as props of the elements. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repopilot.i18n.format import commit_words
from repopilot.types import Citation
from repopilot.ui.answer.step_text import inert, outside_code

CONTEXT_LINES = 400
"""Lines shown around a cited place: enough to read on, few enough to draw at once."""
_MARK = re.compile(r"\[(\d{1,3})\??\](?!\()")


def linked(text: str, citations: Sequence[Citation], anchor: str) -> str:
    """The answer's Markdown with its marks `[1]`, `[2?]` as links to `#cite-<anchor>-<number>`, and no images.

    Marks in code, and numbers that cite nothing, are left alone. An unsupported citation shows a warning sign.
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


def code_props(citation: Citation, text: str, language: str = "") -> dict:
    """Props of the side view: the file around the cited lines, 1-based numbers, the lines to highlight."""
    lines = text.split("\n")
    start, end = max(1, citation.start_line), min(max(citation.end_line, citation.start_line), len(lines))
    first = max(1, start - CONTEXT_LINES // 2)
    last = min(len(lines), end + CONTEXT_LINES // 2)
    return {
        "path": citation.path,
        "commit": commit_words(citation.commit),
        "symbol": citation.symbol,
        "supported": citation.supported,
        "language": language,
        "first": first,
        "lines": lines[first - 1 : last],
        "total": len(lines),
        "start": start,
        "end": end,
    }
