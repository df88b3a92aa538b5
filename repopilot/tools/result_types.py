"""What the tools return as data: for programs, which get its JSON schema with each tool."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict  # pydantic takes no other before Python 3.12

from repopilot.resolve.uses.call_graph import PathNode, RelatedPlace
from repopilot.results import Sentence
from repopilot.types import Citation, Finding


class CodePlace(TypedDict):
    """Lines of a file; `text` is '' where they aren't printed."""

    path: str
    start_line: int
    end_line: int
    symbol: str
    text: str


class CodePlaces(TypedDict):
    """Places, the best first, and notes on the search."""

    places: list[CodePlace]
    notes: list[str]


class MatchingPaths(TypedDict):
    """Paths, and how many more there are."""

    paths: list[str]
    left_out: int


class MatchingLine(TypedDict):
    """A line that matches a pattern; of a long one the part around the match."""

    path: str
    line: int
    text: str


class MatchedLines(TypedDict):
    """The first lines that match, how many do in how many files, and how many files were searched."""

    lines: list[MatchingLine]
    total: int
    files: int
    searched: int


class OutlineRow(TypedDict):
    """A definition of a file."""

    name: str
    start_line: int
    end_line: int
    signature: str
    decorators: list[str]


class Outline(TypedDict):
    """The definitions of a file, and how many more there are."""

    path: str
    symbols: list[OutlineRow]
    left_out: int


class Lines(TypedDict):
    """Lines of a file that has `total`."""

    path: str
    start_line: int
    end_line: int
    total: int
    lines: list[str]


class RelatedPlaces(TypedDict):
    """Places, sure and unsure ones apart."""

    sure: list[RelatedPlace]
    unsure: list[RelatedPlace]


class CallSteps(TypedDict):
    """A call path; empty where there is none."""

    steps: list[PathNode]


class CommitRow(TypedDict):
    """A commit."""

    sha: str
    date: str
    author: str
    subject: str


class Commits(TypedDict):
    """Commits, the newest first."""

    commits: list[CommitRow]


class UnsureUse(TypedDict):
    """A line that was left as it is."""

    path: str
    line: int
    text: str


class Edited(TypedDict):
    """An edit of the working copy."""

    paths: list[str]
    diff: str


class Moved(Edited, total=False):
    """A file that was moved; for a Python module also what was left unchanged, as after a refactoring."""

    files: list[str]
    unsure: list[UnsureUse]
    unread: list[str]
    unsure_count: int
    left: list[UnsureUse]
    done: bool


class Undone(TypedDict):
    """How many edits were taken back."""

    undone: int


class _Changed(TypedDict):
    files: list[str]
    unsure: list[UnsureUse]
    unread: list[str]
    unsure_count: int


class Refactored(_Changed, total=False):
    """What was changed, and the uses that weren't. Those `left` may break the program; `done` is true without any."""

    left: list[UnsureUse]
    done: bool
    diff: str


class ValueSet(TypedDict):
    """Where a value was set, and what is newly wrong; `done` is true without that."""

    path: str
    name: str
    line: int
    diff: str
    left: list[UnsureUse]
    done: bool


class ChangedFileRow(TypedDict):
    """A file of the change."""

    path: str
    change: str
    diff: str


class Changed(TypedDict):
    """The change so far, and what others did to the folder meanwhile."""

    files: list[ChangedFileRow]
    on_disk: dict[str, str]
    conflicts: list[str]


class NewFinding(TypedDict):
    """Something that is wrong now and wasn't before."""

    path: str
    message: str


class Checked(TypedDict):
    """What is newly wrong in the files that were checked, what looked for it, and what could not, with the reason."""

    new: list[NewFinding]
    checked: list[str]
    ran: list[str]
    missing: list[str]


class _Counted(TypedDict):
    tests: list[str]
    passed: int
    failed: int
    turned_red: list[str]
    turned_green: list[str]


class TestsRun(_Counted, total=False):
    """Tests with the edits, compared with those without; the other fields are there if tests were run. `fails_without`:
    the tests of the edits that fail without the other edits."""

    errors: int
    red_before: list[str]
    fails_without: list[str]
    ended: str
    level: str


class CommandRun(TypedDict):
    """A command that was run: how it ended, `stopped` where a limit ended it, the paths that it edited, and those that
    were not taken over."""

    exit_code: int
    seconds: float
    stopped: str
    paths: list[str]
    left_out: list[str]
    output: str


class Answered(TypedDict):
    """An answer. It has sentences where a model that calls tools wrote it."""

    route: dict[str, Any]
    answer: str
    sentences: list[Sentence]
    citations: list[Citation]
    degraded: list[str]
    model: str | None


class Packed(TypedDict):
    """How large a context pack is, and what is left out of it."""

    tokens: int
    left_out: int


class Applied(TypedDict):
    """The paths that were written."""

    applied: list[str]


class Reviewed(TypedDict):
    """A review."""

    score: float | None
    scores: dict[str, Any]
    findings: list[Finding]
    pre_existing: int
    what: str
    commit: str
    reviewed: list[str]
    notes: list[str]


class RepositoryOverview(TypedDict):
    """What a repository is."""

    purpose: str
    entry_points: list[dict[str, Any]]
    components: list[dict[str, Any]]
    edges: list[list[str]]
    commands: dict[str, str]
    reading: list[str]
    flows: list[dict[str, Any]]
    diagram: str
