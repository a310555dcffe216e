"""Encodes views: each document's vectors are stored as a shard, and only what is missing is encoded.

One call of an encoder may have views of several documents. A document's shard is stored and tied to it as soon as its
last view is encoded. Until then the parts of the shard are stored after each call, so that a killed run can go on from
its last call.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from quoteweave.collection.arrays import np
from quoteweave.collection.collection import Collection
from quoteweave.collection.records import IndexPlan
from quoteweave.collection.stores.generations import build_command
from quoteweave.collection.stores.vectors import StoredVectors, shard_key
from quoteweave.collection.views import CROP_VIEWS, VISUAL_VIEWS, ItemView, item_views
from quoteweave.collection.writer import Writer
from quoteweave.core.errors import DocumentError, InputsRefused, ModelFailed, StorageError, by_setting, error_reason
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import Encoder, ImageProvider, SuggestsCallSize
from quoteweave.core.records import Filter, Record
from quoteweave.index.pending_shards import PendingShard, put_shard

if TYPE_CHECKING:
    from PIL.Image import Image

    Views = list[tuple["_Task", "str | Image | UnreadableItem"]]


class DimensionChanged(ModelFailed):
    """A model gives vectors of another dimension than the stored ones."""


class UnreadableItem(Record):
    """A quote whose image cannot be read, or whose text the endpoint refuses."""

    quote: str
    reason: str


def load_view(view: ItemView) -> "str | Image | UnreadableItem":
    """Load a view: its string or image, or the reason why it cannot be read."""
    from PIL import Image

    try:
        content = view.load()
        if not isinstance(content, str):
            content.load()  # otherwise a damaged picture would only be noticed in the encoder
        return content
    # Which error Pillow raises for a damaged picture depends on its format.
    except (DocumentError, OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        cause = error_reason(error)
        reason = cause if view.quote.id in cause else f"the picture of quote {view.quote.id}: {cause}"
        return UnreadableItem(quote=view.quote.id, reason=reason)


def check_vectors(
    name: str, matrices: "Sequence[np.ndarray[Any, Any]]", item_names: Sequence[str], *, multi_vector: bool
) -> None:
    """Raise ModelFailed unless the model gave a matrix of finite numbers for each item; `item_names` names them."""
    if len(matrices) != len(item_names):
        raise ModelFailed(
            f"{name} gave {pluralize(len(matrices), 'result')} for {pluralize(len(item_names), 'input')}; it "
            f"cannot be used as it is"
        )
    for matrix, item_name in zip(matrices, item_names, strict=True):
        if matrix.ndim != 2 or not matrix.shape[1] or (len(matrix) != 1 and not multi_vector):
            expected = "vectors" if multi_vector else "one vector"
            raise ModelFailed(
                f"{name} gave an array of shape {matrix.shape} for {item_name} where {expected} should be"
            )
        if not np.isfinite(matrix).all():
            advice = "the weights may be damaged, or the dtype too narrow for them"
            raise ModelFailed(
                f"{name} gave numbers that are not finite (NaN or infinite) for {item_name}; {advice}",
                remedy=by_setting("try {} float32 or bfloat16", "dtype"),
            )


# Views per call of an encoder that has no preference (`SuggestsCallSize`). No more are ever in memory at once, or lost
# when the run is stopped.
TEXTS_AT_ONCE = 256
PICTURES_AT_ONCE = 8
# Most pixels of pictures in memory at once, 0.2 GB in RGB, whatever the encoder prefers; the picture that reaches this
# number is the last of its call.
PIXELS_AT_ONCE = 64_000_000


@dataclass(frozen=True, slots=True)
class EmbedProgress:
    """Progress callbacks, called in the encoding thread: views to encode, views done, and the start of indexing."""

    on_total: Callable[[int], None] = lambda _: None
    on_done: Callable[[int], None] = lambda _: None
    on_index: Callable[[], None] = lambda: None


@dataclass(slots=True)
class EmbeddingStatus:
    """Which documents have stored vectors and which lack them."""

    stored: dict[str, StoredVectors] = field(default_factory=dict)
    """By document."""
    missing: dict[str, str | None] = field(default_factory=dict)
    """By document, the key of the shard that it lacks; None if that cannot be known without pictures."""
    views: dict[str, int] = field(default_factory=dict)
    """By the key of a missing shard, how many views are to be encoded for it."""
    older: dict[str, StoredVectors] = field(default_factory=dict)
    """The vectors that missing documents had before their pictures changed."""


@dataclass(slots=True)
class EmbedResult:
    """The result of `embed_missing`."""

    stored: dict[str, StoredVectors]
    """The vectors of every document, by its name."""
    fresh: set[str] = field(default_factory=set)
    """Documents whose shards were made now."""
    encoded: int = 0
    unreadable: list[UnreadableItem] = field(default_factory=list)

    @property
    def refused(self) -> dict[str, str]:
        """Why each unreadable item could not be encoded, by the id of its quote."""
        return {item.quote: item.reason for item in self.unreadable}


def embedding_status(
    collection: Collection,
    writer: Writer,
    plan: IndexPlan,
    pictures: ImageProvider | None = None,
    *,
    verified: bool = False,
) -> EmbeddingStatus:
    """Find each document's shard, and link it to the document if it is not linked yet.

    With `verified`, all vectors are read, and a shard with damaged vectors counts as missing.

    The words of a document never change, so a shard of texts that is tied to it fits. Its pictures may change, for
    instance with a password: if `pictures` are given, the views of visual encoders are compared with the shard. With
    `pictures`, OCR reads the crops where the plan's view is their text.
    """
    linked_keys, status = collection.shard_keys(plan.shards), EmbeddingStatus()
    shards, can_see = collection.shards, pictures is not None or plan.view not in CROP_VIEWS
    for document in collection.documents():
        name, key, count = document.name, linked_keys.get(document.name), 0
        linked = shards.vectors(plan.shards, key, verified=verified) if key is not None else None
        stored = linked if pictures is None or plan.view not in VISUAL_VIEWS else None
        if stored is None and can_see:
            key, count = _needed(collection, plan, name, pictures)
            stored = shards.vectors(plan.shards, key, verified=verified)
        if stored is not None:
            status.stored[name] = stored
            continue
        status.missing[name] = key
        if key is not None:
            status.views[key] = count
        if linked is not None:
            status.older[name] = linked
    unlinked_keys = {name: stored.key for name, stored in status.stored.items() if linked_keys.get(name) != stored.key}
    if unlinked_keys:
        writer.keep_shards(plan.shards, unlinked_keys)
    return status


def _needed(collection: Collection, plan: IndexPlan, name: str, pictures: ImageProvider | None) -> tuple[str, int]:
    """The key of the document's shard, and how many views it is made of; a shard without views is stored right away."""
    views = document_views(collection, plan, name, pictures)
    key, count = shard_key([view.key or "" for view in views]), sum(view.key is not None for view in views)
    if not count and collection.shards.vectors(plan.shards, key) is None:
        put_shard(collection, plan, (plan.shards, key), [], [0] * len(views))
    return key, count


