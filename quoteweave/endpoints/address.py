"""The addresses of endpoints and the keys to them, from options and the environment."""

import os
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from quoteweave.core.errors import UsageError, by_setting

OPENAI_URL = "https://api.openai.com/v1"
_WITHHELD = (
    "no key was sent, as OPENAI_API_KEY goes to OPENAI_BASE_URL alone, or to OpenAI; if the key is this server's, set "
    "OPENAI_BASE_URL to its address"
)


@dataclass(frozen=True, slots=True)
class EndpointAddress:
    """The address of an endpoint, and the key to it ("none" for a server that needs none).

    Raises UsageError for an address that is no base URL, and for a key that no request could carry.
    """

    url: str
    key: str = field(default="none", repr=False)
    withheld: str = ""
    """Why the environment's key is not sent to this machine; empty if it is sent, or there is none."""

    def __post_init__(self) -> None:
        if not is_http(self.url):
            raise UsageError(
                f"{self.url.rpartition('@')[2]} is no base URL; it must look like http://localhost:8000/v1."
            )
        # A header cannot carry other characters, and the HTTP library's own error would show the key.
        if not (self.key.isascii() and self.key.isprintable()):
            raise UsageError("The API key contains a line break or a character outside ASCII; copy it again.")

    @property
    def shown(self) -> str:
        """The URL without user name, password and query, which may be secrets."""
        parts = urlsplit(self.url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()

    @property
    def base(self) -> str:
        """The URL without its query, to which paths are joined."""
        return urlsplit(self.url)._replace(query="", fragment="").geturl()

    @property
    def query(self) -> dict[str, str]:
        """The parameters that every request has in its URL, such as Azure's `api-version`."""
        return dict(parse_qsl(urlsplit(self.url).query))

    @property
    def host(self) -> str:
        """The machine to which requests are sent."""
        return urlsplit(self.url).hostname or ""

    @property
    def destination(self) -> str:
        """The machine and, where the URL names one, the port, as shown to people."""
        return urlsplit(self.url).netloc.rpartition("@")[2]


def openai_address(model: str, base_url: str | None, api_key: str | None) -> EndpointAddress:
    """The address given, or the current one of the environment (OPENAI_BASE_URL, OPENAI_API_KEY).

    A key without an address is for OpenAI; an address without a key is a server that needs none. The environment's key
    is only sent to OPENAI_BASE_URL, or to OpenAI if that is not set, because other addresses may come from somebody
    else's file. Raises UsageError when there is neither address nor key, or one of them is malformed.
    """
    url, key = option_or_environment(base_url, "OPENAI_BASE_URL"), option_or_environment(api_key, "OPENAI_API_KEY")
    if not url and not key:
        raise UsageError(
            f"No endpoint for the model {model}",
            remedy=f"set OPENAI_BASE_URL{_alternative('base_url')} to the address of a local server, such as "
            f"http://localhost:8000/v1, or OPENAI_API_KEY{_alternative('api_key')} to a key of OpenAI",
        )
    address = EndpointAddress(url or OPENAI_URL, key or "none")
    if not key or (api_key or "").strip() or takes_environment_key(address.url):
        return address
    return EndpointAddress(address.url, withheld=_WITHHELD)


def _alternative(setting: str) -> str:
    """How to give a setting, apart from its environment variable; empty if there is no other way."""
    return by_setting(" (or {})", setting) or ""


def option_or_environment(option: str | None, variable: str) -> str:
    """The option, or else the environment variable, trimmed; empty if both are."""
    return (option or os.environ.get(variable) or "").strip()


def takes_environment_key(url: str) -> bool:
    """Whether the environment's values for OpenAI's API, such as OPENAI_API_KEY, are meant for that address."""
    return same_origin(url, option_or_environment(None, "OPENAI_BASE_URL") or OPENAI_URL)


def same_origin(url: str, other: str) -> bool:
    """Whether both are base URLs of one scheme, machine and port: what must agree for a key to be sent."""
    origin = _origin(url)
    return origin is not None and origin == _origin(other)


def is_http(url: str) -> bool:
    """Whether it is a URL of a machine that is asked over HTTP."""
    try:
        parts = urlsplit(url)
        well_formed = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, or an unclosed bracket
        return False
    return well_formed and ((url.isascii() and url.isprintable()) or _is_known_to_clients(url))


def _is_known_to_clients(url: str) -> bool:
    """Whether HTTP clients accept a URL with characters beyond ASCII, such as "http://hôte/v1"; some are invalid."""
    from httpx2 import URL, InvalidURL

    try:
        URL(url)
    except InvalidURL:
        return False
    return True


def _origin(url: str) -> tuple[str, str | None, int | None] | None:
    """Scheme, machine and port; None for what is no base URL."""
    if not is_http(url):
        return None
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}[parts.scheme]
