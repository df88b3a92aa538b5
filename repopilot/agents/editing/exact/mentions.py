"""Names in documentation, comments and docstrings: which of them certainly mean a definition."""

from __future__ import annotations

import re
from collections.abc import Collection

from repopilot import i18n
from repopilot.agents.editing.exact.sources import Sources, SourceText, word_pattern
from repopilot.code.languages import file_kind

_HISTORY = re.compile(r"(?:^|/)(?:change|changes|changelog|history|news|release|releases|whatsnew|upgrad)[^/]*", re.I)
_PREFIX = re.compile(r"[\w.]*\.$")
_ROLE = re.compile(r":(?:py:)?(?:func|meth|class|attr|data|obj|exc|const|any|mod):`[~!]?(?:[^`<]*<)?$")
_DIRECTIVE = re.compile(r"\.\.\s+(?:py:)?(?:auto)?(?:function|class|method|attribute|data|exception|autodata)::\s*$")


def is_history(path: str) -> bool:
    """Whether a file tells what was: its names stay as they were."""
    return file_kind(path) == "doc" and _HISTORY.search(path) is not None


def certain_mention(source: SourceText, start: int, end: int, owners: Collection[str], *, unique: bool) -> bool:
    """Whether a name in a text certainly means a definition.

    Args:
        source: the file.
        start: the first byte of the name.
        end: the byte after it.
        owners: the dotted names of what the definition is in: classes, modules.
        unique: whether nothing else in the repository has the name.
    """
    line_start = source.data.rfind(b"\n", 0, start) + 1
    before = source.data[line_start:start].decode("utf-8", "replace")
    prefix = _PREFIX.search(before)
    if prefix is not None:
        written = prefix[0].strip(".")
        return bool(written) and any(_names(written, owner) for owner in owners)
    if _ROLE.search(before) or _DIRECTIVE.search(before):
        return unique
    after = source.data[end : end + 3].decode("utf-8", "replace")
    return unique and before.endswith("`") and re.match(r"(?:\(\))?`", after) is not None


def _names(written: str, owner: str) -> bool:
    """Whether a dotted name, which may leave out modules, is that of a class or module."""
    parts, wanted = owner.split("."), written.split(".")
    if parts[-1] != wanted[-1]:
        return False
    left = iter(parts)
    return all(part in left for part in wanted)


def document_mentions(
    sources: Sources, name: str, owners: Collection[str], *, unique: bool
) -> tuple[list[tuple[str, int, int]], list[tuple[str, int, str]]]:
    """The places in documents that name a definition.

    Args:
        sources: the files.
        name: its name.
        owners: see `certain_mention`.
        unique: see `certain_mention`.

    Returns:
        The certain ones with their first and last byte, and others with the reason why they aren't.
    """
    sure: list[tuple[str, int, int]] = []
    unsure: list[tuple[str, int, str]] = []
    index = sources.workspace.index
    for path in sources.mentioning(name):
        source = sources.get(path)
        if source is None or index.files[path].kind != "doc" or is_history(path):
            continue
        for match in word_pattern(name).finditer(source.data):
            if certain_mention(source, match.start(), match.end(), owners, unique=unique):
                sure.append((path, match.start(), match.end()))
            elif _like_code(source, match.start(), match.end(), name):
                unsure.append((path, match.start(), i18n.message("exact.open.document")))
    return sure, unsure


def _like_code(source: SourceText, start: int, end: int, name: str) -> bool:
    distinct = re.search(r"_|[a-z][A-Z]|\d", name) is not None
    around = source.data[start - 1 : start] + source.data[end : end + 1]
    return distinct or b"`" in around or b"(" in around or b"." in around[:1]
