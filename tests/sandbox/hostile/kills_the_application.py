"""Signals the program that runs it, and every process it may. Contained at: bwrap, landlock."""
import os
import signal

from target import APPLICATION, VICTIM


def attack():
    for pid in (VICTIM, APPLICATION):
        for number in (signal.SIGCONT, signal.SIGTERM if pid == VICTIM else signal.SIGCONT):
            try:
                os.kill(pid, number)
                return True
            except OSError:
                continue
    return False
