"""Addresses fit to be shown and stored: without the user names, passwords and keys that they may hold."""

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

SECRET_FIELD = re.compile(r"key|token|secret|pass|sig|auth|code", re.IGNORECASE)
"""Names of fields of a URL's query whose values are secrets."""
# What stands before the machine in the addresses of a text; behind it are a path, a port or a name with a dot, so that
# a word such as http://host:8000@hnsw keeps its machine.
_CREDENTIALS = re.compile(r"(?<=://)[^\s/?#@'\"]+@(?=[^\s@]*[/.:]|localhost)")


def without_secrets(url: str) -> str:
    """One URL without user name, password, and what its query calls a key, token or the like."""
    parts = urlsplit(url)
    query = [(name, value) for name, value in parse_qsl(parts.query) if not SECRET_FIELD.search(name)]
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query=urlencode(query)).geturl()


def without_credentials(text: str) -> str:
    """A text without the user names and passwords of the URLs in it."""
    return _CREDENTIALS.sub("", text)
