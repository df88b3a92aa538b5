"""The new errors that the repository's own type checker finds in a version of a change."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from repopilot.background import run_in_thread
from repopilot.code.split import analysed
from repopilot.sandbox.type_checkers import (
    TypeChecker,
    TypeDiagnostic,
    TypeReport,
    check_types,
    mypy_checker,
    typescript_checker,
)
from repopilot.tools.test_suites import node_suite
from repopilot.trace import Step
from repopilot.types import FileChange, Finding, Severity, innermost
from repopilot.workspace import Workspace

_INCOMPLETE = re.compile(
    r"\[(?:no-untyped-\w+|no-any-\w+|type-arg|unused-ignore|import-\w+|var-annotated|explicit-any|untyped-decorator)\]\s*$"
)
"""Errors about missing annotations, by strict options: they show no contradiction."""
_LINE_NUMBER = re.compile(r"\bline \d+")
MOST_KNOWN = 32
"""Most runs that are remembered."""
TYPESCRIPT = (".ts", ".tsx", ".mts", ".cts")


class TypeCheck(NamedTuple):
    """The result of the repository's type checker for a version.

    Attributes:
        findings: the errors that it doesn't find in the repository as it is.
        name: of the type checker; '' where the repository has none, or it isn't here.
        files: those in which it checked every use of a name.
    """

    findings: tuple[Finding, ...] = ()
    name: str = ""
    files: frozenset[str] = frozenset()


async def type_check(changes: Sequence[FileChange], inputs: Path, workspace: Workspace, step: Step) -> TypeCheck:
    """Run the repository's type checker on a version.

    Args:
        changes: the version.
        inputs: the repository as a folder for the sandbox.
        workspace: the repository.
        step: the parent of the type checker's step.

    Raises:
        SandboxError: it can't be run.
    """
    checker = await asyncio.to_thread(checker_for, changes, inputs, workspace)
    if checker is None:
        return TypeCheck()
    texts = {change.path: change.content for change in changes if change.change != "deleted"}
    async with step.child("type checker", "tool", checker.name) as checking:
        # First the unedited repository: the cache that this leaves behind makes the run of the version short.
        before = await types_before(changes, inputs, workspace)
        after = await _report(checker, texts, workspace)
        new = await asyncio.to_thread(_new, after.errors, before, texts, workspace)
        checking.note(errors=len(new), before=len(before))
        await checking.write("\n".join(f"{each.path}:{each.line}: {each.message}" for each in new))
    found = (Finding(e.path, e.line, _severity(e), checker.name, e.message, checker.name, "types") for e in new)
    return TypeCheck(tuple(found), checker.name, after.files)


async def types_before(changes: Sequence[FileChange], inputs: Path, workspace: Workspace) -> tuple[TypeDiagnostic, ...]:
    """The type checker's errors in the unedited repository, for the files of some changes; also for further files,
    where an earlier run included them.

    Args:
        changes: the changes.
        inputs: the repository as a folder for the sandbox.
        workspace: the repository.

    Raises:
        SandboxError: it can't be run.
    """
    async with workspace.lookups.type_checks:
        asked = _checked_before(changes, inputs, workspace) or tuple(changes)
        checker = await asyncio.to_thread(checker_for, asked, inputs, workspace, unchanged=True)
        found = await _report(checker, {}, workspace) if checker else TypeReport()
        workspace.lookups.typed_before.append((workspace.snapshot.key, asked))
        return found.errors


def _checked_before(changes: Sequence[FileChange], inputs: Path, workspace: Workspace) -> tuple[FileChange, ...] | None:
    """The files of an earlier run that included all changed Python files, None for none."""
    wanted = {each.path for each in changes if each.path.endswith(".py") and (inputs / each.path).is_file()}
    earlier = (run for key, run in workspace.lookups.typed_before if key == workspace.snapshot.key)
    return next((run for run in earlier if wanted and wanted <= {each.path for each in run}), None)


async def _report(checker: TypeChecker, texts: Mapping[str, str], workspace: Workspace) -> TypeReport:
    """The type checker's report on a version; remembered."""
    known = workspace.lookups.type_diagnostics
    key = await asyncio.to_thread(_key_of_run, checker, texts)
    if key not in known:
        known[key] = await run_in_thread(partial(check_types, checker, texts, workspace.settings))
        for oldest in list(known)[:-MOST_KNOWN]:
            known.pop(oldest, None)
    return known[key]


