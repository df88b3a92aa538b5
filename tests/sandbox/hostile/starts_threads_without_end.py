"""Threads until something gives. Contained at: bwrap, landlock, limits."""
import threading
import time


def attack():
    try:
        while True:
            threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
    except RuntimeError:
        return False
