"""Finds stack frames in pasted text: Python, JavaScript, Go, Java, Rust, Ruby, and plain `path.ext:line`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MOST_FRAMES = 50

_PYTHON = re.compile(r'^\s*File "(?P<path>[^"\n]{1,400})", line (?P<line>\d{1,7})(?:, in (?P<function>\S+))?', re.M)
_JAVA = re.compile(
    r"^\s*at (?P<function>[\w.$<>/]{1,300})\((?P<path>\w{1,120}\.(?:java|kt|scala|groovy)):(?P<line>\d{1,7})\)", re.M
)
_SCRIPT = re.compile(
    r"^\s*at (?:async )?(?:(?P<function>[\w.$<>\[\] ]{1,200}?) \()?(?:file://)?"
    r"(?P<path>[^\s():]{0,400}\.\w{1,5}):(?P<line>\d{1,7}):\d+\)?",
    re.M,
)
_GO = re.compile(
    r"^(?P<function>[\w./*()\-]{1,300})\(.{0,400}\)\n\s+(?P<path>[^\s:]{1,400}\.go):(?P<line>\d{1,7})", re.M
)
_RUST = re.compile(
    r"(?:panicked at (?:'[^'\n]{0,400}', )?|^\s*at )(?P<path>[^\s:,']{1,400}\.rs):(?P<line>\d{1,7})(?::\d+)?", re.M
)
_RUBY = re.compile(
    r"^\s*(?:from )?(?P<path>[^\s:]{1,400}\.rb):(?P<line>\d{1,7}):in [`'](?P<function>[^'\n]{1,200})'", re.M
)
_PLAIN = re.compile(r"(?:^|[\s(\[\"'`])(?P<path>[\w./\\@~+-]{1,300}\.[A-Za-z]\w{0,7}):(?P<line>\d{1,7})\b", re.M)
_INNERMOST_LAST = (_PYTHON,)
_FORMATS = (_PYTHON, _JAVA, _RUST, _SCRIPT, _GO, _RUBY)


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a stack trace, as printed: `path` may be absolute, of another machine, or a bare file name."""

    path: str
    line: int
    function: str = ""

    @property
    def suffixes(self) -> Iterator[str]:
        """The ends of the path, longest first; for Java, folders are derived from the class name."""
        parts = [part for part in self.path.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        if len(parts) == 1 and self.path.endswith((".java", ".kt", ".scala", ".groovy")):
            package = self.function.rpartition("/")[2].split(".")[:-2]
            parts = [*package, *parts]
        for start in range(len(parts)):
            yield "/".join(parts[start:])


def frames(text: str) -> tuple[Frame, ...]:
    """The frames of every stack trace in a text, innermost first, each once, at most MOST_FRAMES."""
    found: list[Frame] = []
    for pattern in _FORMATS:
        matches = [_frame(match) for match in pattern.finditer(text)]
        found += reversed(matches) if pattern in _INNERMOST_LAST else matches
    return _unique(found)


def places(text: str) -> tuple[Frame, ...]:
    """The mentions of `path.ext:line` in a text, each once, at most MOST_FRAMES; they need not be stack frames."""
    return _unique(_frame(match) for match in _PLAIN.finditer(text))


def _frame(match: re.Match[str]) -> Frame:
    groups = match.groupdict()
    return Frame(groups["path"], int(groups["line"]), (groups.get("function") or "").strip())


def _unique(found: Iterable[Frame]) -> tuple[Frame, ...]:
    first: dict[tuple[str, int], Frame] = {}
    for frame in found:
        first.setdefault((frame.path, frame.line), frame)
    return tuple(first.values())[:MOST_FRAMES]
