"""The value types that every package uses. Frozen, without behaviour.

Line numbers are 1-based and inclusive everywhere. Paths are POSIX, relative to the repository's root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, KeysView, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

ChunkKind = Literal["function", "class", "module", "doc", "config", "schema"]
Intent = str
"""The id of an intent, for example EXPLAIN: repopilot/intents.py lists them."""
Severity = Literal["critical", "high", "medium", "low"]
Risk = Literal["LOW", "MEDIUM", "HIGH", "UNKNOWN"]
Decision = Literal["ACCEPT_ORIGINAL", "MERGE_FEEDBACK", "REQUEST_REVISION"]
SandboxLevel = Literal["bwrap", "landlock", "seatbelt", "limits"]


@dataclass(frozen=True, slots=True)
class Source:
    """What the user asked for, parsed: a remote URL or a local folder.

    `url` contains no credentials. `ref` is a branch, tag or commit, None for the default branch.
    `subdir` restricts it to a folder. `focus`, `line` and `last_line` are the file and
    the lines of a `…/blob/…#L10-L20` address.
    """

    name: str
    url: str | None = None
    path: Path | None = None
    ref: str | None = None
    subdir: str = ""
    focus: str | None = None
    line: int | None = None
    last_line: int | None = None

    @property
    def address(self) -> str:
        """An address that opens the same repository at the same ref again."""
        place = self.url or str(self.path)
        if self.url and self.ref:
            place = f"{place.removesuffix('.git')}/tree/{self.ref}"
            place += f"/{self.subdir}" if self.subdir else ""
        return place


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One repository at one commit, readable: a bare clone (`git_dir`) or a local folder (`root`), never both.

    `commit` is the full SHA of a bare clone; for a folder the SHA of HEAD, followed by `+dirty` where the
    folder differs from HEAD, or `unversioned` where it is no git repository. `key` names its folder in the index.
    `stale` is a message that says why the newest state could not be fetched, None when it was. For a working copy,
    `edited_from` is the snapshot that was opened; its packages serve where none were fetched for the copy's manifests.
    """

    key: str
    name: str
    commit: str
    git_dir: Path | None = None
    root: Path | None = None
    ref: str | None = None
    subdir: str = ""
    stale: str | None = None
    edited_from: Snapshot | None = None

    @property
    def clone(self) -> Path:
        """`git_dir` of a snapshot that has one."""
        assert self.git_dir is not None
        return self.git_dir

    @property
    def folder(self) -> Path:
        """`root` of a snapshot that has one."""
        assert self.root is not None
        return self.root


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read. `size` in bytes; `hash` of its content (a git blob id, or a hash in its place)."""

    path: str
    size: int
    hash: str
    language: str
    kind: Literal["code", "doc", "config", "schema"]


@dataclass(frozen=True, slots=True)
class Skip:
    """A file that is not read. `reason` is a message for the user."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition with its exact span. `qualified` is dotted from the file's top level (`Class.method`)."""

    name: str
    qualified: str
    kind: str
    path: str
    start_line: int
    end_line: int
    signature: str = ""

    @property
    def short_signature(self) -> str:
        """The signature, cut to the length that is shown and given to models."""
        whole = len(self.signature) <= _SHOWN_CHARS
        return self.signature if whole else f"{self.signature[: _SHOWN_CHARS - 1]}…"


_SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True)
class Reference:
    """A use of a name. `kind` is call, import, inherit or use; `scope` the qualified symbol around it, or ''."""

    name: str
    path: str
    line: int
    kind: str = "call"
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A range of lines of one file, the unit of retrieval. `id` is stable across runs."""

    id: str
    path: str
    start_line: int
    end_line: int
    language: str
    kind: ChunkKind
    symbol: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked place. `chunk` is a chunk, or several neighbouring ones as one, with the id of the best.

    `why` names the contributions to `score`. `lines` are the ranges of lines inside it that matter, best first; ()
    where that is unknown. `history` is a message on the past commits most like the query that touched the file, or ''.
    """

    chunk: Chunk
    score: float
    why: Mapping[str, float] = field(default_factory=dict)
    lines: tuple[tuple[int, int], ...] = ()
    history: str = ""


def innermost(symbols: Iterable[Symbol], line: int) -> Symbol | None:
    """The smallest definition around a line; None for none."""
    around = (s for s in symbols if s.start_line <= line <= s.end_line)
    return min(around, key=lambda s: s.end_line - s.start_line, default=None)


@dataclass(frozen=True, slots=True)
class Origin:
    """The repository of a place, where several were searched. `key` names its index."""

    repository: str
    commit: str
    key: str


