"""Test and repair: run the tests in the sandbox, and while they fail sample new code with the failure as a hint.

Small models shown their old code copy it (half of the repairs measured came back unchanged), so what is sampled is a
fresh program from its description, at a high temperature, with a failing assertion of a visible test as the hint.
Evidence decides, not opinion: the best candidate is the one that passes most, and tests the model wrote itself are
dropped only when no candidate at all passes them (execution agreement, after CodeT, Chen et al. 2022).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repopilot.agents.testing import candidates
from repopilot.agents.testing.attempts import Iteration, as_json, best, doubtful_tests, first_line, in_words, why_stop
from repopilot.agents.testing.coverage import Touched, unexercised
from repopilot.errors import ModelError
from repopilot.llm.model import Model
from repopilot.prompts import defused, nonce, render
from repopilot.sandbox.async_runner import run_in_sandbox
from repopilot.sandbox.run import missing_modules
from repopilot.settings import Settings
from repopilot.trace import Step
from repopilot.types import Failure, SandboxLevel, TestRun

_TEMPERATURE = 0.8
_SHORT_MODULE = 80  # lines; of longer modules only the failing function is written anew
_MOST_TOKENS = 900
_TEST_WRITINGS = 2
_MOST_HINT = 1_200  # characters of an assertion


@dataclass(frozen=True, slots=True)
class Refined:
    """The outcome: the best candidate and every attempt. `code` is the text given when nothing was better. `level` is
    None when nothing could be run. `stopped_because` says in words why there is no further iteration."""

    code: str
    tests: Mapping[str, str]
    iterations: tuple[Iteration, ...]
    genuine_pass: bool
    level: SandboxLevel | None
    stopped_because: str
    test: TestRun | None = None


@dataclass(frozen=True, slots=True)
class _Work:
    """What stays the same in all iterations."""

    original: str
    task: str
    model: Model | None
    settings: Settings
    name: str
    context: Mapping[str, str]
    inputs: Path | None
    focus: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        parts = PurePosixPath(self.name).with_suffix("").parts
        return ".".join(parts[1:] if parts[0] == "src" else parts)


async def refine(
    code: str,
    tests: str | Mapping[str, str] | None,
    task: str,
    model: Model | None,
    settings: Settings,
    step: Step,
    *,
    name: str = "solution.py",
    protected_tests: bool = True,
    context_files: Mapping[str, str] | None = None,
    inputs: Path | None = None,
    focus: tuple[str, ...] = (),
) -> Refined:
    """Run `tests` over `code` (the file `name`), and improve the code until they pass genuinely or there is a reason
    to stop, in at most `settings.max_iterations` runs, each a child step.

    `tests` is the text of a test file, or texts by path; None: the model writes some. `protected_tests`: they are
    never changed; tests written here can lose those that no candidate passes. Without a model the tests are run and
    reported. `context_files` are laid beside the code; `inputs` is a folder with the rest of the repository. `focus`
    names what tests written here are to call (`Class.method`).
    Raises SandboxError (no level, bad path), StorageError. A model that fails ends the loop with the best so far.
    """
    work = _Work(code, task, model, settings, name, context_files or {}, inputs, focus)
    files = {_test_name(name): tests} if isinstance(tests, str) else dict(tests or {})
    problem = ""
    if not files:
        protected_tests = False
        files, problem = await _write_tests(work, step)
    if not files:
        return Refined(code, {}, (), False, None, problem)
    iterations, stopped = await _iterate(work, files, step)
    if not protected_tests and not any(iteration.genuine for iteration in iterations):
        iterations, files = await _without_doubtful_tests(work, files, iterations, step)
    chosen = best(iterations)
    if chosen.genuine:
        stopped = "the tests passed under control"
    level = next((iteration.run.level for iteration in iterations if iteration.run), None)
    step.note(genuine_pass=chosen.genuine, iterations=len(iterations), stopped_because=stopped, level=level)
    return Refined(chosen.candidate, files, iterations, chosen.genuine, level, stopped, chosen.run)


def refined_json(refined: Refined) -> dict[str, object]:
    """The command line's document."""
    tests = refined.tests
    return {
        "genuine_pass": refined.genuine_pass,
        "level": refined.level,
        "stopped_because": refined.stopped_because,
        "iterations": [as_json(iteration) for iteration in refined.iterations],
        "code": refined.code,
        "tests": next(iter(tests.values())) if len(tests) == 1 else dict(tests),
    }


