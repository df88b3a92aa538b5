"""Every address of the ranges that IANA lists as special counts as private, also inside those that carry IPv4."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repopilot.errors import SourceError
from repopilot.repo.remote import network
from repopilot.settings import Settings

STRICT = Settings(home=Path("unused"), git_token="", _env_file=None)
IPV4 = [
    ip_network(name)
    for name in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
        *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    )
]
IPV6 = [
    ip_network(name)
    for name in (
        *("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/32"),
        *("2001:2::/48", "2001:10::/28", "2001:20::/28", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7"),
        *("fe80::/10", "fec0::/10", "ff00::/8"),
    )
]
CARRIERS = {
    "mapped": lambda ip: 0xFFFF << 32 | ip,
    "compatible": lambda ip: ip,
    "translated": lambda ip: 0xFFFF << 48 | ip,
    "NAT64": lambda ip: 0x64FF9B << 96 | ip,
    "local NAT64": lambda ip: 0x64FF9B0001 << 80 | ip,
    "6to4": lambda ip: 0x2002 << 112 | ip << 80 | 1,
    "Teredo": lambda ip: 0x20010000 << 96 | ip ^ 0xFFFFFFFF,
}


def inside(networks):
    """Addresses of the networks, their ends as likely as what lies between."""
    return st.sampled_from(networks).flatmap(
        lambda n: st.integers(int(n[0]), int(n[-1])).map(IPv4Address if n.version == 4 else IPv6Address)
    )


def is_special(ip):
    return any(ip in network for network in IPV4 + IPV6)


def refused(address) -> bool:
    host = f"[{address}]" if ip_address(str(address)).version == 6 else str(address)
    try:
        network.check(f"https://{host}/x.git", STRICT)
    except SourceError as error:
        assert "private network" in str(error)
        return True
    return False


@pytest.mark.slow
@given(inside(IPV4 + IPV6))
def test_special_addresses_are_refused(address):
    assert refused(address)


@pytest.mark.parametrize("network_", IPV4 + IPV6, ids=str)
def test_the_ends_of_special_ranges_are_refused(network_):
    assert refused(network_[0]) and refused(network_[-1])


@pytest.mark.slow
@pytest.mark.parametrize("carry", CARRIERS.values(), ids=CARRIERS)
@given(address=inside(IPV4))
def test_a_special_address_inside_another_is_refused(carry, address):
    assert refused(IPv6Address(carry(int(address))))


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1).map(IPv4Address).filter(lambda ip: not is_special(ip)))
def test_other_addresses_are_allowed(address):
    assert not refused(address)
    assert not refused(IPv6Address(CARRIERS["6to4"](int(address))))


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(["93.184.216.34", "2606:50c0:8000::154"]), inside(IPV4 + IPV6), st.integers(0, 2))
def test_a_name_with_one_special_address_is_refused(monkeypatch, addresses, special, at):
    found = [*addresses[:at], str(special), *addresses[at:]]
    monkeypatch.setattr("socket.getaddrinfo", lambda *a, **k: [(0, 0, 0, "", (address, 443)) for address in found])
    with pytest.raises(SourceError, match="private network"):
        network.check("https://git.example/x.git", STRICT)
