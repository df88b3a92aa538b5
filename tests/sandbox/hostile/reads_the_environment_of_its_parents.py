"""Looks for secrets in the environment of every process. Contained at: bwrap, landlock."""
import glob
from pathlib import Path

from target import ENVIRONMENT_SECRET


def attack():
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            if ENVIRONMENT_SECRET.encode() in Path(path).read_bytes():
                return True
        except OSError:
            continue
    return False
