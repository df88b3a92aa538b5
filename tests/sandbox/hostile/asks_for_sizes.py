"""Asks for the size of a file that it may not open. Contained at: bwrap, landlock."""
import os

from target import OUTSIDE, SECRET


def attack():
    found = []
    for path in (SECRET, OUTSIDE, "/etc/passwd", "/etc/shadow"):
        try:
            found.append(os.stat(path).st_size)
        except OSError:
            pass
    return found
