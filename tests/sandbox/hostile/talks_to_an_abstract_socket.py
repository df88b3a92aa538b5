"""Connects to an abstract Unix socket, which no file guards. Contained at: bwrap, landlock, limits."""
import socket

from target import ABSTRACT_SOCKET


def attack():
    socket.socket(socket.AF_UNIX).connect("\0" + ABSTRACT_SOCKET)
    return True
