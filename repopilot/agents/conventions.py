"""What a repository tells agents and contributors about itself, for a model that changes it."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from repopilot.errors import ModelError
from repopilot.index.embed import Embedder
from repopilot.index.store import Index
from repopilot.repo.project_file import NAME, project_options

NAMES = ("agents.md", "claude.md", "copilot-instructions.md", "contributing.md", "contributing.rst")
"""File names of guides, the most important first, in lower case; any case matches."""
APART = (".github", ".claude", "docs")
"""Folders whose guide applies to the folder above them."""
MOST_HEADINGS = 12
OF_CHANGES = (
    "How tests are written and run",
    "Code style: formatting, linting, naming, types, comments",
    "What belongs into the changelog for a change",
    "Which documentation changes with the code",
    "Commands of development: build, lint, test",
)
"""Topics that matter to whoever changes code; the task itself is one more."""
ASIDE = (
    "Setting up an account, forking and cloning",
    "Making and publishing a release",
    "Reporting issues and asking questions",
    "Who maintains the project and how decisions are made",
    "Opening a pull request and its review",
    "Setting up a development environment, installing tools",
)
"""Topics that don't matter to them."""
LEAST = -0.1
"""The least score of a section: its greatest cosine with OF_CHANGES or the task, minus its greatest with ASIDE."""
_HEADING = re.compile(r"#{1,4}\s+(.+?)\s*#*$")

log = logging.getLogger(__name__)


class Conventions:
    """The conventions of a repository, each told once.

    Args:
        index: the repository.
        task: that of whoever reads them.
        room: the tokens that there is room for at a time.
        count_tokens: tokens of a text.
        embedder: ranks the sections of a guide by how much they matter for the task; without one, a guide is told from
            its beginning.
    """

    def __init__(
        self,
        index: Index,
        task: str,
        room: int,
        count_tokens: Callable[[str], int],
        embedder: Embedder | None = None,
    ) -> None:
        self._index = index
        self._task = task
        self._room = room
        self._count = count_tokens
        self._embedder = embedder
        self._paths = sorted(filter(_is_guide, index.files), key=lambda path: (-len(_folder(path)), _rank(path)))
        self._told: set[str] = set()
        self._own = project_options(index.text(NAME)).options.told

    def of(self, path: str) -> str:
        """The guides that apply to a path and weren't told yet, the nearest first. Blocking.

        Args:
            path: the path of a file; '' for the root, to which only the guides of the root apply.

        Returns:
            The texts below their paths, each with a note on what was left out; '' for none.
        """
        left = self._room
        parts = list[str]()
        if self._own:
            parts.append(self._cut(NAME, self._own, left))
            left -= self._count(parts[-1])
            self._own = ""
        for guide in [each for each in self._paths if _concerns(each, path)]:
            self._paths.remove(guide)
            text = (self._index.text(guide) or "").rstrip()
            if text and text not in self._told and text.removeprefix("@") not in self._index.files:
                self._told.add(text)
                parts.append(self._cut(guide, text, left))
                left -= self._count(parts[-1])
        return "\n\n".join(parts)

    def _cut(self, guide: str, text: str, room: int) -> str:
        lines = text.split("\n")
        kept = set[int]()
        for section in self._sections(guide, len(lines)):
            sums = list(accumulate(self._count(lines[number]) + 1 for number in section))
            if kept and sums[-1] > room:
                continue
            kept.update(number for number, tokens in zip(section, sums, strict=True) if tokens <= room)
            room -= sums[-1]
        told = [f"{guide}:"]
        last = -1
        for number in sorted(kept):
            between = lines[last + 1 : number]
            told += [*(["…"] if any(map(str.strip, between)) else between), lines[number]]
            last = number
        rest = [line for number, line in enumerate(lines) if number not in kept and line.strip()]
        if rest:
            about = "; ".join(list(_headings(rest))[:MOST_HEADINGS])
            told.append(f"… {len(rest)} lines left out" + f", about: {about}" * bool(about))
        return "\n".join(told)

    def _sections(self, guide: str, count: int) -> list[range]:
        """The sections of a guide as ranges of line numbers from 0, those that matter most first."""
        chunks = self._index.chunks_of(guide)
        if self._embedder is None or len(chunks) < 2:
            return [range(count)]
        wanted = [*OF_CHANGES, self._task]
        try:
            found = self._embedder.embed([chunk.text for chunk in chunks])
            asked = self._embedder.embed([*wanted, *ASIDE], query=True)
        except ModelError as error:
            log.warning("%s is told from its beginning: %s", guide, error)
            return [range(count)]
        near = found @ asked.T
        worth = near[:, : len(wanted)].max(1) - near[:, len(wanted) :].max(1)
        order = sorted(range(len(chunks)), key=lambda n: -worth[n])
        return [range(chunks[n].start_line - 1, min(chunks[n].end_line, count)) for n in order if worth[n] >= LEAST]


def _is_guide(path: str) -> bool:
    return path.rpartition("/")[2].lower() in NAMES


def _rank(path: str) -> int:
    return NAMES.index(path.rpartition("/")[2].lower())


def _concerns(guide: str, path: str) -> bool:
    folder = _folder(guide)
    return not folder or path.startswith(f"{folder}/")


def _folder(guide: str) -> str:
    """The folder that a guide applies to."""
    folders = guide.split("/")[:-1]
    return "/".join(folders[:-1] if folders and folders[-1] in APART else folders)


def _headings(lines: Sequence[str]) -> Iterator[str]:
    return (found[1] for line in lines if (found := _HEADING.match(line)))
