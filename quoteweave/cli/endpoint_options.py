"""How long endpoints are waited for: options for all that a command asks, be it to find, to answer or to judge."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from quoteweave.endpoints.connection import PatienceOptions

_PANEL = "Endpoints"

TimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        help="Seconds that an endpoint may go without a sign of life (120); comments in a stream are none.",
        metavar="S",
        rich_help_panel=_PANEL,
    ),
]
CallLimitOption = Annotated[
    float | None,
    typer.Option(
        "--call-limit",
        help="Seconds that a call may take in all, further attempts included (five times --timeout).",
        metavar="S",
        rich_help_panel=_PANEL,
    ),
]
RetriesOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Further attempts where an endpoint fails (2; for embeddings 5).",
        metavar="N",
        rich_help_panel=_PANEL,
    ),
]


def patience_of(timeout_s: float | None, call_limit_s: float | None, retries: int | None) -> "PatienceOptions":
    """Those of the options that were given, as clients take them; for the others each client has a default of its own.

    Raises UsageError for a time that is not above 0, or is infinite.
    """
    from quoteweave.core.errors import UsageError

    for option, seconds in (("--timeout", timeout_s), ("--call-limit", call_limit_s)):
        if seconds is not None and not 0 < seconds < float("inf"):
            raise UsageError(f"{option} {seconds:g}: it has to be greater than 0")
    patience: PatienceOptions = {}
    if timeout_s is not None:
        patience["timeout_s"] = timeout_s
    if call_limit_s is not None:
        patience["call_limit_s"] = call_limit_s
    if retries is not None:
        patience["max_retries"] = retries
    return patience
