"""Finds what a program changed in its copy of the code. Runs inside the sandbox, so the receiver outside trusts none of
it."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Callable, Collection

from pathspec import GitIgnoreSpec

MOST_FILES = 1000
MOST_BYTES = 8 * 1024 * 1024
"""Most bytes of the changed files together: a report has to fit into the pipe."""
_OPTIONS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def difference(before: str, after: str, caches: Collection[str]) -> dict[str, object]:
    """The regular files that differ between two folders.

    Args:
        before: the folder as it was.
        after: its copy, in which a program has run.
        caches: names of folders that are left out at any depth.

    Returns:
        `files`, contents in base64 by path; `deleted`, paths; `special`, paths that are not, or no longer, regular
        files; only `count` where there are too many changes. New files that the `.gitignore` files of `before` match
        are left out.

    Raises:
        OSError: a folder or a file can't be read.
    """
    old = _entries(before, lambda path, is_folder: is_folder and os.path.basename(path) in caches)
    folders = {path[:end] for path in old for end, letter in enumerate(path) if letter == "/"}
    rules = {
        os.path.dirname(path): GitIgnoreSpec.from_lines(
            _read(f"{before}/{path}").decode("utf-8", "replace").split("\n")
        )
        for path in old
        if os.path.basename(path) == ".gitignore"
    }

    def left_out(path: str, is_folder: bool) -> bool:
        if is_folder and os.path.basename(path) in caches:
            return True
        known = path in folders if is_folder else path in old
        return not known and _ignored(f"{path}/" if is_folder else path, rules)

    new = _entries(after, left_out)
    deleted = [path for path in old if path not in new]
    special = [path for path, found in new.items() if not _same_kind(old.get(path), found)]
    regular = [path for path, found in new.items() if stat.S_ISREG(found.st_mode) and _same_kind(old.get(path), found)]
    changed = [path for path in regular if path not in old or _differs(f"{before}/{path}", f"{after}/{path}")]
    count = len(changed) + len(deleted) + len(special)
    if count > MOST_FILES or sum(new[path].st_size for path in changed) > MOST_BYTES:
        return {"count": count}
    texts = {path: base64.b64encode(_read(f"{after}/{path}")).decode("ascii") for path in changed}
    return {"files": texts, "deleted": deleted, "special": special}


def _entries(top: str, left_out: Callable[[str, bool], bool]) -> dict[str, os.stat_result]:
    """Everything below a folder except folders, by path. Follows no links."""
    found: dict[str, os.stat_result] = {}
    folders = [""]
    while folders:
        folder = folders.pop()
        with os.scandir(f"{top}/{folder}") as entries:
            for entry in entries:
                path = f"{folder}{entry.name}"
                is_folder = entry.is_dir(follow_symlinks=False)
                if left_out(path, is_folder):
                    continue
                if is_folder:
                    folders.append(f"{path}/")
                else:
                    found[path] = entry.stat(follow_symlinks=False)
    return found


def _same_kind(old: os.stat_result | None, new: os.stat_result) -> bool:
    return stat.S_IFMT(new.st_mode) == (stat.S_IFMT(old.st_mode) if old else stat.S_IFREG)


def _ignored(path: str, rules: dict[str, GitIgnoreSpec]) -> bool:
    """Whether a path is ignored: the innermost `.gitignore` with a matching pattern decides."""
    folder = path.rstrip("/")
    while folder:
        folder = os.path.dirname(folder)
        if folder in rules:
            verdict = rules[folder].check_file(path[len(folder) + 1 if folder else 0 :]).include
            if verdict is not None:
                return verdict
    return False


def _differs(before: str, after: str) -> bool:
    return os.stat(before).st_size != os.lstat(after).st_size or _read(before) != _read(after)


def _read(path: str) -> bytes:
    with open(os.open(path, _OPTIONS), "rb") as file:
        return file.read(MOST_BYTES + 1)
