"""Many files below the limit of each. Contained at: bwrap, landlock, limits."""
import os
import time


def attack():
    for number in range(64):
        with open(os.path.join(os.environ["TMPDIR"], str(number)), "wb") as file:
            file.write(b"x" * (16 << 20))
        time.sleep(0.02)
    return True
