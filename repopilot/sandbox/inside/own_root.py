"""Gives the calling process a root folder that contains only some files and folders, at their usual paths.

Landlock prevents opening files, but not asking for their existence and size. In a mount namespace of its own, a process
can't find other files. Linux, through ctypes. Source: unshare(2), mount(2), pivot_root(2).
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys

_CLONE_NEWNS = 0x20000
_CLONE_NEWUSER = 0x10000000
_MS_BIND = 4096
_MS_REC = 16384
_MS_PRIVATE = 1 << 18
_MS_NOSUID = 2
_MS_NODEV = 4
_MNT_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_PLACES = ("/mnt", "/media", "/srv", "/opt", "/boot", "/var", "/home")


def hide_other_files(paths: list[str]) -> bool:
    """Hide everything but `paths` from this process and all that it starts. Returns whether that works here; if not,
    nothing has changed."""
    if not _works_in_a_child(paths):
        return False
    _enter(paths)
    return True


def _works_in_a_child(paths: list[str]) -> bool:
    child = os.fork()
    if child == 0:
        try:
            _enter(paths)
        except OSError:
            os._exit(1)
        os._exit(0 if all(os.path.exists(path) for path in paths) else 1)
    return os.waitpid(child, 0)[1] == 0


def _enter(paths: list[str]) -> None:
    if sys.platform != "linux" or platform.machine() not in _PIVOT_ROOT:
        raise OSError("not on this system")
    libc = ctypes.CDLL(None, use_errno=True)
    user = os.geteuid()
    group = os.getegid()
    _checked(libc.unshare(_CLONE_NEWNS if user == 0 else _CLONE_NEWNS | _CLONE_NEWUSER), "unshare")
    if user != 0:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    _mount(libc, None, "/", None, _MS_REC | _MS_PRIVATE)
    there = [path for path in dict.fromkeys(paths) if os.path.lexists(path)]
    free = (place for place in _PLACES if not any(_is_at_or_below(path, place) for path in there))
    root = next((place for place in free if os.path.isdir(place)), None)
    if root is None:
        raise OSError("no folder to put the new root into")
    _mount(libc, "tmpfs", root, "tmpfs", _MS_NOSUID | _MS_NODEV, "size=1m,mode=0755")
    for path in sorted(there):  # outer folders first
        _put(libc, path, root)
    os.chdir(root)
    _checked(libc.syscall(_PIVOT_ROOT[platform.machine()], b".", b"."), "pivot_root")
    _checked(libc.umount2(b".", _MNT_DETACH), "umount")
    os.chdir("/")


def _put(libc: ctypes.CDLL, path: str, root: str) -> None:
    """Make a file or folder appear at its path below the new root; a link as the same link."""
    target = root + path
    if os.path.lexists(target):  # inside a folder that is mounted already
        return
    os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
    if os.path.islink(path):
        os.symlink(os.readlink(path), target)
        return
    if os.path.isdir(path):
        os.mkdir(target)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    _mount(libc, path, target, None, _MS_BIND | _MS_REC)


def _is_at_or_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def _mount(
    libc: ctypes.CDLL, source: str | None, target: str, kind: str | None, flags: int, options: str | None = None
) -> None:
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    _checked(libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]), f"mount {target}")


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _checked(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
