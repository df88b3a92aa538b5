"""Writes a file beside the user's. Contained at: bwrap, landlock."""
from pathlib import Path

from target import OUTSIDE


def attack():
    Path(OUTSIDE, "written").write_text("here I am")
    return True
