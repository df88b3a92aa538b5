"""Pushes characters into the user's terminal. Contained at: bwrap, landlock, limits."""
import fcntl
import os


def attack():
    tiocsti = 0x5412
    for path in ("/dev/tty", "/dev/stdin", "/proc/self/fd/0"):
        try:
            fcntl.ioctl(os.open(path, os.O_RDWR), tiocsti, b"x")
            return True
        except OSError:
            continue
    return False