async def _iterate(work: _Work, files: Mapping[str, str], step: Step) -> tuple[tuple[Iteration, ...], str]:
    """All iterations, and why there are no more."""
    done: list[Iteration] = []
    while True:
        try:
            async with step.child(f"iteration {len(done) + 1}", kind="tool") as child:
                iteration = await _attempt(work, files, done, child)
                await _finish(iteration, child)
        except ModelError as error:
            return tuple(done), f"the model failed: {error.message}"
        done.append(iteration)
        if stop := why_stop(done, work.settings.max_iterations, has_model=work.model is not None):
            return tuple(done), stop
        if missing := _missing(iteration, work, files):
            return tuple(done), f"missing in the sandbox: {', '.join(missing)}"


async def _attempt(work: _Work, files: Mapping[str, str], done: list[Iteration], step: Step) -> Iteration:
    number = len(done) + 1
    if not done:
        candidate, why = work.original, "the code as given"
    else:
        candidate, why = await _sample(work, files, best(done), number, step)
    change = "" if not done else candidates.change_between(best(done).candidate, candidate)
    problem = candidates.problem_of(candidate, candidates.public_names(work.original)) if done else ""
    if not problem and any(candidates.same_program(candidate, earlier.candidate) for earlier in done):
        problem, change = "the model returned a program it had returned before", "nothing"
    if problem:
        return Iteration(number, candidate, None, (), change, why, problem)
    run = await _tested({**work.context, **files, work.name: candidate}, list(files), work)
    return Iteration(number, candidate, run, run.failures, change, why)


async def _sample(work: _Work, files: Mapping[str, str], base: Iteration, number: int, step: Step) -> tuple[str, str]:
    """A fresh program from the model, and why it was asked for."""
    assert work.model is not None
    failure = base.failures[0] if base.failures else None
    symbol = _symbol_to_replace(work, base)
    mark = nonce()
    values = {
        "name": work.name,
        "task": _task(work, mark),
        "mark": mark,
        "signatures": defused(candidates.signatures(work.original), mark),
        "hint": _hint(failure, files, mark),
    }
    prompt = render("refine_symbol", symbol=symbol, **values) if symbol else render("refine_code", **values)
    code = candidates.code_in(await _said(work.model, prompt, step, "write code", number))
    if symbol:
        code = candidates.replace_function(base.candidate, symbol, code)
    why = f"{failure.test_id} failed: {first_line(failure)}" if failure else base.problem or "the run did not pass"
    return code, f"{symbol + ' ' if symbol else ''}written anew, because {why}"


async def _write_tests(work: _Work, step: Step) -> tuple[dict[str, str], str]:
    """Tests by the model, {path: text}; or none, and why."""
    if work.model is None:
        return {}, "there are no tests, and no model to write some"
    names = candidates.public_names(work.original)
    if not names:
        return {}, "the code defines no public function or class that could be tested"
    try:
        async with step.child("write tests", kind="agent") as child:
            text = await _tests_written(work, names, child)
            if not candidates.function_names(text, "test"):
                child.degrade("The model wrote no tests that can be run.")
                return {}, "the model wrote no tests that can be run"
    except ModelError as error:
        return {}, f"the model failed: {error.message}"
    if not candidates.imports(text, work.module):
        text = f"from {work.module} import {', '.join(names)}\n{text}"
    return {_test_name(work.name): text}, ""


async def _tests_written(work: _Work, names: Sequence[str], step: Step) -> str:
    """The model's test file; asked for once more when no test of it calls what is in focus."""
    mark = nonce()
    shown = candidates.signatures(work.original) if work.task else work.original
    prompt = render(
        "refine_tests",
        module=work.module,
        task=_task(work, mark),
        mark=mark,
        signatures=defused(shown, mark),
        names=", ".join(names),
        focus=f" Every test calls what is new: {', '.join(work.focus)}." if work.focus else "",
    )
    wanted = [Touched(name, (name,)) for name in work.focus]
    text = ""
    for seed in range(_TEST_WRITINGS):
        said = candidates.code_in(await _said(work.model, prompt, step, "tests", seed))
        text = candidates.without_definitions(said, names) or text  # small models test a copy of the code
        if len(unexercised(wanted, [text])) < len(wanted) or not wanted:
            break
    return text


