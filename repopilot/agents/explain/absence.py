"""Does the repository hold what a question is about? Technologies, features and proper names that it names nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from repopilot.index.file_roles import ROLES
from repopilot.index.lexical import LexicalIndex
from repopilot.index.store import Index
from repopilot.index.tokens import expand
from repopilot.resolve.values import Occurrence
from repopilot.retrieval.claims import last_name
from repopilot.retrieval.query.spelling import common_stems
from repopilot.retrieval.query.technologies import SHORT, Technology, stems_of, technologies_in
from repopilot.workspace import Workspace

_MOST_SKIPPED = 8
MOST_PASSAGES = 50
"""Passages that have all words of a name and are read to see whether the words stand together."""
_BUILD = re.compile(r"(?:^|/)(?:makefile|appveyor\.yml|\.(?!env)[^/]*)(?:/|$)", re.I)
"""Files that only build, test or edit the program, and name technologies that the program doesn't have."""
_ABOUT_THESE = re.compile(
    r"\b(?:ci|workflows?|builds?|built|make(?:file)?|pipelines?|releas\w+|deploy\w*|coverage|lint\w*|tests?|tested|testée?s?)\b",
    re.I,
)
_PROPER_NAME = re.compile(r"(?<=[a-z,;:(/] )[A-Z][A-Za-z0-9]{3,}\b")
"""A word with a capital letter that begins no sentence."""
_SYSTEMS = frozenset("linux windows unix macos mac osx bsd posix english french".split())
"""Names that say where the program runs or what it speaks, rather than what is asked about."""
_NO_PROOF = sum(1 << ROLES.index(role) for role in ("test", "generated", "vendored"))


def absent_technologies(question: str, index: Index) -> list[str]:
    """Technologies that a question names and the repository doesn't.

    Args:
        question: as the user asked it.
        index: the repository's index.

    Returns:
        Their names; where there are none, proper names that occur nowhere. What only tests, generated files or other
        people's code name is absent as well.
    """
    named = technologies_in(question)
    counts = index.derived(_files_of_program) if not _ABOUT_THESE.search(question) else None
    listed = [technology.name for technology in named if not _is_named(technology, index, counts)]
    return listed or [name for name in _proper_names(question) if not _has(expand(name.lower())[:1], index, counts)]


def in_skipped_files(names: Iterable[str], workspace: Workspace) -> list[Occurrence]:
    """Where names stand that no indexed file holds: in files that the index skips, the first of them. Blocking."""
    asked = dict.fromkeys(spelled for name in names for spelled in (last_name(name), last_name(name).lower()))
    found = (at for name in asked for at in workspace.resolver.occurrences(name))
    return [at for at in found if at.span.path not in workspace.index.files][:_MOST_SKIPPED]


def _proper_names(question: str) -> list[str]:
    """Capitalized words, of a question that capitalizes few, that English hasn't."""
    found = list(dict.fromkeys(_PROPER_NAME.findall(question)))
    if 3 * len(found) > len(question.split()):
        return []
    return [name for name in found if name.lower() not in _SYSTEMS and not common_stems() & set(expand(name))]


def _files_of_program(index: Index) -> np.ndarray:
    """For each file whether what it names the program has."""
    built = np.array([_BUILD.search(path) is None for path in index.lexical.files], bool)
    return built & ((index.lexical.roles & _NO_PROOF) == 0)


def _is_named(technology: Technology, index: Index, counts: np.ndarray | None) -> bool:
    return any(_has(spelling, index, counts) for spelling in technology.spellings)


def _has(spelling: tuple[str, ...], index: Index, counts: np.ndarray | None) -> bool:
    joined, known = "".join(spelling), index.lexical.tokens
    tokens = [joined, "_".join(spelling), *(token for token in known if joined in token and len(joined) > SHORT)]
    if any(_passages(token, index.lexical, counts).size for token in tokens):
        return True
    return len(spelling) > 1 and _stand_together(spelling, index, counts)


def _passages(token: str, lexical: LexicalIndex, counts: np.ndarray | None) -> np.ndarray:
    """The passages with a token in their text or path, of the files that count."""
    number = lexical.tokens.get(token)
    if number is None:
        return np.zeros(0, np.int64)
    rows = np.union1d(lexical.fields["body"].of(number)[0], lexical.fields["path"].of(number)[0])
    return rows if counts is None else rows[counts[lexical.file_of[rows]]]


def _stand_together(spelling: tuple[str, ...], index: Index, counts: np.ndarray | None) -> bool:
    rows = _passages(spelling[0], index.lexical, counts)
    for stem in spelling[1:]:
        rows = np.intersect1d(rows, _passages(stem, index.lexical, counts))
    return any(_follow(spelling, stems_of(index.chunks[row].text)) for row in rows[:MOST_PASSAGES].tolist())


def _follow(spelling: tuple[str, ...], stems: tuple[str, ...]) -> bool:
    size = len(spelling)
    return any(stems[at : at + size] == spelling for at in range(len(stems) - size + 1))
