"""A seccomp filter for x86-64 and ARM64, written in classic BPF and installed through ctypes.

A deny-list: calls by which generated code could reach other processes, the network or rarely used parts of the kernel,
or get memory that the supervisor can't see. Source: seccomp(2), and the kernel's syscall tables.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Mapping

_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_X32_BIT = 0x40000000

_LOAD = 0x20
_JUMP_EQUAL = 0x15
_JUMP_GREATER_EQUAL = 0x35
_JUMP_ANY_BIT = 0x45
_RETURN = 0x06
_NUMBER = 0
_ARCHITECTURE = 4
_ARGUMENTS = 16  # offsets in struct seccomp_data

_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_ERRNO = 0x00050000
_PRETEND = _ERRNO  # errno 0: the call returns 0 and does nothing
_REFUSE = _ERRNO | errno.EPERM

_NAMESPACE_FLAGS = 0x7E020000
_TIOCSTI = 0x5412
_TIOCLINUX = 0x541C
_SOCKET_LEVEL = 1
_BUFFER_OPTIONS = [7, 8, 32, 33]
_COOKIES = [57, 71]
"""Cookies of sockets and networks, counted machine-wide: a run could leave messages for the next one in them."""
_SET_PIPE_SIZE = 1031
_SET_DUMPABLE = 4

# name: (x86-64, ARM64); None where the architecture has no such call.
_CALLS: dict[str, tuple[int, int]] = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "ioctl": (16, 29),
    "socket": (41, 198),
    "setsockopt": (54, 208),
    "fcntl": (72, 25),
    "prctl": (157, 167),
    "getsockopt": (55, 209),
}
_KERNEL = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "pidfd_getfd": (438, 438),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "setns": (308, 268),
    "unshare": (272, 97),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "personality": (135, 92),
    "lookup_dcookie": (212, 18),
}
# Memory that is in no process's resident set, so that the supervisor would not see it.
_HIDDEN_MEMORY = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
# The page cache outlives a run: with these calls, a run could leave notes for the next one, and read them.
_PAGE_CACHE_ASKED = {"mincore": (27, 232), "cachestat": (451, 451), "preadv2": (327, 286)}
_PAGE_CACHE_SET = {"fadvise64": (221, 223), "readahead": (187, 213)}
# Without namespaces the files and processes of the same user can be reached; Landlock does not cover these calls.
_SHARED_HOST = {
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "socket": (41, 198),
}
_OWN_PROCESS_ONLY = {  # the first argument is a process id; 0 means the caller
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
}
_HARMLESS_WHEN_PRETENDED = {  # ordinary programs call these, and go on if nothing happens
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setsid": (112, 157),
    "setpgid": (109, 154),  # one process group, so that one signal ends everything
}
_SIGNALS = {
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
}
_TRUNCATE = {"truncate": (76, 45)}

_Table = Mapping[str, tuple[int | None, int | None]]
_Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


def program(machine: str, *, namespaces: bool, landlock_abi: int) -> list[_Instruction]:
    """The filter for one architecture.

    Args:
        machine: as `platform.machine` names it.
        namespaces: bubblewrap already separates network, processes and files.
        landlock_abi: the kernel's Landlock version, 0 for none.

    Returns:
        The instructions.

    Raises:
        OSError: there is no table for the architecture.
    """
    if machine not in _ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no seccomp table for {machine}")
    audit, column = _ARCHITECTURES[machine]

    def numbers(*tables: _Table) -> list[int]:
        found = (pair[column] for table in tables for pair in table.values())
        return [number for number in found if number is not None]

    filter_: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        filter_ += [(_JUMP_GREATER_EQUAL, 0, 1, _X32_BIT), (_RETURN, 0, 0, _REFUSE)]
    filter_ += _answer(numbers(_KERNEL, _HIDDEN_MEMORY, _PAGE_CACHE_ASKED), _REFUSE)
    filter_ += _answer(numbers(_PAGE_CACHE_SET), _PRETEND)
    # glibc falls back from clone3, whose flags a filter can't read, to clone, whose flags it can.
    filter_ += _answer([_CALLS["clone3"][column]], _ERRNO | errno.ENOSYS)
    filter_ += _argument_bits(_CALLS["clone"][column], 0, _NAMESPACE_FLAGS)
    filter_ += _argument_is(_CALLS["ioctl"][column], 1, [_TIOCSTI, _TIOCLINUX], refuse_when_equal=True)
    filter_ += _argument_is(_CALLS["fcntl"][column], 1, [_SET_PIPE_SIZE], refuse_when_equal=True)
    # The supervisor outside must be able to look at every process.
    filter_ += _argument_is(_CALLS["prctl"][column], 0, [_SET_DUMPABLE], refuse_when_equal=True, reply=_PRETEND)
    filter_ += _socket_options(_CALLS["setsockopt"][column], _BUFFER_OPTIONS, _PRETEND)
    filter_ += _socket_options(_CALLS["getsockopt"][column], _COOKIES, _REFUSE)
    if namespaces:
        unix = 1
        internet = 2
        internet6 = 10
        filter_ += _argument_is(_CALLS["socket"][column], 0, [unix, internet, internet6], refuse_when_equal=False)
    else:
        filter_ += _answer(numbers(_SHARED_HOST), _REFUSE)
        filter_ += _answer(numbers(_HARMLESS_WHEN_PRETENDED), _PRETEND)
        for number in numbers(_OWN_PROCESS_ONLY):
            filter_ += _argument_is(number, 0, [0], refuse_when_equal=False)
        if landlock_abi < 6:
            filter_ += _answer(numbers(_SIGNALS), _REFUSE)
        if landlock_abi < 3:
            filter_ += _answer(numbers(_TRUNCATE), _REFUSE)
    return [*filter_, (_RETURN, 0, 0, _ALLOW)]


def install(*, namespaces: bool, landlock_abi: int) -> None:
    """Confine this process and its children for good. Arguments as `program`. Raises OSError if the kernel refuses."""
    instructions = program(platform.machine(), namespaces=namespaces, landlock_abi=landlock_abi)
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    set_seccomp = 22
    mode_filter = 2
    if libc.prctl(set_seccomp, mode_filter, ctypes.c_char_p(header), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refuses a seccomp filter")


def _answer(numbers: list[int], reply: int) -> list[_Instruction]:
    return [step for number in numbers for step in ((_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, reply))]


def _argument_bits(number: int, index: int, mask: int) -> list[_Instruction]:
    """Refuse the call when its argument has any bit of the mask."""
    return [
        (_JUMP_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, _ARGUMENTS + 8 * index),
        (_JUMP_ANY_BIT, 0, 1, mask),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER),
    ]


def _socket_options(number: int, options: list[int], reply: int) -> list[_Instruction]:
    """Answer calls for some socket options with `reply`."""
    checks = [step for option in options for step in ((_JUMP_EQUAL, 0, 1, option), (_RETURN, 0, 0, reply))]
    body = [
        (_LOAD, 0, 0, _ARGUMENTS + 8),
        (_JUMP_EQUAL, 0, len(checks) + 1, _SOCKET_LEVEL),
        (_LOAD, 0, 0, _ARGUMENTS + 16),
        *checks,
        (_RETURN, 0, 0, _ALLOW),
    ]
    return [(_JUMP_EQUAL, 0, len(body), number), *body]


def _argument_is(
    number: int, index: int, values: list[int], *, refuse_when_equal: bool, reply: int = _REFUSE
) -> list[_Instruction]:
    """Refuse the call when its argument (lower 32 bits) is, or is not, one of the values."""
    equal, different = (reply, _ALLOW) if refuse_when_equal else (_ALLOW, reply)
    checks = [step for value in values for step in ((_JUMP_EQUAL, 0, 1, value), (_RETURN, 0, 0, equal))]
    body = [(_LOAD, 0, 0, _ARGUMENTS + 8 * index), *checks, (_RETURN, 0, 0, different)]
    return [(_JUMP_EQUAL, 0, len(body), number), *body]
