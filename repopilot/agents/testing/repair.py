"""Test and repair: run the tests in the sandbox, and while they fail sample new code with the failure as a hint.

Small models shown their old code copy it (half of the repairs measured came back unchanged), so what is sampled is a
fresh program from its description, at a high temperature, with a failing assertion of a visible test as the hint.
Evidence decides, not opinion: the best candidate is the one that passes most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath

from repopilot import i18n
from repopilot.agents.testing import candidates
from repopilot.agents.testing.attempts import best, first_line, iteration_json, why_stop
from repopilot.agents.testing.render import iteration_text
from repopilot.background import run_in_thread
from repopilot.errors import ModelError
from repopilot.llm.backend import ChatOptions
from repopilot.llm.model import Model
from repopilot.prompts import nonce, render, sanitized
from repopilot.results import Iteration, TestReport
from repopilot.sandbox.failures import missing_modules
from repopilot.sandbox.run import run_pytest
from repopilot.settings import Settings
from repopilot.trace import Step
from repopilot.types import Environment, Failure, TestRun

_TEMPERATURE = 0.8
_SHORT_MODULE = 80
"""Lines. In longer modules, only the failing function is sampled."""
_REPLY_TOKENS = 900
_LONGEST_HINT = 1_200
"""Characters of an assertion."""


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """Code to test and repair.

    Attributes:
        code: the text of the module.
        tests: texts of test files by path; without any, the model writes some.
        task: what the code is for, '' when its names and docstrings say so.
        name: the name of the module's file.
        protected: the tests are never changed. Tests written by the model are never protected.
        language: the language of the messages in the steps.
        environment: what the tests need.
        recorded: code that is tried where no model repairs it, '' for none.
    """

    code: str
    tests: Mapping[str, str] = field(default_factory=dict)
    task: str = ""
    name: str = "solution.py"
    protected: bool = True
    language: str = "en"
    environment: Environment | None = None
    recorded: str = ""

    @property
    def module(self) -> str:
        """The name that tests import."""
        return PurePosixPath(self.name).stem


async def repair(request: RepairRequest, model: Model | None, settings: Settings, step: Step) -> TestReport:
    """Run tests, and improve the code until they pass, verified, or there is a reason to stop.

    Args:
        request: the code and its tests.
        model: writes candidates; without one the tests are run once and reported.
        settings: `max_iterations` limits the runs, each a child of `step`.
        step: the step of the work.

    Returns:
        The report. Its `code` is the best candidate, the code as given when nothing was better. A model that fails
        ends the loop with the best candidate so far.

    Raises:
        SandboxError: no sandbox level works, or a path is refused.
        StorageError: the files can't be written.
    """
    if not request.tests:
        tests, problem = await _write_tests(request, model, step)
        if not tests:
            return TestReport(code=request.code, stopped_because=problem)
        request = replace(request, tests=tests, protected=False)
    loop = _RepairLoop(request, model, settings)
    iterations, stopped = await _iterate(loop, step)
    if request.recorded and not any(iteration.genuine for iteration in iterations):
        iterations = (*iterations, await _try_recorded(loop, iterations, step))
    chosen = best(iterations)
    if chosen.genuine:
        stopped = i18n.message("testing.stopped.verified")
    report = TestReport(chosen.run, request.protected, request.tests, chosen.candidate, iterations, stopped)
    step.note(genuine_pass=report.genuine, iterations=len(iterations), stopped_because=stopped, level=report.level)
    return report


def default_test_path(name: str) -> str:
    """Where the tests of a single module go: `test_<stem>.py`."""
    return f"test_{PurePosixPath(name).stem}.py"


@dataclass(frozen=True, slots=True)
class _RepairLoop:
    """What stays the same in all iterations."""

    request: RepairRequest
    model: Model | None
    settings: Settings

    async def run(self, candidate: str, tests: Mapping[str, str]) -> TestRun:
        """Run tests over a candidate and the files around it."""
        files = {**tests, self.request.name: candidate}
        environment = self.request.environment
        return await run_in_thread(partial(run_pytest, files, list(tests), self.settings, environment=environment))


async def _iterate(loop: _RepairLoop, step: Step) -> tuple[tuple[Iteration, ...], str]:
    """All iterations, and why there are no more."""
    done: list[Iteration] = []
    while True:
        try:
            async with step.child(f"iteration {len(done) + 1}", kind="tool") as child:
                iteration = await _attempt(loop, done, child)
                await _show(iteration, loop.request.language, child)
        except ModelError as error:
            return tuple(done), i18n.message("testing.stopped.model_failed", error=error.message)
        done.append(iteration)
        if stop := why_stop(done, loop.settings.max_iterations, has_model=loop.model is not None):
            return tuple(done), stop
        if missing := _missing_modules(iteration, loop.request):
            return tuple(done), i18n.message("testing.stopped.missing", modules=", ".join(missing))


async def _try_recorded(loop: _RepairLoop, done: Sequence[Iteration], step: Step) -> Iteration:
    """The run of the recorded code."""
    request = loop.request
    number = len(done) + 1
    async with step.child(f"iteration {number}", kind="tool") as child:
        run = await loop.run(request.recorded, request.tests)
        change = candidates.change_between(best(done).candidate, request.recorded)
        why = i18n.message("testing.iteration.recorded")
        iteration = Iteration(number, request.recorded, run, run.failures, change, why)
        await _show(iteration, request.language, child)
    return iteration


async def _attempt(loop: _RepairLoop, done: Sequence[Iteration], step: Step) -> Iteration:
    """Run the code as given first; after that, a new candidate, if it is worth running."""
    original = loop.request.code
    number = len(done) + 1
    if not done:
        first = await loop.run(original, loop.request.tests)
        return Iteration(number, original, first, first.failures, "", i18n.message("testing.iteration.given"))
    candidate, why = await _sample(loop, best(done), number, step)
    change = candidates.change_between(best(done).candidate, candidate)
    problem = candidates.problem_of(candidate, candidates.public_names(original))
    repeated = not problem and any(candidates.same_program(candidate, earlier.candidate) for earlier in done)
    if repeated:
        problem = i18n.message("testing.iteration.repeated")
        change = i18n.message("testing.iteration.nothing")
    run = None if problem else await loop.run(candidate, loop.request.tests)
    failures = run.failures if run else ()
    return Iteration(number, candidate, run, failures, change, why, problem, repeated=repeated)


async def _sample(loop: _RepairLoop, base: Iteration, number: int, step: Step) -> tuple[str, str]:
    """A fresh program from the model, and why it was asked for."""
    assert loop.model is not None
    request = loop.request
    failure = base.failures[0] if base.failures else None
    symbol = _symbol_to_replace(base, request.name)
    mark = nonce()
    values = {
        "name": request.name,
        "task": _task_text(request, mark),
        "mark": mark,
        "signatures": sanitized(candidates.signatures(request.code) or request.code, mark),
        "hint": _hint(failure, request.tests, mark),
    }
    prompt = render("repair_symbol", symbol=symbol, **values) if symbol else render("repair_code", **values)
    code = candidates.code_in_reply(await _ask(loop.model, prompt, step, "write code", number))
    if symbol:
        code = candidates.replace_function(base.candidate, symbol, code)
    reason: str
    if failure:
        reason = i18n.message("testing.iteration.failed", test=failure.test_id, assertion=first_line(failure.assertion))
    else:
        reason = base.problem or i18n.message("testing.iteration.no_pass")
    if symbol:
        return code, i18n.message("testing.iteration.rewritten_symbol", symbol=symbol, why=reason)
    return code, i18n.message("testing.iteration.rewritten", why=reason)


async def _write_tests(request: RepairRequest, model: Model | None, step: Step) -> tuple[dict[str, str], str]:
    """Tests by the model, their texts by path; or none, and why."""
    if model is None:
        return {}, i18n.message("testing.stopped.no_tests")
    names = candidates.public_names(request.code) or candidates.names_written(request.code)
    if not names:
        return {}, i18n.message("testing.stopped.nothing_public")
    try:
        async with step.child("write tests", kind="agent") as child:
            text = await _sample_tests(request, model, names, child)
            if not candidates.function_names(text, "test"):
                child.degrade(i18n.message("testing.stopped.no_usable_tests"))
                return {}, i18n.message("testing.stopped.no_usable_tests")
    except ModelError as error:
        return {}, i18n.message("testing.stopped.model_failed", error=error.message)
    if request.module not in dict(candidates.imports(text)):
        text = f"from {request.module} import {', '.join(names)}\n{text}"
    return {default_test_path(request.name): text}, ""


async def _sample_tests(request: RepairRequest, model: Model, names: Sequence[str], step: Step) -> str:
    """The model's test file, without copies of the code under test: small models include one and test that."""
    mark = nonce()
    shown = candidates.signatures(request.code) if request.task else request.code
    prompt = render(
        "write_tests",
        module=request.module,
        task=_task_text(request, mark),
        mark=mark,
        signatures=sanitized(shown, mark),
        names=", ".join(names),
    )
    reply = candidates.code_in_reply(await _ask(model, prompt, step, "tests", 0))
    return candidates.without_definitions(reply, names)


