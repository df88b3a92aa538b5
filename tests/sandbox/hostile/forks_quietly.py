"""Processes that fork and die so fast that few live at once, in new sessions. Contained at: bwrap, landlock, limits."""
import os


def attack():
    while True:
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
