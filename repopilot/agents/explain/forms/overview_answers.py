"""Answers what the repository is, from its computed overview."""

from __future__ import annotations

from repopilot.agents.explain.forms.cited_places import CitedPlaces
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.overview.compute import overview_of
from repopilot.agents.overview.render import overview_text

_SHOWN = ("entry_points", "components", "flows", "commands", "reading")
"""Sections of an answer; the others stand on the page of the overview."""


def answer_overview(inquiry: Inquiry) -> CodeAnswer | None:
    """Answer with the overview; None where the repository holds no code whose definitions are read.

    Args:
        inquiry: a question about the repository as a whole.
    """
    overview = overview_of(inquiry.index)
    if not overview.components:
        return None
    cited = CitedPlaces(inquiry.index)
    text = overview_text(overview, inquiry.language, cited.cite, _SHOWN, level=3)
    return CodeAnswer("overview", text, cited.places, sure=True)
