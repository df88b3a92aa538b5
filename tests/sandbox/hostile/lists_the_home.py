"""Lists the user's home folder. Contained at: bwrap, landlock."""
import os

from target import OUTSIDE


def attack():
    return os.listdir(OUTSIDE)
