"""Plans the controls of a pass: how often tests run with wrong expectations, and which ones are wrong. Pure."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath

from repopilot.sandbox.controls.inversion import (
    TestFile,
    draw_units,
    expected_tests,
    imported_names,
    invert,
    parse_tests,
)
from repopilot.sandbox.verdict import Control, RunReport, passing, without_parameters

_BITS = 18
"""A program that guesses at random which expectations are wrong succeeds once in 2**_BITS; one that judges well by the
look of values, about once in a hundred."""
_MOST_RUNS = 8
_FEWEST_WRONG = 2
"""Fewest runs with a wrong expectation, where there are several runs."""
_FEW = 4
"""Up to this many units are drawn `_DECOYS` times before the tests run unchanged, more units once."""
_DECOYS = 2
_Units = dict[tuple[str, str], set[str]]
"""Ids of the tests of each unit that can be made wrong, by the unit's path and name."""


def plan_decoys(sources: Mapping[str, str], left_out: Collection[str], rng: random.Random) -> tuple[Control, ...]:
    """Plan the controls that run before anything is known of the tests.

    Args:
        sources: texts of the test files by path.
        left_out: ids of tests that are not run.
        rng: random numbers for the draw.

    Returns:
        The controls, none where no test has an expectation.
    """
    files = _files(sources)
    units = _units(files, left_out)
    if not units:
        return ()
    number = _DECOYS if len(units) <= _FEW else 1
    return tuple(_control(sources, files, draw_units(sorted(units), rng), rng) for _ in range(number))


def plan_controls(
    sources: Mapping[str, str],
    report: RunReport,
    left_out: Collection[str],
    rng: random.Random,
    before: Collection[Control] = (),
    turned: Collection[str] = (),
) -> tuple[Control, ...]:
    """Plan the controls that follow a run that passed.

    Args:
        sources: texts of the test files by path.
        report: report of that run.
        left_out: ids of tests that are not run.
        rng: random numbers for the draw.
        before: controls that have already run.
        turned: ids (without parameters) of tests that must be made wrong at least once.

    Returns:
        The plan, without controls where no test has an expectation.
    """
    passed = passing(report)
    files = _files(sources)
    units = {name: tests for name, tests in _units(files, left_out).items() if tests <= passed}
    if not units:
        return ()
    runs = min(_MOST_RUNS, -(-_BITS // len(units)))
    fewest = min(runs, _FEWEST_WRONG) - sum(bool(control.fail & passed) for control in before)
    seen = {test for control in before for test in control.fail}
    unseen = [name for name, tests in units.items() if tests & {*turned} and not tests <= seen]
    number = max(bool(unseen), runs - len(before), fewest)
    while True:
        drawn = [draw_units(sorted(units), rng) for _ in range(number)]
        if sum(map(bool, drawn)) >= fewest:
            break
    for name in unseen:
        if not any(name in each for each in drawn):
            drawn[rng.randrange(number)] |= {name}
    return tuple(_control(sources, files, each, rng) for each in drawn)


def _files(sources: Mapping[str, str]) -> dict[str, TestFile]:
    files = {path: parse_tests(text) for path, text in sources.items()}
    if all(file.weak for file in files.values()):
        return files
    return {path: file for path, file in files.items() if not file.weak}


def _units(files: Mapping[str, TestFile], left_out: Collection[str]) -> _Units:
    partly = {without_parameters(test) for test in left_out}
    units = {
        (path, name): {f"{path}::{test}" for test in unit.fail}
        for path, file in files.items()
        for name, unit in file.units.items()
    }
    return {name: tests for name, tests in units.items() if not tests & partly}


def _control(
    sources: Mapping[str, str], files: Mapping[str, TestFile], drawn: Collection[tuple[str, str]], rng: random.Random
) -> Control:
    texts = dict[str, str]()
    fail = set[str]()
    may_fail = set[str]()
    for path, file in files.items():
        names = {name for place, name in drawn if place == path}
        if not names:
            continue
        texts[path] = invert(file, names, rng)
        for name in names:
            fail |= {f"{path}::{test}" for test in file.units[name].fail}
            may_fail |= {f"{path}::{test}" for test in file.units[name].may_fail}
        may_fail |= set(_tests_using(names, path, sources))
    return Control(texts, frozenset(fail), frozenset(may_fail - fail))


def _tests_using(names: Collection[str], path: str, sources: Mapping[str, str]) -> Iterator[str]:
    """Ids of tests in other files that import a function or class of a test file, or the whole file."""
    wrong = {PurePosixPath(path).stem, *(name.partition("::")[0] for name in names)}
    for other, text in sources.items():
        if other != path and imported_names(text) & wrong:
            yield from (f"{other}::{test.id}" for test in expected_tests(text))
