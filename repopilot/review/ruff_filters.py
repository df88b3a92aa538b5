"""Which of ruff's findings are worth reporting: some of its rules are right about everything and useful about little.

Measured on the repositories of `docs/review-rules.md`, PLR2004, T201, N802, FBT001 and FBT002 by themselves report
between 2 and 8 times in 1,000 lines. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from repopilot.code.languages import is_test_path
from repopilot.code.notebook import is_notebook
from repopilot.review.code import Code
from repopilot.types import Finding

Filter = Callable[[Code, list[Finding]], list[Finding]]

_WIDE_LINES_PER = 200
"""Wide lines are reported in files with at most one in so many: elsewhere they are how the file is written."""
_ORDINARY_NAMES = 4
"""An unusual function name is reported where so many times as many functions are named as usual."""
_PRINTS = 2
_FLAGS = 3
_TERMINAL = re.compile(
    r"cli|command|script|example|setup|manage|(^|/)bin/|tool|demo|bench|docs?/|__main__|main\.py|console|game|report"
)
_NO_FAULT_IN_CELLS = frozenset("B018 E402 E703 F704 F811 PLE1142 PLW0127 T201".split())
"""Right in a notebook: a value at a cell's end is shown, each cell imports, and may await."""
_BUILT_IN = re.compile(r"Undefined name `(?:display|get_ipython|exit|quit|In|Out|_\d*)`")
_PLAIN_NUMBERS = frozenset("0.5 0.25 0.75 0.1 0.01 0.001 0.9 0.95 0.99 1.5 0.2 0.05".split())
_DECIMAL = re.compile(r"`(\d+\.\d+)`")


def worth_reporting(code: Code, findings: Sequence[Finding]) -> list[Finding]:
    """Leave out what ruff's rules say too often.

    Args:
        code: a file.
        findings: all that ruff found in it, with messages in ruff's words.

    Returns:
        The findings that remain, in their order.
    """
    if is_notebook(code.path):
        findings = [f for f in findings if f.rule not in _NO_FAULT_IN_CELLS and not _BUILT_IN.search(f.message)]
    remaining = [f for f in findings if f.rule not in _FILTERS]
    for rule in dict.fromkeys(f.rule for f in findings if f.rule in _FILTERS):
        remaining += _FILTERS[rule](code, [f for f in findings if f.rule == rule])
    return sorted(remaining, key=lambda f: f.line)


def _first_of_block(code: Code, found: list[Finding]) -> list[Finding]:
    """The first line of each block of code in comments."""
    lines = {f.line for f in found}
    return [f for f in found if f.line - 1 not in lines]


def _rare_wide_lines(code: Code, found: list[Finding]) -> list[Finding]:
    rare = len(found) * _WIDE_LINES_PER <= max(code.text.count("\n"), _WIDE_LINES_PER)
    return found if rare else []


def _stray_prints(code: Code, found: list[Finding]) -> list[Finding]:
    """A print or two in a file that doesn't write to a terminal on purpose."""
    prints_on_purpose = (
        _TERMINAL.search(code.path)
        or is_test_path(code.path)
        or re.search(r"\b(click|argparse)\.|\bdef main\b|__main__", code.text)
    )
    return [] if prints_on_purpose or len(found) > _PRINTS else found


def _unusual_names(code: Code, found: list[Finding]) -> list[Finding]:
    """Names unlike those of the rest of the file; where most are, the file follows another convention."""
    functions = len(re.findall(r"(?m)^[^\S\n]*(?:async\s+)?def\s", code.text))
    return found if functions - len(found) >= _ORDINARY_NAMES * len(found) else []


def _unnamed_limits(code: Code, found: list[Finding]) -> list[Finding]:
    """Decimals of two digits and more, such as 37.5: integers are mostly self-explanatory."""
    return [f for f in found if (m := _DECIMAL.search(f.message)) and _is_unusual(m[1])]


def _is_unusual(number: str) -> bool:
    return number not in _PLAIN_NUMBERS and len(number.replace(".", "").strip("0")) >= 2 and float(number) >= 0.01


def _many_flags(code: Code, found: list[Finding]) -> list[Finding]:
    """The first of three and more flags of one function, which nobody can tell apart in a call by position."""
    groups: list[list[Finding]] = []
    for finding in sorted(found, key=lambda f: f.line):
        if groups and finding.line - groups[-1][-1].line <= 1:
            groups[-1].append(finding)
        else:
            groups.append([finding])
    return [group[0] for group in groups if len(group) >= _FLAGS]


def _inner_loops(code: Code, found: list[Finding]) -> list[Finding]:
    """An inner loop with the variable of the outer one; an assignment is mostly meant."""
    return [f for f in found if "inner `for` loop" in f.message or "inner `async for`" in f.message]


_FILTERS: dict[str, Filter] = {
    "ERA001": _first_of_block,
    "E501": _rare_wide_lines,
    "T201": _stray_prints,
    "N802": _unusual_names,
    "PLR2004": _unnamed_limits,
    "FBT001": _many_flags,
    "FBT002": _many_flags,
    "PLW2901": _inner_loops,
}
