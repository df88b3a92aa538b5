"""The output of the command line: results on standard output, progress and traces on standard error."""

from __future__ import annotations

import json
import os
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from repopilot import i18n
from repopilot.foreign_text import escaped, visible
from repopilot.i18n.format import duration, short_commit
from repopilot.types import Progress, SearchReport, repository_mark

if TYPE_CHECKING:
    from repopilot.checks import Check
    from repopilot.results import Answer
    from repopilot.trace import Event


def say(*texts: object, file: TextIO | None = None) -> None:
    """Print texts on standard output or another file, with hidden characters escaped."""
    print(*(visible(str(text)) for text in texts), file=file or sys.stdout)


def say_json(document: object, indent: int | None = None) -> None:
    """Print a JSON document, with hidden characters as JSON escapes."""
    print(escaped(json.dumps(document, ensure_ascii=False, indent=indent, default=str)), flush=True)


def emit(document: Mapping[str, object], as_json: bool, show: Callable[[], object]) -> None:
    """Print a result.

    Args:
        document: the result as JSON.
        as_json: whether to print the document.
        show: prints the result as text, called otherwise.
    """
    if as_json:
        say_json(document, 2)
    else:
        show()


@contextmanager
def live_progress(language: str) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that writes progress on standard error: one line on a terminal, otherwise nothing."""
    from repopilot.ui.progress_text import progress_line

    live = sys.stderr.isatty()

    def report(progress: Progress) -> None:
        if live:
            # A line that wraps couldn't be cleared; in the last column some terminals wrap already.
            line = within(visible(progress_line(progress, language)), _terminal_columns() - 1)
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()

    try:
        yield report
    finally:
        if live:
            sys.stderr.write("\r\x1b[K")


def _terminal_columns() -> int:
    """The width of the terminal that progress is shown on; standard output may be a file."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return columns or shutil.get_terminal_size().columns


def within(text: str, columns: int) -> str:
    """The start of a text that fits into columns of a terminal: wide characters take two, combining ones none."""
    taken = 0
    for at, character in enumerate(text):
        wide = unicodedata.east_asian_width(character) in "WF"
        taken += 0 if unicodedata.combining(character) else 2 if wide else 1
        if taken > columns:
            return text[:at]
    return text


def show_places(found: SearchReport, language: str) -> None:
    """Print places as path:lines, symbol, score and the contributions to it, with the lines that matter below."""
    for place in found.places:
        why = " ".join(f"{name} {value:.2f}" for name, value in place.why.items())
        at = f"{repository_mark(place.origin)}{place.path}:{place.start_line}-{place.end_line}"
        say(f"{at}  {place.title}  {place.score:.2f}  ({why})")
        for line in place.lines:
            say(f"{line.number:>8}  {line.text}")
    if found.places:
        took = duration(found.seconds, language)
        say(i18n.text("search.found", language, count=len(found.places), duration=took))
    else:
        say(i18n.text("cli.nothing_found", language))


def show_notes(notes: Sequence[str], language: str) -> None:
    """Print every fallback on standard error, with `--json` too."""
    for note in notes:
        say(i18n.text("cli.note", language, note=i18n.translated(note, language)), file=sys.stderr)


def show_answer(answer: Answer, language: str) -> None:
    """Print the text, the places it cites and the diffs of its files; fallbacks on standard error."""
    from repopilot.redaction.shown_diff import shown_diff

    if answer.result and answer.result.kind == "explanation" and answer.evidence:
        from repopilot.agents.explain.render import places_markdown

        # Sections folded in the browser would push the answer off the screen; `--json` has them all.
        evidence = places_markdown(answer.result, answer.evidence, language, folded=True)
        say("\n\n".join(filter(None, (answer.result.lead, answer.result.draft, evidence))))
        show_notes([note for note in answer.degraded if i18n.translated(note, language) not in answer.text], language)
        return
    say(answer.text)
    unsupported = i18n.text("cli.unsupported", language)
    for c in answer.citations:
        mark = "" if c.supported else f"  ({unsupported})"
        say(f"  [{c.number}] {c.path}:{c.start_line}-{c.end_line} @ {short_commit(c.commit)}{mark}")
    for file in answer.files:
        say(f"\n{shown_diff(file.diff, file.content) or f'{file.change}: {file.path}'}")
    show_notes(answer.degraded, language)


def show_steps(events: Sequence[Event]) -> None:
    """Print the trace with durations on standard error."""
    from repopilot.trace import tree

    def walk(nodes: list[dict], depth: int) -> None:
        for node in nodes:
            took = f"{node['duration_s']:.2f} s" if node["duration_s"] is not None else "…"
            state = "" if node["state"] == "ok" else f"  {node['state']}: {node['error']}"
            say(f"{'  ' * depth}{node['name']}  {took}{state}", file=sys.stderr)
            walk(node["children"], depth + 1)

    walk(tree(events), 0)


def show_checks(found: Sequence[Check], language: str) -> None:
    """Print the checks: a mark, what was found, and below it what to do, in `language`."""
    marks = {"ok": "✓", "degraded": "~", "broken": "✗"}
    for check in found:
        say(f"{marks[check.state]} {check.name:16} {i18n.translated(check.detail, language)}")
        if check.fix:
            say(f"  {'':16} → {i18n.translated(check.fix, language)}")
