"""Which addresses of machines are public, so that links found on the Internet cannot lead into the network of the user.

A host name is resolved once, every address that it has is checked, and the connection is made to such an address: a
name server that gives another address the next time (DNS rebinding) is not asked again.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Collection, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives the addresses of a host (name, port), best first. Raises OSError where it has none."""

# Beyond what Python knows as not global, which differs between its versions. RFC 6890 and the registries of IANA;
# 192.88.99.0/24 leads into IPv6 (6to4), and 168.63.129.16 is Azure's server for its virtual machines.
_NOT_PUBLIC = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3ffe::/16",
        "3fff::/20",
    )
)
# All others are private, link-local, multicast, or hold an IPv4 address (mapped, NAT64, tunnels).
_GLOBAL_UNICAST = IPv6Network("2000::/3")


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public Internet; False for what is no address.

    >>> is_public("93.184.216.34"), is_public("127.0.0.1"), is_public("::ffff:93.184.216.34")
    (True, False, False)
    """
    ip = parse_address(address)
    if ip is None or "%" in address or not ip.is_global:
        return False
    if isinstance(ip, IPv6Address) and ip not in _GLOBAL_UNICAST:
        return False
    return not any(ip in network for network in _NOT_PUBLIC)


def parse_address(host: str) -> IPv4Address | IPv6Address | None:
    """Return the host as an IP address; None where it is a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


async def resolve(host: str, port: int) -> Sequence[str]:
    """Ask the system for the addresses of a host. Raises OSError where it has none."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_allowed(host: str, port: int, allowed: Collection[str]) -> bool:
    """Whether the user allowed this host, as `name` with any port or as `name:port`."""
    named = {one.lower() for one in allowed}
    shown = f"[{host}]" if ":" in host else host
    return not named.isdisjoint({host.lower(), f"{shown}:{port}".lower()})
