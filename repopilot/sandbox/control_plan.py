"""Plans the controls of a pass: how often tests run with wrong expectations, and which ones are wrong. Pure."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from repopilot.sandbox.inversion import TestFile, draw_units, invert, parse_tests
from repopilot.sandbox.verdict import Control, RunReport, passing, without_parameters

_BITS = 20
"""A program that tosses coins about which expectations are wrong is right once in two to the power of this, one that
judges well by how values look about once in two hundred."""
_MOST_RUNS = 8
_FEWEST_WRONG = 2
"""Runs in which something is wrong, of several."""


@dataclass(frozen=True, slots=True)
class ControlPlan:
    """The controls of a pass, and how many of the passed tests have an expectation that can be made wrong."""

    controls: tuple[Control, ...] = ()
    checked: int = 0
    total: int = 0


def plan_controls(
    sources: Mapping[str, str], report: RunReport, left_out: Collection[str], rng: random.Random
) -> ControlPlan:
    """Plan the controls of a run that passed.

    Args:
        sources: texts of the test files by path.
        report: of the run.
        left_out: ids of tests that are not run.
        rng: draws what is wrong.

    Returns:
        The plan, without controls where no test has an expectation.
    """
    passed, partly = passing(report), {without_parameters(test) for test in left_out}
    files = {path: parse_tests(text) for path, text in sources.items()}
    if not all(file.weak for file in files.values()):
        files = {path: file for path, file in files.items() if not file.weak}
    units: dict[tuple[str, str], set[str]] = {}
    for path, file in files.items():
        for name, unit in file.units.items():
            fail = {f"{path}::{test}" for test in unit.fail}
            if fail <= passed and not fail & partly:
                units[path, name] = fail
    checked = {test for tests in units.values() for test in tests}
    if not units:
        return ControlPlan(total=len(passed))
    runs = min(_MOST_RUNS, -(-_BITS // len(units)))
    controls: tuple[Control, ...] = ()
    while sum(bool(control.fail) for control in controls) < min(runs, _FEWEST_WRONG):
        controls = tuple(_control(files, sorted(units), rng) for _ in range(runs))
    return ControlPlan(controls, len(checked), len(passed))


def _control(files: Mapping[str, TestFile], units: list[tuple[str, str]], rng: random.Random) -> Control:
    drawn = draw_units(units, rng)
    texts, fail, may_fail = dict[str, str](), set[str](), set[str]()
    for path, file in files.items():
        names = {name for place, name in drawn if place == path}
        if not names:
            continue
        texts[path] = invert(file, names, rng)
        for name in names:
            fail |= {f"{path}::{test}" for test in file.units[name].fail}
            may_fail |= {f"{path}::{test}" for test in file.units[name].may_fail}
    return Control(texts, frozenset(fail), frozenset(may_fail - fail))
