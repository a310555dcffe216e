"""Estimate what building an index will take: time, disk, memory, and the price of an endpoint."""

import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypeVar, cast

from pydantic import Field

from quoteweave.collection.stores.vectors import shard_key
from quoteweave.collection.views import VISUAL_VIEWS, ItemView
from quoteweave.core.chat.usage import estimate_tokens
from quoteweave.core.errors import DocumentError, MissingExtra, ModelNotFound
from quoteweave.core.protocols import Encoder, ImageProvider, SuggestsCallSize
from quoteweave.core.records import Quote, Record
from quoteweave.endpoints.prices import embedding_price
from quoteweave.index.embedding import document_views
from quoteweave.index.encoder_index import lacked
from quoteweave.index.kinds import index_bytes_per_item
from quoteweave.models.checkpoints import import_required, locate_checkpoint
from quoteweave.retrievers.catalogue import ModelRow, catalogue
from quoteweave.retrievers.encoders.endpoint import EndpointEncoder
from quoteweave.retrievers.encoders.text import TextEncoder
from quoteweave.retrievers.encoders.visual import PAGE_TOKENS
from quoteweave.retrievers.vector import VectorRetriever

if TYPE_CHECKING:
    from PIL.Image import Image

Number = TypeVar("Number", int, float)

CALIBRATION_S = 10.0
# Texts and pictures per call while the rate is measured, and documents that they are sampled from.
TEXTS, PICTURES, DOCUMENTS = 64, 4, 40

NOT_ASKED = "an endpoint is not asked for a plan"
NOT_HERE = "its weights are not on this machine, and a plan downloads nothing"
NOT_SEEN = "nothing of the sample could be read"


class BuildEstimate(Record):
    """What it takes to encode the missing items, and to store and search the whole index; None is unknown."""

    retriever: str
    items: int = Field(description="quotes or pages that the model can see")
    left_out: int = Field(description="quotes or pages without words or picture")
    left_out_of: Mapping[str, int] = Field(default_factory=dict, description="documents to how many of them")
    lacking: str | None = Field(default=None, description="what those lack, such as words")
    to_encode: int = Field(description="items that have no vectors yet")
    dimension: int | None = Field(default=None, description="numbers in a vector")
    vectors_an_item: float | None = Field(default=None, description="mean; where nothing was encoded, roughly")
    rate: float | None = Field(default=None, description="items a second, measured on this machine")
    seconds: float | None = Field(default=None, description="to encode what is missing")
    unmeasured: str | None = Field(default=None, description="why the time is not known")
    download_bytes: int | None = Field(default=None, description="of weights that were not found on this machine")
    disk_bytes: int | None = Field(default=None, description="vectors and index of all items")
    memory_bytes: int | None = Field(default=None, description="that a search over all of them maps")
    tokens: int | None = Field(default=None, description="that would be sent to an endpoint, roughly")
    price_usd: float | None = Field(default=None, description="what these tokens cost")
    destination: str | None = Field(default=None, description="host that text would be sent to; None: a local model")
    forms: str | None = Field(default=None, description="how an endpoint is told questions from quotes")


@dataclass(slots=True)
class _Counts:
    items: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    to_encode: int = 0
    tokens: float = 0.0  # estimate for all items, if they are texts
    tokens_to_encode: float = 0.0
    encoded: int = 0
    vectors: int = 0  # of the items that are already encoded
    dimension: int = 0


@dataclass(frozen=True, slots=True)
class _Sample:
    encoded: int
    vectors: int
    dimension: int
    seconds: float


def estimate_index(
    retriever: VectorRetriever, *, calibration_s: float = CALIBRATION_S, usd_per_million: float | None = None
) -> BuildEstimate:
    """Count the items that are missing, and encode a sample for some seconds to measure the rate; nothing is stored.

    Nothing is downloaded either: where the weights are not on this machine, or a library that runs them is not
    installed, sizes come from the catalogue and the time is unknown. An endpoint is not called, so that nothing is
    spent; its price comes from the price tables unless `usd_per_million` tokens is given. Raises what the encoder
    raises.
    """
    encoder, count = retriever.encoder, _count(retriever)
    fields: dict[str, object] = {"items": count.items, "to_encode": count.to_encode}
    fields |= {"left_out": count.left_out.total(), "left_out_of": count.left_out}
    fields["lacking"] = lacked(retriever.encoder_index.plan) if count.left_out else None
    sample = None
    if isinstance(encoder, EndpointEncoder):
        fields |= _endpoint_fields(encoder, count, usd_per_million)
    elif count.to_encode:
        try:
            sample = _calibrate(retriever, calibration_s)
            fields["unmeasured"] = None if sample else NOT_SEEN
        except (ModelNotFound, MissingExtra) as error:
            fields["unmeasured"] = NOT_HERE if isinstance(error, ModelNotFound) else str(error)
            row = _catalogue_row(encoder)
            fields["download_bytes"] = round(row.download_gb * 1e9) if row else None
    if not count.to_encode:
        fields["seconds"] = 0.0
    elif sample is not None:
        rate = sample.encoded / sample.seconds
        fields |= {"rate": rate, "seconds": count.to_encode / rate}
    return BuildEstimate.model_validate(
        {"retriever": retriever.encoder_index.plan.spec, **fields, **_sizes(retriever, count, sample)}
    )


