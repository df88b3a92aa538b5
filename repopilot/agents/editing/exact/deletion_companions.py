"""What a task wants deleted together with a definition: its tests, its entry in the documentation, a re-export."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot.agents.editing.exact.described import name_parts
from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.locate import path_named
from repopilot.agents.editing.exact.sources import Sources, word_pattern
from repopilot.code.languages import file_kind, is_test_path

_WITH = (
    r",?\s*(?:(?:and|et)\s+(?:(?:also|then|aussi)\s+)?(?:(?:remove|drop|delete|supprime|retire)\s+)?|together with\s+|"
    r"along with\s+|including\s+|as well as\s+|avec\s+|ainsi que\s+|y compris\s+)"
    r"(?:its|the|their|ses|son|sa|les?|la)\s+"
)
_END = r"(?:\s+(?:as well|too|aussi|également))?(?=\s*(?:[.;!]|$))"
_COMPANIONS = {
    "tests": re.compile(rf"{_WITH}(?:own |unit )?tests?{_END}", re.I),
    "docs": re.compile(
        rf"{_WITH}(?:entry|entries|mentions?|line|entrée|mention)\s+(?:in|from|dans|de)\s+(?:the\s+|la\s+|les\s+)?"
        rf"(?:\w+\s+)?(?:docs?|documentation|reference){_END}",
        re.I,
    ),
    "re-export": re.compile(rf"{_WITH}re-?exports?\s+(?:in|from|dans|de)\s+`?(?P<file>[\w./-]+\.\w+)`?{_END}", re.I),
}


def without_companions(task: str) -> tuple[str, dict[str, str]]:
    """A task without what it wants deleted beside.

    Args:
        task: on one line.

    Returns:
        The rest, and of what there is the kind with the file that is named, '' for none.
    """
    asked: dict[str, str] = {}
    for _ in _COMPANIONS:  # they stand at the end, in any order
        for kind, pattern in _COMPANIONS.items():
            match = pattern.search(task)
            if match is not None:
                asked[kind] = match.groupdict().get("file") or ""
                task = task[: match.start()] + task[match.end() :]
    return task, asked


def companions_of(name: str, asked: dict[str, str], sources: Sources) -> list[ExactTask] | None:
    """The further deletions.

    Args:
        name: of the definition that is deleted.
        asked: as `without_companions` returns it.
        sources: the files.

    Returns:
        The deletions; None where there is nothing of a kind that is asked for.
    """
    found: list[ExactTask] = []
    for kind, file in asked.items():
        of_kind = list(_FINDERS[kind](name.rpartition(".")[2], file, sources))
        if not of_kind:
            return None
        found += of_kind
    return found


def _tests(name: str, _file: str, sources: Sources) -> Iterator[ExactTask]:
    """The tests whose names have all words of the definition's, and which use it."""
    words = name_parts(name)
    for path in sources.mentioning(name):
        source = sources.get(path)
        if source is None or not is_test_path(path) or file_kind(path) != "code":
            continue
        for symbol in sources.outline(path):
            start, end = source.start_of(symbol.start_line), source.start_of(symbol.end_line + 1)
            uses = word_pattern(name).search(source.data, start, end) is not None
            if symbol.kind in ("function", "method") and uses and words <= name_parts(symbol.name):
                yield ExactTask("delete", symbol.qualified, "", "", "", (NamedPlace(path, "file"),))


def _entries(name: str, _file: str, sources: Sources) -> Iterator[ExactTask]:
    """The lines of documents that only name it: an entry of a list, or a directive."""
    alone = re.compile(rf"\s*(?:[-*+]\s+|\d+\.\s+|\.\.\s+\w+::\s+)?[`:\w.~]*?(?<!\w){re.escape(name)}(?:\(\))?`*\s*")
    for path in sources.mentioning(name):
        source = sources.get(path)
        lines = source.text.split("\n") if source is not None and file_kind(path) == "doc" else []
        for line in lines:
            if alone.fullmatch(line):
                yield ExactTask("remove_line", path, "", line.strip(), "")


def _re_export(name: str, file: str, sources: Sources) -> Iterator[ExactTask]:
    if path_named(file, sources.workspace.index) is not None:
        yield ExactTask("remove_import", name, "", "", "", (NamedPlace(file, "file"),))


_FINDERS = {"tests": _tests, "docs": _entries, "re-export": _re_export}
