"""Reads a secret through a symbolic link in its own folder. Contained at: bwrap, landlock."""
import os

from target import SECRET


def attack():
    link = os.path.join(os.environ["TMPDIR"], "innocent")
    os.symlink(SECRET, link)
    return open(link).read()
