"""Past commits made searchable: postings of the words of their messages, the files they changed, and the path tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from repopilot.index.history import path_tree
from repopilot.index.history.path_tree import PathTree
from repopilot.index.ragged import ragged
from repopilot.index.tokens import expand, words

if TYPE_CHECKING:
    from repopilot.repo.history import Commit

VERSION = 2
BODY = 0.3
"""What a word of the body counts, one of the subject being 1."""
MOST_BODY_TOKENS = 100
MOST_OCCURRENCES = 255


class Bags(NamedTuple):
    """The words of n commits: those of commit i are `starts[i]` to `starts[i + 1]`.

    `tokens` is uint64, see `token_key`; `subject` and `body` are uint8: how often it occurs there.
    """

    starts: np.ndarray
    tokens: np.ndarray
    subject: np.ndarray
    body: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class CommitIndex:
    """n commits, the newest first; one that changed too many files or none has no words and no files.

    Attributes:
        tokens: uint64 (t,), ascending: the key of each token.
        starts: int64 (t + 1,): the postings of token k are `starts[k]` to `starts[k + 1]`.
        commits: int32 (p,): the commit of each posting.
        subject: uint8 (p,): how often the token occurs in its subject.
        body: uint8 (p,): how often it occurs in its body.
        at: int64 (n,): seconds since the epoch.
        file_starts: int64 (n + 1,): the files of commit i are `files[file_starts[i]:file_starts[i + 1]]`.
        files: int32: nodes of the tree.
        names: uint8: the paths of the nodes in UTF-8, separated by NUL.
        tree: the language model; its nodes are the paths that the files of the commits have now, and their folders.
    """

    tokens: np.ndarray
    starts: np.ndarray
    commits: np.ndarray
    subject: np.ndarray
    body: np.ndarray
    at: np.ndarray
    file_starts: np.ndarray
    files: np.ndarray
    names: np.ndarray
    tree: PathTree

    @property
    def paths(self) -> list[str]:
        """The path of each node, '' for the root."""
        return self.names.tobytes().decode().split("\0")


@lru_cache(maxsize=1 << 17)
def token_key(token: str) -> int:
    """The key of a token: 64 bits of its hash, so that no table of words has to be read for a query."""
    return int.from_bytes(blake2b(token.encode(), digest_size=8).digest(), "little")


def bags_of(commits: Iterable[Commit]) -> Bags:
    """The words of commits."""
    sizes: list[int] = []
    tokens: list[int] = []
    subjects: list[int] = []
    bodies: list[int] = []
    for commit in commits:
        subject, body = (_counted(text) if commit.paths else Counter() for text in (commit.subject, commit.body))
        known = list(subject) + [token for token in body if token not in subject][:MOST_BODY_TOKENS]
        sizes.append(len(known))
        tokens += map(token_key, known)
        subjects += (min(subject[token], MOST_OCCURRENCES) for token in known)
        bodies += (min(body[token], MOST_OCCURRENCES) for token in known)
    return Bags(_starts(sizes), np.array(tokens, np.uint64), np.array(subjects, np.uint8), np.array(bodies, np.uint8))


def _counted(text: str) -> Counter[str]:
    return Counter(token for word in words(text) for token in expand(word))


def bags_in(index: CommitIndex) -> Bags:
    """The words of the commits of an index, as `bags_of` gave them but for their order."""
    order = np.argsort(index.commits, kind="stable")
    tokens = np.repeat(index.tokens, np.diff(index.starts))[order]
    sizes = np.bincount(index.commits, minlength=len(index.at))
    return Bags(_starts(sizes), tokens, index.subject[order], index.body[order])


def joined(first: Bags, second: Bags, limit: int) -> Bags:
    """The words of some commits and of older ones, `limit` commits at most."""
    starts = np.concatenate((first.starts, second.starts[1:] + first.starts[-1]))[: limit + 1]
    columns = (np.concatenate(pair)[: starts[-1]] for pair in zip(first[1:], second[1:], strict=True))
    return Bags(starts, *columns)


def build(commits: Sequence[Commit], bags: Bags) -> CommitIndex:
    """Make commits searchable.

    Args:
        commits: newest first, with the paths that their files have now.
        bags: their words.

    Returns:
        The index.
    """
    paths = path_tree.paths_of(path for commit in commits for path in commit.paths)
    numbers = {name: number for number, name in enumerate(paths.names)}
    files = np.array([numbers[path] for commit in commits for path in commit.paths], np.int32)
    file_starts = _starts([len(commit.paths) for commit in commits])
    tokens, of_bags = np.unique(bags.tokens, return_inverse=True)
    order = np.argsort(of_bags, kind="stable")
    weights = bags.subject + BODY * bags.body
    return CommitIndex(
        tokens=tokens,
        starts=_starts(np.bincount(of_bags, minlength=len(tokens))),
        commits=np.repeat(np.arange(len(commits), dtype=np.int32), np.diff(bags.starts))[order],
        subject=bags.subject[order],
        body=bags.body[order],
        at=np.array([commit.at for commit in commits], np.int64),
        file_starts=file_starts,
        files=files,
        names=np.frombuffer("\0".join(paths.names).encode(), np.uint8),
        tree=path_tree.build(paths, len(tokens), (bags.starts, of_bags, weights), (file_starts, files)),
    )


def postings(index: CommitIndex, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places in the postings of some tokens, and how many each token has.

    Args:
        index: the commits.
        tokens: int (k,), numbers of tokens.

    Returns:
        int (p,) and int (k,).
    """
    sizes = index.starts[tokens + 1] - index.starts[tokens]
    return ragged(index.starts[tokens], sizes), sizes


def _starts(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(np.asarray(sizes, np.int64)))).astype(np.int64)
