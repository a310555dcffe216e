"""What an index will take, before it is built: time, disk, memory, and money where an endpoint asks for it."""

import random
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import islice
from typing import TYPE_CHECKING, cast

from pydantic import Field

from quoteweave.core.errors import DocumentError
from quoteweave.core.records import Record
from quoteweave.index.embedding import document_views
from quoteweave.index.kinds import bytes_of_item
from quoteweave.index.shards import shard_key
from quoteweave.index.views import ItemView
from quoteweave.retrievers.encoders.endpoint import EndpointEncoder
from quoteweave.retrievers.vector import VectorRetriever

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL.Image import Image

CALIBRATION_S = 10.0
# What is encoded at once while the rate is measured, and of how many documents.
TEXTS, PICTURES, DOCUMENTS = 64, 4, 40
# English has about four characters a token; other scripts have fewer.
CHARACTERS_A_TOKEN = 4


class Plan(Record):
    """What it takes to encode what is missing, and to keep and search the whole index. None is what is not known."""

    retriever: str
    items: int = Field(description="quotes or pages that the model can see")
    left_out: int = Field(description="quotes or pages without words or picture")
    to_encode: int = Field(description="items that have no vectors yet")
    dimension: int | None = Field(default=None, description="numbers in a vector")
    vectors_an_item: float | None = Field(default=None, description="mean over a sample of the collection")
    rate: float | None = Field(default=None, description="items a second, measured on this machine")
    seconds: float | None = Field(default=None, description="to encode what is missing")
    disk_bytes: int | None = Field(default=None, description="vectors and index of all items")
    memory_bytes: int | None = Field(default=None, description="that a search over all of them maps")
    tokens: int | None = Field(default=None, description="that would be sent to an endpoint, roughly")
    price_usd: float | None = Field(default=None, description="what these tokens cost")
    destination: str | None = Field(default=None, description="host that text is sent to; None for a local model")


@dataclass(slots=True)
class _Count:
    items: int = 0
    left_out: int = 0
    to_encode: int = 0
    characters: int = 0


@dataclass(frozen=True, slots=True)
class _Sample:
    encoded: int
    vectors: int
    dimension: int
    seconds: float


def plan_index(
    retriever: VectorRetriever, *, calibration_s: float = CALIBRATION_S, usd_per_million: float | None = None
) -> Plan:
    """Counts what is missing, and encodes a sample for some seconds to see how fast that goes; nothing is stored.

    An endpoint is not asked, so that nothing is spent: how long it takes is not known, and its price is that of
    `prices.toml`, unless `usd_per_million` tokens say otherwise. Raises what the encoder raises.
    """
    encoder, plan = retriever.encoder, retriever.store.plan
    count, found = _count(retriever), {}
    if isinstance(encoder, EndpointEncoder):
        tokens = count.characters // CHARACTERS_A_TOKEN
        price = prices().get(encoder.name) if usd_per_million is None else usd_per_million
        found = {
            "destination": encoder.destination,
            "tokens": tokens,
            "price_usd": None if price is None else tokens * price / 1e6,
        }
    elif (sample := _calibrate(retriever, calibration_s)) is not None:
        each, rate = sample.vectors / sample.encoded, sample.encoded / sample.seconds
        vectors = count.items * each * sample.dimension * (2 if plan.many else 4)
        index = count.items * bytes_of_item(plan.kind, sample.dimension, each)
        found = {
            "dimension": sample.dimension,
            "vectors_an_item": each,
            "rate": rate,
            "seconds": count.to_encode / rate,
            "disk_bytes": round(vectors + index),
            "memory_bytes": round(vectors + index if plan.many else index),
        }
    counted = {"items": count.items, "left_out": count.left_out, "to_encode": count.to_encode}
    return Plan.model_validate({"retriever": plan.spec, **counted, **found})


@cache
def prices() -> Mapping[str, float]:
    """US dollars for a million tokens, by the model's name."""
    text = resources.files("quoteweave.endpoints").joinpath("prices.toml").read_text("utf-8")
    return {name: float(price) for name, price in tomllib.loads(text)["embeddings"].items()}


def _count(retriever: VectorRetriever) -> _Count:
    count, plan = _Count(), retriever.store.plan
    for document in retriever.collection.documents():
        views = _views(retriever, document.name)
        seen = [view for view in views if view.key is not None]
        count.items += len(seen)
        count.left_out += len(views) - len(seen)
        key = shard_key([view.key or "" for view in views])
        if retriever.collection.shards.vectors(plan.shards, key) is None:
            count.to_encode += len(seen)
            count.characters += sum(len(view.key or "") for view in seen) if plan.view != "image" else 0
    return count


def _views(retriever: VectorRetriever, document: str) -> list[ItemView]:
    return document_views(retriever.collection, retriever.store.plan, document, retriever.store.pictures)


def _calibrate(retriever: VectorRetriever, seconds: float) -> _Sample | None:
    """Encodes parts of the collection for that long; None where there is nothing to encode."""
    contents = _contents(retriever)
    at_once = PICTURES if retriever.encoder.reads == "image" else TEXTS
    encoded = vectors = dimension = 0
    taken = 0.0
    first = list(islice(contents, at_once))
    if first:
        retriever.encoder.encode_views(cast("Sequence[str]", first[:1]))  # loads the weights
    batch = first
    while batch:
        start = time.perf_counter()
        matrices = retriever.encoder.encode_views(cast("Sequence[str]", batch))
        taken += time.perf_counter() - start
        encoded, vectors = encoded + len(matrices), vectors + sum(map(len, matrices))
        dimension = matrices[0].shape[1]
        batch = list(islice(contents, at_once)) if taken < seconds else []
    return _Sample(encoded, vectors, dimension, taken) if encoded else None


def _contents(retriever: VectorRetriever) -> "Iterator[str | Image]":
    """What the encoder would see, of documents drawn at random, always the same; pictures that fail are left out."""
    drawn = random.Random(0)
    names = [document.name for document in retriever.collection.documents()]
    for name in drawn.sample(names, min(DOCUMENTS, len(names))):
        views = [view for view in _views(retriever, name) if view.key is not None]
        for view in drawn.sample(views, len(views)):
            with suppress(DocumentError, OSError):
                yield view.load()
