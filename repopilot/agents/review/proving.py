"""The tools by which a model that reviews a change proves and reports a defect."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import PurePosixPath

from pydantic import Field

from repopilot.agents.review.findings import RULES
from repopilot.agents.review.replacements import replaced, replacement
from repopilot.agents.review.states import touched_symbols
from repopilot.code.languages import is_test_path
from repopilot.errors import UsageError
from repopilot.i18n import joined, message
from repopilot.redaction.redact import redacted
from repopilot.sandbox.output.plain_text import plain
from repopilot.sandbox.runners.runner_table import language_of_tests
from repopilot.tools.file_change import syntax_error
from repopilot.tools.looking import look
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult
from repopilot.tools.run_tests import OUTPUT_SHOWN, tests_at
from repopilot.tools.test_suites import (
    COMPILED,
    TestSelection,
    compiled_program,
    compiled_suffix,
    place_of_new_test,
    run_selected,
    suite_by_node,
    without_configuration,
)
from repopilot.tools.working_copy import WorkingCopy
from repopilot.types import Failure, Finding, Proof, ProofKind, ReplacedLines, Severity, TestRun

DOMAIN = "correctness"
SOURCE = "model"
MOST_TOLD = 3
"""The most failures of a run that a model is shown."""
MUCH_LONGER = 3
"""A run stopped by the time limit counts as failing only when it took this many times as long as before the change:
otherwise the tests are slow anyway, which says nothing."""
AT_BASE = ("read", "symbol", "references")
_WORD = re.compile(r"[^\W\d]\w*")
_DELIBERATE = re.compile(r"Assert|^(?:Failed|ComparisonFailure|Error|Exception|)$")
"""Errors by which a test reports a fault of the code; any other error raised in the test is the test's own fault."""
_LACKING = re.compile(r"Cannot find (?:package|module) '[^'./]|No module named '|cannot load such file -- ")
_PRIVATE = re.compile(r"(?<!\w)_[a-z]\w*")


class Report(Arguments):
    """A defect of the change."""

    path: str = Field(description="the file of the defect, as it is after the change")
    line: int = Field(description="its line after the change")
    failure: str = Field(description="the input, state or order of events, and what then goes wrong")
    severity: Severity
    suggestion: str = Field("", description="how to mend it, in a sentence or as code")
    last_line: int = Field(
        0, description="where suggestion is whole lines of code: the last line they take the place of"
    )
    proof: str = Field("", description="the name that prove gave to the run that shows it, such as p1")


class Prove(Arguments):
    """A test that a defect makes fail."""

    test: str = Field(description="the whole text of a new test file, with its imports")
    path: str = Field("", description="where to put it; empty for a new file beside the tests that cover the change")


@dataclass(frozen=True, slots=True)
class _Runs:
    """A test file's runs before and after the change. Where it fails after the change it runs twice; `failing` are the
    tests that failed both times through a fault of the code."""

    path: str
    before: TestRun
    after: TestRun
    failing: frozenset[str] = frozenset()
    outside: bool = False

    @property
    def turned(self) -> list[str]:
        """Tests that pass before the change and fail after it."""
        return [name for name in self.before.tests("passed") if name in self.failing]

    @property
    def fails_on_new(self) -> bool:
        """Whether no test passed before the change, and one fails after it in another way than before."""
        known = {(each.test_id, each.assertion) for each in self.before.failures}
        others = (each for each in self.after.failures if (each.test_id, each.assertion) not in known)
        return not self.before.passed and any(
            each.test_id in self.failing and _is_deliberate(each, self.path) for each in others
        )

    @property
    def lacked_before(self) -> bool:
        """Whether the tests failed before the change only because they use a name, module or parameter that didn't
        exist yet, not because of what the code does."""
        return bool(self.before.failures) and not any(_is_deliberate(each, self.path) for each in self.before.failures)

    @property
    def ran(self) -> bool:
        """Whether any test came to an outcome, or a limit ended a run."""
        runs = (self.before, self.after)
        return any(run.passed or run.failed or run.ended != "finished" for run in runs)


