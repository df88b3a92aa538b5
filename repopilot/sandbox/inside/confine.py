"""Confines the calling process and everything it starts: resource limits, Landlock. Linux, through ctypes.

Source: landlock(7), prctl(2), setrlimit(2). Every function raises OSError where the kernel refuses.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import struct
import sys

_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446  # the same on every architecture
_SET_PDEATHSIG = 1
_SET_NO_NEW_PRIVS = 38
_CAPBSET_DROP = 24
_SET_CHILD_SUBREAPER = 36
_SET_KEEPCAPS = 8
_CAP_AMBIENT = 47
_CAP_AMBIENT_RAISE = 2
_CAPABILITY_VERSION_3 = 0x20080522
_DAC_READ_SEARCH = 2
_FIRST_UNUSED_USER = 61184
_UNUSED_USERS = 4336  # systemd's range of dynamic users

_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
_FIRST_ABI_RIGHTS = (1 << 13) - 1
_REFER = 1 << 13
_TRUNCATE = 1 << 14
_IOCTL_DEVICE = 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_NO_TCP = 3
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 3


def landlock_abi() -> int:
    """The kernel's Landlock version, 0 without Landlock."""
    return max(0, _libc().syscall(_CREATE_RULESET, None, 0, 1))


def limit(limits: dict[str, int]) -> None:
    """Set the resource limits named in `limits` (`data`, `fsize`, `nproc`, …), and those of unneeded resources to 0."""
    for name, value in {**limits, "core": 0, "memlock": 0, "msgqueue": 0}.items():
        number = getattr(resource, f"RLIMIT_{name.upper()}", None)
        if number is None:
            continue
        hard = resource.getrlimit(number)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # macOS refuses some of them for no visible reason; the supervisor outside bounds the same things.
        with contextlib.suppress(*(() if sys.platform == "linux" else (ValueError, OSError))):
            resource.setrlimit(number, (value, value))


def drop_privileges(write: list[str], *, keep_reading: bool) -> None:
    """Give up all capabilities for good, even for set-uid programs. Root becomes an otherwise unused user, since limits
    on processes don't apply to root.

    Args:
        write: folders to hand over to that user.
        keep_reading: that user may still read what root may, for an interpreter below root's home; Landlock or the
            mounts limit what can be read at all.
    """
    libc = _libc()
    _checked(libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if os.geteuid() != 0:  # in a user namespace, it may have all of them
        _set_capabilities(libc, 0)
        return
    user = _FIRST_UNUSED_USER + int.from_bytes(os.urandom(2), "big") % _UNUSED_USERS
    for folder in write:
        os.chown(folder, user, user)
    kept = 1 << _DAC_READ_SEARCH if keep_reading else 0
    for capability in range(64):
        if not kept >> capability & 1 and libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # beyond the last one that the kernel knows
    _checked(libc.prctl(_SET_KEEPCAPS, 1, 0, 0, 0), "keep capabilities")
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    _set_capabilities(libc, kept)
    if kept:  # also for the programs it starts
        _checked(libc.prctl(_CAP_AMBIENT, _CAP_AMBIENT_RAISE, _DAC_READ_SEARCH, 0, 0), "ambient capability")


def _set_capabilities(libc: ctypes.CDLL, kept: int) -> None:
    header = struct.pack("II", _CAPABILITY_VERSION_3, 0)
    sets = struct.pack("6I", kept, kept, kept, 0, 0, 0)
    _checked(libc.capset(ctypes.c_char_p(header), ctypes.c_char_p(sets)), "capabilities")


def landlock(read: list[str], write: list[str]) -> int:
    """Allow only these folders and files to be read (and run), and only those in `write` to be changed. Returns the
    kernel's Landlock version."""
    abi = landlock_abi()
    if abi < 1:
        raise OSError("this kernel has no Landlock")
    handled = _handled(abi)
    attributes = struct.pack(
        "QQQ", handled, _NO_TCP if abi >= 4 else 0, _SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if abi >= 6 else 0
    )
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    libc = _libc()
    ruleset = _checked(libc.syscall(_CREATE_RULESET, ctypes.c_char_p(attributes), size, 0), "landlock ruleset")
    for path, rights in [*((p, _READ) for p in read), *((p, handled) for p in write)]:
        _allow(libc, ruleset, path, rights & handled)
    _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0), "landlock")
    os.close(ruleset)
    return abi


def guard() -> None:
    """Fork. The parent stays outside the confinement, collects orphans, and ends the whole process group when the
    program that started us dies; the child returns from here and gets confined."""
    libc = _libc()
    _checked(libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "subreaper")
    signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))
    _checked(libc.prctl(_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0), "parent death signal")
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        return
    for descriptor in range(3, 64):  # the pipes must close with the child
        with contextlib.suppress(OSError):
            os.close(descriptor)
    while True:
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def _handled(abi: int) -> int:
    rights = _FIRST_ABI_RIGHTS
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEVICE)):
        rights |= right if abi >= since else 0
    return rights


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not os.path.isdir(path):
        rights &= _FILE_RIGHTS
    rule = struct.pack("=Qi", rights, descriptor)
    _checked(libc.syscall(_ADD_RULE, ruleset, 1, ctypes.c_char_p(rule), 0), f"landlock rule for {path}")
    os.close(descriptor)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc
