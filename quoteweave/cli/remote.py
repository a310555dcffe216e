"""Asks a running server for the commands `ask` and `search`, and prints what they print.

It imports the records of all server responses, so that commands import it only if --server is given.
"""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from pydantic_core import to_jsonable_python

from quoteweave.cli.answers import AnswerFormat, ask_and_print
from quoteweave.cli.console import print_json, print_notes, print_trace, shown_name, snippet
from quoteweave.cli.hits import ShownHit, print_hits
from quoteweave.cli.terminal_pictures import PicturesName, pictures_on_stdout
from quoteweave.client.asynchronous import AsyncClient
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.errors import QuoteweaveError, UsageError
from quoteweave.core.files.pictures import UnfitPicture, load_pixels, open_picture
from quoteweave.core.records import Filter
from quoteweave.interchange.responses import FoundQuote, ModelSummary
from quoteweave.pipeline.rag import Answered, StreamEvent
from quoteweave.pipeline.runs.config import read_answer_settings
from quoteweave.pipeline.settings import Limits

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, slots=True)
class RemoteCollection:
    """A collection of a server, the filter on it, and the settings that a request chooses."""

    client: AsyncClient
    where: Filter
    settings: Mapping[str, object]

    def stream(self, question: str) -> AsyncGenerator[StreamEvent, None]:
        """Yield the events of the answer, as `Rag.stream` does; the server stores nothing."""
        return self.client.stream(question, where=self.where, settings=self.settings, conversation=False)

    def answer_with_context(self, question: str) -> Answered:
        """Return the answer with its context, as `Rag.answer_with_context` does; the server stores nothing."""
        return run_sync(self.client.ask(question, where=self.where, settings=self.settings, conversation=False))

    def crop(self, quote_id: str) -> "Image | None":
        """Return the picture of a quote; None, with a note on stderr, if it cannot be shown."""
        try:
            with open_picture(run_sync(self.client.quote_image(quote_id)), formats=("PNG", "JPEG")) as image:
                load_pixels(image)
                return image.convert("RGB")
        except (UnfitPicture, QuoteweaveError) as error:
            reason = f"what the server sent {error}" if isinstance(error, UnfitPicture) else str(error)
            print_notes([f"the picture of quote {quote_id} cannot be shown: {reason}"])
            return None


def settings_to_send(config: Path, setting: str | None) -> dict[str, object]:
    """Return the settings of a configuration file as JSON; the server decides which of them a request may choose.

    Raises UsageError as `read_answer_settings` does, and if the file has limits, which a server does not take.
    """
    answer_settings, limits = read_answer_settings(config, setting)
    if limits != Limits():
        raise UsageError(f"{config}: limits: not with --server, where the server's own hold; leave that table out")
    settings: dict[str, object] = to_jsonable_python(answer_settings)
    return settings


def remote_collection(url: str, name: str | None, where: Filter, options: Mapping[str, object]) -> RemoteCollection:
    """Return the collection of a server; options that were not given are left to the server."""
    settings = {key: value for key, value in options.items() if value is not None}
    return RemoteCollection(AsyncClient(url, collection=name), where, settings)


def ask_server(remote: RemoteCollection, question: str, form: AnswerFormat | None, pictures: PicturesName) -> None:
    """Ask the question and print the answer; without a form, print it as it comes if a model writes it."""
    model = _answering_model(remote)
    if model is not None and model.destination is not None:
        typer.echo(f"the server sends the question and the quotes found to {model.destination}", err=True)
    if form is None:
        form = "whole" if model is None or model.destination is None else "written"
    name = None if model is None else model.name
    show_picture = pictures_on_stdout(pictures, remote.crop)
    ask_and_print(form, remote, question, model=name, where=remote.where, pictures=show_picture)


def search_server(remote: RemoteCollection, question: str, k: int, *, as_json: bool) -> None:
    """Search and print the hits."""
    result = run_sync(remote.client.search(question, k, where=remote.where, settings=remote.settings))
    print_trace(result.trace)
    if as_json:
        print_json(result.model_dump(mode="json"))
    else:
        print_hits([_shown_hit(hit) for hit in result.hits], result.trace.reasons, remote.where)


def _shown_hit(hit: FoundQuote) -> ShownHit:
    """Return the printed parts of a server's hit."""
    place = f"{shown_name(hit.document)}, {hit.place}"
    return ShownHit(hit.rank, hit.score, hit.quote_id, place, hit.layout, snippet(hit.text, hit.layout))


def _answering_model(remote: RemoteCollection) -> ModelSummary | None:
    """Return the model that is to answer; None if the server does not list it, and will refuse it."""
    models = run_sync(remote.client.models()).models
    name = remote.settings.get("model")
    return next((model for model in models if (model.default if name is None else model.name == name)), None)