def document_views(
    collection: Collection, plan: IndexPlan, name: str, pictures: ImageProvider | None
) -> list[ItemView]:
    """A view for each item of that document. Raises UsageError for an unknown name, ValueError without pictures."""
    return item_views(collection.quotes(Filter(documents=(name,))), plan.view, plan.unit, pictures)


def embed_missing(
    collection: Collection,
    writer: Writer,
    encoder: Encoder,
    plan: IndexPlan,
    *,
    pictures: ImageProvider | None = None,
    progress: EmbedProgress | None = None,
) -> EmbedResult:
    """Encode what is missing. Memory is bounded, whatever the size of the collection.

    A picture that cannot be read is left out of its document's shard, and so is a text that an endpoint refuses. Raises
    ModelFailed if the encoder gives no vectors, or vectors of another dimension than the stored ones, and what the
    encoder raises; documents that are finished by then keep their vectors.
    """
    # An index must be built from undamaged vectors, as no later command would encode damaged ones again.
    status = embedding_status(collection, writer, plan, pictures, verified=True)
    progress = progress or EmbedProgress()
    unreadable = _still_unreadable(collection, plan, status, pictures) if pictures is not None else []
    progress.on_total(sum(status.views.values()))
    run = _Run(collection, writer, encoder, plan=plan, status=status, progress=progress)
    run.done.unreadable += unreadable
    tasks = run.to_encode(pictures)
    while encoded := run.encode(run.loaded(tasks)):
        progress.on_done(encoded)
    return run.done


