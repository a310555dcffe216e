"""Reads server-sent events from the bytes of a response."""

import re
from collections.abc import AsyncIterator
from typing import NamedTuple

_BLANK_LINE = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class ServerEvent(NamedTuple):
    """An event as it was sent: its name, and its data, which is JSON."""

    name: str
    data: bytes


async def read_events(parts: AsyncIterator[bytes]) -> AsyncIterator[ServerEvent]:
    """Yield the events of a stream that comes in parts, cut anywhere; an event that has not ended is left out.

    Lines end at line feeds and carriage returns alone: the data may hold the other line separators of Unicode.
    """
    unended = b""
    async for part in parts:
        *blocks, unended = _BLANK_LINE.split(unended + part)
        for block in blocks:
            event = _event(block)
            if event is not None:
                yield event


def _event(block: bytes) -> ServerEvent | None:
    """The event of a block of lines; None where it is a comment."""
    fields: dict[bytes, list[bytes]] = {}
    for line in block.splitlines():
        name, _, value = line.partition(b":")
        fields.setdefault(name, []).append(value.removeprefix(b" "))
    if b"data" not in fields:
        return None
    return ServerEvent(fields.get(b"event", [b"message"])[-1].decode("utf-8", "replace"), b"\n".join(fields[b"data"]))
