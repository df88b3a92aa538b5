"""Sends a datagram, which needs no connection. Contained at: bwrap, landlock, limits."""
import socket

from target import DATAGRAM_PORT


def attack():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", ("127.0.0.1", DATAGRAM_PORT))
    return False
