"""What the command line shows: results on standard output, progress and traces on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from repopilot import trace
from repopilot.results import Answer
from repopilot.types import Hit, Progress


def emit(document: Mapping[str, object], as_json: bool, show: Callable[[], object]) -> None:
    """One JSON document, or what `show` prints."""
    if as_json:
        print(json.dumps(document, ensure_ascii=False, indent=2, default=str))
    else:
        show()


@contextmanager
def progress_line() -> Iterator[Callable[[Progress], None]]:
    """A line on standard error that is overwritten on a terminal, and silent elsewhere."""
    live = sys.stderr.isatty()

    def report(p: Progress) -> None:
        if live:
            sys.stderr.write(f"\r\x1b[K{_progress(p)}")
            sys.stderr.flush()

    try:
        yield report
    finally:
        if live:
            sys.stderr.write("\r\x1b[K")


def show_hits(hits: Sequence[Hit]) -> None:
    """Hits as path:lines, symbol, score and the contributions to it."""
    for hit in hits:
        c = hit.chunk
        why = " ".join(f"{name} {value:.2f}" for name, value in hit.why.items())
        print(f"{c.path}:{c.start_line}-{c.end_line}  {c.symbol}  {hit.score:.2f}  ({why})")
    if not hits:
        print("Nothing found.")


def show_notes(notes: Sequence[str]) -> None:
    """Every step down, on standard error: also where standard output carries the JSON document alone."""
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def show_answer(answer: Answer) -> None:
    """The text, the places it cites, the diffs of its files; steps down on standard error."""
    print(answer.text)
    for c in answer.citations:
        mark = "" if c.supported else "  (not supported by these lines)"
        print(f"  [{c.number}] {c.path}:{c.start_line}-{c.end_line} @ {c.commit[:10]}{mark}")
    for file in answer.files:
        print(f"\n{file.diff or f'{file.change}: {file.path}'}")
    show_notes(answer.degraded)


def show_steps(events: Sequence[trace.Event]) -> None:
    """The trace with durations, on standard error."""

    def walk(nodes: list[dict], depth: int) -> None:
        for node in nodes:
            took = f"{node['duration_s']:.2f} s" if node["duration_s"] is not None else "…"
            state = "" if node["state"] == "ok" else f"  {node['state']}: {node['error']}"
            print(f"{'  ' * depth}{node['name']}  {took}{state}", file=sys.stderr)
            walk(node["children"], depth + 1)

    walk(trace.tree(events), 0)


def _progress(p: Progress) -> str:
    share = f" {100 * p.done / p.total:.0f} %" if p.total else ""
    rate = f", {p.rate:,.0f} {p.unit}/s" if p.rate else ""
    left = f", {p.remaining_s:.0f} s left" if p.remaining_s is not None else ""
    return f"{p.phase}{share} ({p.done:,}/{p.total:,} {p.unit}{rate}{left}) {p.detail}"[:150]
