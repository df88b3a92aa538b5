"""What agents return: an `Answer`, and in its `result` the data behind its text, one dataclass for each agent.

Everything here can be written as JSON and read back (`pydantic.TypeAdapter(Answer)`), so that a conversation survives a
restart. To show an answer, `result` is read; nothing is ever read back out of `text`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Discriminator

from repopilot.types import (
    Citation,
    Evidence,
    Failure,
    FileChange,
    Finding,
    Intent,
    OpenReference,
    Risk,
    Route,
    SandboxLevel,
    SearchReport,
    TestRun,
    Verdict,
)

R = TypeVar("R")
PlanState = Literal["open", "running", "done", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """How an explanation came about.

    Attributes:
        origin: who answered: the `model`, `code` that knows the answer, code that only quotes the best places
            (`extractive`), or code that found nothing that answers (`absent`).
        interrupted: the model broke off, so another try is worth offering.
        lead: text of the answer without the draft and the evidence.
        draft: what a model without tools wrote below the lead, '' for nothing.
        form: form of the question that code answered, for example `callers`; '' for none.
        layout: the lead of an agent model's answer in pieces, without its last line: Markdown, or the number (from 1)
            of a sentence in `Answer.sentences`.
        cited: how many places the answer cites; they come first in the evidence.
        for_reader: written for somebody who reads no code: places are hidden behind a click.
    """

    origin: Literal["model", "code", "extractive", "absent"] = "model"
    interrupted: bool = False
    lead: str = ""
    form: str = ""
    draft: str = ""
    layout: tuple[str | int, ...] = ()
    cited: int = 0
    for_reader: bool = False
    kind: Literal["explanation"] = "explanation"


SentenceStatus = Literal["checked", "unchecked", "contradicted"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an agent model's answer, and what code found out about it.

    Attributes:
        text: as it is shown, with the numbers of its places in brackets.
        status: `checked` where its places exist and were read and hold what it names; `contradicted` where it names
            code that exists nowhere; else `unchecked`.
        why: the reason, a message; '' for none.
        places: places that support it, as `path:start-end`.
    """

    text: str
    status: SentenceStatus
    why: str = ""
    places: tuple[str, ...] = ()

    @property
    def is_code(self) -> bool:
        """Whether it is a block of code."""
        return self.text.lstrip().startswith(("```", "~~~"))


