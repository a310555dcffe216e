"""`quoteweave keys`: makes, lists and revokes the keys with which a server is used."""

import re
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Annotated

import typer

from quoteweave.cli.console import console, plain, print_json, print_message, printable
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.options.server import StateOption
from quoteweave.cli.tables import make_table, show_table
from quoteweave.core.errors import UsageError
from quoteweave.server.access.keys import Key, KeyRequest, KeyStore
from quoteweave.server.state.state_folder import default_state

JSON = """--json prints one object: token, which cannot be had again, and key, as keys list --json has it."""
LIST_JSON = """--json prints, of each key: id, name, scopes, collections (null for all), created, expires and revoked
(null for never), requests_per_minute (null for the server's limit), status (active, expired or revoked)."""

_AGE = re.compile(r"([1-9]\d{0,4})([dh])")


class ScopeName(StrEnum):
    """What a key may do; each includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


def add(
    name: Annotated[str, typer.Argument(help="Whose key it is, or what for.", metavar="NAME")],
    scope: Annotated[
        ScopeName, typer.Option(help="Ask and look; also change documents; also manage collections.")
    ] = ScopeName.READ,
    collection: Annotated[
        list[str] | None,
        typer.Option(
            "--collection", help="Only in the collection served by this name; may be given again.", metavar="NAME"
        ),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(help="For how long it is accepted, or its last day (UTC).", metavar="30d, 12h or DATE")
    ] = None,
    requests_per_minute: Annotated[
        int | None, typer.Option(help="The server's limit if left out.", metavar="N", min=1)
    ] = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key with which a program or a person may use the server.

    It is printed once, alone on stdout; only a hash of it is stored. Programs
    send it as Authorization: Bearer KEY, people sign in with it on the page. A
    running server accepts it at once.
    """
    end = None if expires is None else expiry(expires, datetime.now(UTC))
    wanted = KeyRequest(name, (scope.value,), collection, end, requests_per_minute)
    key, token = KeyStore(state or default_state()).add(wanted)
    if as_json:
        print_json({"token": token, "key": _json(key)})
        return
    typer.echo(token)
    print_message(f"made key {key.id} ({key.name}): {_allowed(key)}. It is not shown again, so keep it now")


def list_all(state: StateOption = None, as_json: JsonOption = False) -> None:
    """List the keys, what each may do, and until when."""
    keys = KeyStore(state or default_state()).list()
    if as_json:
        print_json([_json(key) for key in keys])
        return
    if not keys:
        print_message("there are no keys; make one with: quoteweave keys add NAME")
        return
    columns = ("id", "name", "may", "status")
    table = make_table(columns, words=columns)
    for key in keys:
        table.add_row(*map(plain, (key.id, key.name, _allowed(key), key.status(datetime.now(UTC)))))
    show_table(console(), table)


def revoke(
    key: Annotated[str, typer.Argument(help="Its id or name, as keys list shows them.", metavar="KEY")],
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke a key: from the next request on it is refused."""
    revoked = KeyStore(state or default_state()).revoke(key)
    if as_json:
        print_json(_json(revoked))
    else:
        typer.echo(printable(f"revoked {revoked.id} ({revoked.name})"))


def expiry(text: str, now: datetime) -> datetime:
    """Return the time at which a key expires: after 30d or 12h, or at the end of a date, UTC. Raises UsageError."""
    age = _AGE.fullmatch(text.strip())
    try:
        if age is not None:
            return now + timedelta(**{"days" if age[2] == "d" else "hours": int(age[1])})
        return datetime.combine(date.fromisoformat(text.strip()), time(), UTC) + timedelta(days=1)
    except (ValueError, OverflowError):
        raise UsageError(f"--expires {text!r}: give days (30d), hours (12h) or a date (2031-12-31)") from None


def _json(key: Key) -> dict[str, object]:
    return {**key.model_dump(mode="json"), "status": key.status(datetime.now(UTC))}


def _allowed(key: Key) -> str:
    """What a key may do, in words."""
    where = "all collections" if key.collections is None else ", ".join(key.collections)
    until = "" if key.expires is None else f", until {key.expires:%Y-%m-%d %H:%M} UTC"
    rate = "" if key.requests_per_minute is None else f", {key.requests_per_minute} requests a minute"
    return f"{', '.join(key.scopes)} in {where}{until}{rate}"
