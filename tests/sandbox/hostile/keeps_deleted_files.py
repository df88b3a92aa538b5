"""Files that are deleted but open, which no folder lists. Contained at: bwrap, landlock, limits."""
import os
import time


def attack():
    block = b"x" * (1 << 20)
    for _ in range(30):
        try:
            file = os.open(f"{os.environ['TMPDIR']}/f", os.O_CREAT | os.O_WRONLY)
            os.unlink(f"{os.environ['TMPDIR']}/f")
            for _ in range(60):
                os.write(file, block)
        except OSError:
            return False
    time.sleep(600)
    return True
