"""Which local account is at the other end of a loopback connection (Linux only; other systems don't tell).

The kernel looks up the client's socket by its two addresses, asked over netlink as `ss` does: microseconds, however
many sockets there are. Without that interface, the tables in `/proc/net` are read: milliseconds.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import socket
import struct
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

Address = tuple[str, int]
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_UNMAPPED = Path("/proc/sys/kernel/overflowuid")
_ESTABLISHED = 1
"""Any other state proves nothing: a socket that its owner has closed is shown as root's."""
_SOCK_DIAG = 4
_BY_FAMILY = 20
_HEADER = struct.Struct("=IHHII")  # nlmsghdr: length, type, flags, sequence, port
_REQUEST = struct.Struct("=BBBBI")  # inet_diag_req_v2: family, protocol, extensions, padding, states
_PORTS = struct.Struct("!HH")
_ANY_SOCKET = struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)  # interface, cookie
_REPLY = struct.Struct("=BBBB4s16s16s12sIIIII")  # inet_diag_msg: …, expires, receive queue, send queue, uid, inode
_ANSWER_S = 0.2


async def account_of(client: Address, server: Address) -> int | None:
    """The account that owns the client's end of a loopback connection.

    Args:
        client: address and port of the client, as the server sees them.
        server: the server's own.

    Returns:
        Its user id; None when an end is not on loopback, the connection isn't established (any more), the account has
        no id in our user namespace, or the system doesn't tell.
    """
    ends = _plain(client), _plain(server)
    if not all(host and ipaddress.ip_address(host).is_loopback for host, _ in ends):
        return None
    try:
        found = _asked(*ends)
    except OSError:
        # This kernel or container has no netlink, or no socket diagnosis.
        found = await asyncio.to_thread(_read, *ends)
    return None if found is None or found == _unmapped_account() else found


def owner_in_table(lines: Iterable[str], client: Address, server: Address) -> int | None:
    """The account of a connection's client in a table of `/proc/net/tcp` or `tcp6`; None if it isn't listed. Pure."""
    for line in lines:
        fields = line.split()
        if len(fields) < 10 or not fields[0].endswith(":") or int(fields[3], 16) != _ESTABLISHED or fields[9] == "0":
            continue
        if (_decoded(fields[1]), _decoded(fields[2])) == (client, server):
            return int(fields[7])
    return None


def _asked(client: Address, server: Address) -> int | None:
    """As `account_of`, from the kernel. Raises OSError if it knows no such connection or can't be asked."""
    if not hasattr(socket, "AF_NETLINK"):
        raise OSError(errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT))
    family = socket.AF_INET6 if ":" in client[0] else socket.AF_INET
    ends = [socket.inet_pton(family, host).ljust(16, b"\0") for host, _ in (client, server)]
    wanted = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, 1 << _ESTABLISHED)
    wanted += _PORTS.pack(client[1], server[1]) + b"".join(ends) + _ANY_SOCKET
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as kernel:
        kernel.settimeout(_ANSWER_S)
        kernel.send(_HEADER.pack(_HEADER.size + len(wanted), _BY_FAMILY, 1, 1, 0) + wanted)
        answer = kernel.recv(4096)
    if _HEADER.unpack_from(answer)[1] != _BY_FAMILY:
        code = -struct.unpack_from("=i", answer, _HEADER.size)[0]
        raise OSError(code, os.strerror(code))
    _, state, _, _, ports, *found_ends, _, _, _, _, uid, inode = _REPLY.unpack_from(answer, _HEADER.size)
    # Without a connection, the kernel answers with whoever listens at that address.
    is_it = ports == _PORTS.pack(client[1], server[1]) and [end.rstrip(b"\0") for end in found_ends] == [
        end.rstrip(b"\0") for end in ends
    ]
    return uid if is_it and state == _ESTABLISHED and inode else None


def _read(client: Address, server: Address) -> int | None:
    """As `account_of`, from the tables in `/proc/net`. Blocks."""
    if sys.platform != "linux":
        return None
    for table in _TABLES:
        try:
            with open(table, encoding="ascii") as lines:
                found = owner_in_table(lines, client, server)
        except OSError:
            continue  # A system without IPv6 has no table of it.
        if found is not None:
            return found
    return None


@cache
def _unmapped_account() -> int | None:
    """The id that the kernel reports for every account without an id in our user namespace."""
    try:
        return int(_UNMAPPED.read_text())
    except OSError:
        return None


def _plain(address: Address) -> Address:
    """An address with a mapped IPv4 host (`::ffff:127.0.0.1`) as IPv4; the host '' if it isn't an IP address."""
    try:
        host = ipaddress.ip_address(address[0])
    except ValueError:
        return "", address[1]
    return str(getattr(host, "ipv4_mapped", None) or host), address[1]


def _decoded(field: str) -> Address:
    """`0100007F:1F90` as an address: words in the machine's byte order, the port in hexadecimal."""
    host, port = field.split(":")
    words = [struct.pack("=I", int(host[at : at + 8], 16)) for at in range(0, len(host), 8)]
    return _plain((str(ipaddress.ip_address(b"".join(words))), int(port, 16)))
