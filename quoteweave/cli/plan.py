"""`quoteweave plan`: what an index will take."""

from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.options import CollectionOption, JsonOption
from quoteweave.cli.output import print_json
from quoteweave.cli.retrieving import BatchSizeOption, DeviceOption, Finding, TrustOption, means_for

if TYPE_CHECKING:
    from quoteweave.retrievers.planning import Plan

JSON = """--json prints a list with one object a retriever: retriever, items, left_out, to_encode,
dimension, vectors_an_item, rate, seconds, disk_bytes, memory_bytes, tokens, price_usd,
destination; null for what is not known."""


def plan(
    retriever: Annotated[str, typer.Argument(help="As quoteweave index takes it.", metavar="NAME")],
    collection: CollectionOption,
    seconds: Annotated[float, typer.Option(min=0, help="How long to measure the speed.", metavar="N")] = 10.0,
    usd_per_million: Annotated[
        float | None, typer.Option(help="What an endpoint asks for a million tokens.", metavar="USD")
    ] = None,
    device: DeviceOption = None,
    batch_size: BatchSizeOption = None,
    trust_remote_code: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say what an index will take: time, disk, memory, and an endpoint's price.

    What is missing is counted, and a sample of it encoded for ten seconds. Nothing
    is stored, and an endpoint is not asked.
    """
    from quoteweave.core.errors import UsageError
    from quoteweave.index.collection import Collection
    from quoteweave.retrievers.planning import plan_index
    from quoteweave.retrievers.registry import make_retriever, members
    from quoteweave.retrievers.vector import VectorRetriever

    finding = Finding(device=device, batch_size=batch_size, trust_remote_code=trust_remote_code)
    with Collection.open(collection) as opened:
        made = [make_retriever(part, opened, means_for(opened, finding)) for part in members(retriever)]
        wanted = [part for part in made if isinstance(part, VectorRetriever)]
        if not wanted:
            raise UsageError(f"{retriever} needs no model: quoteweave add has built its index already")
        plans = [plan_index(part, calibration_s=seconds, usd_per_million=usd_per_million) for part in wanted]
    if as_json:
        print_json([found.model_dump(mode="json") for found in plans])
    else:
        for found in plans:
            _show(found)


def _show(plan: "Plan") -> None:
    left_out = f", {plan.left_out} have nothing that it reads" if plan.left_out else ""
    typer.echo(f"{plan.retriever}: {plan.to_encode} of {plan.items} to encode{left_out}")
    if plan.rate is not None and plan.seconds is not None:
        typer.echo(f"  time     {_duration(plan.seconds)} at {plan.rate:.1f} a second on this machine")
    if plan.disk_bytes is not None and plan.memory_bytes is not None:
        typer.echo(f"  disk     {_size(plan.disk_bytes)}: {plan.vectors_an_item:.1f} vectors of {plan.dimension} each")
        typer.echo(f"  memory   {_size(plan.memory_bytes)} at most while searching, mapped files counted")
    if plan.destination is not None:
        price = "price unknown; say it with --usd-per-million" if plan.price_usd is None else f"${plan.price_usd:.2f}"
        typer.echo(f"  tokens   about {plan.tokens:,}, sent to {plan.destination}: {price}")


def _duration(seconds: float) -> str:
    hours, minutes = int(seconds // 3600), int(seconds % 3600 // 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds % 60:.0f} s" if minutes else f"{seconds:.1f} s"


def _size(bytes_: int) -> str:
    return f"{bytes_ / 1e9:.2f} GB" if bytes_ >= 1e8 else f"{bytes_ / 1e6:.1f} MB"
