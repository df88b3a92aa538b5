"""A grandchild keeps the output open after everything else has ended. Contained at: bwrap, landlock, limits."""
import subprocess
import sys

from target import MARK


def attack():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", MARK], close_fds=False)
    return False