@dataclass(frozen=True, slots=True)
class PlanPart:
    """One edit of one place.

    Attributes:
        number: counted from 1.
        title: what to do, one sentence in the imperative.
        files: paths of the files that it changes or creates.
        risk: of changing these files.
        depends_on: numbers of earlier parts.
        state: its progress.
        place: `path:Symbol`, or a path; '' for a part that the user wrote.
        reasons: why this place, as messages, the strongest first.
        acceptance: criteria of the task that its result must meet.
        note: a message on why it failed or what it did; '' while it is open.
        drafts: the files after it, with diffs against the state before it; () while it is not done.
        order: position among the finished parts, from 1; 0 while it is not done.
    """

    number: int
    title: str
    files: tuple[str, ...] = ()
    risk: Risk = "UNKNOWN"
    depends_on: tuple[int, ...] = ()
    state: PlanState = "open"
    place: str = ""
    reasons: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    note: str = ""
    drafts: tuple[FileChange, ...] = ()
    order: int = 0


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """A decision that the task leaves open. `options` are its possible answers; one that begins with @ is a place that
    the task may mention."""

    question: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A task in numbered parts.

    Attributes:
        task: the task as the user wrote it.
        parts: in the order they should be done, numbered from 1; () where code can't tell which places to change.
        questions: what is worth deciding before the first part, or what is missing for a plan.
        note: what has just been done to the plan, as Markdown; '' for a new one.
    """

    task: str
    parts: tuple[PlanPart, ...]
    questions: tuple[PlanQuestion, ...] = ()
    note: str = ""
    kind: Literal["plan"] = "plan"

    def with_state(self, number: int, state: PlanState) -> Plan:
        """The plan with one part in another state."""
        return replace(self, parts=tuple(replace(p, state=state) if p.number == number else p for p in self.parts))

    def part(self, number: int) -> PlanPart | None:
        """The part of that number, None when there is none."""
        return next((p for p in self.parts if p.number == number), None)

    def ready(self) -> PlanPart | None:
        """The first open part with no dependency that is open or failed."""
        waiting = {p.number for p in self.parts if p.state in ("open", "failed")}
        return next((p for p in self.parts if p.state == "open" and not waiting & set(p.depends_on)), None)


@dataclass(frozen=True, slots=True)
class ChangedFileNote:
    """A sentence on what a change does in a file, by the model or computed from its definitions."""

    path: str
    text: str
    by_model: bool = False


@dataclass(frozen=True, slots=True)
class ReviewReport:
    """`findings` are those that count; `pre_existing` were there before the change. `notes` say what was left out;
    `commit` is the reviewed state; `excerpts` holds numbered lines of code by `path:line`; `note` says how the question
    was understood, '' where that is obvious; `silenced` are those that the author suppressed by comments; `folded`
    don't count: opinions of a model, uses that may be broken, minor remarks of analysers; `walkthrough` says what the
    change does, file by file; `by_model`: whether a model finished its review; `dismissed` are those that people
    dismissed on the host."""

    what: str
    commit: str
    findings: tuple[Finding, ...]
    pre_existing: tuple[Finding, ...] = ()
    reviewed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    excerpts: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    silenced: tuple[Finding, ...] = ()
    folded: tuple[Finding, ...] = ()
    walkthrough: tuple[ChangedFileNote, ...] = ()
    by_model: bool = False
    dismissed: tuple[Finding, ...] = ()
    kind: Literal["review"] = "review"


@dataclass(frozen=True, slots=True)
class InterfaceChange:
    """How a definition changes for those who use it; `before` and `after` are its signatures, '' for none."""

    id: str
    symbol: str
    how: Literal["added", "removed", "signature"]
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class SchemaTable:
    """A database table that a change declares or maps; a migration that names no table is listed by its path."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that changes: the qualified names of its touched definitions, or, with `whole`, the complete file.

    `interface` is None while the new text isn't known.
    """

    id: str
    path: str
    symbols: tuple[str, ...] = ()
    whole: bool = False
    status: Literal["added", "deleted", "modified", "renamed"] = "modified"
    old_path: str = ""
    interface: tuple[InterfaceChange, ...] | None = None
    tables: tuple[SchemaTable, ...] = ()


@dataclass(frozen=True, slots=True)
class AffectedPlace:
    """A definition or file (`symbol` is '') that depends on the change: `distance` hops away, reached from the file
    `via`, with a confidence from 0 to 1."""

    id: str
    path: str
    symbol: str = ""
    kind: str = "file"
    line: int = 1
    distance: int = 1
    confidence: float = 1.0
    reason: str = ""
    via: str = ""


@dataclass(frozen=True, slots=True)
class CoveringTest:
    """A test file that exercises the change; `tests` are its functions that reach the change."""

    id: str
    path: str
    tests: tuple[str, ...] = ()
    distance: int = 1
    confidence: float = 1.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CoChange:
    """A file that `together` of the `of` past commits to the changed files touched as well; `share` is their ratio."""

    id: str
    path: str
    together: int
    of: int
    share: float


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A file the change will probably touch too: `score` from 0 to 1, `distance` in hops, None without a dependency."""

    path: str
    score: float
    distance: int | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RiskReason:
    """A reason for the level of risk, with the ids of the items it rests on. A model's reasons count no points."""

    text: str
    evidence: tuple[str, ...]
    points: int = 0
    source: Literal["rule", "model"] = "rule"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Something to do about the change, with the ids of the items it rests on."""

    text: str
    evidence: tuple[str, ...]
    source: Literal["rule", "model"] = "rule"


@dataclass(frozen=True, slots=True)
class ImpactTarget:
    """A target as the user typed it (`target`), and the path and symbols that it was understood as."""

    target: str
    path: str
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Completeness:
    """How complete the evidence of an impact report is.

    Attributes:
        complete: whether there is no gap.
        gaps: why evidence may be missing, in words.
        commit: the state of the repository it was gathered from.
        files: how many files the index holds; `unparsed` of them have syntax errors.
        unresolved_calls: calls that fit several definitions, one of them changed.
        history_commits: how many past commits were looked at.
        affected, covering_tests: how many there are; the report lists the first of them.
        targets: what was asked about.
        unused: what is known about uses where no use is certain, '' where one is.
    """

    complete: bool = True
    gaps: tuple[str, ...] = ()
    commit: str = ""
    files: int = 0
    unparsed: int = 0
    unresolved_calls: int = 0
    history_commits: int = 0
    affected: int = 0
    covering_tests: int = 0
    targets: tuple[ImpactTarget, ...] = ()
    unused: str = ""


@dataclass(frozen=True, slots=True)
class ImpactReport:
    """What a change touches. `risks` and `recommendations` refer to other items by their ids: M changed files, A
    affected places, T tests, C co-changed files, I interface changes, S schema. `for_reader`: it is written for
    somebody who reads no code. `note` says how a request in prose was understood, '' for one that names its places."""

    risk: Risk
    ranked: tuple[RankedFile, ...] = ()
    affected: tuple[AffectedPlace, ...] = ()
    covering_tests: tuple[CoveringTest, ...] = ()
    co_changed: tuple[CoChange, ...] = ()
    risks: tuple[RiskReason, ...] = ()
    recommendations: tuple[Recommendation, ...] = ()
    completeness: Completeness = field(default_factory=Completeness)
    changed: tuple[ChangedFile, ...] = ()
    for_reader: bool = False
    note: str = ""
    kind: Literal["impact"] = "impact"


@dataclass(frozen=True, slots=True)
class Iteration:
    """One attempt to make tests pass.

    Attributes:
        number: counted from 1.
        candidate: the program that was tried.
        run: its run in the sandbox, None when it was not worth running.
        failures: the tests that failed.
        change: what differs from the best attempt before, in words.
        why: the reason for the attempt, a message.
        problem: why the candidate was not run, '' when it was.
        repeated: the candidate is a program that was tried before.
    """

    number: int
    candidate: str
    run: TestRun | None
    failures: tuple[Failure, ...] = ()
    change: str = ""
    why: str = ""
    problem: str = ""
    repeated: bool = False

    @property
    def genuine(self) -> bool:
        """Whether the tests passed, verified by assertion inversion."""
        return self.run is not None and self.run.genuine


@dataclass(frozen=True, slots=True)
class MutantOutcome:
    """A fault put into the code under test, to see which tests notice it.

    Attributes:
        path, line: where it was made.
        before, after: the code there without and with the fault.
        caught_by: names of the tests that fail on it.
    """

    path: str
    line: int
    before: str
    after: str
    caught_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TestReport:
    """The tests that were run, and what was written or repaired for them.

    Attributes:
        run: the run of the resulting version, None when nothing was run.
        protected: the tests are the repository's or the user's and were not changed.
        tests: the texts of the test files, by path.
        code: the best version of the code under test, None where nothing was to be repaired.
        iterations: every attempt to make the tests pass, the oldest first.
        stopped_because: why there is no further attempt or no run at all, '' for a single run.
        unexercised: names of changed definitions whose change the tests don't need to pass.
        red_before: ids of failed tests that fail without the change as well.
        compared: the tests also ran without the change. `broken` and `repaired` are ids of tests that it turned red and
            green; `own`: those of `repaired` that it adds or edits itself; `new`: those of `own` that did not exist
            before; `still_green`: how many passed both times; `added`: ids of tests that can't run without it;
            `skipped`: ids of tests skipped both times.
        unbroken: the tests passed, verified, but none of them failed without the change, so they don't verify it.
        reached: where a limit stopped the tests, how many had ended, of how many; `run` is then the verified run of the
            tests that turned green, alone. (0, 0) otherwise.
        mutants: the faults on which written tests ran.
        rewritten: ids of tests that the change edits and whose old versions fail with it.
        said_without: failure message of the first of `repaired` without the change, on a line; '' where unknown.
    """

    __test__ = False

    run: TestRun | None = None
    protected: bool = False
    tests: Mapping[str, str] = field(default_factory=dict)
    code: str | None = None
    iterations: tuple[Iteration, ...] = ()
    stopped_because: str = ""
    unexercised: tuple[str, ...] = ()
    red_before: tuple[str, ...] = ()
    mutants: tuple[MutantOutcome, ...] = ()
    compared: bool = False
    still_green: int = 0
    broken: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()
    unbroken: bool = False
    added: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    reached: tuple[int, int] = (0, 0)
    said_without: str = ""
    rewritten: tuple[str, ...] = ()
    kind: Literal["tests"] = "tests"

    @property
    def genuine(self) -> bool:
        """Whether the tests passed, verified by assertion inversion."""
        return self.run is not None and self.run.genuine

    @property
    def level(self) -> SandboxLevel | None:
        """The sandbox they ran in, None when nothing was run."""
        return self.run.level if self.run else None


@dataclass(frozen=True, slots=True)
class FollowUpEdit:
    """A place elsewhere that a change makes it necessary to edit.

    Attributes:
        path, line: where, in the text after the change.
        reason: why, as a message.
        change: all edits of that file that code can write, on top of the change; None where it only names the place.
    """

    path: str
    line: int
    reason: str
    change: FileChange | None = None


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that a model called, and whether the call succeeded."""

    name: str
    arguments: Mapping[str, Any]
    ok: bool


