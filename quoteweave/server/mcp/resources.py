"""Quotes as MCP resources, by the URLs that they have where no server shows them."""

from typing import Any

from mcp import MCPError, UriTemplate
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

from quoteweave.core.errors import QuoteweaveError
from quoteweave.server.mcp.call import LOCAL, Call
from quoteweave.server.mcp.server import Context, call_of
from quoteweave.server.problems import ProblemError, report_problem
from quoteweave.server.served import Served

QUOTE_URI = UriTemplate.parse(f"{LOCAL}/c/{{collection}}/q/{{quote}}")


def add_quote_resources(server: Server[Any], served: Served) -> None:
    """Have the server read the URLs that begin with `LOCAL`."""

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
    """Return the words of the quote that a URL names. Raises MCPError where there is none, and says why."""
    found = QUOTE_URI.match(uri)
    if found is None:
        raise MCPError(INVALID_PARAMS, f"{uri!r} is not the URL of a quote, which is {QUOTE_URI}")
    try:
        _, quote = call.quote(f"{found['collection']}/{found['quote']}")
    except (QuoteweaveError, ProblemError) as error:
        detail = report_problem(error, call.served.places()).detail
        raise MCPError(INVALID_PARAMS, detail) from error
    return quote.words()
