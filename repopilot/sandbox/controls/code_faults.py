"""Faults put into the code under test: a control of a pass that leaves the tests' expectations alone. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from repopilot.code.languages import is_test_path
from repopilot.code.mutation.mutants import faults_in_each_function

_MOST_FILES = 12


def with_faults(files: Mapping[str, str], seed: int, most: int = 1) -> dict[str, str]:
    """Put faults into each function of the code under test.

    Args:
        files: texts by path, tests among them.
        seed: decides which.
        most: faults of a function.

    Returns:
        The changed texts by path; empty where there is no function to change.
    """
    code = [path for path in files if PurePosixPath(path).suffix == ".py" and not is_test_path(path)]
    changed = {path: faults_in_each_function(files[path], seed, most) for path in code[:_MOST_FILES]}
    return {path: text for path, text in changed.items() if text != files[path]}