def _key_of_run(checker: TypeChecker, texts: Mapping[str, str]) -> str:
    """A digest of what a run reads: the program, its packages, the repository and the changed texts. Blocking."""
    inputs = checker.run.inputs
    stored = sorted(path for path in inputs.rglob("*") if path.is_file() and not path.is_symlink()) if inputs else []
    digest = hashlib.blake2b(repr((checker.run.program, checker.run.node_modules, sorted(texts.items()))).encode())
    for path in stored:
        digest.update(os.fsencode(path.relative_to(inputs or path)) + b"\0")
        digest.update(hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def _severity(error: TypeDiagnostic) -> Severity:
    return "low" if _INCOMPLETE.search(error.message) else "high"


def _new(
    after: Sequence[TypeDiagnostic],
    before: Sequence[TypeDiagnostic],
    texts: Mapping[str, str],
    workspace: Workspace,
) -> list[TypeDiagnostic]:
    """The errors that are new, wherever they stand. Old and new errors with the same message are paired: first those on
    lines with the same text, then those in the same definition. A missing annotation isn't new in a file that lacked
    one of the kind before."""
    old = _Places({}, workspace)
    new = _Places(texts, workspace)
    left = _beyond(after, new.line_key, Counter(map(old.line_key, before)))
    gone = _beyond(before, old.line_key, Counter(map(new.line_key, after)))
    left = _beyond(left, new.definition_key, Counter(map(old.definition_key, gone)))
    incomplete = {(each.path, found[0]) for each in before if (found := _INCOMPLETE.search(each.message))}
    return [e for e in left if not ((found := _INCOMPLETE.search(e.message)) and (e.path, found[0]) in incomplete)]


Key = tuple[str, str, str]


def _beyond(
    errors: Sequence[TypeDiagnostic], key: Callable[[TypeDiagnostic], Key], known: Counter[Key]
) -> list[TypeDiagnostic]:
    """The errors that exceed the known number of their key."""
    left = []
    for each in errors:
        known[key(each)] -= 1
        if known[key(each)] < 0:
            left.append(each)
    return left


class _Places:
    """The keys of errors by where they stand in a version, from the texts of its changed files."""

    def __init__(self, texts: Mapping[str, str], workspace: Workspace) -> None:
        index = workspace.index
        self._text = lambda path: texts.get(path) or index.text(path) or ""
        self._outline = cache(
            lambda path: analysed(path, texts[path]).symbols if path in texts else index.outline(path)
        )

    def line_key(self, error: TypeDiagnostic) -> Key:
        text = self._text(error.path)
        line = text.split("\n")[error.line - 1 : error.line]
        return error.path, _LINE_NUMBER.sub("line", error.message), "".join(line).strip()

    def definition_key(self, error: TypeDiagnostic) -> Key:
        around = innermost(self._outline(error.path), error.line)
        return error.path, _LINE_NUMBER.sub("line", error.message), around.qualified if around else ""


def checker_for(
    changes: Sequence[FileChange], inputs: Path, workspace: Workspace, *, unchanged: bool = False
) -> TypeChecker | None:
    """The type checker that the repository uses for some changes, or for the files concerned as they are; None where it
    has none, or it isn't installed."""
    paths = [change.path for change in changes if change.change != "deleted"]
    if python := [path for path in paths if path.endswith(".py")]:
        environment = workspace.current_environment()
        name = f"mypy-{environment.key}" if environment else "mypy"
        targets = [path for path in python if not unchanged or (inputs / path).is_file()]
        return mypy_checker(inputs, targets, environment, workspace.index.folder.parent / name)
    if not any(path.endswith(TYPESCRIPT) for path in paths):
        return None
    return typescript_checker(inputs, node_suite(workspace))