def repository_mark(origin: Origin | None) -> str:
    """What stands before a place where several repositories were searched: `name › `."""
    return f"{origin.repository} › " if origin else ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place that was found for a question without a model.

    Attributes:
        number: its rank, by which the answer cites it.
        path, start_line, end_line: where it is.
        symbol: the qualified name of the definition, or the headings above a section; '' for neither.
        lines: (line number, text) of the lines relevant to the question, in order; of all lines in a short place.
        signature: of the definition, '' where it is not known.
        summary: the first sentence of its documentation, '' for none.
        focus: numbers of the lines that answer best.
        origin: the repository, where several were searched.
    """

    number: int
    path: str
    start_line: int
    end_line: int
    symbol: str = ""
    lines: tuple[tuple[int, str], ...] = ()
    signature: str = ""
    summary: str = ""
    focus: tuple[int, ...] = ()
    origin: Origin | None = None

    @property
    def place(self) -> str:
        """`path:first-last`, or `path:line` for a single line; after the repository where several were searched."""
        last = f"-{self.end_line}" if self.end_line > self.start_line else ""
        return f"{repository_mark(self.origin)}{self.path}:{self.start_line}{last}"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Exact lines of one file as given to the model under `number`. `text` has end_line - start_line + 1 lines."""

    number: int
    path: str
    start_line: int
    end_line: int
    symbol: str
    text: str


LineRange = Chunk | Symbol | Evidence | Excerpt
"""What has a path, a first line and a last one."""


def overlap(one: LineRange, other: LineRange) -> bool:
    """Whether two ranges of lines share a line."""
    return one.path == other.path and one.start_line <= other.end_line and other.start_line <= one.end_line


def contains(outer: LineRange, inner: LineRange) -> bool:
    """Whether all lines of a range are in another one."""
    return outer.path == inner.path and outer.start_line <= inner.start_line and inner.end_line <= outer.end_line


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in the repository that an answer cites by its `number`. `supported`: its lines support the claim.
    `origin` names the repository, where several were searched."""

    number: int
    path: str
    start_line: int
    end_line: int
    commit: str
    symbol: str = ""
    supported: bool = True
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """The intent chosen for a question. `confidence` is 0–1; `tier` names what decided: forced, rules, classifier,
    model or heuristic."""

    intent: Intent
    confidence: float
    reason: str
    tier: str
    alternatives: tuple[tuple[Intent, float], ...] = ()


@dataclass(frozen=True, slots=True)
class OpenReference:
    """A reference that code isn't sure of, for the user to decide.

    Attributes:
        path, line: where it is.
        text: of the line.
        reason: why it is left open, as a message.
    """

    path: str
    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """One generated file. `diff` is unified, against the snapshot; `content` is the complete new text."""

    path: str
    change: Literal["added", "modified", "deleted"]
    diff: str
    content: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of the Controller. `score` is 0–10."""

    score: float
    decision: Decision
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A requirement that an environment lacks. `reason` is a message."""

    requirement: str
    reason: str


@dataclass(frozen=True, slots=True)
class Environment:
    """What a repository's tests need to run, installed outside of it and used read-only in the sandbox.

    Attributes:
        key: names it among the environments on disk; '' for an interpreter that the user named.
        interpreter: the program that runs the tests, None for the one that runs us.
        packages: folders with packages, which come before all others.
        readable: further folders that the interpreter reads.
        plugins: modules of pytest plugins to load.
        files: texts by path of files that a build of the project would have written into its source.
        left_out: requirements that could not be installed.
    """

    key: str
    interpreter: Path | None = None
    packages: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    plugins: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class InstalledPackages:
    """What a repository's tests in a language other than Python need, used read-only in the sandbox.

    Attributes:
        key: names it among the environments on disk; '' for the repository's own, which its user installed.
        folder: with the packages: a `node_modules`, cargo's vendored sources, Go's module cache.
        files: texts by path of files that the repository lacks, such as a lock file.
    """

    key: str
    folder: Path
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportedPackages:
    """What code of a language imports from outside of its own files.

    Attributes:
        folders: with packages.
        members: folders of the repository that are packages, too, by name: the members of a JavaScript workspace.
    """

    folders: tuple[Path, ...] = ()
    members: Mapping[str, str] = field(default_factory=dict)


PackagesOf = Callable[[str], ImportedPackages]
"""Finds the packages that code of a language imports, on this machine."""


Ended = Literal["finished", "timeout", "memory", "processes", "output", "disk", "cancelled"]
TestOutcomeName = Literal["passed", "failed", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed test. `assertion` is pytest's message; `path:line` the innermost frame in the code or
    tests of the run ('' and 0 without one), `lines` the numbered source around it, `error` the name of the exception
    ('' where the runner tells none)."""

    test_id: str
    assertion: str
    path: str = ""
    line: int = 0
    lines: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class TestRun:
    """Counts of one sandboxed pytest run. `genuine`: the pass is verified by assertion inversion, see
    sandbox/verdict.py; `reasons` are messages that say why it is not, or how far the verification went. `ended` other
    than `finished` names the limit that was exceeded. `outcomes`: passed, failed, error or skipped, by test id;
    `unreached`: ids of those that had not ended when the run was stopped. `missing_plugins`: names of plugins that
    pytest ran without, since they are not installed. `apart`: ids of tests that write into the repository and so ran
    in a copy of it, without controls. `inverted`: ids without parameters of the tests that passed, and were seen to
    fail with an inverted assertion.
    `control`: a message on how a pass was verified if not by assertion inversion."""

    __test__ = False

    passed: int
    failed: int
    errors: int
    duration_s: float
    level: SandboxLevel
    output: str
    genuine: bool
    ended: Ended = "finished"
    failures: tuple[Failure, ...] = ()
    reasons: tuple[str, ...] = ()
    outcomes: Mapping[str, TestOutcomeName] = field(default_factory=dict)
    control: str = ""
    unreached: tuple[str, ...] = ()
    missing_plugins: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    inverted: tuple[str, ...] = ()

    def tests(self, *outcomes: TestOutcomeName) -> KeysView[str]:
        """The ids of the tests with some outcomes, in the order of the run."""
        return {name: outcome for name, outcome in self.outcomes.items() if outcome in outcomes}.keys()

    @property
    def checked(self) -> int:
        """How many of the tests that passed are `inverted`."""
        return sum(name.partition("[")[0] in self.inverted for name in self.tests("passed"))

    @property
    def seconds_needed(self) -> float:
        """How long the tests took; 0 where a limit stopped them, which doesn't tell how long they would take."""
        return self.duration_s if self.ended == "finished" else 0.0


