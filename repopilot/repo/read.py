"""Reads the files of a snapshot: decoded, with LF line endings and secrets redacted, or the reason why not."""

from __future__ import annotations

import hashlib
import ntpath
import os
import re
import stat
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import IO

from repopilot import i18n
from repopilot.code.formats.notebook import is_notebook, notebook_text
from repopilot.code.generated import generated_by_convention
from repopilot.code.languages import file_kind
from repopilot.errors import SourceError
from repopilot.redaction.redact import redact
from repopilot.redaction.secret_paths import secret_name
from repopilot.repo import git_command
from repopilot.repo.text_encoding import decoded
from repopilot.types import Skip, Snapshot, SourceFile

_DEVICES = frozenset(
    [
        "CON",
        "PRN",
        "AUX",
        "NUL",
        "CONIN$",
        "CONOUT$",
        *(f"{port}{n}" for port in ("COM", "LPT") for n in "123456789¹²³"),
    ]
)
"""Names that open a Windows device in any folder and with any suffix."""
_LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}
"""Has git take paths literally, even one that begins with `:(exclude)`."""
_LFS = b"version https://git-lfs.github.com/spec/v1"
_LONG_LINE = 5_000  # characters; nobody writes such lines by hand
_MEAN_LINE = 250
_READABLE = 20  # a file with this many lines for each long one is readable: code with some data in it
_DATA = re.compile(r""""(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|(?:[-+]?\d[\w.]*+[\s,]++){8,}""")
"""String literals and lists of numbers: however long they are, the code around them is readable."""


def read(snapshot: Snapshot, files: Sequence[SourceFile]) -> Iterator[tuple[SourceFile, str | Skip]]:
    """Read files in order, in one pass over the repository.

    Args:
        snapshot: the repository.
        files: as `walk` lists them.

    Yields:
        Every file with its text (LF, no BOM, secrets redacted), or with the reason why it is skipped after all.

    Raises:
        SourceError: the repository can't be read.
    """
    for file, data in read_bytes(snapshot, files):
        if data is None:
            yield file, Skip(file.path, i18n.message("repo.skip.gone"))
            continue
        text = text_of(file.path, data)
        yield file, text if isinstance(text, Skip) else redact(text)[0]


def find_raw(snapshot: Snapshot, path: str) -> bytes | None:
    """The bytes of one file as stored, None when there is no such regular file."""
    return regular_bytes(_real_root(snapshot), path) if snapshot.git_dir is None else _blob(snapshot, path)


def blob_id(data: bytes) -> str:
    """The id that git gives to a file with these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def names_in(snapshot: Snapshot, folder: str) -> frozenset[str]:
    """The names in one folder of the repository, '' for its top; none where there is no such folder."""
    if snapshot.git_dir is None:
        try:
            return frozenset(os.listdir(os.path.join(_real_root(snapshot), folder)))
        except OSError:
            return frozenset()
    place = ["--", f"{folder}/"] if folder else []
    args = ["ls-tree", "-z", "--name-only", "--full-tree", snapshot.commit, *place]
    try:
        listed = git_command.run(snapshot.git_dir, args, git_command.reading() | _LITERAL)
    except git_command.GitFailed:
        return frozenset()
    return frozenset(os.path.basename(name) for name in listed.decode("utf-8", "surrogateescape").split("\0") if name)


def read_on_demand(snapshot: Snapshot, path: str, max_bytes: int) -> str | None:
    """The text of a file as `read` would give it, even if the file was skipped.

    Args:
        snapshot: the repository.
        path: of the file.
        max_bytes: of the largest file that is read.

    Returns:
        The text with secrets redacted; None if there is no such regular file, or it may be secret as a whole, is too
        large or isn't text.
    """
    data = None if secret_name(path) else find_raw(snapshot, path)
    return plain_text(path, data) if data is not None and len(data) <= max_bytes else None


def plain_text(path: str, data: bytes) -> str | None:
    """The text of a file's bytes with secrets redacted, even if the file is skipped; None if the bytes aren't text."""
    text = _decode(path, data)
    if text is not None and is_notebook(path):
        text = notebook_text(text)
    return None if text is None or "\0" in text else redact(_with_line_feeds(text))[0]


def searched_text(path: str, data: bytes) -> str | None:
    """As `plain_text`, but a text in an unknown encoding is decoded as UTF-8 with replacement characters."""
    text = plain_text(path, data)
    return text if text is not None or b"\0" in data else redact(_with_line_feeds(data.decode("utf-8", "replace")))[0]


def text_of(path: str, data: bytes) -> str | Skip:
    """The text of a file's bytes, or why the file isn't worth reading."""
    if data.startswith(_LFS):
        return _skip(path, "lfs")
    text = _decode(path, data)
    if text is None:
        return _skip(path, "binary" if b"\0" in data[:8192] else "not_utf8")
    if is_notebook(path):
        cells = notebook_text(text)
        if cells is None:
            return Skip(path, i18n.message("inputs.damaged_notebook"))
        text = cells
    text = _with_line_feeds(text)
    if "\0" in text:
        return _skip(path, "binary")
    if not text.strip():
        return _skip(path, "empty")
    if generated_by_convention(text):
        return _skip(path, "generated")
    if _is_packed(text) and not (file_kind(path) == "code" and not _is_packed(_DATA.sub("", text))):
        return _skip(path, "minified")
    return text


def text_at(snapshot: Snapshot, path: str) -> str | Skip | None:
    """The text of a file as stored, or why it isn't worth reading; None when there is no such file. An empty file
    has the text '', which can be compared with that of another version."""
    data = find_raw(snapshot, path)
    if data is None:
        return None
    return text_of(path, data) if data.strip() else ""


def _skip(path: str, reason: str) -> Skip:
    return Skip(path, i18n.message(f"repo.skip.{reason}"))


def _decode(path: str, data: bytes) -> str | None:
    found = decoded(data, path)
    return found[0].removeprefix("\ufeff") if found is not None else None


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_packed(text: str) -> bool:
    """Whether lines are long throughout: a few long ones (a data URI, a licence key) don't make a file unreadable."""
    lines = text.count("\n") + 1
    if len(text) / lines > _MEAN_LINE and len(text) > 2 * _LONG_LINE:
        return True
    if len(text) < _LONG_LINE:
        return False
    long = re.findall(rf"[^\n]{{{_LONG_LINE},}}", text)
    return sum(map(len, long)) > len(text) // 2 and len(long) * _READABLE > lines


