"""Becomes root in a user namespace of its own. Contained at: bwrap, landlock, limits."""
import ctypes


def attack():
    new_user, new_mount = 0x10000000, 0x20000
    return ctypes.CDLL(None).unshare(new_user | new_mount) == 0
