"""Forty processes fill the buffers of as many socket pairs as they get. Contained at: bwrap, landlock, limits."""
import os
import socket
import time


def _fill():
    kept, block = [], b"x" * 65536
    while True:
        try:
            pair = socket.socketpair()
        except OSError:
            break
        kept.append(pair)
        for end in pair:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
            end.setblocking(False)
            try:
                while end.send(block):
                    pass
            except OSError:
                continue
    time.sleep(600)


def attack():
    for _ in range(40):
        if os.fork() == 0:
            _fill()
    time.sleep(600)
    return True
