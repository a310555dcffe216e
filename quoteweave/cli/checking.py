"""A second opinion on what answers cite: its option, and the checker that it names."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from quoteweave.core.protocols import ChatModel, ClaimChecker
    from quoteweave.pipeline.settings import ModelSettings

CheckOption = Annotated[
    str | None,
    typer.Option(
        "--check",
        help="Have each cited sentence checked by chat (the model that answers), chat:MODEL@URL, or an entailment "
        "model: folder or hub name.",
        metavar="NAME",
    ),
]


def checker_named(
    name: str | None,
    settings: "ModelSettings",
    chat: "ChatModel | None",
    *,
    through: "Callable[[ChatModel], ChatModel]" = lambda model: model,
) -> "ClaimChecker | None":
    """The checker of that name, if one is named; where it sends what is told on stderr. Raises as `make_checker`."""
    if name is None:
        return None
    from quoteweave.generation.entailment.checkers import make_checker
    from quoteweave.models.weights import when_downloading

    def tell(line: str) -> None:
        typer.echo(line, err=True)

    when_downloading(tell)
    return make_checker(
        name,
        chat=chat,
        prompts_folder=settings.prompts,
        hardware=settings.hardware,
        through=through,
        tell=tell,
    )
