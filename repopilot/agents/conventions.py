"""What a repository tells agents and contributors about itself, for a model that changes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from repopilot.index.store import Index
from repopilot.repo.project_file import NAME, project_options

NAMES = ("agents.md", "claude.md", "copilot-instructions.md", "contributing.md", "contributing.rst")
"""The files, the most important first, in whatever case."""
APART = (".github", ".claude", "docs")
"""Folders that hold such a file for the folder above."""
MOST_HEADINGS = 12
_HEADING = re.compile(r"#{1,4}\s+(.+?)\s*#*$")


class Conventions:
    """The conventions of a repository, each told once.

    Args:
        index: of the repository.
        room: the most tokens that are told at a time.
        count_tokens: tokens of a text.
    """

    def __init__(self, index: Index, room: int, count_tokens: Callable[[str], int]) -> None:
        self._index = index
        self._room = room
        self._count = count_tokens
        self._paths = sorted(filter(_is_guide, index.files), key=lambda path: (-len(_folder(path)), _rank(path)))
        self._told: set[str] = set()
        self._own = project_options(index.text(NAME)).options.told

    def of(self, path: str) -> str:
        """What wasn't told yet of what concerns a path, the nearest file first. Blocking.

        Args:
            path: of a file; '' for the root, which is concerned by what stands there.

        Returns:
            The texts below their paths, with what is left out of them; '' for none.
        """
        left, parts = self._room, list[str]()
        if self._own:
            parts.append(self._cut(NAME, self._own, left))
            left -= self._count(parts[-1])
            self._own = ""
        for guide in [each for each in self._paths if _concerns(each, path)]:
            self._paths.remove(guide)
            text = (self._index.text(guide) or "").strip()
            if text and text not in self._told:
                self._told.add(text)
                parts.append(self._cut(guide, text, left))
                left -= self._count(parts[-1])
        return "\n\n".join(parts)

    def _cut(self, guide: str, text: str, room: int) -> str:
        kept = [f"{guide}:"]
        lines = text.split("\n")
        for line in lines:
            room -= self._count(line) + 1
            if room < 0:
                break
            kept.append(line)
        rest = lines[len(kept) - 1 :]
        if rest:
            about = "; ".join(list(_headings(rest))[:MOST_HEADINGS])
            kept.append(f"… {len(rest)} lines left out" + f", about: {about}" * bool(about))
        return "\n".join(kept)


def _is_guide(path: str) -> bool:
    return path.rpartition("/")[2].lower() in NAMES


def _rank(path: str) -> int:
    return NAMES.index(path.rpartition("/")[2].lower())


def _concerns(guide: str, path: str) -> bool:
    folder = _folder(guide)
    return not folder or path.startswith(f"{folder}/")


def _folder(guide: str) -> str:
    """The folder that a file speaks of."""
    folders = guide.split("/")[:-1]
    return "/".join(folders[:-1] if folders and folders[-1] in APART else folders)


def _headings(lines: list[str]) -> Iterator[str]:
    return (found[1] for line in lines if (found := _HEADING.match(line)))
