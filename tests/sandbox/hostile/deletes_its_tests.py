"""Removes and rewrites the tests that judge it. Contained at: bwrap, landlock."""
import glob
import os


def attack():
    here = os.path.dirname(__file__)
    done = False
    for path in glob.glob(os.path.join(here, "**", "test_*.py"), recursive=True):
        for act in (lambda p: open(p, "w").close(), os.remove):
            try:
                act(path)
                done = True
            except OSError:
                continue
    return done
