"""Looks for secrets in its own environment. Contained at: bwrap, landlock, limits."""
import os

from target import ENVIRONMENT_SECRET


def attack():
    return ENVIRONMENT_SECRET in os.environ.values()