async def _without_doubtful_tests(
    work: _Work, files: Mapping[str, str], done: tuple[Iteration, ...], step: Step
) -> tuple[tuple[Iteration, ...], Mapping[str, str]]:
    """Take the tests no candidate passed for wrong, as several independent ones agree, and run the best without them.
    The tests are given up only when that makes a genuine pass."""
    doubtful = doubtful_tests(done)
    fewer = {path: candidates.without_functions(text, _of_file(doubtful, path)) for path, text in files.items()}
    if not doubtful or not all(candidates.function_names(text, "test") for text in fewer.values()):
        return done, files
    chosen = best(done)
    async with step.child(f"iteration {len(done) + 1}", kind="tool") as child:
        run = await _tested({**work.context, **fewer, work.name: chosen.candidate}, list(fewer), work)
        change = f"dropped from the tests: {', '.join(doubtful)}"
        why = "no candidate passes these tests, so they are taken to be wrong"
        iteration = Iteration(len(done) + 1, chosen.candidate, run, run.failures, change, why)
        await _finish(iteration, child)
    return ((*done, iteration), fewer) if run.genuine else (done, files)


def _of_file(test_ids: tuple[str, ...], path: str) -> list[str]:
    pairs = (test_id.partition("::") for test_id in test_ids)
    return [name for file, _, name in pairs if file == path]


async def _tested(files: Mapping[str, str], tests: list[str], work: _Work) -> TestRun:
    return await run_in_sandbox(files, tests, work.settings, work.inputs)


async def _said(model: Model, prompt: str, step: Step, name: str, seed: int) -> str:
    from llama_index.core.llms import ChatMessage

    from repopilot.llm.stream import chat

    messages = [ChatMessage(role="system", content=render("refine_system")), ChatMessage(role="user", content=prompt)]
    async with step.child(name, kind="llm") as child:
        return await chat(model, messages, child, max_tokens=_MOST_TOKENS, temperature=_TEMPERATURE, seed=seed)


def _task(work: _Work, mark: str) -> str:
    return defused(work.task, mark).strip() or "Its names and their descriptions say what it does."


def _hint(failure: Failure | None, files: Mapping[str, str], mark: str) -> str:
    if failure is None:
        return ""
    path, _, test = failure.test_id.partition("::")
    source = candidates.function_source(files.get(path, ""), test.partition("[")[0]) or failure.lines
    return render(
        "refine_hint", mark=mark, test=defused(source, mark), assertion=defused(failure.assertion[:_MOST_HINT], mark)
    )


def _symbol_to_replace(work: _Work, base: Iteration) -> str:
    """Of a long module the function that failed; '' where the whole is short, or no frame of it is known."""
    if len(base.candidate.splitlines()) <= _SHORT_MODULE:
        return ""
    lines = [failure.line for failure in base.failures if failure.path == work.name]
    found = [symbol for line in lines if (symbol := candidates.function_at(base.candidate, line))]
    if found:
        return found[0]
    named = [
        name
        for name in candidates.public_names(base.candidate)
        if any(name in failure.assertion + failure.lines for failure in base.failures)
    ]
    return next((name for name in named if candidates.function_source(base.candidate, name)), "")


def _missing(iteration: Iteration, work: _Work, files: Mapping[str, str]) -> tuple[str, ...]:
    """Modules the sandbox lacks that the given code or tests ask for, so that no other candidate would help."""
    if iteration.run is None or iteration.number > 1:
        return ()
    return missing_modules(iteration.run, [work.name, *work.context, *files])


async def _finish(iteration: Iteration, step: Step) -> None:
    step.note(**as_json(iteration))
    await step.write(in_words(iteration))


def _test_name(name: str) -> str:
    stem = PurePosixPath(name).stem
    return f"test_{stem}.py"
