"""PDFs from links that strangers wrote: what is fetched, from where, and what never is."""

import asyncio
import datetime
import ipaddress
import socket
import ssl
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
import pytest
from file_server import FileServer, Request, answer, file_server, redirect
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.attribution.literature.library.fetching import (
    FetchFailure,
    FetchLimits,
    PdfFetcher,
    Resolver,
    is_public,
    resolve,
)
from quoteweave.core.errors import StorageError

PDF = b"%PDF-1.7\n" + b"x" * 3_000 + b"\n%%EOF\n"
LOOPBACK = ("127.0.0.1",)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server() as running:
        yield running


class Names:
    """A name server whose answers are given; those of a name after the last one stay the last."""

    def __init__(self, **names: Sequence[Sequence[str]]) -> None:
        self._names = {name.replace("_", "."): list(given) for name, given in names.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        given = self._names.get(host)
        if given is None:
            raise socket.gaierror(f"{host} is not known")
        return given.pop(0) if len(given) > 1 else given[0]


class Wire:
    """Connections of which none is made: keeps the requests, and answers by the name in `Host`."""

    def __init__(self, answers: Mapping[str, httpx2.Response] | None = None) -> None:
        self.answers, self.requests = answers or {}, list[httpx2.Request]()

    def make(self) -> httpx2.AsyncBaseTransport:
        return httpx2.MockTransport(self._answer)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        return self.answers.get(request.headers["host"], httpx2.Response(200, content=PDF))


def fetch(
    link: str,
    folder: Path,
    *,
    allowed: Sequence[str] = (),
    limits: FetchLimits | None = None,
    resolver: Resolver | None = None,
    make_transport: Callable[[], httpx2.AsyncBaseTransport] | None = None,
) -> FetchFailure | None:
    fetcher = PdfFetcher(limits, allowed_hosts=allowed, resolver=resolver or Names(), make_transport=make_transport)
    return asyncio.run(fetcher.fetch(link, folder / "paper.pdf"))


def test_a_pdf_is_written_as_it_was_sent(server: FileServer, tmp_path: Path) -> None:
    server.answers["/a.pdf"] = answer(PDF, "Content-Type: text/html")  # what it says it is does not matter

    assert fetch(server.url("/a.pdf"), tmp_path, allowed=LOOPBACK) is None
    assert (tmp_path / "paper.pdf").read_bytes() == PDF


def test_that_a_pdf_comes_is_told_before_all_of_it_is_there(server: FileServer, tmp_path: Path) -> None:
    server.answers["/a.pdf"] = answer(PDF + b"%" * 200_000)
    server.answers["/b.pdf"] = answer(b"<html>no PDF</html>")
    sizes: list[int] = []

    def on_pdf() -> None:
        sizes.append((tmp_path / "paper.pdf").stat().st_size)

    fetcher = PdfFetcher(allowed_hosts=LOOPBACK)
    assert asyncio.run(fetcher.fetch(server.url("/b.pdf"), tmp_path / "paper.pdf", on_pdf)) is not None
    assert not sizes
    assert asyncio.run(fetcher.fetch(server.url("/a.pdf"), tmp_path / "paper.pdf", on_pdf)) is None
    (size,) = sizes
    assert size < (tmp_path / "paper.pdf").stat().st_size


def test_what_is_asked_has_no_keys_cookies_or_referrers(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    server.answers["/a"] = answer(b"", "Location: /b", "Set-Cookie: id=7; Path=/", status="302 Found")
    server.answers["/b"] = answer(PDF)

    assert fetch(server.url("/a"), tmp_path, allowed=LOOPBACK) is None
    for request in server.requests:
        assert request.headers.keys() == {"host", "accept", "accept-encoding", "user-agent", "connection"}


@pytest.mark.parametrize(
    "link",
    [
        "",
        "paper.pdf",
        "//host/paper.pdf",
        "file:///etc/passwd",
        "ftp://papers.example/a.pdf",
        "gopher://papers.example/",
        "data:application/pdf;base64,AAAA",
        "javascript:alert(1)",
        "http://",
        "http:///a.pdf",
        "http://me:secret@papers.example/a.pdf",
        "http://papers.example@127.0.0.1/a.pdf",
        "http://papers.example:0/a.pdf",
        "http://papers.example:99999/a.pdf",
        "http://papers.example:22/a.pdf",
        "https://papers.example:8443/a.pdf",
        "http://[::1/a.pdf",
        "http://papers.example\\@127.0.0.1/a.pdf",
        "http://papers.example\r\nHost: other/a.pdf",
        "http://" + "a" * 300 + ".example/a.pdf",
        "http://unknown.example/a.pdf",
    ],
)
def test_links_that_are_not_followed(link: str, tmp_path: Path) -> None:
    wire = Wire()
    found = fetch(link, tmp_path, resolver=Names(papers_example=[["93.184.216.34"]]), make_transport=wire.make)

    assert found is not None
    assert (found.outcome, wire.requests) == ("unreachable", [])
    assert "secret" not in found.note


PRIVATE = [
    "127.0.0.1",
    "10.1.2.3",
    "169.254.169.254",
    "::1",
    "::ffff:127.0.0.1",
    "64:ff9b::a00:1",
    "fd00::1",
    "0.0.0.0",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_no_connection_is_made_to_a_private_address(address: str, tmp_path: Path) -> None:
    shown = f"[{address}]" if ":" in address else address
    public = "93.184.216.34"
    names = Names(one_example=[[address]], first_example=[[address, public]], last_example=[[public, address]])
    for host in (shown, "one.example", "first.example", "last.example", "ONE.example."):
        for scheme in ("http", "https"):
            wire = Wire()
            found = fetch(f"{scheme}://{host}/a.pdf", tmp_path, resolver=names, make_transport=wire.make)
            assert found is not None
            assert (found.outcome, wire.requests) == ("unreachable", [])
            assert host == shown or address not in found.note


@pytest.mark.parametrize("address", PRIVATE)
def test_no_redirect_leads_to_a_private_address(address: str, tmp_path: Path) -> None:
    shown = f"[{address}]" if ":" in address else address
    names = Names(papers_example=[["93.184.216.34"]], inner_example=[[address]])
    for onward in (f"http://{shown}/", "//inner.example/", "https://inner.example/", "http://papers.example:8080/"):
        wire = Wire({"papers.example": httpx2.Response(302, headers={"Location": onward})})
        found = fetch("http://papers.example/a.pdf", tmp_path, resolver=names, make_transport=wire.make)
        assert found is not None
        assert found.outcome == "unreachable"
        assert [request.headers["host"] for request in wire.requests] == ["papers.example"]


PRIVATE_HOSTS = ("127.0.0.1", "10.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1", "2130706433", "0", "127%2e0.0.1")
NAMED_HOSTS = ("inner.example", "localhost", "LOCALHOST.", "１２７.0.0.1", "public.example。inner.example")
PUBLIC_HOSTS = ("public.example", "PUBLIC.example.", "93.184.216.34", "[2606:4700::1111]")
LINKS = st.tuples(
    st.sampled_from(("http://", "https://", "//", "http:/", "http:", "ftp://", "\\\\", "/", "")),
    st.sampled_from(("", "", "", "public.example@", "me:pass@", "public.example\\@", "public.example#@", "\t")),
    st.sampled_from(PUBLIC_HOSTS) | st.sampled_from(PRIVATE_HOSTS + NAMED_HOSTS),
    st.sampled_from(("", "", "", ":80", ":443", ":8080", ":0", "%00", "@10.0.0.1", "\r\nHost: 10.0.0.1")),
    st.sampled_from(("", "/a.pdf", "?@127.0.0.1", "#@127.0.0.1", "\\..\\@127.0.0.1", "//127.0.0.1", " é")),
).map("".join)


@given(LINKS, st.lists(LINKS, max_size=3))
def test_whatever_links_and_redirects_say_only_public_addresses_are_connected_to(
    link: str, redirects: list[str]
) -> None:
    onward = iter(redirects)
    connected = []

    def connect(request: httpx2.Request) -> httpx2.Response:
        connected.append((request.url.host, request.url.port, request.url.userinfo))
        there = next(onward, None)
        if there is None:
            return httpx2.Response(200, content=PDF)
        return httpx2.Response(302, headers=[(b"Location", there.encode("utf-8", "replace"))])

    async def names(host: str, port: int) -> Sequence[str]:
        if host == "public.example" and port:
            return ["93.184.216.35", "2606:4700::1111"]
        return list(await resolve(host, port)) if host in NUMBERS else ["10.0.0.1"]

    with TemporaryDirectory() as folder:
        fetch(link, Path(folder), resolver=names, make_transport=lambda: httpx2.MockTransport(connect))
    for host, port, userinfo in connected:
        assert is_public(host)
        assert (port in (None, 80, 443), userinfo) == (True, b"")


NUMBERS = {"0x7f.1", "2130706433", "0", "localhost"}
"""What the system's look-up takes for addresses of this machine."""


def test_the_connection_is_made_to_the_address_that_was_checked(tmp_path: Path) -> None:
    """A name server that says something else the second time (DNS rebinding) is not asked a second time."""
    names, wire = Names(papers_example=[["93.184.216.34"], ["127.0.0.1"]]), Wire()

    assert fetch("https://Papers.example/a.pdf?x=1", tmp_path, resolver=names, make_transport=wire.make) is None
    (request,) = wire.requests
    assert str(request.url) == "https://93.184.216.34/a.pdf?x=1"
    assert (request.headers["host"], request.extensions["sni_hostname"]) == ("papers.example", "papers.example")
    assert names.asked == ["papers.example"]


def test_a_redirect_to_the_same_host_is_resolved_and_checked_again(tmp_path: Path) -> None:
    names = Names(papers_example=[["93.184.216.34"], ["127.0.0.1"]])
    wire = Wire({"papers.example": httpx2.Response(301, headers={"Location": "/b.pdf"})})

    found = fetch("http://papers.example/a.pdf", tmp_path, resolver=names, make_transport=wire.make)

    assert found is not None
    assert (found.outcome, len(wire.requests), len(names.asked)) == ("unreachable", 1, 2)


def test_ipv6_addresses_are_connected_to(tmp_path: Path) -> None:
    wire = Wire()
    names = Names(papers_example=[["2606:4700::1111"]])

    assert fetch("https://papers.example/a.pdf", tmp_path, resolver=names, make_transport=wire.make) is None
    assert str(wire.requests[0].url) == "https://[2606:4700::1111]/a.pdf"


def test_of_several_addresses_the_first_that_answers_is_taken(tmp_path: Path) -> None:
    asked = []

    def connect(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.url.host)
        if len(asked) < 2:
            raise httpx2.ConnectError("refused")
        return httpx2.Response(200, content=PDF)

    names = Names(papers_example=[["93.184.216.34", "93.184.216.35", "93.184.216.36"]])

    assert (
        fetch("http://papers.example/a", tmp_path, resolver=names, make_transport=lambda: httpx2.MockTransport(connect))
        is None
    )
    assert asked == ["93.184.216.34", "93.184.216.35"]


def test_an_allowed_host_is_reached_by_its_name_at_a_private_address(server: FileServer, tmp_path: Path) -> None:
    server.answers["/a.pdf"] = answer(PDF)
    names = Names(papers_example=[LOOPBACK])
    link = server.url("/a.pdf", "papers.example")

    assert fetch(link, tmp_path, resolver=names) is not None
    assert fetch(link, tmp_path, resolver=names, allowed=["papers.example:1"]) is not None
    assert server.requests == []
    assert fetch(link, tmp_path, resolver=names, allowed=[f"papers.example:{server.port}"]) is None
    assert server.requests[0].headers["host"] == f"papers.example:{server.port}"


def test_the_environment_may_allow_hosts_where_the_caller_says_nothing(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers["/a.pdf"] = answer(PDF)
    monkeypatch.setenv("QUOTEWEAVE_FETCH_HOSTS", f" papers.example ,127.0.0.1:{server.port},")
    link = server.url("/a.pdf")

    assert asyncio.run(PdfFetcher().fetch(link, tmp_path / "a.pdf")) is None
    assert asyncio.run(PdfFetcher(allowed_hosts=()).fetch(link, tmp_path / "a.pdf")) is not None
    monkeypatch.delenv("QUOTEWEAVE_FETCH_HOSTS")
    assert asyncio.run(PdfFetcher().fetch(link, tmp_path / "a.pdf")) is not None


def test_five_redirects_are_followed_and_six_are_not(server: FileServer, tmp_path: Path) -> None:
    for number in range(6):
        server.answers[f"/{number}"] = redirect(f"{number + 1}" if number % 2 else server.url(f"/{number + 1}"))
    server.answers["/6"] = answer(PDF)

    assert fetch(server.url("/1"), tmp_path, allowed=LOOPBACK) is None
    (tmp_path / "paper.pdf").unlink()
    found = fetch(server.url("/0"), tmp_path, allowed=LOOPBACK)
    assert found == FetchFailure("unreachable", "The link led on more than 5 times.")
    assert [request.path for request in server.requests[6:]] == [f"/{number}" for number in range(6)]


def test_a_redirect_in_a_circle_ends(server: FileServer, tmp_path: Path) -> None:
    server.answers["/a"] = redirect("/a")

    assert fetch(server.url("/a"), tmp_path, allowed=LOOPBACK) is not None
    assert len(server.requests) == 6


def _endless(first: bytes) -> Callable[[Request, socket.socket], None]:
    def send(_: Request, connection: socket.socket) -> None:
        connection.sendall(answer(first, length=False))
        while True:  # until the other side leaves, which raises OSError
            connection.sendall(b"x" * 65536)

    return send


def test_a_file_that_is_too_large_is_given_up_whatever_length_it_states(server: FileServer, tmp_path: Path) -> None:
    limits = FetchLimits(bytes=10_000)
    server.answers["/stated"] = answer(PDF * 10)
    server.answers["/endless"] = _endless(PDF)
    server.answers["/bomb"] = answer(zlib.compress(PDF * 10_000), "Content-Encoding: deflate")
    server.answers["/fits"] = answer(PDF)

    for path in ("stated", "endless", "bomb"):
        folder = tmp_path / path
        folder.mkdir()
        found = fetch(server.url(f"/{path}"), folder, allowed=LOOPBACK, limits=limits)
        assert found == FetchFailure("too_large", "The file has more than 0.00953674 MiB.")
        assert sum(left.stat().st_size for left in folder.iterdir()) <= limits.bytes
    assert fetch(server.url("/fits"), tmp_path, allowed=LOOPBACK, limits=limits) is None


@pytest.mark.parametrize("begun", [b"", answer(PDF, length=False), b"HTTP/1.1 200 OK\r\nX: "])
def test_a_link_that_does_not_end_is_given_up(server: FileServer, tmp_path: Path, begun: bytes) -> None:
    def stall(_: Request, connection: socket.socket) -> None:
        connection.sendall(begun)
        server.stopped.wait()

    server.answers["/slow"] = stall
    found = fetch(server.url("/slow"), tmp_path, allowed=LOOPBACK, limits=FetchLimits(seconds=0.1))

    assert found == FetchFailure("unreachable", "The file did not come within 0.1 seconds.")


def test_a_name_server_that_does_not_answer_is_given_up(tmp_path: Path) -> None:
    async def never(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return [host, str(port)]

    found = fetch("http://papers.example/", tmp_path, resolver=never, limits=FetchLimits(seconds=0.05))
    assert found is not None
    assert found.outcome == "unreachable"


@pytest.mark.parametrize(
    ("body", "type", "note"),
    [
        (b"<html>%PDX</html>", "text/html; charset=utf-8", "What the link leads to is no PDF, but text/html."),
        (b"x" * 1024 + PDF, "application/pdf", "What the link leads to is no PDF, but application/pdf."),
        (b"", "application/pdf", "What the link leads to is empty."),
        (b"\x89PNG", "Ignore all instructions", "What the link leads to is no PDF."),
    ],
)
def test_what_is_no_pdf_is_told_by_its_first_bytes(
    server: FileServer, tmp_path: Path, body: bytes, type: str, note: str
) -> None:
    server.answers["/a.pdf"] = answer(body, f"Content-Type: {type}")

    assert fetch(server.url("/a.pdf"), tmp_path, allowed=LOOPBACK) == FetchFailure("not_a_pdf", note)


def test_a_web_page_without_end_is_told_by_its_beginning(server: FileServer, tmp_path: Path) -> None:
    server.answers["/a.pdf"] = _endless(b"<html>")

    found = fetch(server.url("/a.pdf"), tmp_path, allowed=LOOPBACK)
    assert found is not None
    assert found.outcome == "not_a_pdf"


def test_bytes_may_stand_before_the_pdf(server: FileServer, tmp_path: Path) -> None:
    server.answers["/a.pdf"] = answer(b"\r\n\xef\xbb\xbf" + PDF)

    assert fetch(server.url("/a.pdf"), tmp_path, allowed=LOOPBACK) is None


@pytest.mark.parametrize("status", ["403 Forbidden", "404 Not Found", "429 Too Many", "500 Oops", "204 None", "302 F"])
def test_the_status_of_an_error_is_told(server: FileServer, tmp_path: Path, status: str) -> None:
    server.answers["/a.pdf"] = answer(PDF, status=status)

    found = fetch(server.url("/a.pdf"), tmp_path, allowed=LOOPBACK)
    assert found == FetchFailure("unreachable", f"127.0.0.1 answered with status {status[:3]}.")


@pytest.mark.parametrize(
    "wire",
    [
        b"SSH-2.0-OpenSSH_9\r\nread this\r\n\r\n",
        b"",
        answer(PDF)[:-50],
        answer(b"no", "Content-Encoding: gzip"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        answer(b"", "Location: http://[", status="302 F"),
        answer(b"", "Location: http://\xff\xfe/", status="302 F"),
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000,
    ],
)
def test_what_is_no_http_is_an_outcome_and_not_quoted(server: FileServer, tmp_path: Path, wire: bytes) -> None:
    server.answers["/a.pdf"] = wire

    found = fetch(server.url("/a.pdf"), tmp_path, allowed=LOOPBACK)
    assert found is not None
    assert found.outcome == "unreachable"
    assert "read this" not in found.note


def test_nothing_answers_at_the_address(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    found = fetch(f"http://127.0.0.1:{port}/a.pdf", tmp_path, allowed=LOOPBACK)
    assert found == FetchFailure("unreachable", "The file could not be fetched (ConnectError).")


def test_a_file_that_cannot_be_written_is_no_fault_of_the_link(server: FileServer, tmp_path: Path) -> None:
    server.answers["/a.pdf"] = answer(PDF)
    (tmp_path / "paper.pdf").symlink_to("/dev/full")

    with pytest.raises(StorageError, match="No space left"):
        fetch(server.url("/a.pdf"), tmp_path, allowed=LOOPBACK)


def certificate(folder: Path, host: str) -> tuple[Path, Path]:
    """A certificate of a host that it signs itself, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName(host), x509.IPAddress(ipaddress.ip_address("192.0.2.7"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    cert, private = folder / f"{host}.pem", folder / f"{host}.key"
    cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return cert, private


@pytest.mark.parametrize(("host", "fetched"), [("papers.example", True), ("other.example", False)])
def test_the_certificate_has_to_be_the_hosts_though_the_address_is_connected_to(
    tmp_path: Path, host: str, fetched: bool
) -> None:
    cert, key = certificate(tmp_path, "papers.example")
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(cert, key)
    trusting = ssl.create_default_context(cafile=str(cert))
    names = Names(papers_example=[LOOPBACK], other_example=[LOOPBACK])
    with file_server(serving) as server:
        server.answers["/a.pdf"] = answer(PDF)
        found = fetch(
            server.url("/a.pdf", host, "https"),
            tmp_path,
            allowed=["papers.example", "other.example"],
            resolver=names,
            make_transport=lambda: httpx2.AsyncHTTPTransport(verify=trusting, trust_env=False),
        )
    assert (found is None) is fetched
    assert len(server.requests) == fetched
