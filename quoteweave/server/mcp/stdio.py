"""The tools over standard input and output, for clients that start the server themselves.

Over stdio, quotes are resources as well, at URLs that begin with `LOCAL`, as no HTTP server shows them.
"""

import logging
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
from mcp import MCPError, UriTemplate, stdio_server
from mcp.server.lowlevel import Server
from mcp_types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceTemplate,
    TextResourceContents,
)
from starlette.concurrency import run_in_threadpool

from quoteweave.core.errors import QuoteweaveError, withhold_remedies
from quoteweave.server.mcp.call import LOCAL, Call
from quoteweave.server.mcp.server import Context, call_of, make_mcp_server
from quoteweave.server.problems import ProblemError, note_log, report_problem
from quoteweave.server.run import check_answer_settings, check_collections, set_up_logging
from quoteweave.server.served import Served
from quoteweave.server.settings import read_server_settings

LOG = logging.getLogger("quoteweave.server")
QUOTE_URI = UriTemplate.parse(f"{LOCAL}/c/{{collection}}/q/{{quote}}")


def add_quote_resources(server: Server[Any], served: Served) -> None:
    """Make the server read URLs that begin with `LOCAL` as resources."""

    async def list_resources(_context: Context, _params: PaginatedRequestParams | None) -> ListResourcesResult:
        return ListResourcesResult(resources=[])  # a collection has too many quotes to list

    async def list_templates(_context: Context, _params: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        template = ResourceTemplate(
            name="quote",
            title="A quote",
            uri_template=str(QUOTE_URI),
            description="The words of a quote, by the URL that search, fetch, ask and read_page give.",
            mime_type="text/plain",
        )
        return ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        text = await run_in_threadpool(read_quote_uri, await call_of(served, context), params.uri)
        contents = TextResourceContents(uri=params.uri, mime_type="text/plain", text=text)
        return ReadResourceResult(contents=[contents])

    server.add_request_handler("resources/list", PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/templates/list", PaginatedRequestParams, list_templates)
    server.add_request_handler("resources/read", ReadResourceRequestParams, read_resource)


def read_quote_uri(call: Call, uri: str) -> str:
    """Return the text of the quote that a URL names. Raises MCPError, which says why, if there is none."""
    match = QUOTE_URI.match(uri)
    if match is None:
        raise MCPError(INVALID_PARAMS, f"{uri!r} is not the URL of a quote, which is {QUOTE_URI}")
    try:
        _, quote = call.quote(f"{match['collection']}/{match['quote']}")
    except (QuoteweaveError, ProblemError) as error:
        detail = report_problem(error, call.served.places()).detail
        raise MCPError(INVALID_PARAMS, detail) from error
    return quote.shown_text


def run_stdio(config_file: Path | None, overrides: Mapping[str, object]) -> None:
    """Serve the tools by the settings of a file and `overrides` of them, until the client closes the input.

    Only messages of the protocol are written to the output; the log goes to the standard error stream, and names the
    collections that cannot be read. Raises UsageError where there is nothing to serve, and what
    `check_answer_settings` and opening a collection raise.
    """
    settings = read_server_settings(config_file, overrides)
    check_answer_settings(settings)
    notes = check_collections(settings)
    set_up_logging(settings)
    for note in notes:
        LOG.warning("%s", note)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # else Ctrl-C would not end the thread that waits for input
    served = Served(settings)
    try:
        with withhold_remedies(note_log()):
            anyio.run(_serve, served)
    finally:
        served.close()


async def _serve(served: Served) -> None:
    server = make_mcp_server(served)
    if served.settings.public_url is None:
        add_quote_resources(server, served)
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())
