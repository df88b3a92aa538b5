"""Floods the output. Contained at: bwrap, landlock, limits."""
import os


def attack():
    block = b"x" * (1 << 20)
    for _ in range(1024):
        os.write(1, block)
    return True
