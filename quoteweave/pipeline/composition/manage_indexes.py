"""Builds, updates, lists, estimates, measures and removes the indexes of a collection."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from quoteweave.collection.collection import Collection
from quoteweave.collection.records import IndexState, Manifest
from quoteweave.collection.stores.generations import spec_of, try_read_manifest
from quoteweave.core.errors import DocumentError, ModelNotFound, QuoteweaveError, UsageError
from quoteweave.core.messages import pluralize
from quoteweave.index import kinds, recall
from quoteweave.index.embedding import EmbedProgress
from quoteweave.index.encoder_index import IndexReport
from quoteweave.index.faiss.index import FaissIndex
from quoteweave.index.maxsim.index import MultiVectorIndex
from quoteweave.index.removal import finish_removals_everywhere
from quoteweave.index.sync import drop_index, indexes_behind, rebuild_note, sync_indexes
from quoteweave.models.checkpoints import is_local
from quoteweave.pipeline.composition.make_search import resources_for
from quoteweave.pipeline.composition.progress import NO_PROGRESS, Progress
from quoteweave.pipeline.pictures_for_models import CollectionPictures
from quoteweave.pipeline.settings import ResourceSettings
from quoteweave.retrievers.build_estimate import BuildEstimate, downloads_disabled, estimate_index
from quoteweave.retrievers.encoders.text import TextEncoder
from quoteweave.retrievers.make_retriever import make_retriever, member_specs, resolve_built_spec
from quoteweave.retrievers.spec import parse_spec
from quoteweave.retrievers.vector import VectorRetriever

EXACT = "it compares all, so that it finds what there is"
DEFAULT_RESOURCES = ResourceSettings()

Recall = recall.FaissRecall | recall.MaxSimRecall | str | None


def build_index(
    collection: Collection,
    spec: str,
    settings: ResourceSettings = DEFAULT_RESOURCES,
    *,
    wait: bool = False,
    replace: bool = False,
    progress: Progress = NO_PROGRESS,
) -> IndexReport | None:
    """Build the index of a single retriever, or bring it up to date; None for one that has no vectors.

    Only what is missing is encoded. With `wait`, waits for another process that is writing. With `replace`, an index
    that was made with other settings may be removed.

    Raises UsageError for a spec that names nothing, MissingExtra, CollectionLocked while another process writes,
    FingerprintMismatch (unless `replace`), ModelError, EndpointError, CollectionError for damage, and StorageError.
    """
    retriever = make_retriever(spec, collection, resources_for(collection, settings, progress))
    wait_s = None if wait else 0.0
    if not isinstance(retriever, VectorRetriever):
        _refresh_all(collection, wait_s, progress)
        return None
    if collection.may_have_traces():
        with collection.writer(wait_s) as writer:
            _note_all(finish_removals_everywhere(collection, writer), progress)
    _note_server(retriever, progress)
    if retriever.encoder_index.plan.view == "ocr_text":
        _read_pictures(CollectionPictures(collection), progress)
    name = spec.partition("=")[0]  # without the path, which would leave no room for a bar
    with progress.task(f"loading {name}", unit="views") as task:
        encoding_progress = EmbedProgress(
            lambda views: task.update(total=views, label=f"encoding with {name}"),
            task.advance,
            lambda: task.update(label="building the index"),
        )
        report = retriever.refresh(encoding_progress, wait_s=wait_s, replace=replace)
    _note_cut(retriever, progress)
    if progress.watched:
        note_faster_kind(collection, retriever, progress)
    return report


def _note_cut(retriever: VectorRetriever, progress: Progress) -> None:
    """Note how many texts were encoded without their ends."""
    encoder = retriever.encoder
    if isinstance(encoder, TextEncoder) and (count := encoder.take_cut()):
        texts, ends = pluralize(count, "text is", "texts are"), "its end is" if count == 1 else "their ends are"
        longer = f"longer than the {encoder.row.passage_length} tokens that the model reads"
        progress.note(f"note: {texts} {longer}: {ends} not searched by {encoder.name}")


def _refresh_all(collection: Collection, wait_s: float | None, progress: Progress) -> None:
    """Update the indexes that need no model."""
    with collection.writer(wait_s) as writer:
        sync_indexes(collection, writer)
        notes = writer.finish_removals()
    _note_all(notes, progress)


def build_indexes(
    collection: Collection,
    retrievers: Sequence[str],
    settings: ResourceSettings = DEFAULT_RESOURCES,
    progress: Progress = NO_PROGRESS,
) -> list[str]:
    """Build the index of every member retriever of these specs, and return the specs of the indexes."""
    parts = [part for text in retrievers for part in member_specs(text)]
    specs = [resolve_built_spec(part, collection, progress.note) for part in parts]
    for spec in specs:
        build_index(collection, spec, settings, progress=progress)
    return specs


def update_indexes(
    collection: Collection,
    settings: ResourceSettings = DEFAULT_RESOURCES,
    *,
    wait: bool = False,
    progress: Progress = NO_PROGRESS,
) -> list[str]:
    """Encode what the collection's indexes lack; return a sentence on each that cannot be updated."""
    notes: list[str] = []
    for manifest in indexes_behind(collection):
        try:
            build_index(collection, manifest.spec, settings, wait=wait, progress=progress)
        except QuoteweaveError as error:
            notes.append(rebuild_note(collection, manifest.spec, "lacks what is new", error))
    return notes