@dataclass(slots=True)
class ReviewTools:
    """What a model has proved and reported of a change.

    Attributes:
        base: the state before the change.
        copy: that state, with the change as its edits.
        proofs: the runs of `prove`, by name.
        findings: the reports, by place; a later one takes the place of an earlier one.
        alone: whether tests run by themselves, with Node's own runner or compiled, because the repository's runner is
            unknown.
    """

    base: WorkingCopy
    copy: WorkingCopy
    proofs: dict[str, Proof] = field(default_factory=dict)
    findings: dict[tuple[str, int], Finding] = field(default_factory=dict)
    alone: bool = False

    def tools(self, *, can_run: bool) -> tuple[Tool, ...]:
        """The tools for this change: `report`, and `prove` where tests can run."""
        report = Tool("report", Report, "talk", self.report)
        return (Tool("prove", Prove, "run", self.prove), report) if can_run else (report,)

    async def report(self, arguments: Report, context: ToolContext) -> ToolResult:
        """Report a defect that the change brings: one call each, as soon as you are sure of it. Not for style, and not
        for what was wrong before. A second report of the same line takes the place of the first."""
        failure = arguments.failure.strip()
        if not failure:
            raise UsageError(message("review_tools.no_failure"), message("review_tools.no_failure_hint"))
        lines = await asyncio.to_thread(self._lines, arguments.path, arguments.line)
        proof = self._proof(arguments.proof.strip())
        kind: ProofKind = proof.kind if proof else "opinion"
        mended = self._mended(arguments, lines) if arguments.last_line else None
        suggestion = "" if mended else " ".join(redacted(arguments.suggestion).split())
        failure = " ".join(redacted(failure).split())
        told = message("review.suggested", failure=failure, suggestion=suggestion) if suggestion else failure
        quote = redacted(lines[arguments.line - 1].strip())
        self.findings[arguments.path, arguments.line] = Finding(
            arguments.path,
            arguments.line,
            arguments.severity,
            RULES[kind],
            told,
            SOURCE,
            DOMAIN,
            quote,
            failure=failure,
            proof=proof,
            replacement=mended,
        )
        return ToolResult(message(f"review_tools.reported_{kind}"), {"kind": kind})

    def _lines(self, path: str, line: int) -> list[str]:
        """The lines of the file that a report is about."""
        text = self.copy.text(path)
        if text is None:
            paths = ", ".join(change.path for change in self.copy.changes() if change.change != "deleted")
            raise UsageError(
                message("tools.unknown_file", path=path), message("review_tools.no_place_hint", paths=paths)
            )
        lines = text.removesuffix("\n").split("\n")
        if not 1 <= line <= len(lines):
            raise UsageError(message("review_tools.no_line", path=path, line=line, last=len(lines)))
        return lines

    def _mended(self, arguments: Report, lines: list[str]) -> ReplacedLines | None:
        """The lines that a suggestion replaces, with the suggestion."""
        path = arguments.path
        last = arguments.last_line
        if not arguments.line <= last <= len(lines):
            raise UsageError(message("review_tools.no_line", path=path, line=last, last=len(lines)))
        text = "\n".join(lines)
        found = replacement(text, arguments.line, last, arguments.suggestion.strip("\n"))
        if found and (problem := syntax_error(path, replaced(text, found))) and not syntax_error(path, text):
            why = message("review_tools.wrong_suggestion", why=problem.message)
            raise UsageError(why, message("review_tools.whole_lines"))
        return found

    def _proof(self, name: str) -> Proof | None:
        """The run that a report rests on."""
        if not name:
            return None
        known = ", ".join(each for each, proof in self.proofs.items() if proof.kind != "opinion")
        hint = message("review_tools.proofs", names=known) if known else message("review_tools.no_proofs")
        if name not in self.proofs:
            raise UsageError(message("review_tools.unknown_proof", name=name), hint)
        if self.proofs[name].kind == "opinion":
            raise UsageError(message("review_tools.proves_nothing", name=name), hint)
        return self.proofs[name]

    async def prove(self, arguments: Prove, context: ToolContext) -> ToolResult:
        """Run a test of yours on the state before the change and on the state after it, in a sandbox. It proves a
        defect where it passes before and fails after, and shows one where it fails on what the change adds. The test
        says what the code should do. Import what the change adds, removes or renames inside the test function."""
        path = await asyncio.to_thread(self._path, arguments.path.strip())
        runs = await self._runs(path, arguments.test, context)
        if not runs.ran:
            runs = await self._runs(path, arguments.test, context, outside=True)
        before = runs.before
        after = runs.after
        verified = before.genuine or not before.reasons  # runners without controls give no reasons
        kind: ProofKind = "opinion"
        if runs.turned and verified:
            kind = "proved"
        elif runs.fails_on_new and (runs.lacked_before or await asyncio.to_thread(self._uses_new, arguments.test)):
            kind = "shown"
        name = f"p{len(self.proofs) + 1}"
        self.proofs[name] = Proof(kind, path, redacted(arguments.test), _outcome(before), _outcome(after), runs.outside)
        facts = {"name": name, "tests": ", ".join(runs.turned), "before": _outcome(before), "after": _outcome(after)}
        rows: list[str] = [message(f"review_tools.{kind}", **facts)]
        if runs.outside:
            rows.append(message("review_tools.outside"))
        if runs.turned and not verified:
            rows.append(message("review_tools.not_genuine", why=joined(before.reasons, "; ")))
        if after.failed and not _failing(after, before, path):
            rows.append(message("review_tools.own_fault"))
        rows += [f"{state}: {_said(run)}" for state, run in (("Before", before), ("After", after)) if _said(run)]
        return ToolResult(redacted(joined(rows, "\n")), {"name": name, "kind": kind, "path": path})

    async def _runs(self, path: str, test: str, context: ToolContext, *, outside: bool = False) -> _Runs:
        """A test's runs on both states; `outside`: without the repository's own test configuration."""
        original = self.copy.original
        tests = await asyncio.to_thread(self._selected, path, outside)
        files = {**(without_configuration(original.index) if outside else {}), path: test}
        root = await asyncio.to_thread(self.base.root)
        async with context.step.child("before the change", "tool", path):
            before = await run_selected(tests, files, original, root, verify=True)
        root = await asyncio.to_thread(self.copy.root)
        async with context.step.child("after the change", "tool", path):
            after = await run_selected(tests, files, original, root)
            runs = _Runs(path, before, after, _failing(after, before, path), outside or self.alone)
            if runs.turned or runs.fails_on_new:  # a flaky test proves nothing
                again = _failing(await run_selected(tests, files, original, root), before, path)
                runs = replace(runs, failing=runs.failing & again)
        return runs

    def _selected(self, path: str, outside: bool) -> TestSelection:
        """A test file with what runs it. Blocking."""
        original = self.copy.original
        if COMPILED.search(path):
            return TestSelection(command=compiled_program(path, self.copy.workspace.index))
        if (self.alone or outside) and language_of_tests(path) == "javascript":
            return TestSelection(suite=suite_by_node((path,), original))
        return tests_at((path,), original)

    def usual_path(self) -> str:
        """The default path of a test, beside those that cover the change; '' where there is none. Blocking."""
        used = [each.path for each in self.proofs.values()]
        place = place_of_new_test(self.copy.changes(), self.copy.original, used)
        if place:
            return place.path
        suffix = compiled_suffix([each.path for each in self.copy.changes()], self.copy.original.index)
        free = (f"tests/review_{n}{suffix}" for n in count(1)) if suffix else ()
        return next((each for each in free if self.copy.text(each) is None and each not in used), "")

    def _path(self, path: str) -> str:
        """The path of a test, checked to be a new file that a runner takes."""
        path = path or self.usual_path()
        if self.copy.text(path) is not None or path in self.copy.original.index.files:
            raise UsageError(message("review_tools.test_exists", path=path), message("review_tools.test_path_hint"))
        runs = path.endswith(".py") or language_of_tests(path) or COMPILED.search(path)
        if not (is_test_path(path) and runs):
            raise UsageError(message("review_tools.no_test_path", path=path), message("review_tools.test_path_hint"))
        return path

    def _uses_new(self, test: str) -> bool:
        """Whether a test uses what the change adds: a definition, a parameter, a file. Blocking."""
        before = self.copy.original.index
        after = self.copy.changes()
        known = {word for change in after for word in _WORD.findall(before.text(change.path) or "")}
        new = {PurePosixPath(change.path).stem for change in after if change.change == "added"}
        for symbol in touched_symbols(self.copy):
            if symbol.how == "signature" and symbol.after is not None:
                new.update(_WORD.findall(symbol.after.signature))
            if symbol.how == "added" and symbol.after is not None:
                new.add(symbol.after.name)
        return bool((new - known) & set(_WORD.findall(test)))


