"""What an answer's tests could not import: whether an environment would help. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from repopilot.results import Answer, Generation, TestReport
from repopilot.sandbox.failures import missing_modules


def modules_missing(answer: Answer, own: Iterable[str]) -> tuple[str, ...]:
    """The modules that the tests of an answer lack.

    Args:
        answer: the answer of any agent.
        own: the paths of the repository, whose modules no package index has.
    """
    report = answer.result.tests if isinstance(answer.result, Generation) else answer.result
    if not isinstance(report, TestReport) or report.run is None:
        return ()
    paths = [*own, *(change.path for change in answer.files)]
    return tuple(dict.fromkeys(missing_modules(report.run, paths)))
