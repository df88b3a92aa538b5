"""Finds the single tests of a test file: functions, and titled blocks such as `it("…")`. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from repopilot.types import Symbol

_TITLED = re.compile(
    r"^[ \t]*(?:(?:x?it|f?test|x?specify|should|scenario|context|describe|suite|Deno\.test|t\.[Rr]un|test_that)"
    r"(?:\.(?:serial|only|skip|each|failing|concurrent|cb))*\s*\(?\s*(?P<quote>[\"'`])(?P<title>[^\n]+?)(?P=quote)|"
    r"TEST(?:_F|_P|_CASE)?\s*\(\s*(?P<macro>[^()\n]+?)\s*\))",
    re.M,
)
_GROUPING = re.compile(r"^\s*(?:describe|context|suite)\b")
_TEST_NAME = re.compile(
    r"^(?:test|Test|should|Should|it_|spec|check|Benchmark|Example|Fuzz)|(?:_test|Test|_should_\w+|Should\w+)$"
)


@dataclass(frozen=True, slots=True)
class SingleTest:
    """One test: its name or title and its lines."""

    name: str
    path: str
    start_line: int
    end_line: int


def tests_in(path: str, text: str, outline: Sequence[Symbol]) -> list[SingleTest]:
    """The single tests of a file, ordered by line.

    Args:
        path: the file.
        text: its text.
        outline: the symbols it defines.

    Returns:
        Functions that are called like tests (any function of a file that has none), and titled blocks.
    """
    functions = [s for s in outline if s.kind in ("function", "method")]
    named = [s for s in functions if _TEST_NAME.search(s.name) or _attributed(text, s)]
    found = [SingleTest(s.qualified, path, s.start_line, s.end_line) for s in named]
    found += [replace(unit, name=_within(unit, named)) for unit in _titled(path, text)]
    if not found:
        found = [SingleTest(s.qualified, path, s.start_line, s.end_line) for s in functions]
    return sorted(found, key=lambda unit: (unit.start_line, unit.end_line))


def _within(unit: SingleTest, functions: Sequence[Symbol]) -> str:
    """The title of a block with the name of the test function around it (`TestWatch › config changed`)."""
    around = (s.qualified for s in functions if s.start_line < unit.start_line <= s.end_line)
    return " › ".join([*around, unit.name])


def _attributed(text: str, symbol: Symbol) -> bool:
    """Whether an attribute or annotation makes a function a test (`#[test]`, `@Test`, `[Fact]`)."""
    lines = text.split("\n")
    near = lines[max(0, symbol.start_line - 4) : symbol.start_line + 1]
    return any(
        re.match(
            r"\s*(?:#\[(?:\w+::)*test\b|@(?:\w+\.)*(?:Parameterized)?Test\b|\[(?:Fact|Theory|Test|TestMethod)\b)", row
        )
        for row in near
    )


def _titled(path: str, text: str) -> list[SingleTest]:
    matches = [m for m in _TITLED.finditer(text) if not _GROUPING.match(m[0])]
    starts = [text.count("\n", 0, m.start(_group(m))) + 1 for m in matches]
    ends = [*(following - 1 for following in starts[1:]), text.count("\n") + 1]
    return [
        SingleTest(" ".join(m[_group(m)].split()), path, start, max(start, end))
        for m, start, end in zip(matches, starts, ends, strict=False)
    ]


def _group(match: re.Match[str]) -> str:
    return "title" if match["title"] else "macro"
