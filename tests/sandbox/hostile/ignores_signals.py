"""Ignores what can be ignored and sleeps. Contained at: bwrap, landlock, limits."""
import signal
import time


def attack():
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1)
