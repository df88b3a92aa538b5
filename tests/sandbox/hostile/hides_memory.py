"""Takes memory that belongs to no process: a memory file, shared segments. Contained at: bwrap, landlock, limits."""
import ctypes
import os


def attack():
    try:
        os.memfd_create("hidden")
        return True
    except OSError:
        pass
    return ctypes.CDLL(None).shmget(0, 1 << 30, 0o1600) >= 0
