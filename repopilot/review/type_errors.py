"""What the repository's own type checker finds new in a version of a change."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from repopilot.project_environment import declared_packages, packages_for_tests
from repopilot.sandbox.async_runner import check_types_in_sandbox
from repopilot.sandbox.type_checkers import TypeChecker, TypeDiagnostic, mypy_checker, typescript_checker
from repopilot.trace import Step
from repopilot.types import FileChange, Finding, InstalledPackages, Severity
from repopilot.workspace import Workspace

_INCOMPLETE = re.compile(
    r"\[(?:no-untyped-\w+|no-any-\w+|type-arg|unused-ignore|import-\w+|var-annotated|explicit-any|untyped-decorator)\]\s*$"
)
"""Annotations that strict options miss: nothing contradicts another."""
MOST_KNOWN = 32
"""Runs that are remembered."""
TYPESCRIPT = (".ts", ".tsx", ".mts", ".cts")


async def new_type_errors(
    changes: Sequence[FileChange], inputs: Path, workspace: Workspace, step: Step
) -> tuple[Finding, ...]:
    """The errors that the repository's type checker finds in a version and not in the repository as it is.

    Args:
        changes: the version.
        inputs: the repository as a folder for the sandbox.
        workspace: the repository.
        step: the type checker is its child.

    Returns:
        The errors; () where there are none, or the repository has no type checker.

    Raises:
        SandboxError: it can't be run.
    """
    checker = await asyncio.to_thread(checker_for, changes, inputs, workspace)
    if checker is None:
        return ()
    texts = {change.path: change.content for change in changes if change.change != "deleted"}
    async with step.child("type checker", "tool", checker.name) as checking:
        after = await _diagnostics(checker, texts, workspace)
        # The repository as it is matters only where something is found at all.
        before = await _diagnostics(checker, {}, workspace) if after else ()
        new = _new(after, before, texts, workspace)
        checking.note(errors=len(new), before=len(before))
        await checking.write("\n".join(f"{each.path}:{each.line}: {each.message}" for each in new))
    return tuple(Finding(e.path, e.line, _severity(e), checker.name, e.message, checker.name, "types") for e in new)


async def _diagnostics(
    checker: TypeChecker, texts: Mapping[str, str], workspace: Workspace
) -> tuple[TypeDiagnostic, ...]:
    """What the type checker says of a version; remembered, since a run starts without any cache."""
    known = workspace.lookups.type_diagnostics
    key = await asyncio.to_thread(_key_of_run, checker, texts)
    if key not in known:
        known[key] = await check_types_in_sandbox(checker, texts, workspace.settings)
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
    """The errors that were not there before: of those that say the same on the same text of a line as many as there
    are more of; the others then by what they say alone, as a line may have been rewritten."""
    old = Counter(_key(each, {}, workspace) for each in before)
    left = []
    for each in after:
        key = _key(each, texts, workspace)
        old[key] -= 1
        if old[key] < 0:
            left.append(each)
    rest = Counter[tuple[str, str]]()
    for (path, message, _), count in old.items():
        rest[path, message] += max(count, 0)
    new = []
    for each in left:
        rest[each.path, each.message] -= 1
        if rest[each.path, each.message] < 0:
            new.append(each)
    return new


def _key(error: TypeDiagnostic, texts: Mapping[str, str], workspace: Workspace) -> tuple[str, str, str]:
    text = texts.get(error.path) or workspace.index.text(error.path) or ""
    line = text.split("\n")[error.line - 1 : error.line]
    return error.path, error.message, "".join(line).strip()


def checker_for(changes: Sequence[FileChange], inputs: Path, workspace: Workspace) -> TypeChecker | None:
    """The type checker that the repository uses for some changes; None where it has none, or it isn't here."""
    paths = [change.path for change in changes if change.change != "deleted"]
    if python := [path for path in paths if path.endswith(".py")]:
        return mypy_checker(inputs, python, workspace.environment)
    if not any(path.endswith(TYPESCRIPT) for path in paths):
        return None
    return typescript_checker(inputs, node_packages(workspace))


def node_packages(workspace: Workspace) -> InstalledPackages | None:
    """The packages of a repository for Node; None where it declares none, or they aren't here."""
    declared = (each for each in declared_packages(workspace.snapshot) if each.language == "javascript")
    declaration = next(declared, None)
    if declaration is None:
        return None
    return packages_for_tests(workspace.snapshot, declaration, workspace.index, workspace.settings)