def index_specs(
    collection: Collection, retriever: str | None, dtype: str | None = None, progress: Progress = NO_PROGRESS
) -> list[str]:
    """Return the specs of a retriever's indexes; for None, those of every index that the collection has.

    Raises UsageError where the spec names another `dtype`.
    """
    if retriever is None:
        return [spec_of(state) for state in collection.indexes()]
    specs = [parse_spec(text) for text in member_specs(retriever)]
    if dtype is not None and any(spec.dtype not in (None, dtype) for spec in specs):
        raise UsageError(f"--dtype {dtype} and {retriever!r} say different things; give one of them")
    texts = [str(spec) if dtype is None else str(parse_spec(f"{spec}@{dtype}")) for spec in specs]
    return [resolve_built_spec(text, collection, progress.note) for text in texts]


def list_indexes(collection: Collection) -> list[tuple[IndexState, Manifest | None]]:
    """List the indexes of a collection, each with its manifest; None where that is damaged or gone.

    Raises CollectionError where the catalogue cannot be read.
    """
    return [(state, try_read_manifest(state)) for state in collection.indexes()]


def remove_indexes(collection: Collection, specs: Sequence[str], progress: Progress = NO_PROGRESS) -> int:
    """Remove the indexes of these specs with their vectors; return how many. Raises UsageError where none exists."""
    if not specs:
        raise UsageError("there is no index to remove")
    states = collection.indexes()
    names = [parse_spec(spec).shown for spec in specs]
    removed = [state for state in states if spec_of(state) in names]
    if not removed:
        existing = ", ".join(map(spec_of, states)) or "none"
        raise UsageError(f"there is no index of {' or '.join(names)}; there are: {existing}")
    with collection.writer() as writer:
        for state in removed:
            drop_index(collection, writer, state)
        notes = finish_removals_everywhere(collection, writer)
    _note_all(notes, progress)
    return len(removed)


def measure_recall(collection: Collection, spec: str, settings: ResourceSettings = DEFAULT_RESOURCES) -> Recall:
    """Measure an index's recall against exact search; None without vectors, or with too few items to measure."""
    retriever = make_retriever(spec, collection, resources_for(collection, settings))
    if not isinstance(retriever, VectorRetriever):
        return None
    plan = retriever.encoder_index.plan
    if plan.kind in kinds.EXACT_KINDS:
        return EXACT
    index = retriever.encoder_index.current().index
    if isinstance(index, MultiVectorIndex):
        return recall.measure_maxsim_recall(plan.kind, index)
    return recall.measure_faiss_recall(plan.kind, recall.stored_sample(collection, plan))


def plan_indexes(
    collection: Collection,
    retriever: str,
    settings: ResourceSettings = DEFAULT_RESOURCES,
    *,
    seconds: float = 10.0,
    usd_per_million: float | None = None,
    progress: Progress = NO_PROGRESS,
) -> list[BuildEstimate]:
    """Estimate what the indexes of a retriever will take, from encoding a sample for `seconds`; downloads nothing.

    Raises UsageError where it needs no model, ModelNotFound for one that is neither here nor in the catalogue.
    """
    retrievers = [
        _make_without_download(resolve_built_spec(part, collection, progress.note), collection, settings)
        for part in member_specs(retriever)
    ]
    vector_retrievers = [part for part in retrievers if part is not None]
    if not vector_retrievers:
        raise UsageError(f"{retriever} needs no model: its index is there once documents are added")
    return [estimate_index(part, calibration_s=seconds, usd_per_million=usd_per_million) for part in vector_retrievers]


def _make_without_download(spec: str, collection: Collection, settings: ResourceSettings) -> VectorRetriever | None:
    """Make the retriever without downloading anything; None for one without vectors."""
    try:
        with downloads_disabled():
            retriever = make_retriever(spec, collection, resources_for(collection, settings))
    except ModelNotFound as error:
        checkpoint = parse_spec(spec).checkpoint
        if checkpoint is None or is_local(checkpoint):
            raise
        raise ModelNotFound(
            f"{checkpoint} is not on this machine, and a plan downloads nothing; before it is here, nothing is known "
            "of a model that is not in the catalogue"
        ) from error
    return retriever if isinstance(retriever, VectorRetriever) else None


def _note_server(retriever: VectorRetriever, progress: Progress) -> None:
    server = os.environ.get("QUOTEWEAVE_MILVUS_URI")
    if retriever.encoder_index.plan.kind == "milvus" and server:
        host = urlsplit(server).netloc.rpartition("@")[2]
        progress.note(f"vectors, names of documents and ids of quotes are sent to {host}")


def _note_all(notes: Iterable[str], progress: Progress) -> None:
    for note in notes:
        progress.note(f"note: {note}")


def _read_pictures(pictures: CollectionPictures, progress: Progress) -> None:
    """Run OCR on pictures that have no OCR text yet; an unreadable crop is reported when it is encoded."""
    if not (unread := pictures.unread()):
        return
    progress.note(f"reading {len(unread)} picture{'s' if len(unread) > 1 else ''} by OCR, each once")
    with progress.task("reading pictures by OCR", len(unread)) as task:
        for quote in unread:
            with suppress(DocumentError):
                pictures.ocr_text(quote)
            task.advance()


def note_faster_kind(collection: Collection, retriever: VectorRetriever, progress: Progress) -> None:
    """Note the command that builds a faster index of a retriever, where search in its flat one is slow."""
    plan = retriever.encoder_index.plan
    if plan.kind != kinds.default_kind(multi_vector=False):
        return
    index = retriever.encoder_index.current().index
    if not isinstance(index, FaissIndex):
        return
    spec = parse_spec(plan.spec)
    line = recall.suggest_faster_kind(
        index, collection, plan, spec_of=lambda kind: str(spec.model_copy(update={"kind": kind}))
    )
    if line is not None:
        progress.note(f"note: {line}")
