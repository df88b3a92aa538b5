"""Changes of comments and docstrings only: code does after them what it did before, so no test tells about them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repopilot.code.declared.declaration import without_comments
from repopilot.code.languages import file_kind
from repopilot.index.store import Index
from repopilot.types import FileChange


def only_comments(changes: Sequence[FileChange], index: Index) -> bool:
    """Whether changes of existing code touch nothing but comments and docstrings.

    Args:
        changes: the files; one that isn't code, is new, moved or deleted is more than a comment.
        index: knows the files as they were.
    """
    return bool(changes) and all(_only_comments(change, index) for change in changes)


def _only_comments(change: FileChange, index: Index) -> bool:
    known, text = index.files.get(change.path), index.text(change.path)
    if change.change == "deleted" or file_kind(change.path) != "code" or known is None or text is None:
        return False
    return _code(text, known.language) == _code(change.content, known.language)


def _code(text: str, language: str) -> list[str]:
    plain = text if language == "python" else re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return without_comments(plain, language).split()
