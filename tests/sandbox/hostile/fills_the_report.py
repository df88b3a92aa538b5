"""Floods every descriptor it finds. Contained at: bwrap, landlock, limits."""
import os


def attack():
    block = b"x" * 65536
    for descriptor in range(3, 64):
        try:
            while True:
                os.write(descriptor, block)
        except OSError:
            continue
    return False
