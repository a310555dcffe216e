"""Reads JSON that people write, and refuses objects with a name given twice, of which others keep only the last."""

import json
from typing import Any

from quoteweave.core.lazy_regex import lazy_regex

_TOKEN = lazy_regex(r'"(?P<name>(?:[^"\\]|\\.)*+)"(?P<colon>\s*+:)?|(?P<brace>[{}])')


class RepeatedName(json.JSONDecodeError):
    """A name is given twice in one object; the position is that of the second."""


class _Repeated(Exception):
    pass


def load_json(content: str | bytes | bytearray) -> Any:
    """What JSON says. Raises RepeatedName, and otherwise as `json.loads`: ValueError, RecursionError.

    >>> load_json('{"k": 5}')
    {'k': 5}
    """
    text = content if isinstance(content, str) else content.decode(json.detect_encoding(content), "surrogatepass")
    try:
        return json.loads(text, object_pairs_hook=_unique_fields)
    except _Repeated:
        raise _repeated_name(text) from None


def require_names_once(content: bytes) -> None:
    """Raise RepeatedName where a name is given twice; anything else that is wrong is left to who reads the content."""
    try:
        load_json(content)
    except RepeatedName:
        raise
    except (ValueError, RecursionError):
        pass


def _unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _Repeated
    return fields


def _repeated_name(text: str) -> RepeatedName:
    """The error for the first name that is given twice in its object."""
    objects: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        if token["brace"] == "{":
            objects.append(set())
        elif token["brace"]:
            objects.pop()
        elif token["colon"]:
            name = json.loads(f'"{token["name"]}"')
            if name in objects[-1]:
                return RepeatedName(f"an object has the key {name[:50]!r} twice", text, token.start())
            objects[-1].add(name)
    raise AssertionError("no name is given twice")  # pragma: no cover