def read_bytes(snapshot: Snapshot, files: Sequence[SourceFile]) -> Iterator[tuple[SourceFile, bytes | None]]:
    """Read the bytes of each file as stored, with one process for all; None for a file that no longer exists."""
    if snapshot.git_dir is None:
        root = _real_root(snapshot)
        return ((file, regular_bytes(root, file.path)) for file in files)
    return _stream(snapshot.git_dir, files)


def _stream(git_dir: Path, files: Sequence[SourceFile]) -> Iterator[tuple[SourceFile, bytes | None]]:
    """Blobs by id through one `cat-file --batch`; a thread feeds the ids, so that neither side waits for the other."""
    if not files:
        return
    process = git_command.start(git_dir, ["cat-file", "--batch", "--buffer"], stdin=True)
    ids = b"".join(file.hash.encode() + b"\n" for file in files)
    feeder = threading.Thread(target=git_command.write_all, args=(process.stdin, ids), daemon=True)
    feeder.start()
    finished = False
    try:
        for file in files:
            yield file, _next_blob(process.stdout)
        finished = True
    finally:
        git_command.stop(process, finished=finished)
        feeder.join(timeout=5)
        process.stdout.close()
        process.stderr.close()


def _next_blob(pipe: IO[bytes]) -> bytes | None:
    header = pipe.readline().split()
    if not header:
        raise SourceError(i18n.message("repo.git_stopped"), i18n.message("repo.open_again"))
    if len(header) != 3 or header[1] != b"blob":
        if len(header) == 3:
            pipe.read(int(header[2]) + 1)
        return None
    data = pipe.read(int(header[2]))
    pipe.read(1)
    return data


def _blob(snapshot: Snapshot, path: str) -> bytes | None:
    args = ["ls-tree", "-z", "--full-tree", snapshot.commit, "--", path]
    try:
        record = git_command.run(snapshot.clone, args, git_command.reading() | _LITERAL)
        meta, _, found = record.rstrip(b"\0").partition(b"\t")
        if found != path.encode() or not meta.startswith(b"100"):
            return None
        return git_command.run(snapshot.clone, ["cat-file", "blob", meta.split()[2].decode()])
    except git_command.GitFailed:
        return None


def _real_root(snapshot: Snapshot) -> str:
    return os.path.realpath(snapshot.folder)


def native_path(root: str, path: str, flavour: ModuleType = os.path) -> str:
    """A repository's path, which has slashes, as the operating system writes it; '' for a path that leads out of the
    folder or, on Windows, to a device (`src/aux.c`, `CON`): git can store such names.

    Args:
        root: the folder.
        path: relative to it.
        flavour: `ntpath` or `posixpath`; the system's own by default.
    """
    if flavour is ntpath and any(map(_is_reserved, path.split("/"))):
        return ""
    target = flavour.join(root, path.replace("/", flavour.sep))
    return target if target.startswith(root.rstrip(flavour.sep) + flavour.sep) else ""


def _is_reserved(name: str) -> bool:
    """Whether Windows takes a name for a device or for a stream of a file."""
    return ":" in name or name.partition(".")[0].strip().upper() in _DEVICES


def regular_bytes(root: str, path: str) -> bytes | None:
    """The bytes of a regular file inside a folder; None for anything else, such as a link out of the folder."""
    target = native_path(root, path)
    try:
        folder = os.path.dirname(target)
        if not target or os.path.normcase(os.path.realpath(folder)) != os.path.normcase(folder):
            return None
        # Windows has none of the first two, and changes line ends without the last one.
        options = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
        descriptor = os.open(target, os.O_RDONLY | options)
        with os.fdopen(descriptor, "rb") as file:
            return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except (OSError, ValueError):
        return None
