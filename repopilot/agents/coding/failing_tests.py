"""A test that a task names and that fails: what it says, what it ran, and whether a change makes it pass."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from repopilot.agents.coding.edit_request import Calls, EditRequest, FailingTest
from repopilot.code.languages import is_test_path
from repopilot.code.python_ast import parse_python
from repopilot.index.store import Index
from repopilot.sandbox.failures import missing_modules
from repopilot.tools.file_change import Changes, texts_of
from repopilot.tools.test_suites import TestSelection, run_selected
from repopilot.trace import Step
from repopilot.types import Failure, TestRun
from repopilot.workspace import Workspace

_ID = re.compile(r"(?<![\w/.-])([\w./-]+\.py)::((?:\w+::)?\w+)(\[[^\]\n]*\])?")
_TOLD = re.compile(
    r"(?:\n\s*)?(?:\b(?:this|the|ce|le)\s+)?(?:\b(?:failing\s+)?tests?(?:\s+(?:fails|qui échoue))?\s*:?\s*)?"
    rf"`?{_ID.pattern}`?(?:\s+(?:fails|échoue)\b)?\.?",
    re.I,
)
_MARK = "repopilot-calls "
_LONGEST_TEST, _LONGEST_ERROR = 30, 12
"""Lines that a model is shown."""
_RECORDER = """

import pytest as _pytest


@_pytest.fixture(autouse=True)
def _recorded_calls(request):
    import json, os, sys

    if request.node.originalname != {name!r} and request.node.name != {name!r}:
        yield
        return
    order, top = {{}}, os.getcwd() + os.sep

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(top):
            key = frame.f_code.co_filename[len(top):] + "\\n" + frame.f_code.co_name
            order.pop(key, None)
            order[key] = None

    sys.setprofile(note)
    yield
    sys.setprofile(None)
    calls = [key.split("\\n") for key in order]
    raise AssertionError({mark!r} + json.dumps(calls[-400:]) + " end-of-calls")
"""


@dataclass(frozen=True, slots=True)
class NamedTest:
    """A test in a task: its file, and its qualified name with `::`."""

    path: str
    name: str

    @property
    def id(self) -> str:
        """As pytest writes it."""
        return f"{self.path}::{self.name}"


def named_test(task: str, index: Index) -> NamedTest | None:
    """The first test of the repository that a task names by its id, `tests/test_a.py::test_b`; None for none."""
    for path, name, _ in _ID.findall(task):
        if path in index.files and is_test_path(path):
            return NamedTest(path, name)
    return None


def without_tests(task: str) -> str:
    """A task without the ids of tests, whose files aren't the place to edit."""
    return re.sub(r"[ \t]+\n", "\n", _TOLD.sub("", task)).strip() or task


async def with_failing_test(request: EditRequest, workspace: Workspace, inputs: Path, step: Step) -> EditRequest:
    """Run the test that a task names, and prepare to run it again over each version.

    Args:
        request: the task.
        workspace: the repository and the environment of its tests.
        inputs: the repository as a folder.
        step: gets a child for the run.

    Returns:
        The request without the test's name, and with the test where it fails.

    Raises:
        SandboxError: nothing can be run.
        StorageError: the files can't be written.
    """
    test = named_test(request.task, workspace.index)
    text = workspace.index.text(test.path) if test is not None else None
    if test is None or text is None:
        return request
    request = replace(request, task=without_tests(request.task))
    selected = TestSelection((test.path,))
    async with step.child("run the failing test", "tool", test.id) as running:
        recorded = text + _RECORDER.format(name=test.name.rpartition("::")[2], mark=_MARK)
        run = await run_selected(selected, {test.path: recorded}, workspace, inputs)
        own = {name: outcome for name, outcome in run.outcomes.items() if _is_of(name, test)}
        failure = next((f for f in run.failures if _tells(f, test) and not missing_modules(run)), None)
        running.note(outcomes=own, calls=len(_calls(run.output)))
        await running.write(failure.assertion if failure else run.output[-1500:])
    if failure is None:
        return request
    left_out = tuple(name for name in run.outcomes if "::" in name and not _is_of(name, test))

    async def passes(changes: Changes) -> bool:
        files = {test.path: text, **texts_of(changes)}
        again = await run_selected(selected, files, workspace, inputs, left_out=left_out)
        return _all_pass(again, test)

    calls = _order(_calls(run.output), workspace.index)
    error = "\n".join(failure.assertion.strip().split("\n")[:_LONGEST_ERROR])
    failing = FailingTest(test.id, _definition(text, test.name), error, calls)
    return replace(request, failing=failing, passes=passes)


def _tells(failure: Failure, test: NamedTest) -> bool:
    """Whether a failure is one of the test, or of its file, which can't be imported."""
    own = _is_of(failure.test_id, test) or failure.test_id == test.path
    return own and _MARK not in failure.assertion


def _is_of(identity: str, test: NamedTest) -> bool:
    return identity.partition("[")[0] == test.id


def _all_pass(run: TestRun, test: NamedTest) -> bool:
    own = [outcome for name, outcome in run.outcomes.items() if _is_of(name, test)]
    return bool(own) and all(outcome == "passed" for outcome in own) and not run.failed and not run.errors


def _calls(output: str) -> list[tuple[str, str]]:
    """(path, name) of the functions that the test ran, the last one last."""
    start = output.rfind(_MARK + "[[")
    if start < 0:
        return []
    body = output[start + len(_MARK) :].partition(" end-of-calls")[0]
    try:
        return [(path, name) for path, name in json.loads(re.sub(r"\n(?:E\s+)?", "", body))]
    except ValueError:
        return []


def _order(found: list[tuple[str, str]], index: Index) -> Calls:
    own = [(path, name) for path, name in found if path in index.files and not is_test_path(path)]
    return Calls({place: (number + 1) / len(own) for number, place in enumerate(own)})


def _definition(text: str, name: str) -> str:
    """The lines of a test; of a long one the last."""
    node: ast.AST = parse_python(text)
    for part in name.split("::"):
        inside = (n for n in ast.iter_child_nodes(node) if getattr(n, "name", None) == part)
        node = next(inside, node)
    if isinstance(node, ast.Module):
        return ""
    lines = text.split("\n")[node.lineno - 1 : node.end_lineno]  # type: ignore[attr-defined]
    return "\n".join(lines if len(lines) <= _LONGEST_TEST else [lines[0], "    ...", *lines[-_LONGEST_TEST:]])
