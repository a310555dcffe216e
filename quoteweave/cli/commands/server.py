"""`quoteweave serve`, `mcp` and `keys`: serves collections over HTTP or MCP, and manages the keys of a server."""

import sys
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated

import typer
from typer.models import OptionInfo

from quoteweave.cli.console import console, plain, print_json, print_message, printable
from quoteweave.cli.options.collection import JsonOption, parse_path
from quoteweave.cli.tables import make_table, show_table
from quoteweave.core.errors import MissingExtra, UsageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.server.access.keys import Key, KeyLimits, KeyRequest, KeyStore, Scope
from quoteweave.server.state.state_folder import STATE_VARIABLE, default_state

NamedCollectionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--collection",
        "-c",
        help="A collection to serve, under its folder's name unless named.",
        metavar="[NAME=]DIR",
    ),
]
"""The collections to serve; `named_collections` reads them."""
StateOption = Annotated[
    Path | None,
    typer.Option(
        "--state",
        envvar=STATE_VARIABLE,
        help="The server's folder for keys, jobs, uploads and conversations; the default is ~/.local/state/quoteweave.",
        metavar="DIR",
        parser=parse_path,
    ),
]


SERVE_JSON = """Settings that have no option stand in a file of --config; docs/serving.md has a table of them all."""


def serve(
    collection: NamedCollectionsOption = None,
    collections_folder: Annotated[
        Path | None,
        typer.Option(
            "--collections", help="Folder in which collections may be made; all in it are served.", metavar="DIR"
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of settings.", metavar="FILE")] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on (127.0.0.1).", metavar="HOST")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on (8321); 0 takes a free one.", metavar="N")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that answer (1).", metavar="N")] = None,
    state: StateOption = None,
) -> None:
    """Serve cited answers over HTTP, with a page on which people ask.

    Without keys (quoteweave keys add) it listens on this machine alone.
    """
    from quoteweave.server.settings import named_collections  # slow to import, and not needed for keys

    try:
        from quoteweave.server.run import run
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "fastapi", "server") from error
    options = {
        "collections": named_collections(collection) if collection else None,
        "collections_folder": collections_folder,
        "host": host,
        "port": port,
        "workers": workers,
        "state": state,
    }
    run(config, options, notify=lambda line: typer.echo(line, err=True))


MCP_JSON = """What it reads and writes is the protocol's; a client such as Claude Desktop starts it. docs/serving.md
shows how it is set up there. quoteweave serve has the same tools at /mcp."""


def mcp(
    collection: NamedCollectionsOption = None,
    collections_folder: Annotated[
        Path | None, typer.Option("--collections", help="Folder whose collections are all served.", metavar="DIR")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file of settings, as quoteweave serve takes it.", metavar="FILE")
    ] = None,
    public_url: Annotated[
        str | None,
        typer.Option(
            help="Address of a quoteweave serve of the same collections, so that URLs of quotes open in a browser.",
            metavar="URL",
        ),
    ] = None,
) -> None:
    """Let language models search and ask collections, over the Model Context Protocol (stdio).

    A client starts it and ends it by closing its input. Standard output carries the protocol alone.
    """
    from quoteweave.server.settings import named_collections

    try:
        from quoteweave.server.mcp.stdio import run_stdio
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "mcp", "server") from error
    options = {
        "collections": named_collections(collection) if collection else None,
        "collections_folder": collections_folder,
        "public_url": public_url,
    }
    if sys.stdin.isatty():
        typer.echo("waiting for a client's messages; clients start this command themselves (docs/serving.md)", err=True)
    run_stdio(config, options)


ADD_JSON = """--json prints one object: token, which cannot be had again, and key, as keys list --json has it."""
LIST_JSON = """--json prints, of each key: id, name, scopes, collections (null for all), created, expires and revoked
(null for never), requests_per_minute, concurrency, max_body, max_question, max_upload and max_upload_request
(null for the server's), status (active, expired or revoked)."""
REVOKE_JSON = LIST_JSON