def _still_unreadable(
    collection: Collection, plan: IndexPlan, status: EmbeddingStatus, pictures: ImageProvider
) -> list[UnreadableItem]:
    """Pictures that are still unreadable; a document with one that became readable is marked as missing."""
    unreadable: list[UnreadableItem] = []
    for name, stored in list(status.stored.items()):
        if plan.view not in VISUAL_VIEWS or stored.lengths.all():
            continue
        views = document_views(collection, plan, name, pictures)
        without_vectors = [
            view for view, vectors in zip(views, stored.lengths, strict=True) if view.key and not vectors
        ]
        still_unreadable = [
            content for view in without_vectors if isinstance(content := load_view(view), UnreadableItem)
        ]
        if len(still_unreadable) == len(without_vectors):
            unreadable += still_unreadable
        else:
            del status.stored[name]
            status.missing[name] = stored.key
            status.views[stored.key] = sum(view.key is not None for view in views)
    return unreadable


def _dimension(plan: IndexPlan, status: EmbeddingStatus) -> int:
    """The dimension that vectors must have: that of stored vectors, or else of the settings; 0 if unknown."""
    dimensions = plan.settings.get("dimensions")
    return next(
        (vectors.dimension for vectors in status.stored.values() if vectors.dimension),
        dimensions if isinstance(dimensions, int) else 0,
    )


@dataclass(frozen=True, slots=True)
class _Task:
    """One view to encode."""

    pending: PendingShard
    view: ItemView


