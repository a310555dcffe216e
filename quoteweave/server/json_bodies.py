"""Reads JSON that clients send, and refuses characters that no text may hold, for all routes alike."""

import json
import re
from collections.abc import Awaitable, Callable

from fastapi import Request, Response
from fastapi.routing import APIRoute

from quoteweave.core.files.strict_json import load_json

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def parse_json(data: bytes | bytearray) -> object:
    """Return what JSON says.

    Raises `json.JSONDecodeError` for what is no JSON, for JSON that cannot be represented (nested too deeply, or with a
    number of thousands of digits), for an object that has a key twice, of which another program may read the other
    value, and for an escape such as `\\ud800` that is a lone surrogate: such text cannot be stored or sent.
    """
    try:
        value = load_json(data)
        if _SURROGATE.search(data):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise json.JSONDecodeError("it is nested too deeply", "", 0) from error
    except UnicodeEncodeError as error:
        raise json.JSONDecodeError("an escape such as \\ud800 is half of a character", "", 0) from error
    except UnicodeDecodeError as error:
        raise json.JSONDecodeError("it is not written in UTF-8", "", error.start) from error
    except ValueError as error:
        raise json.JSONDecodeError("it has a number of too many digits", "", 0) from error
    return value


class _JsonRequest(Request):
    async def json(self) -> object:
        return parse_json(await self.body())


class JsonRoute(APIRoute):
    """A route whose body is read by `parse_json`."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        """Return what handles a request."""
        handle = super().get_route_handler()

        async def handle_checked(request: Request) -> Response:
            return await handle(_JsonRequest(request.scope, request.receive))

        return handle_checked
