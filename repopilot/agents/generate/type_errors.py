"""What the repository's own type checker finds new in a version of a change."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from repopilot import i18n
from repopilot.agents.generate.evidence import Examination
from repopilot.project_environment import declared_packages, find_packages
from repopilot.sandbox.async_runner import check_types_in_sandbox
from repopilot.sandbox.type_checkers import TypeChecker, TypeDiagnostic, mypy_checker, typescript_checker
from repopilot.tools.file_change import Changes, texts_of
from repopilot.trace import Step, result_or_none
from repopilot.types import Finding, Severity

MOST_VERSIONS = 3
"""Versions that are checked to put them in order."""
_INCOMPLETE = re.compile(
    r"\[(?:no-untyped-\w+|no-any-\w+|type-arg|unused-ignore|import-\w+|var-annotated|explicit-any|untyped-decorator)\]\s*$"
)
"""Annotations that strict options miss: nothing contradicts another."""
_TYPESCRIPT = (".ts", ".tsx", ".mts", ".cts")


async def ordered_by_types(examination: Examination, versions: Sequence[Changes], step: Step) -> list[Changes]:
    """Versions of a change, those first in which the type checker finds the fewest new errors.

    Args:
        examination: the task and the repository. It remembers what was found.
        versions: the best first.
        step: the step of the work.
    """
    if len(versions) < 2:
        return list(versions)
    counts = {}
    for changes in versions[:MOST_VERSIONS]:
        found = await type_errors(examination, changes, step)
        counts[changes] = sum(error.severity == "high" for error in found)
    return sorted(versions, key=lambda changes: counts.get(changes, max(counts.values())))


async def type_errors(examination: Examination, changes: Changes, step: Step) -> tuple[Finding, ...]:
    """The errors that the type checker finds in a version and not in the repository as it is.

    Args:
        examination: the task and the repository. It remembers what was found.
        changes: the version.
        step: the step of the work; a type checker that can't be run is said on it.

    Returns:
        The errors; () where there are none, or the repository has no type checker.
    """
    if changes not in examination.type_errors:
        work = i18n.message("generate.work.types")
        found = await result_or_none(_new_errors(examination, changes, step), work, step)
        examination.type_errors[changes] = found or ()
    return examination.type_errors[changes]


async def _new_errors(examination: Examination, changes: Changes, step: Step) -> tuple[Finding, ...]:
    checker = await asyncio.to_thread(_checker_for, examination, changes)
    if checker is None:
        return ()
    async with step.child("type checker", "tool", checker.name) as checking:
        settings = examination.workspace.settings
        after = await check_types_in_sandbox(checker, texts_of(changes), settings)
        # The repository as it is matters only where something is found at all.
        before = await check_types_in_sandbox(checker, {}, settings) if after else ()
        new = _new(after, before, texts_of(changes), examination)
        checking.note(errors=len(new), before=len(before))
        await checking.write("\n".join(f"{each.path}:{each.line}: {each.message}" for each in new))
    return tuple(Finding(e.path, e.line, _severity(e), checker.name, e.message, checker.name, "types") for e in new)


def _severity(error: TypeDiagnostic) -> Severity:
    return "low" if _INCOMPLETE.search(error.message) else "high"


def _new(
    after: Sequence[TypeDiagnostic],
    before: Sequence[TypeDiagnostic],
    texts: Mapping[str, str],
    examination: Examination,
) -> list[TypeDiagnostic]:
    """The errors that were not there before: of those that say the same on the same text of a line as many as there
    are more of; the others then by what they say alone, as a line may have been rewritten."""
    old = Counter(_key(each, {}, examination) for each in before)
    left = []
    for each in after:
        key = _key(each, texts, examination)
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


def _key(error: TypeDiagnostic, texts: Mapping[str, str], examination: Examination) -> tuple[str, str, str]:
    text = texts.get(error.path) or examination.workspace.index.text(error.path) or ""
    line = text.split("\n")[error.line - 1 : error.line]
    return error.path, error.message, "".join(line).strip()


def _checker_for(examination: Examination, changes: Changes) -> TypeChecker | None:
    inputs, workspace = examination.inputs, examination.workspace
    paths = [change.path for change in changes if change.change != "deleted"]
    if inputs is None:
        return None
    if python := [path for path in paths if path.endswith(".py")]:
        return mypy_checker(inputs, python, workspace.environment)
    if not any(path.endswith(_TYPESCRIPT) for path in paths):
        return None
    declared = (each for each in declared_packages(workspace.snapshot) if each.language == "javascript")
    declaration = next(declared, None)
    if declaration is None:
        return None
    return typescript_checker(inputs, find_packages(workspace.snapshot, declaration, workspace.settings))
