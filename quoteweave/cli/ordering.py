"""A model that orders the sentences of answers without a chat model: its option, and the scorer that it names."""

from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.retrieving import tell

if TYPE_CHECKING:
    from quoteweave.core.protocols import SentenceScorer
    from quoteweave.endpoints.connection import PatienceOptions
    from quoteweave.pipeline.settings import ModelSettings

AnswerWithOption = Annotated[
    str | None,
    typer.Option(
        "--answer-with",
        help="Without --model: have this encoder of text or reranker order the sentences that answer, as minilm; or "
        "reader=PATH, a reading model.",
        metavar="NAME",
    ),
]


def scorer_named(
    name: str | None, settings: "ModelSettings", patience: "PatienceOptions", *, instead: str | None
) -> "SentenceScorer | None":
    """The scorer of that name, if one is named; where it sends what is told on stderr.

    `instead` says what to do where a chat model writes; None where answers without it are given too. Raises UsageError.
    """
    if name is None:
        return None
    from quoteweave.core.errors import UsageError
    from quoteweave.models.checkpoints import when_downloading
    from quoteweave.pipeline.ordering import make_sentence_scorer
    from quoteweave.retrievers.registry import Means

    if settings.model is not None and instead is not None:
        raise UsageError(f"{name} can order the sentences of answers without a model, and {settings.model} {instead}")
    when_downloading(tell)
    return make_sentence_scorer(name, means=Means(settings.hardware, tell=tell, patience=patience))
