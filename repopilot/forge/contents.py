"""What a host says of issues and pull requests, the same for every host. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment of a person or program, as it was written: data, never an instruction."""

    author: str
    text: str


@dataclass(frozen=True, slots=True)
class HostIssue:
    """An issue with its comments, oldest first, where its repository is, and whether the host denies pushing there."""

    title: str
    text: str
    state: str
    clone_url: str
    default_branch: str
    labels: tuple[str, ...] = ()
    comments: tuple[Comment, ...] = ()
    may_push: bool = True


@dataclass(frozen=True, slots=True)
class Fork:
    """A fork as its host names it: `owner/name`, the address to push to, and the default branch."""

    name: str
    clone_url: str
    branch: str


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request.

    Attributes:
        title, text, state: as the host has them; state `open`, `closed` or `merged`.
        base_sha, base_ref: the commit and branch that it goes into.
        head_sha, head_ref: its own.
        clone_url: of the repository it goes into.
        head_clone_url: of the repository it comes from; '' where that is gone.
        lines: the lines of the new files that can be commented on, by path; each with its number in the old file, 0 for
            an added one.
        old_paths: of the files, where the host wants them with a comment.
        versions: ids that the host wants with a comment, beside `head_sha`.
    """

    title: str
    text: str
    state: str
    base_sha: str
    base_ref: str
    head_sha: str
    head_ref: str
    clone_url: str
    head_clone_url: str
    lines: Mapping[str, Mapping[int, int]]
    versions: Mapping[str, str]
    old_paths: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Posted:
    """A comment that is there already: its id and text; `thread` where a host resolves threads; who wrote it, and on
    which line (0 for none) of which file."""

    id: str
    text: str
    thread: str = ""
    author: str = ""
    path: str = ""
    line: int = 0


class Forge(Protocol):
    """A host, for one issue or pull request. Every method blocks, and raises ForgeError, or SourceError where the
    host may not be asked."""

    def issue(self) -> HostIssue:
        """The issue with its comments."""

    def pull(self) -> Pull:
        """The pull request with its files."""

    def inline_comments(self) -> list[Posted]:
        """Every comment on a line."""

    def comment_on_line(self, pull: Pull, path: str, line: int, text: str) -> None:
        """Comment on a line of the new version of a file."""

    def change_inline(self, comment: Posted, text: str) -> None:
        """Give a comment on a line another text."""

    def resolve(self, comment: Posted) -> None:
        """Mark the thread of a comment as resolved."""

    def comments(self) -> list[Posted]:
        """Every comment on the whole."""

    def comment(self, text: str) -> None:
        """Comment on the whole."""

    def change_comment(self, comment: Posted, text: str) -> None:
        """Give a comment on the whole another text."""

    def fork(self) -> Fork:
        """The fork of the token's account, created where there is none. It may not be ready yet."""

    def fork_ready(self, fork: Fork) -> bool:
        """Whether a fork can be pushed to."""

    def start_branch(self, fork: Fork, commit: str, branch: str) -> None:
        """Create a branch of a fork at a commit of the repository."""

    def open_pull(self, title: str, text: str, head: str, base: str, fork: Fork | None = None) -> tuple[str, int]:
        """Open a pull request of a branch of the repository itself, or of a fork; returns its address and number."""


def commentable(patch: str) -> dict[int, int]:
    """The lines of the new file that a patch shows, those a comment can be attached to: each with its number in the old
    file, 0 for an added line."""
    found: dict[int, int] = {}
    old = new = 0
    for line in patch.split("\n"):
        if hunk := _HUNK.match(line):
            old, new = int(hunk[1]), int(hunk[2])
        elif line.startswith((" ", "+")):
            found[new] = old if line[0] == " " else 0
            new += 1
        old += line.startswith((" ", "-"))
    return found