ProofKind = Literal["proved", "shown", "opinion"]


@dataclass(frozen=True, slots=True)
class Proof:
    """What a test proves about a defect.

    Attributes:
        kind: `proved` where it passes before the change and fails after it, `shown` where it fails on what the change
            adds, else `opinion`.
        path: of the test file, which the repository doesn't have.
        test: its text.
        before: how it went on the state before the change: `passed`, `failed` or `not run`.
        after: how it went on the state after it.
        outside: whether it ran outside the repository's own test configuration, under which no test ran.
    """

    kind: ProofKind
    path: str
    test: str
    before: str
    after: str
    outside: bool = False


@dataclass(frozen=True, slots=True)
class ReplacedLines:
    """Whole lines that take the place of others. `first` and `last` are their numbers, `old` their text, and `new` what
    takes its place, '' to remove them."""

    first: int
    last: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A review finding. `source` is the tool's name, or `model`; `quote` the text of the line; `silenced` whether the
    author suppressed it by a comment. `failure` is the input or state that triggers the defect and its effect, '' where
    a tool doesn't say; `proof` the test that shows it; `replacement` its fix, which is safe where it is from a tool,
    else the model's suggestion."""

    path: str
    line: int
    severity: Severity
    rule: str
    message: str
    source: str
    domain: str = ""
    quote: str = ""
    silenced: bool = False
    failure: str = ""
    proof: Proof | None = None
    replacement: ReplacedLines | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a long job. `rate` is in units per second; `remaining_s` is None while it is unknown."""

    phase: str
    done: int
    total: int
    unit: str = "files"
    rate: float = 0.0
    remaining_s: float | None = None
    detail: str = ""


OnProgress = Callable[[Progress], None]
"""Receives the progress of a long job, in the thread that does it. It must neither raise nor block."""


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A line of a place that was found. `marks` are the matched words in it, as (start, end) in characters."""

    number: int
    text: str
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class RankedPlace:
    """A place that a search found.

    Attributes:
        number: its rank, from 1.
        path, start_line, end_line: where it is.
        symbol: the qualified name of the definition, or the headings above a section; '' for neither.
        title: likewise, for the definition around the best line, where the place contains several.
        signature: of that definition, '' where it is not known.
        language, kind: of the place, as the filters `lang:` and `kind:` take them.
        score: the sum of the contributions in `why`, under the names of the ranking.
        lines: the relevant ones, ascending, long ones cut.
        text: the whole text.
        history: a message on the past commits most like the query that touched its file, '' for none.
        origin: the repository, where several were searched.
    """

    number: int
    path: str
    start_line: int
    end_line: int
    symbol: str
    title: str
    signature: str
    language: str
    kind: str
    score: float
    why: Mapping[str, float]
    lines: tuple[MarkedLine, ...]
    text: str
    history: str = ""
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class SearchReport:
    """What a search found.

    Attributes:
        query: as searched, with its filters.
        words: the query without its filters.
        filters: (name, value), for example ("lang", "python").
        places: the best of them, best first.
        total: how many passages match, in `files` files; neighbouring ones are joined in one place.
        more: whether there are places after those in `places`.
        languages, kinds: (value, how many passages of it match without the filters of that name), most first.
        tokens: the index tokens of the query, to mark its words.
        notes: messages on what was left out or not found.
        seconds: how long it took.
        commit: the state of the repository; '' where all were searched.
        examples: (what it shows, a query) for an empty search: examples of queries, with names of this repository.
        repositories: how many were searched by a search of all, None for a search of one.
        exact: all lines that match a pattern were searched for: each place is a file with such lines, `total` counts
            the lines.
    """

    query: str
    words: str = ""
    filters: tuple[tuple[str, str], ...] = ()
    places: tuple[RankedPlace, ...] = ()
    total: int = 0
    files: int = 0
    more: bool = False
    languages: tuple[tuple[str, int], ...] = ()
    kinds: tuple[tuple[str, int], ...] = ()
    tokens: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    commit: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    repositories: int | None = None
    exact: bool = False
    kind: Literal["search"] = "search"
