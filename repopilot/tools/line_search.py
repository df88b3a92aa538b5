"""Finds the lines of texts that match a pattern: a program of its own, so that a pattern that takes for ever can be
ended. It reads one JSON document from standard input and writes one."""

import json
import re
import sys

BEFORE, SHOWN = 60, 200
"""Characters before a match and in all that are shown of a long line."""


def found(pattern: str, limit: int, files: list[tuple[str, str]]) -> dict[str, object]:
    """The first lines that match, and how many there are of them by file; or what is wrong with the pattern."""
    try:
        search = re.compile(pattern).search
    except (re.error, OverflowError, RecursionError) as error:
        return {"error": str(error)}
    rows: list[dict[str, object]] = []
    counts: dict[str, int] = {}
    for path, text in files:
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
            if (match := search(line)) is None:
                continue
            counts[path] = counts.get(path, 0) + 1
            if len(rows) < limit:
                rows.append({"path": path, "line": number, "text": clipped(line, match.start())})
    return {"rows": rows, "counts": counts}


def clipped(line: str, at: int) -> str:
    """A line, of a long one the part around a place."""
    if len(line) <= SHOWN:
        return line
    start = max(0, at - BEFORE)
    end = start + SHOWN
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


if __name__ == "__main__":
    json.dump(found(**json.load(sys.stdin)), sys.stdout)
