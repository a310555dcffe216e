"""An encoder's vectors of a collection: encodes missing ones, and builds, updates and opens their index."""

from collections.abc import Iterator, Mapping

from pydantic import Field

from quoteweave.collection.collection import Collection
from quoteweave.collection.records import IndexPlan, IndexState, Manifest
from quoteweave.collection.storage_errors import damage_error
from quoteweave.collection.stores.generations import build_command, try_read_manifest
from quoteweave.collection.stores.vectors import StoredVectors
from quoteweave.collection.views import CROP_VIEWS, VISUAL_VIEWS, Unit, item_rows
from quoteweave.collection.writer import Writer
from quoteweave.core.errors import CollectionError, FingerprintMismatch, IndexMissing, UsageError, note_text
from quoteweave.core.fingerprints import describe_differences
from quoteweave.core.messages import join_names
from quoteweave.core.protocols import Encoder, ImageProvider
from quoteweave.core.records import Record, View
from quoteweave.index import kinds
from quoteweave.index.embedding import DimensionChanged, EmbedProgress, EmbedResult, UnreadableItem, embed_missing
from quoteweave.index.opening import OpenedIndex, open_generation, with_rebuild_advice
from quoteweave.index.sync import drop_index, publish_index


class SkippedItem(Record):
    """An item that an index lacks: a quote, or a page, given by its first quote."""

    quote: str = Field(description="its id")
    document: str
    page: int = Field(description="from 0")
    page_label: str
    reason: str


def iter_skipped_items(
    collection: Collection, plan: IndexPlan, stored: Mapping[str, StoredVectors], refused: Mapping[str, str]
) -> Iterator[SkippedItem]:
    """Yield all skipped items, document by document and in order; `refused` maps ids of refused quotes to reasons."""
    for name, rows, pages in collection.iter_retrievable_rows():
        vectors = stored.get(name)
        if vectors is None or vectors.lengths.all():
            continue
        skipped_rows = item_rows(rows, pages, plan.unit)[vectors.lengths == 0]
        for quote in collection.quotes_at(skipped_rows.tolist()):
            if quote is not None:
                reason = refused.get(quote.id) or f"{'the page' if plan.unit == 'page' else 'it'} has {lacked(plan)}"
                page_fields = {"page": quote.page, "page_label": quote.page_label}
                yield SkippedItem(quote=quote.id, document=name, reason=reason, **page_fields)


def counts_by_reason(manifest: Manifest) -> dict[str, int]:
    """How many items were left out for each kind of reason; kinds without any are left out too."""
    is_visual = manifest.view in VISUAL_VIEWS
    refused = "with a picture that cannot be loaded" if is_visual else "refused by the endpoint"
    counts = {
        f"with {lacked(manifest)}": manifest.skipped - len(manifest.refused),
        refused: len(manifest.refused),
    }
    return {reason: count for reason, count in counts.items() if count > 0}


def lacked(plan: IndexPlan) -> str:
    """Return what an item lacks that has nothing to encode, such as words."""
    lacks = {
        "image": "no picture",
        "mixed": "no words or picture",
        "ocr_text": "no words, nor any read by OCR",
        "vlm_text": "no words or description",
    }
    return lacks.get(plan.view, "no words")


class IndexReport(Record):
    """The result of building or updating an index."""

    items: int = Field(description="quotes or pages in the index")
    encoded: int = Field(description="views that were encoded for it now")
    skipped: int = Field(description="quotes or pages left out: without words or picture, or with a damaged picture")
    unreadable: tuple[UnreadableItem, ...] = Field(
        default=(), description="pictures that could not be loaded just now, and texts that the endpoint refused"
    )
    left_out: tuple[SkippedItem, ...] = Field(default=(), description="all that are skipped, and why")


def make_plan(
    encoder: Encoder, spec: str, *, kind: str | None = None, unit: Unit = "quote", view: View | None = None
) -> IndexPlan:
    """Plan the index that a retriever uses with an encoder; by default an exact one, of quotes, in the encoder's view.

    Raises UsageError for a kind or a view that does not fit the encoder.
    """
    kind = kind or kinds.default_kind(multi_vector=encoder.multi_vector)
    kinds.check_kind(kind, multi_vector=encoder.multi_vector)
    view = view or ("image" if encoder.reads == "image" else "text")
    if (view in VISUAL_VIEWS) != (encoder.reads == "image"):
        reads = "pictures" if encoder.reads == "image" else "text"
        raise UsageError(f"{encoder.name} reads {reads}; it cannot be given the view {view!r}")
    return IndexPlan(
        name=encoder.name,
        spec=spec,
        kind=kind,
        multi_vector=encoder.multi_vector,
        unit=unit,
        view=view,
        settings=encoder.settings,
    )


