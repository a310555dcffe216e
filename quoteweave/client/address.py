"""Where a server is, and the key to it."""

import os
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from quoteweave.core.errors import UsageError
from quoteweave.endpoints.address import is_http

KEY_VARIABLE = "QUOTEWEAVE_KEY"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The address of a server, with the path below which a proxy shows it, and the key that is sent there.

    Raises UsageError for what is no such address, and for a key that no request could carry.

    >>> ServerAddress("https://docs.example/ask/").of("v1", "collections", "ports & harbours")
    'https://docs.example/ask/v1/collections/ports%20%26%20harbours'
    """

    url: str
    key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not is_http(self.url) or urlsplit(self.url).query or urlsplit(self.url).fragment:
            raise UsageError(f"{self.shown} is no address of a server; it must look like http://localhost:8321.")
        if self.key is None:
            return
        # A header cannot carry other characters, and the complaint of the HTTP library would quote the key.
        if not (self.key.isascii() and self.key.isprintable()):
            raise UsageError("The server's key contains a line break or a character outside ASCII; copy it again.")
        # Both are sent in the same header, so that one of them would be missing there.
        if urlsplit(self.url).username is not None:
            raise UsageError(
                f"The address of {self.shown} holds a user name, and there is a key ({KEY_VARIABLE}) too; a request "
                "carries one of them. Leave the other out."
            )

    @property
    def shown(self) -> str:
        """The address without user name, password and query, which may be secrets."""
        bare = self.url.partition("?")[0].partition("#")[0]
        scheme, found, rest = bare.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]}".rstrip("/") if found else bare.rpartition("@")[2]

    def of(self, *segments: str) -> str:
        """The address of what lies below these segments of a path. Raises UsageError for `.` and `..`.

        They would be taken out of the path on the way, and another thing asked for, or removed.
        """
        if any(segment in (".", "..") for segment in segments):
            raise UsageError(f"{'/'.join(segments)!r} holds a part that is no name: '.' or '..'")
        return "/".join((self.url.rstrip("/"), *(quote(segment, safe=":") for segment in segments)))


def server_address(url: str, key: str | None) -> ServerAddress:
    """Return the address with the key given, or that of QUOTEWEAVE_KEY as it is now. Raises UsageError."""
    return ServerAddress(url.strip(), (key or os.environ.get(KEY_VARIABLE) or "").strip() or None)