_AGE = lazy_regex(r"([1-9]\d{0,4})([dh])")


def _limit(field: str, metavar: str = "N") -> OptionInfo:
    """Make the option of a limit that a key may have of its own."""
    text = KeyLimits.model_fields[field].description or ""
    option: OptionInfo = typer.Option(help=f"{text[:1].upper()}{text[1:]}.", metavar=metavar)
    return option


def add_key(
    name: Annotated[str, typer.Argument(help="Whose key it is, or what for.", metavar="NAME")],
    scope: Annotated[
        Scope,
        typer.Option(help="read: ask and look. write: also change documents. admin: also manage collections."),
    ] = "read",
    collection: Annotated[
        list[str] | None,
        typer.Option(
            "--collection", help="Only in the collection served by this name; can be repeated.", metavar="NAME"
        ),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(help="How long the key is accepted, or its last day (UTC).", metavar="30d, 12h or DATE"),
    ] = None,
    requests_per_minute: Annotated[int | None, _limit("requests_per_minute")] = None,
    concurrency: Annotated[int | None, _limit("concurrency")] = None,
    max_body: Annotated[int | None, _limit("max_body", "BYTES")] = None,
    max_question: Annotated[int | None, _limit("max_question", "CHARACTERS")] = None,
    max_upload: Annotated[int | None, _limit("max_upload", "BYTES")] = None,
    max_upload_request: Annotated[int | None, _limit("max_upload_request", "BYTES")] = None,
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key with which a program or a person may use the server.

    The key is printed once, alone on stdout; only a hash of it is stored. Programs
    send it as Authorization: Bearer KEY; people sign in with it on the page. A
    running server accepts it at once. For limits that you leave out, those of the
    server apply.
    """
    end = None if expires is None else expiry(expires, datetime.now(UTC))
    limits = {
        "requests_per_minute": requests_per_minute,
        "concurrency": concurrency,
        "max_body": max_body,
        "max_question": max_question,
        "max_upload": max_upload,
        "max_upload_request": max_upload_request,
    }
    request = KeyRequest(name, (scope,), collection, end, limits)
    keys = KeyStore(state or default_state())
    key, token = keys.add(request)
    try:
        if as_json:
            print_json({"token": token, "key": _key_json(key)})
        else:
            typer.echo(token)
        sys.stdout.flush()
    except OSError:  # such as a full disk: nobody has seen the token, and nobody can use the key
        keys.revoke(key.id)
        raise
    if as_json:
        return
    print_message(f"made key {key.id} ({key.name}): {_allowed(key)}. It is not shown again, so keep it now")


def list_keys(state: StateOption = None, as_json: JsonOption = False) -> None:
    """List the keys, what each may do, and until when."""
    keys = KeyStore(state or default_state()).list()
    if as_json:
        print_json([_key_json(key) for key in keys])
        return
    if not keys:
        print_message("there are no keys; make one with: quoteweave keys add NAME")
        return
    columns = ("id", "name", "may", "status")
    table = make_table(columns, words=columns)
    for key in keys:
        table.add_row(*map(plain, (key.id, key.name, _allowed(key), key.status(datetime.now(UTC)))))
    show_table(console(), table)


def revoke_key(
    key: Annotated[str, typer.Argument(help="Its id or name, as keys list shows them.", metavar="KEY")],
    state: StateOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke a key: from the next request on it is refused."""
    revoked = KeyStore(state or default_state()).revoke(key)
    if as_json:
        print_json(_key_json(revoked))
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


def _key_json(key: Key) -> dict[str, object]:
    return {**key.model_dump(mode="json"), "status": key.status(datetime.now(UTC))}


def _allowed(key: Key) -> str:
    """What a key may do, in words."""
    where = "all collections" if key.collections is None else ", ".join(key.collections)
    until = "" if key.expires is None else f", until {key.expires:%Y-%m-%d %H:%M} UTC"
    limits = "".join(f", {name} {limit:,}" for name, limit in key.own_limits.items())
    return f"{', '.join(key.scopes)} in {where}{until}{limits}"
