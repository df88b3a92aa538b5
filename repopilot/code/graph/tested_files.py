"""Finds the files that a test file exercises: those it is named after, and those it uses. Pure."""

from __future__ import annotations

import posixpath
import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from repopilot.code.file_analysis import FileAnalysis
from repopilot.code.graph.graph import Edge
from repopilot.code.languages import is_test_path

_NAMED = 0.95
_USED = 0.9


def tested(
    files: Sequence[FileAnalysis], file_of: np.ndarray, edges: Sequence[array]
) -> Iterator[tuple[int, int, float]]:
    """Find which files each test file exercises.

    Args:
        files: the analyses of all files.
        file_of: int32 (nodes,), the number of each node's file, -1 for none.
        edges: the columns of the graph's edges so far, as in `Graph`.

    Yields:
        (test file, exercised file, confidence 0–1), ordered by the first two.
    """
    tests = np.array([is_test_path(file.path) for file in files], bool)
    sure = _named_after(files, set(np.flatnonzero(tests).tolist()))
    for test, number, value in _using(tests, file_of, edges):
        sure[test, number] = max(sure.get((test, number), 0.0), value)
    for (test, number), value in sorted(sure.items()):
        yield test, number, value


def _using(tests: np.ndarray, file_of: np.ndarray, edges: Sequence[array]) -> Iterator[tuple[int, int, float]]:
    """(test file, used file, confidence): slightly below the confidence of the surest edge between them."""
    sources, targets, kinds, confidence = (np.array(column) for column in edges[:4])
    users = file_of[sources]
    used = file_of[targets]
    known = (kinds != Edge.DECLARES) & (users >= 0) & (used >= 0)
    users = users[known]
    used = used[known]
    confidence = confidence[known]
    exercising = tests[users] & ~tests[used]
    pairs = users[exercising] * np.int64(len(tests)) + used[exercising]
    found, inverse = np.unique(pairs, return_inverse=True)
    best = np.zeros(len(found))
    np.maximum.at(best, inverse, confidence[exercising].astype(float) * _USED)
    for pair, value in zip(found.tolist(), best.tolist(), strict=True):
        yield pair // len(tests), pair % len(tests), value


def _named_after(files: Sequence[FileAnalysis], tests: set[int]) -> dict[tuple[int, int], float]:
    stems: dict[str, list[int]] = defaultdict(list)
    for number, file in enumerate(files):
        if number not in tests:
            stems[_stem(file.path)].append(number)
    return {
        (test, number): _NAMED
        for test in tests
        for number in _nearest(files, test, stems.get(_stem(files[test].path), ()))
    }


_TEST_PARTS = re.compile(
    r"^(?:tests?[_-]|Test(?=[A-Z]))|(?:[_.-](?:tests?|spec|unittest)|(?<=[a-z0-9])(?:Tests?|Spec|IT|TestCase))$"
)


def _stem(path: str) -> str:
    """A file's name without its extension and without what marks it as a test."""
    name = posixpath.basename(path)
    stem = name.rsplit(".", 1)[0] if "." in name[1:] else name
    return _TEST_PARTS.sub("", stem).lower()


def _nearest(files: Sequence[FileAnalysis], test: int, candidates: Sequence[int]) -> list[int]:
    """The (at most three) candidates whose folders have most in common with the test's."""
    parts = set(files[test].path.split("/")[:-1])
    shared = {n: len(parts & set(files[n].path.split("/")[:-1])) for n in candidates if files[n].symbols}
    best = max(shared.values(), default=0)
    return [n for n, common in shared.items() if common == best][:3]