def _failing(after: TestRun, before: TestRun, path: str) -> frozenset[str]:
    """The tests that fail or hang through a fault of the code, not through a missing package or a mistake of their own.
    For a test that passed before, a name that is gone counts as a fault, unless the name is private."""
    found = {each.test_id for each in after.failures if after.outcomes.get(each.test_id) == "failed"}
    for each in after.failures:
        gone = _is_deliberate(each, path) or not _PRIVATE.search(each.assertion)
        passed = before.outcomes.get(each.test_id) == "passed"
        if _LACKING.search(each.assertion) or not (gone if passed else _is_deliberate(each, path)):
            found.discard(each.test_id)
    stopped = after.ended == "timeout" and before.duration_s * MUCH_LONGER < after.duration_s
    return frozenset((*found, *(before.outcomes.keys() - after.outcomes.keys() if stopped else ())))


def _is_deliberate(failure: Failure, path: str) -> bool:
    """Whether a test failed by an assertion, or by an exception that the code under test raised."""
    by_code = failure.path not in ("", path) and not is_test_path(failure.path)
    return by_code or _DELIBERATE.search(failure.error) is not None


def _outcome(run: TestRun) -> str:
    """How a run went, in a word: `passed`, `failed`, or `not run`."""
    if run.failed or run.ended == "timeout":
        return "failed"
    return "passed" if run.passed and not run.errors else "not run"


