"""Leaves a file in the machine's shared memory. Contained at: bwrap, landlock."""
from pathlib import Path

from target import MARK


def attack():
    Path("/dev/shm", MARK).write_text("left")
    return False
