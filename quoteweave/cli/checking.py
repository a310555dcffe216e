"""A second opinion on what answers cite: its option, and the checker that it names."""

from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.endpoint_options import patience_of
from quoteweave.cli.retrieving import tell

if TYPE_CHECKING:
    from quoteweave.core.protocols import ClaimChecker
    from quoteweave.pipeline.settings import ModelSettings
    from quoteweave.retrievers.step_registry import Chats

CheckOption = Annotated[
    str | None,
    typer.Option(
        "--check",
        help="Have each cited sentence checked by chat (the model that answers), chat:MODEL@URL, or an entailment "
        "model: folder or hub name.",
        metavar="NAME",
    ),
]


def checker_named(name: str | None, settings: "ModelSettings", chats: "Chats") -> "ClaimChecker | None":
    """The checker of that name, if one is named; where it sends what is told on stderr. Raises as `make_checker`."""
    if name is None:
        return None
    from quoteweave.models.checkpoints import when_downloading
    from quoteweave.pipeline.checkers import make_checker
    from quoteweave.retrievers.registry import Means

    when_downloading(tell)
    patience = patience_of(settings.timeout_s, settings.call_limit_s, settings.retries)
    return make_checker(name, means=Means(settings.hardware, tell=tell, patience=patience), chats=chats)
