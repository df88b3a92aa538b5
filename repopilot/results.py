"""What agents return: an `Answer`, and in its `result` the data behind its text, one dataclass for each agent.

Everything here can be written as JSON and read back (`pydantic.TypeAdapter(Answer)`), so that a conversation survives a
restart. Whoever shows an answer reads `result`; nothing is ever read back out of `text`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import Discriminator

from repopilot.types import Citation, Evidence, FileChange, Finding, Intent, Risk, Route, Verdict

PlanState = Literal["open", "done", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """`origin` says who wrote the text: the `model`, code from the lines of the repository (`extractive`), or code that
    found nothing (`absent`). `interrupted`: the model broke off, so another try is worth offering."""

    origin: Literal["model", "extractive", "absent"] = "model"
    interrupted: bool = False
    kind: Literal["explanation"] = "explanation"


@dataclass(frozen=True, slots=True)
class PlanPart:
    """One step of work. `depends_on` holds numbers of earlier parts."""

    number: int
    title: str
    files: tuple[str, ...] = ()
    risk: Risk = "UNKNOWN"
    depends_on: tuple[int, ...] = ()
    state: PlanState = "open"


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """Something decisive the task leaves open, answerable by one of `options`."""

    question: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A task in numbered parts. `note` says what has just been done to it, '' for a new one."""

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
        """The next open part none of whose dependencies is open or failed."""
        waiting = {p.number for p in self.parts if p.state in ("open", "failed")}
        return next((p for p in self.parts if p.state == "open" and not waiting & set(p.depends_on)), None)


@dataclass(frozen=True, slots=True)
class ReviewReport:
    """`findings` are those that count; `pre_existing` were there before the change. `notes` say what was left out;
    `commit` is the state that was looked at; `excerpts` holds numbered lines of code by `path:line`."""

    what: str
    commit: str
    findings: tuple[Finding, ...]
    pre_existing: tuple[Finding, ...] = ()
    reviewed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    excerpts: Mapping[str, str] = field(default_factory=dict)
    kind: Literal["review"] = "review"


@dataclass(frozen=True, slots=True)
class ImpactReport:
    """What a change touches. Every entry of the lists is a JSON-able mapping; see impact/agent.py for their keys."""

    risk: Risk
    ranked: tuple[Mapping, ...] = ()
    affected: tuple[Mapping, ...] = ()
    covering_tests: tuple[Mapping, ...] = ()
    co_changed: tuple[Mapping, ...] = ()
    risks: tuple[Mapping, ...] = ()
    recommendations: tuple[Mapping, ...] = ()
    completeness: Mapping = field(default_factory=dict)
    changed: tuple[Mapping, ...] = ()
    kind: Literal["impact"] = "impact"


@dataclass(frozen=True, slots=True)
class TestReport:
    """The tests that were run or written."""

    __test__ = False

    kind: Literal["tests"] = "tests"


@dataclass(frozen=True, slots=True)
class Generation:
    """`verdict` and `impact` are None where that agent failed or has no say; `failure` says why there are no files."""

    verdict: Verdict | None = None
    tests: TestReport | None = None
    impact: ImpactReport | None = None
    failure: str = ""
    kind: Literal["generation"] = "generation"


Result = Annotated[Explanation | Generation | TestReport | Plan | ReviewReport | ImpactReport, Discriminator("kind")]


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent returns. `evidence` is what code found, in the order shown; `degraded` lists every fallback taken,
    in words; `result` is the agent's own data."""

    text: str
    citations: tuple[Citation, ...] = ()
    files: tuple[FileChange, ...] = ()
    route: Route | None = None
    degraded: tuple[str, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    result: Result | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange of the conversation, for follow-up questions."""

    question: str
    answer: str
    intent: Intent
    files: tuple[FileChange, ...] = ()
    result: Result | None = None
