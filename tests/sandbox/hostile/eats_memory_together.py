"""Each process stays below its own limit; all together take too much. Contained at: bwrap, landlock, limits."""
import os
import time


def attack():
    for _ in range(8):
        if os.fork() == 0:
            kept = bytearray(b"x" * (400 << 20))
            time.sleep(600)
            print(len(kept))
    time.sleep(600)
    return True
