"""Empties the user's file without opening it. Contained at: bwrap, landlock."""
import os

from target import SECRET


def attack():
    os.truncate(SECRET, 0)
    return True