@dataclass(frozen=True, slots=True)
class Generation:
    """What is known about generated files.

    Attributes:
        verdict: the Controller's, None when there are no files.
        tests: None when they could not be run at all.
        impact: what the files affect, None when that is unknown.
        failure: why there are no files, '' when there are some.
        follow_ups: edits that they make necessary elsewhere, the most urgent first.
        by_code: no model took part in the edit.
        notes: what the user should know of the edit, as messages.
        open_references: references that were left as they are, for the user to decide.
        choices: places that the task may mean, as `path:Symbol`, where it isn't clear which.
        calls: the tools that the model called, () where it could not use any.
        summary: what was done and what is known of it, in Markdown.
        points: the reviewers' points, in Markdown.
        said: what a model that uses tools says about its change, each sentence checked against the new lines.
        assumed: what that model decided without asking, a sentence each.
        unrun: linters and similar tools that the repository configures and that did not check the change.
        reasons: the verdict's reasons that affect the score.
        revisions: how often the model had to revise after the verdict.
    """

    verdict: Verdict | None = None
    tests: TestReport | None = None
    impact: ImpactReport | None = None
    failure: str = ""
    follow_ups: tuple[FollowUpEdit, ...] = ()
    by_code: bool = False
    notes: tuple[str, ...] = ()
    open_references: tuple[OpenReference, ...] = ()
    choices: tuple[str, ...] = ()
    calls: tuple[ToolUse, ...] = ()
    summary: str = ""
    points: tuple[str, ...] = ()
    said: tuple[Sentence, ...] = ()
    assumed: tuple[str, ...] = ()
    unrun: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    revisions: int = 0
    kind: Literal["generation"] = "generation"


