"""Connects to a Unix socket of the user's, as of a container engine. Contained at: bwrap, landlock, limits."""
import socket

from target import UNIX_SOCKET


def attack():
    socket.socket(socket.AF_UNIX).connect(UNIX_SOCKET)
    return True
