"""Runs a set-user-id program, or takes its capabilities back. Contained at: bwrap, landlock, limits."""
import os
import subprocess


def attack():
    if os.geteuid() == 0:  # root of the machine, without what makes root strong?
        try:
            os.setuid(12345)
            return True
        except OSError:
            return False
    return subprocess.run(["su", "-c", "id"], capture_output=True, timeout=5).returncode == 0