@dataclass(frozen=True, slots=True)
class WikiPage:
    """A wiki page: the name of its file, its title, its summary (a line of Markdown) and its full text. Its links are
    the names of other pages, and places as `path#L12`. `words` is the part written by `model`, and `rests_on` has the
    digests of the lines that it cites."""

    name: str
    title: str
    summary: str
    text: str
    words: str = ""
    model: str = ""
    rests_on: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wiki:
    """The finished pages of a wiki, out of `total`, with commit and language. `asked`: how many pages a model is asked
    to write."""

    pages: tuple[WikiPage, ...]
    total: int
    commit: str
    language: str
    asked: int = 0
    kind: Literal["wiki"] = "wiki"


Result = Annotated[
    Explanation | Generation | TestReport | Plan | ReviewReport | ImpactReport | SearchReport | Wiki,
    Discriminator("kind"),
]


@dataclass(frozen=True, slots=True)
class AnsweredPart:
    """One of several wishes of a message, its route, and whether it was done."""

    wish: str
    route: Route | None = None
    done: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent returns. `evidence` is what was found without a model; `degraded` lists every fallback as
    a message; `result` is the agent's own data; `understood` is the question that a follow-up stands for, '' for a
    question that stands for itself; `sentences` are those of an agent model, each checked; `parts` are
    the wishes of a message that has several."""

    text: str
    citations: tuple[Citation, ...] = ()
    files: tuple[FileChange, ...] = ()
    route: Route | None = None
    degraded: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    result: Result | None = None
    understood: str = ""
    sentences: tuple[Sentence, ...] = ()
    parts: tuple[AnsweredPart, ...] = ()

    @property
    def intents(self) -> tuple[Intent, ...]:
        """The intents of the message; of all its wishes where there are several."""
        routes = [part.route for part in self.parts] or [self.route]
        return tuple(dict.fromkeys(route.intent for route in routes if route))

    @property
    def of_all(self) -> bool:
        """Whether the evidence comes from a search of all repositories."""
        return any(place.origin for place in self.evidence)

    def brings(self, kind: type[R]) -> R | None:
        """The result if it is of a kind, for example a Plan; else None."""
        return self.result if isinstance(self.result, kind) else None


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange of the conversation, for follow-up questions: the question as it was understood, and its answer.
    `evidence` and `citations` are the places that the answer showed, by their numbers."""

    question: str
    answer: str
    intent: Intent
    files: tuple[FileChange, ...] = ()
    result: Result | None = None
    evidence: tuple[Evidence, ...] = ()
    citations: tuple[Citation, ...] = ()


def turn_of(question: str, answer: Answer) -> Turn:
    """The part of an exchange that is kept for the questions after it.

    Args:
        question: as asked.
        answer: the answer to it.

    Returns:
        The turn, with the question as it was understood.
    """
    return Turn(
        answer.understood or question,
        answer.text,
        answer.route.intent if answer.route else "EXPLAIN",
        answer.files,
        answer.result,
        answer.evidence,
        answer.citations,
    )
