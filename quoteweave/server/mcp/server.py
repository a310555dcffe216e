"""The MCP server: lists the tools, runs them, tells models what went wrong, and answers over streamable HTTP."""

import logging
import sys
from typing import Any
from urllib.parse import urlsplit

from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
    ToolAnnotations,
)
from pydantic import ValidationError
from starlette.requests import Request

from quoteweave.core.errors import QuoteweaveError
from quoteweave.core.files.jsonl import describe_validation_error
from quoteweave.server.depends import get_visible_names
from quoteweave.server.mcp.call import Call, Progress, base_url, grant_of_call
from quoteweave.server.mcp.tools import TOOLS, failure
from quoteweave.server.problems import ProblemError, problem_of, report_problem
from quoteweave.server.served import Served
from quoteweave.server.settings import LOOPBACK, ServerSettings
from quoteweave.version import __version__

LOG = logging.getLogger("quoteweave.server")
INSTRUCTIONS = (
    "Searches collections of documents and answers questions from them, every claim cited with its document, page and "
    "URL. ask gives a finished answer; search and fetch find and read evidence; read_page shows a whole page. The "
    "field page counts from 0; page_label is what people call the page. Pass the URLs on when you cite."
)
Context = ServerRequestContext[Any, Any]


def make_mcp_server(served: Served) -> Server[Any]:
    """Make the server of these collections, which runs over stdio and over HTTP alike."""

    async def list_tools(_context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=listed_tools())

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        return await run_tool(served, context, params)

    # MCPServer is not used, as it sets up the logging of the whole process and words errors in its own way.
    return Server(
        "quoteweave",
        title="quoteweave",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def listed_tools() -> list[Tool]:
    """Return the tools as clients are told of them."""
    return [
        Tool(
            name=name,
            title=tool.title,
            description=tool.description,
            input_schema=tool.arguments.model_json_schema(),
            output_schema=tool.output.model_json_schema(),
            annotations=ToolAnnotations(
                title=tool.title,
                read_only_hint=True,
                destructive_hint=False,
                idempotent_hint=True,
                open_world_hint=False,
            ),
        )
        for name, tool in TOOLS.items()
    ]


async def run_tool(served: Served, context: Context, params: CallToolRequestParams) -> CallToolResult:
    """Run a tool. An error becomes a result that describes it; details of unexpected errors are only in the log.

    Raises MCPError for a tool that does not exist.
    """
    tool = TOOLS.get(params.name)
    if tool is None:
        raise MCPError(INVALID_PARAMS, f"there is no tool {params.name!r}; there are: {', '.join(TOOLS)}")
    try:
        arguments = tool.arguments.model_validate(params.arguments or {})
        return await tool.run(await call_of(served, context), arguments)
    except ValidationError as error:
        return failure(describe_validation_error(error))
    except (QuoteweaveError, ProblemError) as error:
        return failure(report_problem(error, served.places()).detail)
    except Exception as error:
        LOG.exception("request %s failed: tool %s", _request_id(context), params.name)
        return failure(problem_of(error).detail)


async def call_of(served: Served, context: Context) -> Call:
    """Return the call that a request makes, with the grant of its HTTP request if it has one."""
    request = _http_request(context)
    progress = Progress(context.session.report_progress)
    grant = grant_of_call(request)
    return Call(served, await get_visible_names(served, grant), grant, await base_url(served, request), progress)


def _http_request(context: Context) -> Request | None:
    """Return the HTTP request that brought the message; None over stdio."""
    return context.request if isinstance(context.request, Request) else None


def _request_id(context: Context) -> object:
    request = _http_request(context)
    return context.request_id if request is None else request.scope.get("request_id")


def make_session_manager(served: Served) -> StreamableHTTPSessionManager:
    """Make the manager that answers requests with the tools over these collections. It runs once."""
    return StreamableHTTPSessionManager(
        make_mcp_server(served),
        stateless=True,
        security_settings=transport_security(served.settings),
        max_request_body_size=sys.maxsize,  # `BodyLimit` has checked it already, by the key's limit
    )


def transport_security(settings: ServerSettings) -> TransportSecuritySettings:
    """Return which Host and Origin headers are accepted: loopback's and those that the settings name.

    A server that other machines can reach under any name does not check Host, as each request needs a key there.
    """
    public = None if settings.public_url is None else urlsplit(settings.public_url)
    host_names = [*settings.allowed_hosts, *([public.hostname] if public is not None and public.hostname else [])]
    hosts = [f"[{host}]" if ":" in host else host for host in (*sorted(LOOPBACK), *host_names)]
    origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=settings.on_loopback or bool(settings.allowed_hosts),
        allowed_hosts=_with_ports(hosts),
        allowed_origins=[*_with_ports(origins), *settings.cors_origins],
    )


def _with_ports(names: list[str]) -> list[str]:
    return [shown for name in names for shown in (name, f"{name}:*")]
