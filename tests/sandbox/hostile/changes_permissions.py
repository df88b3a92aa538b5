"""Opens the user's file to everybody; what counts is the file's mode afterwards. Contained at: bwrap, landlock."""
import os

from target import SECRET


def attack():
    os.chmod(SECRET, 0o777)
    os.utime(SECRET, (0, 0))
    return False
