"""Reads a file of the user's. Contained at: bwrap, landlock."""
from target import SECRET


def attack():
    return "do not read" in open(SECRET).read()
