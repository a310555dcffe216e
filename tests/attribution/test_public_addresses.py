"""Addresses that a link may lead to, and those that it may not."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.attribution.literature.library.fetching import is_allowed, is_public, resolve


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",  # carrier-grade NAT
        "100.100.100.200",  # metadata of Alibaba Cloud
        "169.254.169.254",  # metadata of AWS, Google and Azure
        "169.254.170.2",  # of containers on AWS
        "168.63.129.16",  # Azure's server for its machines, in public space
        "192.0.0.192",  # metadata of Oracle
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",  # IPv4-compatible
        "::ffff:127.0.0.1",  # IPv4-mapped
        "::ffff:10.0.0.1",
        "::ffff:7f00:1",
        "::ffff:0:127.0.0.1",  # IPv4-translated
        "64:ff9b::7f00:1",  # NAT64
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::10.0.0.1",
        "100::1",
        "2001::1",  # Teredo
        "2001:0:7f00:1::",
        "2001:db8::1",
        "2002:7f00:1::",  # 6to4 of 127.0.0.1
        "2002:a00:1::1",
        "3fff::1",
        "fc00::1",
        "fd00:ec2::254",  # metadata of AWS
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "2606:4700::1%eth0",
        "",
        "localhost",
        "127.1",
        "0177.0.0.1",
        "2130706433",
        "127.0.0.1 ",
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "2606:4700::1111", "2a00:1450::1"],
)
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_no_form_of_ipv6_makes_an_ipv4_address_public(address: object) -> None:
    forms = (f"::ffff:{address}", f"::{address}", f"64:ff9b::{address}", f"::ffff:0:{address}")

    assert not any(map(is_public, forms))


def test_names_of_this_machine_resolve_to_addresses_that_are_not_public() -> None:
    for host in ("localhost", "127.1", "2130706433", "0x7f.1"):
        try:
            found = asyncio.run(resolve(host, 80))
        except OSError:  # some systems do not read such numbers as addresses, which is as good
            continue
        assert found
        assert not any(map(is_public, found))


@pytest.mark.parametrize(
    ("host", "port", "allowed"),
    [
        ("papers.example", 80, True),
        ("PAPERS.example", 9999, True),
        ("intranet.example", 8080, True),
        ("intranet.example", 80, False),
        ("not-papers.example", 80, False),
        ("papers.example.org", 80, False),
        ("::1", 8080, True),
        ("::1", 80, False),
        ("127.0.0.1", 80, False),
    ],
)
def test_hosts_are_allowed_by_their_whole_names(host: str, port: int, allowed: bool) -> None:
    assert is_allowed(host, port, ["papers.example", "Intranet.example:8080", "[::1]:8080"]) is allowed
