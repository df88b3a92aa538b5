"""Attaches to another process of the user's and reads its memory. Contained at: bwrap, landlock, limits."""
import ctypes

from target import VICTIM


def attack():
    attach = 16
    return ctypes.CDLL(None).ptrace(attach, VICTIM, 0, 0) == 0
