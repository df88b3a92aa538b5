"""Which files a test file exercises: those it is named after, and those it uses. Pure."""

from __future__ import annotations

import posixpath
import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from repopilot.code.graph.graph import Edge
from repopilot.code.languages import is_test_path
from repopilot.code.split import FileAnalysis

_NAMED, _USED = 0.95, 0.9


def tested(
    files: Sequence[FileAnalysis], file_of: np.ndarray, edges: Sequence[array]
) -> Iterator[tuple[int, int, float]]:
    """(test file, exercised file, confidence), in this order. `edges` are the columns of a graph so far, `file_of` the
    file of each node (-1 for none)."""
    tests = np.array([is_test_path(file.path) for file in files], bool)
    sure = _named_after(files, set(np.flatnonzero(tests).tolist()))
    for test, number, value in _using(tests, file_of, edges):
        sure[test, number] = max(sure.get((test, number), 0.0), value)
    for (test, number), value in sorted(sure.items()):
        yield test, number, value


def _using(tests: np.ndarray, file_of: np.ndarray, edges: Sequence[array]) -> Iterator[tuple[int, int, float]]:
    """The files that tests use or import, a little less sure than the surest edge says."""
    sources, targets, kinds, confidence = (np.array(column) for column in edges[:4])
    users, used = file_of[sources], file_of[targets]
    known = (kinds != Edge.DECLARES) & (users >= 0) & (used >= 0)
    users, used, confidence = users[known], used[known], confidence[known]
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
    """Of files with the right name, those whose folders share most with the test's."""
    parts = set(files[test].path.split("/")[:-1])
    shared = {n: len(parts & set(files[n].path.split("/")[:-1])) for n in candidates if files[n].symbols}
    best = max(shared.values(), default=0)
    return [n for n, common in shared.items() if common == best][:3]
