"""Opens sockets of families that reach the kernel or the hypervisor. Contained at: bwrap, landlock, limits."""
import socket


def attack():
    for family in (16, 17, 38, 40):  # netlink, packet, kernel crypto, virtual machine
        try:
            socket.socket(family, socket.SOCK_RAW if family < 20 else socket.SOCK_STREAM)
            return True
        except OSError:
            continue
    return False
