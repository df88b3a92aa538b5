"""A question as the answerers of its form get it, and the answer that code gives."""

from __future__ import annotations

from dataclasses import dataclass

from repopilot.i18n import Language
from repopilot.index.store import Index
from repopilot.retrieval.search import Results
from repopilot.types import Evidence
from repopilot.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question with what the search found for it, and the language to answer in."""

    question: str
    results: Results
    workspace: Workspace
    language: Language

    @property
    def index(self) -> Index:
        """The index of the repository."""
        return self.workspace.index


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """An answer composed by code, without a model.

    Attributes:
        form: what was asked, for example `default` or `callers`.
        text: in Markdown; `[n]` cites the place with the number n.
        places: what the text cites, numbered from 1 in this order.
        sure: True for what the code knows, False for what is only likely.
    """

    form: str
    text: str
    places: tuple[Evidence, ...]
    sure: bool