def combine_estimates(plans: Sequence[BuildEstimate], retriever: str) -> BuildEstimate:
    """Add up the plans of the indexes that `retriever` needs; a sum with an unknown part is unknown."""
    unmeasured = [plan.retriever for plan in plans if plan.unmeasured]
    hosts = dict.fromkeys(plan.destination for plan in plans if plan.destination)
    sending = [plan for plan in plans if plan.destination]
    return BuildEstimate(
        retriever=retriever,
        items=sum(plan.items for plan in plans),
        left_out=sum(plan.left_out for plan in plans),
        left_out_of=sum((Counter(plan.left_out_of) for plan in plans), Counter()),
        lacking=" or ".join(dict.fromkeys(plan.lacking for plan in plans if plan.lacking)) or None,
        to_encode=sum(plan.to_encode for plan in plans),
        seconds=_sum_if_known([plan.seconds for plan in plans]),
        unmeasured=f"nothing was measured for {', '.join(unmeasured)}" if unmeasured else None,
        download_bytes=sum(plan.download_bytes or 0 for plan in plans) or None,
        disk_bytes=_sum_if_known([plan.disk_bytes for plan in plans]),
        memory_bytes=_sum_if_known([plan.memory_bytes for plan in plans]),
        tokens=_sum_if_known([plan.tokens for plan in sending]) if sending else None,
        price_usd=_sum_if_known([plan.price_usd for plan in sending]) if sending else None,
        destination=", ".join(hosts) or None,
    )


@contextmanager
def downloads_disabled() -> Iterator[None]:
    """Forbid downloads in this process for a while: a model that is not on this machine raises ModelNotFound."""
    try:
        constants = import_required("huggingface_hub.constants")
    except MissingExtra:  # without this library, nothing can be downloaded
        constants = None
    was_offline = constants and constants.HF_HUB_OFFLINE
    try:
        if constants:
            constants.HF_HUB_OFFLINE = True
        yield
    finally:
        if constants:
            constants.HF_HUB_OFFLINE = was_offline


def _sum_if_known(values: Sequence[Number | None]) -> Number | None:
    known_values = [value for value in values if value is not None]
    return sum(known_values) if len(known_values) == len(values) else None


def _count(retriever: VectorRetriever) -> _Counts:
    count, plan, row = _Counts(), retriever.encoder_index.plan, _catalogue_row(retriever.encoder)
    max_tokens = (row and row.passage_length) or float("inf")
    is_sent = isinstance(retriever.encoder, EndpointEncoder)
    characters = cast("int", retriever.encoder.settings["max_characters"]) if is_sent else None
    missing_shards = set[str]()
    for document in retriever.collection.documents():
        views = _views(retriever, document.name)
        view_keys = [view.key for view in views if view.key is not None]
        text_keys = () if plan.view in VISUAL_VIEWS else view_keys
        tokens = sum((min(estimate_tokens(key[:characters]), max_tokens) for key in text_keys), 0.0)
        count.items += len(view_keys)
        count.left_out += Counter({document.name: len(views) - len(view_keys)})
        count.tokens += tokens
        key = shard_key([view.key or "" for view in views])
        stored = retriever.collection.shards.vectors(plan.shards, key)
        if stored is not None:
            count.encoded += int((stored.lengths > 0).sum())
            count.vectors += int(stored.lengths.sum())
            count.dimension = stored.dimension or count.dimension
        elif key not in missing_shards:  # equal documents are encoded once
            missing_shards.add(key)
            count.to_encode += len(view_keys)
            count.tokens_to_encode += tokens
    return count


def _views(retriever: VectorRetriever, document: str) -> list[ItemView]:
    pictures: ImageProvider | None = retriever.encoder_index.pictures
    if pictures is not None and retriever.encoder_index.plan.view == "ocr_text":
        pictures = _UnreadAsTextLayer(pictures)
    return document_views(retriever.collection, retriever.encoder_index.plan, document, pictures)


