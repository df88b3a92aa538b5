"""Runs tests on mutants of the code they test, all mutants in one process of the sandbox.

Each mutant gets a copy of the test module with a fixture that gives the functions under test the mutant's bytecode
while a test runs: classes and modules keep their identity, and nothing is imported twice. Pure: the run itself is
`run_in_sandbox`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from repopilot.code.mutation.mutants import Mutant
from repopilot.types import TestRun

SLOWEST_TEST_S = 5
"""A test that takes longer on a mutant has noticed it: the fault keeps a loop from ending."""

# Appended to each copy. The code objects of the original and of the mutant are walked side by side; every function that
# has one of the original's is given the mutant's, and caches around functions are emptied before and after.
_FIXTURE = """

import pytest as _pytest_{token}


@_pytest_{token}.fixture(autouse=True)
def _mutant_{token}():
    import functools
    import gc
    import signal
    import types

    def codes(code, path=()):
        yield path, code
        for number, constant in enumerate(c for c in code.co_consts if isinstance(c, types.CodeType)):
            yield from codes(constant, (*path, number, constant.co_name))

    original = dict(codes(compile({original!r}, "module", "exec", dont_inherit=True)))
    mutant = dict(codes(compile({mutant!r}, "module", "exec", dont_inherit=True)))
    differing = {{
        (code.co_name, code.co_firstlineno): (code, mutant[path])
        for path, code in original.items()
        if path and path in mutant and code != mutant[path]
    }}
    objects = gc.get_objects()
    functions = []
    for each in objects:  # `type` and not `isinstance`, which may run code of the object
        if type(each) is types.FunctionType:
            old, new = differing.get((each.__code__.co_name, each.__code__.co_firstlineno), (None, None))
            if old is not None and each.__code__ == old:
                functions.append((each, new))
    if not functions:
        _pytest_{token}.skip("no function to change")
    caches = [each for each in objects if type(each) is functools._lru_cache_wrapper]
    del objects

    def too_slow(*_):
        raise TimeoutError("slow on the mutant")

    def empty_caches():
        for cache in caches:
            cache.cache_clear()

    before = [(f, f.__code__) for f, _ in functions]
    try:
        for function, code in functions:
            function.__code__ = code
    except ValueError:
        _restore_{token}(before)
        _pytest_{token}.skip("its variables differ")
    empty_caches()
    previous = signal.signal(signal.SIGALRM, too_slow)
    signal.alarm({seconds})
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
        _restore_{token}(before)
        empty_caches()


def _restore_{token}(before):
    for function, code in before:
        function.__code__ = code
"""


@dataclass(frozen=True, slots=True)
class MutantRun:
    """The files of one run, and which of them is which.

    Attributes:
        files: texts by path.
        control: the test modules without a mutant, the first and the last one.
        copies: the number of the mutant by the path of its test module.
    """

    files: Mapping[str, str]
    control: tuple[str, str]
    copies: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class KillMatrix:
    """What came of a run.

    Attributes:
        passed: the tests that pass on the code as it is, before and after the mutants, as (class or '', name).
        caught: by test, the numbers of the mutants on which it fails.
        measured: the numbers of the mutants that were run at all.
    """

    passed: frozenset[tuple[str, str]]
    caught: Mapping[tuple[str, str], frozenset[int]]
    measured: frozenset[int]


def mutant_run(module: str, path: str, original: str, mutants: Sequence[Mutant], token: str) -> MutantRun:
    """The test modules that run some tests on the code as it is and on each mutant.

    Args:
        module: the text of the test module.
        path: of the test module; the copies are put beside it.
        original: the text of the module under test.
        mutants: of that text.
        token: hexadecimal digits that no name has.
    """
    place = PurePosixPath(path)
    names = [str(place.with_name(f"test_{number:03d}_{token}.py")) for number in range(len(mutants) + 2)]
    files = {names[0]: module, names[-1]: module}
    copies = {}
    for number, (name, mutant) in enumerate(zip(names[1:-1], mutants, strict=True)):
        fixture = _FIXTURE.format(token=token, original=original, mutant=mutant.text, seconds=SLOWEST_TEST_S)
        files[name] = module.rstrip("\n") + "\n" + fixture
        copies[name] = number
    return MutantRun(dict(sorted(files.items())), (names[0], names[-1]), copies)


def kill_matrix(plan: MutantRun, run: TestRun) -> KillMatrix:
    """Read the result of a run: which tests pass as the code is, and which mutants each catches."""
    by_file: dict[str, dict[tuple[str, str], set[str]]] = {}
    for test_id, outcome in run.outcomes.items():
        file, test = _test_of(test_id)
        by_file.setdefault(file, {}).setdefault(test, set()).add(outcome)
    first, last = (by_file.get(path, {}) for path in plan.control)
    passed = frozenset(t for t, seen in first.items() if seen == {"passed"} and last.get(t, {"passed"}) == {"passed"})
    caught: dict[tuple[str, str], set[int]] = {test: set() for test in passed}
    measured = set()
    for path, number in plan.copies.items():
        seen = by_file.get(path, {})
        if any(outcome != "skipped" for test in passed for outcome in seen.get(test, ())):
            measured.add(number)
        for test in passed:
            if seen.get(test, set()) & {"failed", "error"}:
                caught[test].add(number)
    return KillMatrix(passed, {test: frozenset(numbers) for test, numbers in caught.items()}, frozenset(measured))


def _test_of(test_id: str) -> tuple[str, tuple[str, str]]:
    """`path::Class::name[parameters]` as (path, (class, name))."""
    path, _, rest = test_id.partition("::")
    owner, _, name = re.sub(r"\[.*", "", rest, flags=re.S).rpartition("::")
    return path, (owner, name)
