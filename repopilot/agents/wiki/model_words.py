"""A model's words on how a component works, and whether the lines that they rest on are unchanged. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from repopilot import i18n
from repopilot.agents.overview.render import code
from repopilot.agents.wiki.record import digest
from repopilot.index.store import Index

LOST = "> ⚠ "
"""The beginning of the line that says in which files cited lines changed, or that a component is gone."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a model says on a page.

    Attributes:
        text: Markdown.
        model: its name.
        rests_on: the digest of the lines that it cites, by `path:start-end`.
    """

    text: str
    model: str
    rests_on: Mapping[str, str]

    def lost(self, index: Index) -> tuple[str, ...]:
        """The files in which cited lines have changed."""
        now = lines_cited(index, self.rests_on)
        return tuple(sorted({place.rpartition(":")[0] for place, was in self.rests_on.items() if now[place] != was}))

    def marked(self, lost: Sequence[str], language: str) -> Words:
        """The words below a line that names the files in which cited lines changed."""
        if not lost:
            return self
        said = i18n.text("wiki.words_lost", language, files=", ".join(map(code, lost)))
        return replace(self, text=f"{LOST}{said}\n\n{self.text}")


def lines_cited(index: Index, places: Iterable[str]) -> dict[str, str]:
    """The digest of the lines of each place.

    Args:
        index: the repository.
        places: as `path:start-end`.
    """
    found = {}
    for place in places:
        path, _, lines = place.rpartition(":")
        start, _, end = lines.partition("-")
        found[place] = (
            digest(index.lines(path, int(start), int(end)) or "") if start.isdigit() and end.isdigit() else ""
        )
    return found
