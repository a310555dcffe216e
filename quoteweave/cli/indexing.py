"""Building indexes with a bar on stderr, for the commands that do."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from quoteweave.cli.retrieving import Finding, means_for, tell

if TYPE_CHECKING:
    from quoteweave.collection.collection import Collection
    from quoteweave.index.embedding import EmbedProgress
    from quoteweave.index.faiss import recall as faiss_recall
    from quoteweave.index.maxsim import recall as maxsim_recall
    from quoteweave.index.vector_store import IndexReport
    from quoteweave.pipeline.pictures import CollectionPictures
    from quoteweave.retrievers.vector import VectorRetriever

    Measured = faiss_recall.Recall | maxsim_recall.Recall | str | None

EXACT = "it compares all, so that it finds what there is"


@dataclass(frozen=True, slots=True)
class Building:
    """How indexes are to be built."""

    finding: Finding
    wait: bool = False
    replace: bool = False
    quiet: bool = False


def build_index(collection: "Collection", spec: str, how: Building) -> "IndexReport | None":
    """Builds the index of a single retriever, or brings it up to date; None for one that has no vectors.

    Raises what `VectorRetriever.refresh` raises.
    """
    from quoteweave.index.sync import finish_removals, refresh_indexes
    from quoteweave.pipeline.pictures import CollectionPictures
    from quoteweave.retrievers.registry import make_retriever
    from quoteweave.retrievers.vector import VectorRetriever

    retriever = make_retriever(spec, collection, means_for(collection, how.finding))
    wait_s = None if how.wait else 0.0
    if not isinstance(retriever, VectorRetriever):
        with collection.writer(wait_s) as writer:
            refresh_indexes(collection, writer)
            notes = writer.finish_removals()
        _tell_all(notes)
        return None
    if collection.may_have_traces():
        with collection.writer(wait_s) as writer:
            notes = finish_removals(collection, writer)
        _tell_all(notes)
    server = os.environ.get("QUOTEWEAVE_MILVUS_URI")
    if retriever.store.plan.kind == "milvus" and server:
        tell(f"vectors, names of documents and ids of quotes are sent to {urlsplit(server).netloc.rpartition('@')[2]}")
    if retriever.store.plan.view == "ocr_text":
        _read_pictures(CollectionPictures(collection))
    with encoding_progress(spec, quiet=how.quiet) as progress:
        report = retriever.refresh(progress, wait_s=wait_s, replace=how.replace)
    if not how.quiet:
        _suggest(collection, retriever)
    return report


def _tell_all(notes: Iterable[str]) -> None:
    for note in notes:
        tell(f"note: {note}")


def _read_pictures(pictures: "CollectionPictures") -> None:
    """Has OCR read what it did not yet, with a bar; a crop that cannot be had is told of when it is to be encoded."""
    from quoteweave.cli.output import counting
    from quoteweave.core.errors import DocumentError

    if not (unread := pictures.unread()):
        return
    tell(f"reading {len(unread)} picture{'s' if len(unread) > 1 else ''} by OCR, each once")
    with counting("reading pictures by OCR", len(unread)) as bar:
        for quote in unread:
            with suppress(DocumentError):
                pictures.ocr_text(quote)
            bar.advance()


def _suggest(collection: "Collection", retriever: "VectorRetriever") -> None:
    """Names a faster kind where a flat search is slow."""
    from quoteweave.index.kinds import default_kind

    if retriever.store.plan.kind != default_kind(many=False):
        return
    from quoteweave.index.faiss.index import FaissIndex
    from quoteweave.index.faiss.recall import suggestion
    from quoteweave.retrievers.spec import parse_spec

    index, plan = retriever.store.current().index, retriever.store.plan
    if not isinstance(index, FaissIndex):
        return
    spec = parse_spec(plan.spec)
    line = suggestion(index, collection, plan, spec_of=lambda kind: str(spec.model_copy(update={"kind": kind})))
    if line is not None:
        tell(f"note: {line}")


def recall_of(collection: "Collection", spec: str, finding: Finding) -> "Measured":
    """What an index finds of what an exact one does; None where there are too few items, or no vectors, to tell."""
    from quoteweave.index import kinds
    from quoteweave.index.faiss import recall as faiss_recall
    from quoteweave.index.maxsim import recall as maxsim_recall
    from quoteweave.index.maxsim.index import MultiVectorIndex
    from quoteweave.retrievers.registry import make_retriever
    from quoteweave.retrievers.vector import VectorRetriever

    retriever = make_retriever(spec, collection, means_for(collection, finding))
    if not isinstance(retriever, VectorRetriever):
        return None
    plan = retriever.store.plan
    if plan.kind in kinds.EXACT:
        return EXACT
    index = retriever.store.current().index
    if isinstance(index, MultiVectorIndex):
        return maxsim_recall.recall_of(plan.kind, index)
    return faiss_recall.recall_of(plan.kind, faiss_recall.stored_sample(collection, plan))


def bring_up_to_date(collection: "Collection", how: Building) -> list[str]:
    """Encodes what the collection's indexes lack; why one cannot be given it is returned, and the others go on."""
    from quoteweave.collection.stores.generations import building_command
    from quoteweave.core.errors import QuoteweaveError
    from quoteweave.index.sync import indexes_behind

    notes: list[str] = []
    for manifest in indexes_behind(collection):
        try:
            build_index(collection, manifest.spec, how)
        except QuoteweaveError as error:
            command = building_command(collection.root, manifest.spec)
            reason = str(error).rstrip(".")
            notes.append(f"the index {manifest.spec} lacks what is new: {reason}. Do it later with: {command}")
    return notes


@contextmanager
def encoding_progress(spec: str, *, quiet: bool) -> "Iterator[EmbedProgress]":
    """A bar of views, with their rate and the time left, on a terminal only."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from quoteweave.cli.output import printable
    from quoteweave.index.embedding import EmbedProgress

    stderr = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=stderr, transient=True, disable=quiet or not stderr.is_terminal) as bar:
        name = printable(spec.partition("=")[0])  # a path would leave no room for the bar
        task = bar.add_task(f"loading {name}", total=None, rate="")

        def on_total(views: int) -> None:
            bar.update(task, total=views, description=f"encoding with {name}")

        def on_done(views: int) -> None:
            bar.update(task, advance=views)
            speed = bar.tasks[0].finished_speed or bar.tasks[0].speed
            bar.update(task, rate=f"{speed:.1f} a second" if speed else "")

        yield EmbedProgress(on_total, on_done, lambda: bar.update(task, description="building the index"))
