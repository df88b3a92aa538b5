"""One file of 10 GB. Contained at: bwrap, landlock, limits."""
import os


def attack():
    with open(os.path.join(os.environ["TMPDIR"], "big"), "wb") as file:
        for _ in range(10_240):
            file.write(b"x" * (1 << 20))
    return True
