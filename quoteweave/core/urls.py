"""Strip user names, passwords and keys from URLs, so that they can be shown and stored."""

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

from quoteweave.core.lazy_regex import lazy_regex

SECRET_FIELD = lazy_regex(r"key|token|secret|pass|sig|auth|code", re.IGNORECASE)
"""Matches names of query parameters whose values are secrets."""
# The part before the host in URLs within a text. A path, a port or a name with a dot must follow, so that a
# retriever's spec such as http://host:8000@hnsw keeps its host.
_CREDENTIALS = lazy_regex(r"(?<=://)[^\s/?#@'\"]+@(?=[^\s@]*[/.:]|localhost)")
# The query of a URL within a text, without marks that end a clause or a quotation, and without the suffix of a
# retriever's spec.
_QUERY = lazy_regex(r"(?<=://)([^\s?#'\"]+)\?([^\s#\"<>]+?)(?=(?:@[a-z]+\d*)?[.,:;)'\]}]*(?:[\s#\"<>]|$))")


def without_secrets(url: str) -> str:
    """Remove user name and password from a URL, and the query's fields named like a key, a token or another secret."""
    parts = urlsplit(url)
    query = [(name, value) for name, value in parse_qsl(parts.query) if not SECRET_FIELD.search(name)]
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query=urlencode(query)).geturl()


def without_credentials(text: str) -> str:
    """Remove what `without_secrets` removes from all URLs in a text; the rest of the text is unchanged.

    >>> without_credentials("sent to http://user:word@host/v1?api_key=k3y&api-version=2.")
    'sent to http://host/v1?api-version=2.'
    """
    return _QUERY.sub(_without_secret_fields, _CREDENTIALS.sub("", text))


def _without_secret_fields(match: re.Match[str]) -> str:
    fields = [field for field in match[2].split("&") if not SECRET_FIELD.search(field.partition("=")[0])]
    return f"{match[1]}?{'&'.join(fields)}" if fields else match[1]
