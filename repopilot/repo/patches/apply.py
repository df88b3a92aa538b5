"""Writes accepted files to disk: only what the user accepted, only below the folder the user named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from repopilot import disk, i18n
from repopilot.code.formats.notebook import is_notebook, notebook_text
from repopilot.errors import StorageError, UsageError
from repopilot.redaction.redact import MARK, redacted
from repopilot.redaction.restore import restored
from repopilot.repo.patches.merge import MergedChange, merged
from repopilot.repo.text_encoding import any_text, encoded, encoding_after
from repopilot.types import FileChange


def safe_target(folder: Path, path: str) -> Path:
    """The place of `path` below `folder`. Raises UsageError for a path that leaves it or leads through a link."""
    relative = PurePosixPath(path)
    in_git = ".git" in (part.lower() for part in relative.parts)
    if not path or relative.is_absolute() or ".." in relative.parts or in_git or "\0" in path:
        raise UsageError(i18n.message("repo.unsafe_path", path=path, folder=folder))
    target = folder.joinpath(*relative.parts)
    if target.parent.resolve() != folder.resolve().joinpath(*relative.parts[:-1]) or target.is_symlink():
        raise UsageError(i18n.message("repo.unsafe_link", path=path, folder=folder))
    return target


def write_files(folder: Path, files: Iterable[FileChange]) -> list[Path]:
    """Write or delete files below `folder`: all of them, or none where one can't be written.

    Args:
        folder: the top folder; nothing outside it is written.
        files: the accepted changes.

    Returns:
        The path of each file, in order.

    Raises:
        UsageError: a path is unsafe, or a text has a character that its file's encoding lacks.
        StorageError: writing fails.
    """
    targets = [(safe_target(folder, f.path), f) for f in files]
    try:
        with _made_folders(target.parent for target, file in targets if file.change != "deleted"):
            _write_all([(target, _new_content(target, file)) for target, file in targets])
    except OSError as error:
        raise StorageError(
            i18n.message("repo.not_written", path=error.filename, error=error.strerror),
            i18n.message("repo.not_written_hint"),
        ) from error
    return [target for target, _ in targets]


def apply_changes(folder: Path, files: Sequence[FileChange]) -> tuple[str, ...]:
    """Write changes below `folder`, merged with what others changed in the same files since the changes were made.

    Args:
        folder: the top folder.
        files: the accepted changes.

    Returns:
        A note on the files that others had changed, which now hold both changes; none without such files.

    Raises:
        UsageError: as `write_files`.
        StorageError: others changed the same lines, or writing fails; nothing is written then.
    """
    found = merged_changes(folder, files)
    write_files(folder, [each.file for each in found])
    paths = ", ".join(each.file.path for each in found if each.by_others)
    return (i18n.message("repo.merged", paths=paths),) if paths else ()


def merged_changes(folder: Path, files: Iterable[FileChange]) -> list[MergedChange]:
    """Changes merged with what others changed in the same files below `folder` since the changes were made. Raises
    UsageError and StorageError as `apply_changes`."""
    found = [merged(file, safe_target(folder, file.path)) for file in files]
    places = [place for each in found for place in each.conflicts]
    if places:
        said = i18n.message("repo.changed_meanwhile", places=", ".join(places))
        raise StorageError(said, i18n.message("repo.changed_meanwhile_hint"))
    return found


def conflicts(folder: Path, files: Iterable[FileChange]) -> tuple[str, ...]:
    """Where others changed the lines that changes are about, as `path:first-last` of the files on disk. Raises
    UsageError and StorageError as `apply_changes`."""
    return tuple(place for file in files for place in merged(file, safe_target(folder, file.path)).conflicts)


def _new_content(target: Path, file: FileChange) -> bytes | None:
    """None for a file that is to be deleted. Raises as `new_content`."""
    if file.change == "deleted":
        return None
    return new_content(target.read_bytes() if target.exists() else None, file)


def new_content(old: bytes | None, file: FileChange) -> bytes:
    """The bytes of a changed or new file, with its secrets and in its encoding. Raises UsageError where a character or
    a secret can't be kept, or a notebook would become something else.

    Args:
        old: the file before, None for a new one.
        file: the change.
    """
    content = _with_secrets(old, file)
    if is_notebook(file.path) and notebook_text(content) is None:
        raise UsageError(i18n.message("inputs.notebook", path=file.path), i18n.message("inputs.notebook_hint"))
    encoding = encoding_after(old, content, file.path)
    try:
        return encoded(content, encoding)
    except UnicodeEncodeError as error:
        character = content[error.start : error.start + 1]
        raise UsageError(
            i18n.message("inputs.no_such_character", path=file.path, encoding=encoding, character=character),
            i18n.message("inputs.no_such_character_hint", encoding=encoding),
        ) from error


def _with_secrets(old: bytes | None, file: FileChange) -> str:
    """The content of a change, with the file's secrets in place of their marks. Raises UsageError if one is lost."""
    if MARK not in file.content:
        return file.content
    raw = any_text(old or b"", file.path)
    content, lost = restored(file.content, redacted(raw), raw)
    if lost is not None:
        raise UsageError(
            i18n.message("generate.secret_line"), i18n.message("generate.secret_line_hint", line=lost[:80])
        )
    return content


@contextmanager
def _made_folders(folders: Iterable[Path]) -> Iterator[None]:
    """Make missing folders, and remove them again if the block fails. Raises OSError."""
    missing = {each for folder in folders for each in (folder, *folder.parents) if not each.exists()}
    made: list[Path] = []
    try:
        for folder in sorted(missing):
            folder.mkdir()
            made.append(folder)
        yield
    except BaseException:
        for folder in reversed(made):
            with suppress(OSError):  # something was put into it meanwhile
                folder.rmdir()
        raise


def _write_all(contents: Sequence[tuple[Path, bytes | None]]) -> None:
    """Write all drafts before replacing the first file, so that a full disk changes no file. Raises OSError."""
    drafts: list[Path | None] = []
    try:
        for target, content in contents:
            mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
            drafts.append(None if content is None else disk.draft(target, content, mode))
        for (target, _), draft in zip(contents, drafts, strict=True):
            if draft is None:
                target.unlink(missing_ok=True)
            else:
                os.replace(draft, target)
    finally:
        for draft in filter(None, drafts):
            draft.unlink(missing_ok=True)
