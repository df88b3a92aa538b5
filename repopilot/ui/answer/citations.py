"""Citations in the browser: their marks in the text as links, their places as props of elements. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repopilot.types import Citation
from repopilot.ui.answer.step_text import inert, outside_code

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
