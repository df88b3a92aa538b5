"""Past commits made searchable: postings of the words of their messages, and the files they changed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from repopilot.index.ragged import starts_of
from repopilot.index.tokens import expand, words

if TYPE_CHECKING:
    from repopilot.repo.history import Commit

BODY = 0.3
"""The weight of a word in the body; a word in the subject has weight 1."""
MOST_BODY_TOKENS = 100
MOST_OCCURRENCES = 255


@dataclass(frozen=True, slots=True, eq=False)
class CommitIndex:
    """n commits, the newest first. A commit that changed too many files, or none, has no words and no files.

    Attributes:
        tokens: the number of each of t tokens.
        starts: int64 (t + 1,): the postings of token k are `starts[k]` to `starts[k + 1]`.
        commits: int32 (p,): the commit of each posting.
        subject: int32 (p,): how often the token occurs in its subject.
        body: int32 (p,): how often it occurs in its body.
        at: int64 (n,): seconds since the epoch.
        file_starts: int64 (n + 1,): the files of commit i are `files[file_starts[i]:file_starts[i + 1]]`.
        files: int32: numbers of `paths`.
        paths: the current paths of the files.
    """

    tokens: Mapping[str, int]
    starts: np.ndarray
    commits: np.ndarray
    subject: np.ndarray
    body: np.ndarray
    at: np.ndarray
    file_starts: np.ndarray
    files: np.ndarray
    paths: tuple[str, ...]


def build(commits: Sequence[Commit]) -> CommitIndex:
    """Make commits searchable.

    Args:
        commits: newest first, with the paths that their files have now.

    Returns:
        The index.
    """
    found: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for number, commit in enumerate(commits):
        for token, subject, body in _words_of(commit):
            found[token].append((number, subject, body))
    rows = np.array(list(chain.from_iterable(found.values())), np.int32).reshape(-1, 3)
    numbers: dict[str, int] = {}
    files = [numbers.setdefault(path, len(numbers)) for commit in commits for path in commit.paths]
    return CommitIndex(
        tokens={token: number for number, token in enumerate(found)},
        starts=starts_of(np.array([len(each) for each in found.values()], np.int64)),
        commits=rows[:, 0],
        subject=rows[:, 1],
        body=rows[:, 2],
        at=np.array([commit.at for commit in commits], np.int64),
        file_starts=starts_of(np.array([len(commit.paths) for commit in commits], np.int64)),
        files=np.array(files, np.int32),
        paths=tuple(numbers),
    )


def _words_of(commit: Commit) -> list[tuple[str, int, int]]:
    """The tokens of a commit, each with how often it occurs in subject and body."""
    if not commit.paths:
        return []
    subject = _counted(commit.subject)
    body = _counted(commit.body)
    known = list(subject) + [token for token in body if token not in subject][:MOST_BODY_TOKENS]
    return [(token, min(subject[token], MOST_OCCURRENCES), min(body[token], MOST_OCCURRENCES)) for token in known]


def _counted(text: str) -> Counter[str]:
    return Counter(token for word in words(text) for token in expand(word))