class _Run:
    """The state of one `embed_missing`."""

    def __init__(
        self,
        collection: Collection,
        writer: Writer,
        encoder: Encoder,
        *,
        plan: IndexPlan,
        status: EmbeddingStatus,
        progress: EmbedProgress,
    ) -> None:
        self._collection, self._writer, self._encoder, self._plan = collection, writer, encoder, plan
        self._status, self._progress = status, progress
        self._dimension = _dimension(plan, status)
        self.done = EmbedResult(dict(status.stored))

    def to_encode(self, pictures: ImageProvider | None) -> Iterator[_Task]:
        names: dict[str, list[str]] = {}
        for name, key in self._status.missing.items():
            names.setdefault(cast("str", key), []).append(name)
        for key, same_names in names.items():
            views = document_views(self._collection, self._plan, same_names[0], pictures)
            places = [position for position, view in enumerate(views) if view.key is not None]
            pending = PendingShard(key, same_names, places, [0] * len(views))
            self._dimension = pending.resume(self._collection, self._plan, self._dimension)
            if pending.done:
                self._progress.on_done(pending.done)
            yield from (_Task(pending, views[position]) for position in places[pending.done :])

    def loaded(self, tasks: Iterator[_Task]) -> "Views":
        """Load the next views, as many as the encoder gets in one call; none after the last."""
        views: Views = []
        pixels = 0
        for task in tasks:
            content = load_view(task.view)
            views.append((task, content))
            if not isinstance(content, str | UnreadableItem):
                pixels += content.width * content.height
            if len(views) >= self._at_once or pixels >= PIXELS_AT_ONCE:
                break
        return views

    @cached_property
    def _at_once(self) -> int:
        # Read only when there is something to encode: the number depends on the device, so this may import torch.
        if isinstance(self._encoder, SuggestsCallSize):
            return self._encoder.at_once
        return PICTURES_AT_ONCE if self._plan.view in VISUAL_VIEWS else TEXTS_AT_ONCE

    def encode(self, views: "Views") -> int:
        """Encode these views, and store the documents that this completes. Returns how many views there were."""
        readable = [(task, content) for task, content in views if not isinstance(content, UnreadableItem)]
        results = iter(self._vectors([task for task, _ in readable], [content for _, content in readable]))
        for task, content in views:
            result = content if isinstance(content, UnreadableItem) else next(results)
            if isinstance(result, UnreadableItem):
                self.done.unreadable.append(result)
                task.pending.add(None)
            else:
                self.done.encoded += 1
                task.pending.add(result)
            if task.pending.is_complete:
                self._store(task.pending)
        if views and not (last := views[-1][0].pending).is_complete:
            last.store_part(self._collection, self._writer, self._plan)
        return len(views)

    def _vectors(
        self, tasks: Sequence[_Task], contents: "Sequence[str | Image]"
    ) -> "list[np.ndarray[Any, Any] | UnreadableItem]":
        if not contents:
            return []
        refused: Mapping[int, str] = {}
        try:
            matrices = self._encoder.encode_views(cast("Sequence[str]", contents))
        except InputsRefused as error:
            refused, matrices = error.refused, list(error.matrices)
        item_names = [f"quote {task.view.quote.id}" for number, task in enumerate(tasks) if number not in refused]
        check_vectors(self._plan.name, matrices, item_names, multi_vector=self._plan.multi_vector)
        if matrices:
            self._dimension = self._dimension or matrices[0].shape[1]
        for matrix, item_name in zip(matrices, item_names, strict=True):
            if matrix.shape[1] != self._dimension:
                command = build_command(self._collection.root, self._plan.spec)
                raise DimensionChanged(
                    f"{self._plan.name} gave {matrix.shape[1]} numbers for {item_name} where its vectors have "
                    f"{self._dimension}; its checkpoint or endpoint has changed, or its settings are wrong",
                    remedy=f"where that is meant, build the index anew with: {command} --replace",
                )
        with np.errstate(over="ignore"):
            stored = [matrix.astype(self._plan.dtype) for matrix in matrices]
        # Half precision cannot hold numbers beyond 65,504.
        check_vectors(
            self._plan.name,
            stored,
            [f"{item_name} as {self._plan.dtype}" for item_name in item_names],
            multi_vector=True,
        )
        matrices_left = iter(stored)
        return [
            UnreadableItem(quote=task.view.quote.id, reason=f"quote {task.view.quote.id}: {refused[number]}")
            if number in refused
            else next(matrices_left)
            for number, task in enumerate(tasks)
        ]

    def _store(self, pending: PendingShard) -> None:
        """Store the vectors and link them to their documents, except where older vectors cover more items."""
        encoded_items = sum(length > 0 for length in pending.lengths)
        kept_older = {
            name: older
            for name in pending.names
            if (older := self._status.older.get(name)) and _items(older) > encoded_items
        }
        names = [name for name in pending.names if name not in kept_older]
        self.done.stored.update(kept_older)
        if names:
            pending.store(self._collection, self._writer, self._plan, names)
            stored = self._collection.shards.vectors(self._plan.shards, pending.key)
            if stored is None:
                raise StorageError("vectors that were just stored cannot be read; check the disk of the collection")
            self.done.stored.update(dict.fromkeys(names, stored))
            self.done.fresh.update(names)


def _items(stored: StoredVectors) -> int:
    """How many items have vectors."""
    return int((stored.lengths > 0).sum())
