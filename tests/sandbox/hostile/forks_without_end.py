"""A fork bomb. Contained at: bwrap, landlock, limits."""
import os


def attack():
    while True:
        os.fork()
