"""Writes accepted files to disk: only what the user accepted, only below the folder the user named."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from repopilot import i18n
from repopilot.errors import StorageError, UsageError
from repopilot.redaction.redact import MARK, redacted
from repopilot.redaction.restore import restored
from repopilot.types import FileChange


def safe_target(folder: Path, path: str) -> Path:
    """The place of `path` below `folder`. Raises UsageError for a path that leaves it, also through a symbolic link."""
    relative = PurePosixPath(path)
    if not path or relative.is_absolute() or ".." in relative.parts or ".git" in relative.parts or "\0" in path:
        raise UsageError(i18n.message("repo.unsafe_path", path=path, folder=folder))
    target = folder.joinpath(*relative.parts)
    if not target.parent.resolve().is_relative_to(folder.resolve()) or target.is_symlink():
        raise UsageError(i18n.message("repo.unsafe_link", path=path, folder=folder))
    return target


def write_files(folder: Path, files: Iterable[FileChange]) -> list[Path]:
    """Write or delete each file below `folder`, each atomically. All paths are checked before the first is touched.

    Args:
        folder: the top folder; nothing outside it is written.
        files: the accepted changes.

    Returns:
        The path of each file, in order.

    Raises:
        UsageError: a path is unsafe.
        StorageError: writing fails.
    """
    targets = [(safe_target(folder, f.path), f) for f in files]
    try:
        for target, file in targets:
            if file.change == "deleted":
                target.unlink(missing_ok=True)
            else:
                _replace(target, _with_secrets(target, file))
    except OSError as error:
        raise StorageError(
            i18n.message("repo.not_written", path=error.filename, error=error.strerror),
            i18n.message("repo.not_written_hint"),
        ) from error
    return [target for target, _ in targets]


def _with_secrets(target: Path, file: FileChange) -> str:
    """The content of a change that was stored without the file's secrets. Raises UsageError where they are lost."""
    if MARK not in file.content:
        return file.content
    raw = target.read_bytes().decode("utf-8", "replace") if target.exists() else ""
    content, lost = restored(file.content, redacted(raw), raw)
    if lost is not None:
        raise UsageError(
            i18n.message("generate.secret_line"), i18n.message("generate.secret_line_hint", line=lost[:80])
        )
    return content


def _replace(target: Path, content: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
        out.write(content)
    os.chmod(temporary, mode)
    os.replace(temporary, target)
