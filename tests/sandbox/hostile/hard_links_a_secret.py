"""Gives a secret a second name inside. Contained at: bwrap, landlock."""
import os

from target import SECRET


def attack():
    link = os.path.join(os.environ["TMPDIR"], "innocent")
    os.link(SECRET, link)
    return open(link).read()
