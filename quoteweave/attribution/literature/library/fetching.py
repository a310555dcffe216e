"""Fetches PDFs from links that strangers wrote, within limits of addresses, size, time and type.

- `http` and `https` alone, on their own ports, without user names; five redirects at most, each checked like the link.
- A host is resolved once and all its addresses must be public (`is_public`), so that links cannot lead into the
  network of the user; a name server that gives another address the next time (DNS rebinding) is not asked again. The
  request goes to such an address itself, with the host's name in `Host` and in TLS, whose certificate has to be the
  host's.
- No proxy, cookie or key of the environment is used or sent. A network that is reached through a proxy alone is thus
  not reached.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from io import FileIO
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Literal

import httpx2

from quoteweave.collection.storage_errors import guard_writing
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.endpoints.http_client import certificates

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the IP addresses of a host, given its name and port, best first. Raises OSError where it has none."""

# Networks that are not public by RFC 6890 and IANA's registries; listed, as Python's `is_global` differs between its
# versions. 192.88.99.0/24 leads into IPv6 (6to4), and 168.63.129.16 is Azure's server for its virtual machines.
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
# All other IPv6 addresses are private, link-local, multicast, or hold an IPv4 address (mapped, NAT64, tunnels).
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
    records = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in records))


def is_allowed(host: str, port: int, allowed: Collection[str]) -> bool:
    """Whether the user allowed this host, as `name` with any port or as `name:port`."""
    named = {entry.lower() for entry in allowed}
    shown = f"[{host}]" if ":" in host else host
    return not named.isdisjoint({host.lower(), f"{shown}:{port}".lower()})


FetchOutcome = Literal["unreachable", "not_a_pdf", "too_large"]
"""Why a link gave no PDF; each is one of `ReadOutcome`."""
HOSTS_VARIABLE = "QUOTEWEAVE_FETCH_HOSTS"
"""The environment variable with the hosts, separated by commas, that may be at any address and port."""
_PORTS = {"http": 80, "https": 443}
_MAGIC = b"%PDF-"
_MAGIC_WITHIN = 1024  # readers allow other bytes before it (ISO 32000-1, implementation note 13)
_CONTENT_TYPE = lazy_regex(r"[\w.+-]{1,40}/[\w.+-]{1,40}")
_ADDRESSES = 4  # addresses of a host that are tried, at most
_REDIRECTS = {301, 302, 303, 307, 308}
_HEADERS = {"Accept": "application/pdf, */*;q=0.5", "Accept-Encoding": "identity", "User-Agent": "quoteweave"}


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What a link may take.

    >>> fetcher = PdfFetcher(FetchLimits(seconds=20), allowed_hosts=["papers.example:8080"])

    Fields:
        bytes: greatest size of its file, after decompression
        seconds: longest time from the first look-up of its host to the last byte, redirects included
        redirects: how many redirects are followed
    """

    bytes: int = 50 * 2**20
    seconds: float = 60.0
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class FetchFailure:
    """Why a link gave no PDF."""

    outcome: FetchOutcome
    note: str
    """A sentence for the user, which names no address of the user's network."""


class _Failed(Exception):
    def __init__(self, outcome: FetchOutcome, note: str) -> None:
        super().__init__(note)
        self.failure = FetchFailure(outcome, note)


