"""Reads a page of every two megabytes of a huge empty mapping: only tables are made. Contained at: bwrap, landlock, limits."""
import mmap
import os
import time


def attack():
    for _ in range(8):
        if os.fork() == 0:
            size = 1 << 39
            empty = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
            empty.madvise(15)  # no huge pages
            for position in range(0, size, 2 << 20):
                empty[position]
            time.sleep(600)
    time.sleep(600)
    return True