class EncoderIndex:
    """An encoder's vectors over a collection, and the index that `plan` makes of them."""

    def __init__(
        self, collection: Collection, encoder: Encoder, plan: IndexPlan, pictures: ImageProvider | None = None
    ) -> None:
        if plan.view in CROP_VIEWS and pictures is None:
            reads = "pictures" if plan.view in VISUAL_VIEWS else "what OCR reads on pictures"
            raise UsageError(
                f"{plan.name} reads {reads}, and was not told where they are: in Python, "
                "make_retriever(NAME, collection, Resources(pictures=CollectionPictures(collection)))"
            )
        self.collection, self.plan, self.pictures = collection, plan, pictures
        self._encoder = encoder
        self._fingerprint = plan.fingerprint

    def refresh(self, writer: Writer, progress: EmbedProgress | None = None, *, replace: bool = False) -> IndexReport:
        """Encode what is missing, and build the index or bring it up to date; damaged files are rebuilt.

        Raises FingerprintMismatch if an index of the same spec has other settings, and DimensionChanged if its vectors
        have another dimension than the encoder's; with `replace` such an index is dropped. Raises what `embed_missing`
        and `open_index` raise, and StorageError where the disk refuses.
        """
        rivals, progress = self._same_spec_indexes(), progress or EmbedProgress()
        if rivals and not replace and self.collection.index_state(self._fingerprint) is None:
            raise self._missing_error()
        try:
            embedded = self._embed(writer, progress)
        except DimensionChanged:
            if not replace:
                raise
            for state in self.collection.indexes():
                if state.fingerprint.startswith(f"{self.plan.shards}."):
                    drop_index(self.collection, writer, state)
            writer.drop_index(self._fingerprint)
            writer.prune()
            embedded = self._embed(writer, progress)
        progress.on_index()
        stored = embedded.stored
        manifest = publish_index(self.collection, writer, self.plan, stored, encoded=embedded)
        if replace:
            for state, _ in rivals:
                drop_index(self.collection, writer, state)
        return IndexReport(
            items=manifest.count,
            encoded=embedded.encoded,
            skipped=manifest.skipped,
            unreadable=tuple(embedded.unreadable),
            left_out=tuple(iter_skipped_items(self.collection, self.plan, stored, manifest.refused)),
        )

    def _embed(self, writer: Writer, progress: EmbedProgress) -> EmbedResult:
        return embed_missing(
            self.collection, writer, self._encoder, self.plan, pictures=self.pictures, progress=progress
        )

    def missing_documents_note(self) -> str | None:
        """A note on which documents the index lacks (`core.errors.note_text`); None if it has all."""
        state = self.collection.index_state(self._fingerprint)
        if state is None or state.revision == self.collection.revision():
            return None
        manifest = try_read_manifest(state)
        indexed, current = manifest.documents if manifest else {}, self.collection.shard_keys(self.plan.shards)
        names = [document.name for document in self.collection.documents()]
        missing_names = [name for name in names if name not in indexed or indexed[name] != current.get(name)]
        if not missing_names:
            return None
        return note_text(
            f"the index {self.plan.spec} lacks {join_names(missing_names, 1)}: nothing is found there until it is "
            "built again",
            remedy=f"build it with: {build_command(self.collection.root, self.plan.spec)}",
        )

    def current(self, opened: OpenedIndex | None = None) -> OpenedIndex:
        """Return the index as it was last brought up to date: `opened` if that is still current.

        Raises IndexMissing where it was never built, FingerprintMismatch where one with other settings is there, and
        CollectionError, with what to do, where its files are damaged.
        """
        while (state := self.collection.index_state(self._fingerprint)) is not None:
            if opened is not None and opened.folder == state.folder:
                return opened
            try:
                return open_generation(self.collection, state)
            except CollectionError as error:
                # If another process has just published the next generation, that one is opened.
                if self.collection.index_state(self._fingerprint) == state:
                    raise with_rebuild_advice(error, self.collection, self.plan.spec) from error
        raise self._missing_error()

    def require_rows(self, opened: OpenedIndex) -> None:
        """Raise CollectionError where rows of the index are missing although no document has changed since."""
        state = self.collection.index_state(self._fingerprint)
        if state is not None and state.folder == opened.folder and state.revision == self.collection.revision():
            lost = "the catalogue lacks quotes that the index of the same revision holds"
            raise damage_error(self.collection.catalog_path, lost)

    def _same_spec_indexes(self) -> list[tuple[IndexState, Manifest]]:
        """Indexes of the same spec that were built with other settings."""
        other_states = [state for state in self.collection.indexes() if state.fingerprint != self._fingerprint]
        states_with_manifests = [
            (state, manifest) for state in other_states if (manifest := try_read_manifest(state)) is not None
        ]
        return [(state, manifest) for state, manifest in states_with_manifests if manifest.spec == self.plan.spec]

    def _missing_error(self) -> CollectionError:
        spec, command = self.plan.spec, build_command(self.collection.root, self.plan.spec)
        rivals = self._same_spec_indexes()
        if not rivals:
            return IndexMissing(f"the index {spec} has not been built", remedy=f"build it with: {command}")
        changed = describe_differences(rivals[-1][1].settings, self.plan.settings)
        changed = changed or "those of another version of quoteweave"
        return FingerprintMismatch(
            f"the index {spec} was built with other settings ({changed})",
            remedy=f"go back to them, or build the index anew with: {command} --replace",
        )