class PdfFetcher:
    """Fetches PDFs from public addresses.

    `allowed_hosts` may be at private addresses and on other ports too: `name` for all ports of a host, or `name:port`;
    None for those that QUOTEWEAVE_FETCH_HOSTS names. Links and redirects to them are followed. `resolver`
    and `make_transport` replace the system's look-up of names and the connections.

    >>> asyncio.run(PdfFetcher().fetch("http://127.0.0.1/paper.pdf", Path("paper.pdf"))).note
    '127.0.0.1 is not asked: it is, or may be, a private address.'
    """

    def __init__(
        self,
        limits: FetchLimits | None = None,
        *,
        allowed_hosts: Collection[str] | None = None,
        resolver: Resolver = resolve,
        make_transport: Callable[[], httpx2.AsyncBaseTransport] | None = None,
    ) -> None:
        self._limits = limits or FetchLimits()
        self._allowed = _hosts_of_environment() if allowed_hosts is None else tuple(allowed_hosts)
        self._resolver, self._make_transport = resolver, make_transport

    def prepare(self) -> None:
        """Read the certificates that are trusted ahead of the first fetch, which would otherwise wait for it."""
        certificates()

    async def fetch(self, link: str, file: Path, on_pdf: Callable[[], object] = lambda: None) -> FetchFailure | None:
        """Write the PDF at a link to a file; return why there is none, or None where it is written.

        `on_pdf` is called when the first bytes show that it is one. Raises StorageError where the file cannot be
        written.
        """
        try:
            async with asyncio.timeout(self._limits.seconds):
                await self._follow(link, file, on_pdf)
        except _Failed as failed:
            return failed.failure
        except TimeoutError:
            return FetchFailure("unreachable", f"The file did not come within {self._limits.seconds:g} seconds.")
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            # Only the type is named: an error's message may quote the server, and a model may read the note.
            return FetchFailure("unreachable", f"The file could not be fetched ({type(error).__name__}).")
        return None

    async def _follow(self, link: str, file: Path, on_pdf: Callable[[], object]) -> None:
        url = _parse(link)
        for _ in range(self._limits.redirects + 1):
            async with self._answer(url) as response:
                onward = response.headers.get("location") if response.status_code in _REDIRECTS else None
                if onward is None:
                    _require_ok(response, url)
                    await self._save(response, file, on_pdf)
                    return
            url = _parse(onward, url)
        raise _Failed("unreachable", f"The link led on more than {self._limits.redirects} times.")

    @asynccontextmanager
    async def _answer(self, url: httpx2.URL) -> AsyncIterator[httpx2.Response]:
        """The response to a request that is made to a checked address of the URL's host."""
        addresses = await self._addresses(url)
        # One client for each request, as a kept connection would be used for any other host of the same address.
        async with httpx2.AsyncClient(
            transport=self._make_transport() if self._make_transport is not None else None,
            verify=certificates(),
            trust_env=False,  # no proxy: the address was checked
            follow_redirects=False,
            timeout=self._limits.seconds,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        ) as client:
            response = await _send_to_first(client, url, addresses)
            try:
                yield response
            finally:
                await response.aclose()

    async def _addresses(self, url: httpx2.URL) -> list[str]:
        host, port = _host(url), url.port or _PORTS[url.scheme]
        allowed = is_allowed(host, port, self._allowed)
        if port not in _PORTS.values() and not allowed:
            raise _Failed("unreachable", f"Port {port} of {host} is not asked; links may lead to ports 80 and 443.")
        if parse_address(host) is not None:
            addresses = [host]
        else:
            try:
                addresses = list(await self._resolver(host, port))
            except (OSError, UnicodeError):
                addresses = []
        if not addresses:
            raise _Failed("unreachable", f"No address is known of {host}.")
        if not allowed and not all(map(is_public, addresses)):
            raise _Failed("unreachable", f"{host} is not asked: it is, or may be, a private address.")
        return addresses[:_ADDRESSES]

    async def _save(self, response: httpx2.Response, file: Path, on_pdf: Callable[[], object]) -> None:
        """Write the body to the file, once it is known to begin as a PDF."""
        stated = response.headers.get("content-length", "")
        if stated.isascii() and stated.isdigit() and int(stated[:20]) > self._limits.bytes:
            raise self._too_large()
        with guard_writing(file):
            stream = file.open("wb", buffering=0)  # unbuffered, so that closing it cannot fail
        with stream:
            head, size = b"", 0
            async for part in response.aiter_bytes():
                size += len(part)
                if size > self._limits.bytes:
                    raise self._too_large()
                if len(head) < _MAGIC_WITHIN:
                    head += part[:_MAGIC_WITHIN]
                    if len(head) >= _MAGIC_WITHIN:
                        _require_pdf(head, response)
                        on_pdf()
                with guard_writing(file):
                    _write(stream, part)
            _require_pdf(head, response)

    def _too_large(self) -> _Failed:
        return _Failed("too_large", f"The file has more than {self._limits.bytes / 2**20:g} MiB.")


def _hosts_of_environment() -> tuple[str, ...]:
    return tuple(host for host in map(str.strip, os.environ.get(HOSTS_VARIABLE, "").split(",")) if host)


async def _send_to_first(client: httpx2.AsyncClient, url: httpx2.URL, addresses: Sequence[str]) -> httpx2.Response:
    """Send the request to the first address that can be connected to. Raises what the last attempt raised."""
    headers = {**_HEADERS, "Host": url.netloc.decode("ascii")}
    by_name = url.scheme == "https" and parse_address(_host(url)) is None
    extensions = {"sni_hostname": _host(url)} if by_name else {}
    refused: httpx2.HTTPError = httpx2.ConnectError("no address")
    for address in addresses:
        request = client.build_request("GET", url.copy_with(host=address), headers=headers, extensions=extensions)
        try:
            return await client.send(request, stream=True)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            refused = error
    raise refused


def _parse(link: str, base: httpx2.URL | None = None) -> httpx2.URL:
    """A link that may be followed, without its fragment."""
    try:
        url = httpx2.URL(link.strip()) if base is None else base.join(link.strip())
        url = url.copy_with(fragment=None)
    except (httpx2.InvalidURL, ValueError):
        raise _Failed("unreachable", "The link is no URL.") from None
    if url.scheme not in _PORTS or not url.raw_host or url.port == 0:
        raise _Failed("unreachable", "The link is no http or https URL of a host.")
    if url.userinfo:
        raise _Failed("unreachable", f"The link to {_host(url)} has a user name in it, which is not sent.")
    return url


def _host(url: httpx2.URL) -> str:
    """The host as it is looked up: in lower case, an IPv6 address without brackets."""
    return url.raw_host.decode("ascii").strip("[]").rstrip(".").lower()


def _write(stream: FileIO, part: bytes) -> None:
    remaining = memoryview(part)
    while remaining:
        remaining = remaining[stream.write(remaining) :]


def _require_ok(response: httpx2.Response, url: httpx2.URL) -> None:
    if response.status_code != httpx2.codes.OK:
        raise _Failed("unreachable", f"{_host(url)} answered with status {response.status_code}.")


def _require_pdf(head: bytes, response: httpx2.Response) -> None:
    if _MAGIC in head[:_MAGIC_WITHIN]:
        return
    content_type = _CONTENT_TYPE.match(response.headers.get("content-type", ""))
    description = "is empty" if not head else f"is no PDF, but {content_type[0]}" if content_type else "is no PDF"
    raise _Failed("not_a_pdf", f"What the link leads to {description}.")
