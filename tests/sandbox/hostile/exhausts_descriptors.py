"""Opens files until none is left for anybody. Contained at: bwrap, landlock, limits."""
import os


def attack():
    kept = []
    try:
        for _ in range(100_000):
            kept.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return len(kept) > 1024
    return True
