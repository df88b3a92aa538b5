"""Which files a task names."""

from __future__ import annotations

import re

from repopilot.code.languages import language_of
from repopilot.index.store import Index
from repopilot.tools.file_change import safe_path

# A name has at most 255 bytes, and a path few names: without these bounds, a long run of dots would take minutes.
_PATH = re.compile(
    r"@?(?P<path>(?:[\w.@+-]{1,255}+/){0,64}[\w@+-][\w.@+-]{0,255}\.[A-Za-z]\w{0,9})(?![\w/(])|"
    r"(?<!\w)(?P<bare>Makefile|Dockerfile)\b"
)
_NOT_PATHS = re.compile(
    r"^(?:e\.g|i\.e|etc\.|v?\d|www\.|node\.js|next\.js|vue\.js|express\.js|socket\.io|"
    r"self\.|this\.)",
    re.I,
)


def named_paths(task: str, index: Index) -> list[str]:
    """Paths in the task: those of the index, also by an ending that only one file has; new ones as they are written.

    Raises:
        GenerationFailed: a path leads out of the repository.
    """
    found = []
    for match in _PATH.finditer(task):
        written = (match["path"] or match["bare"]).lstrip("@")
        if _NOT_PATHS.match(written) or (language_of(written) is None and written not in index.files):
            continue
        if task[: match.start()].endswith("../"):
            written = f"../{written}"
        written = safe_path(written)
        found.append(index.file_named(written) or written)
    return list(dict.fromkeys(found))
