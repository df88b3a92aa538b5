"""The table of a run of bench/edits.py: how many tasks were resolved, by kind, and how long it took. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence

COUNTS = ("resolved", "no_diff", "parses", "wrong", "wrong_verified", "asked")
TIMES = ("diff_s", "verdict_s")


def scored(row: Mapping) -> dict[str, bool]:
    """The scores of one task.

    Args:
        row: what came of it: `changed` (paths), `genuine`, `asked`, and where something changed `parses`, `elsewhere`,
            `right` and `tests_pass`, as `edit_checks.Checked` has them.

    Returns:
        For each of COUNTS whether it holds; `parses` is that of a diff, so none is no diff that parses.
    """
    diff = bool(row["changed"])
    parses = diff and row["parses"]
    resolved = parses and not row["elsewhere"] and row["right"] and row["tests_pass"]
    return {
        "resolved": resolved,
        "no_diff": not diff,
        "parses": parses,
        "wrong": diff and not resolved,
        "wrong_verified": diff and row["genuine"] and not row["right"],
        "asked": row["asked"],
    }


def summary(rows: Sequence[Mapping]) -> dict[str, float | int | None]:
    """Shares of COUNTS, but how many wrong ones were shown as verified; seconds at the median and 90th percentile."""
    found: dict[str, float | int | None] = {"tasks": len(rows)}
    for name in COUNTS:
        total = sum(row[name] for row in rows)
        found[name] = total if name == "wrong_verified" else round(total / len(rows), 3) if rows else None
    for name in TIMES:
        values = sorted(row[name] for row in rows if row[name] is not None)
        found[f"{name}_median"] = round(statistics.median(values), 2) if values else None
        found[f"{name}_p90"] = round(values[math.ceil(0.9 * len(values)) - 1], 2) if values else None
    return found


def grouped(rows: Sequence[Mapping], by: Callable[[Mapping], str]) -> Iterator[tuple[str, dict]]:
    """A summary for each group of rows, by name."""
    for name in sorted(set(map(by, rows))):
        yield name, summary([row for row in rows if by(row) == name])


def table(rows: Sequence[Mapping], by: Callable[[Mapping], str], title: str) -> str:
    """The summaries of the groups as text, a line each."""
    names = list(summary(rows))
    lines = [f"{title:24s} " + " ".join(f"{name[:14]:>14s}" for name in names)]
    for name, found in (*grouped(rows, by), ("all", summary(rows))):
        lines.append(f"{name:24s} " + " ".join(f"{'-' if found[n] is None else found[n]:>14}" for n in names))
    return "\n".join(lines)
