"""Opens the asynchronous interface that goes round system call filters. Contained at: bwrap, landlock, limits."""
import ctypes


def attack():
    setup = 425
    return ctypes.CDLL(None).syscall(setup, 8, ctypes.create_string_buffer(256)) >= 0
