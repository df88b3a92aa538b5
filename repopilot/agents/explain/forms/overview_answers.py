"""Answers what the repository is, from its computed overview."""

from __future__ import annotations

import re
from collections.abc import Mapping

from repopilot.agents.explain.forms.code_answer import CitedPlaces, CodeAnswer, Inquiry
from repopilot.agents.overview.compute import overview_of
from repopilot.agents.overview.render import overview_text
from repopilot.foreign_text import FENCED
from repopilot.retrieval.query.asked import Asked

_SHOWN = ("entry_points", "components", "flows", "commands", "reading")
"""The sections of an answer; the others are only on the page of the overview."""
_ANSWERS: Mapping[Asked, str] = {"structure": "components", "reading": "reading"}
"""The section that answers the question, where it isn't the first one anyway."""
_ITEM = re.compile(r"[-*+] +(?![\[<!])(\S.{10,})")
_MOST_ITEMS = 8


def answer_overview(inquiry: Inquiry) -> CodeAnswer | None:
    """Answer with the overview, beginning with the part that was asked for.

    Args:
        inquiry: a question about the repository as a whole.

    Returns:
        The answer; None where the repository holds no code whose definitions are read.
    """
    overview = overview_of(inquiry.index)
    if not overview.components:
        return None
    cited = CitedPlaces(inquiry.index)
    if inquiry.workspace.settings.audience == "reader" and overview.purpose_source:
        text = _in_documents_words(overview.purpose, overview.purpose_source.path, inquiry, cited)
        return CodeAnswer("overview", text, cited.places, sure=True)
    first = _ANSWERS.get(inquiry.results.query.wish, "")
    parts = sorted(_SHOWN, key=lambda part: part != first)
    text = overview_text(overview, inquiry.language, cited.cite, parts, level=3)
    return CodeAnswer("overview", text, cited.places, sure=True)


def _in_documents_words(purpose: str, path: str, inquiry: Inquiry, cited: CitedPlaces) -> str:
    """For somebody who reads no code: the purpose, and the list items without code of the document that states it."""
    source = inquiry.index.text(path) or ""
    prose = FENCED.sub(lambda block: "\n" * block[0].count("\n"), source)
    listed = ((number, _ITEM.fullmatch(line.strip())) for number, line in enumerate(prose.split("\n"), 1))
    items = [(number, item[1]) for number, item in listed if item and "`" not in item[1]]
    rows = [f"- {item} {cited.cite(path, number)}" for number, item in items[:_MOST_ITEMS]]
    return "\n\n".join(filter(None, [purpose, "\n".join(rows)]))
