"""The tools over standard input and output, for clients that start the server themselves."""

import signal
from collections.abc import Mapping
from pathlib import Path

import anyio
from mcp import stdio_server

from quoteweave.core.errors import withhold_remedies
from quoteweave.server.mcp.resources import add_quote_resources
from quoteweave.server.mcp.server import make_mcp_server
from quoteweave.server.problems import log_note
from quoteweave.server.run import check_calibrations, check_collections, set_up_logging
from quoteweave.server.served import Served
from quoteweave.server.settings import read_server_settings


def run_stdio(config_file: Path | None, given: Mapping[str, object]) -> None:
    """Serve the tools by the settings of a file and those given, until the client closes the input.

    Only messages of the protocol are written to the output; the log goes to the standard error stream. Raises
    UsageError where there is nothing to serve, and what `check_calibrations` and opening a collection raise.
    """
    settings = read_server_settings(config_file, given)
    check_calibrations(settings)
    check_collections(settings)
    set_up_logging(settings)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing else ends the thread that waits for input
    served = Served(settings)
    try:
        with withhold_remedies(log_note):
            anyio.run(_serve, served)
    finally:
        served.close()


async def _serve(served: Served) -> None:
    server = make_mcp_server(served)
    if served.settings.public_url is None:
        add_quote_resources(server, served)
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())
