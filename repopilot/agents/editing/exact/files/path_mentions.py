"""Where texts name a file by its path."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from repopilot import i18n
from repopilot.agents.editing.exact.braces.script_modules import module_names
from repopilot.agents.editing.exact.mentions import is_history
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.code.languages import file_kind
from repopilot.types import Edit

_NOT_INDEXED = (
    "MANIFEST.in .coveragerc .npmignore .eslintignore .prettierignore .gitignore .dockerignore .gitattributes "
    "CODEOWNERS .github/CODEOWNERS Makefile Dockerfile tox.ini .flake8 setup.cfg"
).split()


class PathMention(NamedTuple):
    """A mention: its file, its first and last byte, what is written, and whether it is exactly the path."""

    source: SourceText
    start: int
    end: int
    written: str
    exact: bool


def path_mentions(path: str, sources: Sources) -> Iterator[PathMention]:
    """The places outside of imports that name a file, by its path from the repository's top or from their folder.

    Args:
        path: of the file.
        sources: the files.
    """
    base = posixpath.basename(path)
    stem = base.split(".")[0] or base
    paths = dict.fromkeys([*(sources.mentioning(stem) if re.search(r"\w", stem) else ()), *_NOT_INDEXED])
    pattern = re.compile(rb"[\w./@*-]*" + re.escape(base.encode("utf-8")) + rb"(?![\w*-]|\.\w|/)")
    for other in paths:
        source = sources.get(other) if other != path and not is_history(other) else None
        for match in pattern.finditer(source.data) if source is not None else ():
            written = match[0].decode("utf-8")
            plain = posixpath.normpath(written.lstrip("@/"))
            near = posixpath.normpath(posixpath.join(posixpath.dirname(other), written))
            glob = "*" in written and fnmatch.fnmatch(path, plain)
            alone = "/" not in written and file_kind(other) == "doc" and _is_only(base, sources)
            if source is None or not (glob or alone or path in (plain, near)):
                continue
            in_code = file_kind(other) == "code" and other not in _NOT_INDEXED
            if in_code and ("/" not in written or any(a <= match.start() < b for a, b in _imports(source))):
                continue
            yield PathMention(source, *match.span(), written, path in (plain, near) and not in_code)


def _is_only(base: str, sources: Sources) -> bool:
    """Whether one file only has a name."""
    return sum(posixpath.basename(path) == base for path in sources.workspace.index.files) == 1


def _imports(source: SourceText) -> list[tuple[int, int]]:
    """The bytes of the module names in a file of JavaScript or TypeScript."""
    return [(name.start_byte, name.end_byte) for name in module_names(source)]


def mend_mentions(old: str, new: str, sources: Sources, patch: Patch) -> None:
    """Name a file by its new path in configurations and documents; what isn't certain is left open.

    Args:
        old: its path.
        new: its new path.
        sources: the files.
        patch: receives the changes.
    """
    for mention in path_mentions(old, sources):
        source, written = mention.source, mention.written
        linked = source.data[max(0, mention.start - 1) : mention.start] in (b"(", b":", b"<", b'"', b"'", b"`")
        certain = mention.exact and ("/" in written or linked or file_kind(source.path) != "doc")
        if not certain:
            patch.leave_open(source, mention.start, i18n.message("exact.open.names_path"))
            continue
        text = _rewritten(source.path, written, old, new)
        patch.replace(source.path, mention.start, mention.end, text)
        patch.edits.append(
            Edit("rename_file", source.path, i18n.message("exact.line", line=source.line_of(mention.start)), text)
        )


def _rewritten(path: str, written: str, old: str, new: str) -> str:
    prefix = re.match(r"(?:\./|/|@)*", written)
    front = prefix[0] if prefix is not None else ""
    if posixpath.normpath(written[len(front) :]) == old:
        return front + new
    relative = posixpath.relpath(new, posixpath.dirname(path) or ".")
    return f"./{relative}" if written.startswith("./") else relative
