"""Leaves a process in a session of its own. Contained at: bwrap, landlock, limits."""
import os
import subprocess
import sys

from target import MARK


def attack():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", MARK], start_new_session=True)
            os._exit(0)
        os._exit(0)
    return False