class _UnreadAsTextLayer:
    """Pictures whose unread crops are assumed to have the words of the text layer: OCR of all might take hours."""

    def __init__(self, pictures: ImageProvider) -> None:
        self._pictures = pictures
        self.crop_key, self.crop = pictures.crop_key, pictures.crop
        self.page_key, self.page_image = pictures.page_key, pictures.page_image

    def ocr_text(self, quote: Quote, *, read: bool = True) -> str | None:
        ocr_text = self._pictures.ocr_text(quote, read=False)
        return quote.text if ocr_text is None and read else ocr_text


def _catalogue_row(encoder: Encoder) -> ModelRow | None:
    """The catalogue's row for the encoder's checkpoint; None where the checkpoint is not in the catalogue."""
    row = encoder.row if isinstance(encoder, TextEncoder) else None
    return row if row is not None and catalogue().get(row.name) == row else None


def _endpoint_fields(encoder: EndpointEncoder, count: _Counts, usd_per_million: float | None) -> Mapping[str, object]:
    tokens = round(count.tokens_to_encode)
    price = embedding_price(encoder.name) if usd_per_million is None else usd_per_million
    cost = None if price is None else tokens * price / 1e6
    unmeasured = NOT_ASKED if count.to_encode else None
    where_sent = {"destination": encoder.destination, "forms": encoder.forms}
    return {**where_sent, "tokens": tokens, "price_usd": cost, "unmeasured": unmeasured}


def _sizes(retriever: VectorRetriever, count: _Counts, sample: _Sample | None) -> Mapping[str, object]:
    """Estimate sizes from the sample, else from items encoded before, else from the catalogue."""
    plan, row = retriever.encoder_index.plan, _catalogue_row(retriever.encoder)
    if sample is not None:
        dimension, vectors_an_item = sample.dimension, sample.vectors / sample.encoded
    elif count.encoded:
        dimension, vectors_an_item = count.dimension, count.vectors / count.encoded
    elif requested_dimension := _requested_dimension(retriever.encoder):
        dimension, vectors_an_item = requested_dimension, 1.0
    elif row is not None:
        token_vectors = float(PAGE_TOKENS) if row.reads == "image" else count.tokens / max(count.items, 1)
        dimension, vectors_an_item = row.dimension, token_vectors if row.multi_vector else 1.0
    else:
        return {}
    vectors = count.items * vectors_an_item * dimension * (2 if plan.multi_vector else 4)
    index = count.items * index_bytes_per_item(plan.kind, dimension, vectors_an_item)
    return {
        "dimension": dimension,
        "vectors_an_item": vectors_an_item,
        "disk_bytes": round(vectors + index),
        "memory_bytes": round(vectors + index if plan.multi_vector else index),
    }


def _requested_dimension(encoder: Encoder) -> int | None:
    """Dimensions requested from an endpoint; None where the endpoint decides."""
    return cast("int | None", encoder.settings["dimensions"]) if isinstance(encoder, EndpointEncoder) else None


def _calibrate(retriever: VectorRetriever, seconds: float) -> _Sample | None:
    """Encode a sample of the collection for `seconds`; None where no item of it can be read.

    Raises ModelNotFound, before anything heavy is imported, for weights that would have to be downloaded.
    """
    encoder, contents = retriever.encoder, _sample_views(retriever)
    at_once = (
        encoder.at_once if isinstance(encoder, SuggestsCallSize) else PICTURES if encoder.reads == "image" else TEXTS
    )
    encoded = vectors = dimension = 0
    elapsed = 0.0
    batch = list(islice(contents, at_once))
    with downloads_disabled():
        if batch:
            if isinstance(encoder, TextEncoder):
                locate_checkpoint(encoder.row.checkpoint, encoder.row.revision)
            encoder.encode_views(cast("Sequence[str]", batch[:1]))  # loads the weights
        while batch:
            start = time.perf_counter()
            matrices = encoder.encode_views(cast("Sequence[str]", batch))
            elapsed += time.perf_counter() - start
            encoded, vectors = encoded + len(matrices), vectors + sum(map(len, matrices))
            dimension = matrices[0].shape[1]
            batch = list(islice(contents, at_once)) if elapsed < seconds else []
    return _Sample(encoded, vectors, dimension, elapsed) if encoded else None


def _sample_views(retriever: VectorRetriever) -> "Iterator[str | Image]":
    """Views of documents drawn at random with a fixed seed; pictures that cannot be read are left out."""
    random_source = random.Random(0)
    names = [document.name for document in retriever.collection.documents()]
    for name in random_source.sample(names, min(DOCUMENTS, len(names))):
        views = [view for view in _views(retriever, name) if view.key is not None]
        for view in random_source.sample(views, len(views)):
            with suppress(DocumentError, OSError):
                yield view.load()