def _said(run: TestRun) -> str:
    """What the failures say and where they are, or the end of the output where no test ran."""
    if run.failures:
        return "\n\n".join(_told(each) for each in run.failures[:MOST_TOLD])
    return "" if run.passed else plain(run.output[-OUTPUT_SHOWN:], OUTPUT_SHOWN)


def _told(failure: Failure) -> str:
    place = f" ({failure.path}:{failure.line})" if failure.path else ""
    error = "" if failure.error in failure.assertion else f"{failure.error}: "
    return "\n".join(filter(None, (f"{failure.test_id}{place}: {error}{failure.assertion}", failure.lines)))


def looking_tools(base: WorkingCopy) -> tuple[Tool, ...]:
    """The read-only tools; those of AT_BASE can also look at the state before the change."""
    return tuple(_at_base(tool, base) if tool.name in AT_BASE else tool for tool in look.TOOLS)


def _at_base(tool: Tool, base: WorkingCopy) -> Tool:
    """A tool that takes at="base"."""

    class AtState(tool.arguments):  # type: ignore[name-defined]
        at: str = Field("", pattern="^(base)?$", description='"base" for the state before the change')

    async def run(arguments: AtState, context: ToolContext) -> ToolResult:
        return await tool.run(arguments, replace(context, working_copy=base) if arguments.at else context)

    run.__doc__ = tool.run.__doc__
    return Tool(tool.name, AtState, tool.kind, run, tool.returns)
