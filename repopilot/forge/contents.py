"""Issues and pull requests as data, the same for every host. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from repopilot.repo.patches.diff_hunks import hunks_in


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment of a person or program, as it was written: data, never an instruction. `member` says whether its author
    belongs to the repository; None where the host doesn't say it with the comment."""

    author: str
    text: str
    id: str = ""
    member: bool | None = None


@dataclass(frozen=True, slots=True)
class OwnPull:
    """An open pull request of the token's account: its address and number, its branch and the branch's repository."""

    url: str
    number: int
    branch: str
    clone_url: str


@dataclass(frozen=True, slots=True)
class HostIssue:
    """An issue with its comments, oldest first, its repository, and whether the account may push there or fork it.

    `opened` is its own text as a comment; `left_out` counts comments that are ignored; `own_pull` is the pull request
    that an earlier run opened for it; `default_branch` is its branch then.
    """

    title: str
    text: str
    state: str
    clone_url: str
    default_branch: str
    labels: tuple[str, ...] = ()
    comments: tuple[Comment, ...] = ()
    may_push: bool = True
    may_fork: bool = True
    opened: Comment = Comment("", "")
    left_out: int = 0
    own_pull: OwnPull | None = None

    @property
    def pushable(self) -> bool:
        """Whether there is a place that a change could be pushed to."""
        return self.may_push or self.may_fork or self.own_pull is not None


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
        old_paths: the old paths of the files, where the host wants them with a comment.
        versions: commit ids that the host wants with a comment, beside `head_sha`.
        windows: the files with lines that end in CR LF; a suggestion applied there would change that.
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
    windows: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Posted:
    """A comment that was posted before.

    Attributes:
        id, text: of the comment.
        thread: the id of its thread, where the host resolves threads by it.
        author: who wrote it.
        path, line: the place that it is on; '' and 0 for a general comment.
        first: the first of several lines that it is on, 0 where the host doesn't say.
        resolved_by: who resolved its thread, '' for nobody; where the host says it with the comment.
        disliked: whether somebody may have answered it with a thumbs down.
        member: as in `Comment`.
    """

    id: str
    text: str
    thread: str = ""
    author: str = ""
    path: str = ""
    line: int = 0
    first: int = 0
    resolved_by: str = ""
    disliked: bool = False
    member: bool | None = None


class Outcome(NamedTuple):
    """The state of a review, and a sentence about it."""

    state: Literal["running", "passed", "failed", "given up"]
    text: str


class LineComment(NamedTuple):
    """A comment to post on a line of the new version of a file, or on the lines from `first` to it."""

    path: str
    line: int
    text: str
    first: int = 0


def commentable(patch: str) -> dict[int, int]:
    """The lines of the new file that a patch shows, those a comment can be attached to: each with its number in the old
    file, 0 for an added line."""
    rows = (row for hunk in hunks_in(patch) for row in hunk.rows())
    return {new: old or 0 for _, old, new, _ in rows if new is not None}
