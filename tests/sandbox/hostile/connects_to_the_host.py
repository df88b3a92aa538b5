"""Connects to a server on the user's machine. Contained at: bwrap, landlock, limits."""
import socket

from target import PORT


def attack():
    socket.create_connection(("127.0.0.1", PORT), timeout=2).sendall(b"hello")
    return True
