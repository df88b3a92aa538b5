"""Finds the lines of texts that match a pattern. A separate program, so that a search that takes for ever can be
killed: it
reads one JSON document from standard input and writes one to standard output."""

import json
import re
import sys
from itertools import islice

BEFORE = 60
"""Characters of a long line that are shown before a match."""
SHOWN = 200
"""Characters of a long line that are shown in all."""
MOST_MARKS = 50
"""Most matches of one line whose places are returned."""


def found(pattern: str, limit: int, files: list[tuple[str, str]]) -> dict[str, object]:
    """The first matching lines, and the number of matching lines by file; or the pattern's error."""
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        return {"error": str(error)}
    rows: list[dict[str, object]] = []
    counts: dict[str, int] = {}
    for path, text in files:
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
            if compiled.search(line) is None:
                continue
            counts[path] = counts.get(path, 0) + 1
            if len(rows) < limit:
                shown, marks = clipped(line, [each.span() for each in islice(compiled.finditer(line), MOST_MARKS)])
                rows.append({"path": path, "line": number, "text": shown, "marks": marks})
    return {"rows": rows, "counts": counts}


def clipped(line: str, marks: list[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """A line with the places of its matches; a long line is cut to the part around its first match."""
    if len(line) <= SHOWN:
        return line, marks
    start = max(0, marks[0][0] - BEFORE)
    end = start + SHOWN
    before = "…" if start else ""
    shown = before + line[start:end] + ("…" if end < len(line) else "")
    moved = len(before) - start
    return shown, [(first + moved, min(last, end) + moved) for first, last in marks if first < end]


def main() -> None:
    asked = json.load(sys.stdin)
    seconds = asked.pop("seconds")
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    json.dump(found(**asked), sys.stdout)


if __name__ == "__main__":
    main()
