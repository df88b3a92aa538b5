"""Writes shared memory and lets go of the pages, which stay where they are. Contained at: bwrap, landlock, limits."""
import mmap
import time


def attack():
    kept = []
    for _ in range(12):
        shared = mmap.mmap(-1, 256 << 20)
        block = b"x" * (16 << 20)
        for start in range(0, len(shared), len(block)):
            shared[start : start + len(block)] = block
            shared.madvise(mmap.MADV_DONTNEED)
        kept.append(shared)
    time.sleep(600)
    return True