async def _ask(model: Model, prompt: str, step: Step, name: str, seed: int) -> str:
    """The model's reply, in a child step of that name."""
    from repopilot.llm.stream import chat, prompt_of

    messages = prompt_of(render("repair_system"), prompt)
    async with step.child(name, kind="llm") as child:
        return await chat(model, messages, child, ChatOptions(_REPLY_TOKENS, _TEMPERATURE, seed=seed))


def _task_text(request: RepairRequest, mark: str) -> str:
    return sanitized(request.task, mark).strip() or "Its names and their descriptions say what it does."


def _hint(failure: Failure | None, tests: Mapping[str, str], mark: str) -> str:
    """The part of the prompt that shows a failed test; '' without one."""
    if failure is None:
        return ""
    path, _, test = failure.test_id.partition("::")
    source = candidates.function_source(tests.get(path, ""), test.partition("[")[0]) or failure.lines
    assertion = sanitized(failure.assertion[:_LONGEST_HINT], mark)
    return render("repair_hint", mark=mark, test=sanitized(source, mark), assertion=assertion)


def _symbol_to_replace(base: Iteration, path: str) -> str:
    """The function that failed in a long module; '' where the module is short, or no frame of it is known."""
    if len(base.candidate.splitlines()) <= _SHORT_MODULE:
        return ""
    lines = [failure.line for failure in base.failures if failure.path == path]
    found = [symbol for line in lines if (symbol := candidates.function_at(base.candidate, line))]
    if found:
        return found[0]
    named = [
        name
        for name in candidates.public_names(base.candidate)
        if any(name in failure.assertion + failure.lines for failure in base.failures)
    ]
    return next((name for name in named if candidates.function_source(base.candidate, name)), "")


def _missing_modules(iteration: Iteration, request: RepairRequest) -> tuple[str, ...]:
    """Modules that the given code or its tests import and the sandbox lacks, so that no other candidate would help."""
    if iteration.run is None or iteration.number > 1:
        return ()
    return missing_modules(iteration.run, [request.name, *request.tests])


async def _show(iteration: Iteration, language: str, step: Step) -> None:
    step.note(**iteration_json(iteration))
    await step.write(iteration_text(iteration, language))
