"""Removes the user's folder. Contained at: bwrap, landlock."""
import shutil

from target import OUTSIDE


def attack():
    shutil.rmtree(OUTSIDE)
    return True
