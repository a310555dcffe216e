"""Search by inner product in Milvus: embedded in a folder, or on a server that others may share."""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from pydantic import Field

from quoteweave.collection.arrays import np
from quoteweave.collection.checksums import sealed_record, unsealed_record
from quoteweave.collection.stores.content import atomic_write
from quoteweave.collection.unreferenced import MILVUS_NAME_PATTERN, MILVUS_POINTER
from quoteweave.core.errors import CollectionError, FingerprintMismatch, QuoteweaveError, StorageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Record
from quoteweave.index.base import SearchScope, Shard, TopItems
from quoteweave.index.milvus.connection import CALL_S, TOKEN_VARIABLE, URI_VARIABLE, Milvus, Server
from quoteweave.index.milvus.schema import entities, expression, make_indexes, make_schema
from quoteweave.index.milvus.stored_files import (
    FileList,
    is_list_as_saved,
    list_of_files,
    rows_checksum,
    stored_checksums,
    verify_stored,
)

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix
    from quoteweave.index.base import Rows

_EMBEDDED = "embedded"
_OUR_NAME = lazy_regex(MILVUS_NAME_PATTERN)
MAX_HITS = 16_384  # Milvus returns no more for one question, nor for one query of rows
HITS_AT_ONCE = 1_000_000  # at 12 bytes each, far below the limit of a message
QUESTIONS_AT_ONCE = 1_000
ROWS_AT_ONCE = 1_000
_FLOATS_AT_ONCE = 1_000_000


class MilvusPointer(Record):
    """What is saved of an index: its place in Milvus, without secrets."""

    uri: str = Field(description="of the server, or 'embedded' for the one in the collection's own folder")
    collection: str = Field(pattern=f"^{_OUR_NAME.pattern}$", description="its name in Milvus")
    dimension: int = Field(ge=1)
    files: Mapping[str, str] = Field(
        default_factory=dict, description="checksums of the embedded index's files, by their paths below its folder"
    )
    list_of_files: FileList | None = Field(
        default=None, description="the embedded Milvus's own list of them; None from the first change until it is saved"
    )


class MilvusIndex:
    """A `VectorIndex` of items of one vector in a Milvus collection of its own; exact.

    A new index is created on the server at `uri` or QUOTEWEAVE_MILVUS_URI, or else embedded in the `database_folder`.
    A saved one stays where it is: `uri` then only gives the address at which its server is reached. `token`, or
    QUOTEWEAVE_MILVUS_TOKEN, is only sent to an address given in this way, never to one that was read from `folder`.

    Only a pointer is saved, so changes after `save` are part of the saved index too. An index that is closed before it
    was ever saved is dropped. Raises CollectionError for a pointer that is damaged or points to nothing,
    FingerprintMismatch if the vectors have another dimension, UsageError for an invalid URI, and what `Milvus` raises.
    All methods raise the latter if the connection is lost for good, and UsageError once the index is closed.
    """

    def __init__(
        self,
        dimension: int,
        folder: Path | None = None,
        *,
        database_folder: Path,
        uri: str | None = None,
        token: str | None = None,
    ) -> None:
        pointer = None if folder is None else _read_pointer(folder / MILVUS_POINTER, dimension)
        server = _server(pointer, uri, token)
        self.dimension = dimension
        self._database_folder = database_folder
        self._uri = server.uri if server else _EMBEDDED
        self._name = pointer.collection if pointer else f"quoteweave_{uuid4().hex}"
        self._pointer, self._saved_in = pointer, folder
        list_to_check = None
        if pointer is not None and server is None:
            verify_stored(self._files, pointer.files)
            list_to_check = None if is_list_as_saved(self._files, pointer.list_of_files) else pointer.list_of_files
        self._milvus = Milvus(server or database_folder)
        try:
            if pointer is None:
                self._create()
            self._load()
            if list_to_check is not None and rows_checksum(self.rows) != list_to_check.rows:
                raise CollectionError(f"{self._files} holds other items than were saved; build the index again")
        except BaseException:
            self.close()
            raise

    @property
    def keeps_removed(self) -> bool:
        """Whether its files keep removed items: those of the embedded Milvus do, until it merges them, if ever."""
        return self._uri == _EMBEDDED

    @property
    def rows(self) -> "Rows":
        """(n,) rows of all items, ascending."""
        rows: list[int] = []
        with self._milvus.client() as client:
            pages = client.query_iterator(
                self._name, batch_size=MAX_HITS, output_fields=["row"], timeout=CALL_S, consistency_level="Strong"
            )
            with closing(pages):
                while page := pages.next():
                    rows += [item["row"] for item in page]
        return np.sort(np.array(rows, dtype=np.int64))

    def add(self, shard: Shard) -> None:
        """Add a document's items; they replace items of the same rows, so that an interrupted call may be repeated.

        Raises ValueError for vectors of another dimension, and unless each item has one vector.
        """
        if shard.dimension != self.dimension:
            raise ValueError(f"the index holds vectors of {self.dimension} dimensions, not of {shard.dimension}")
        if (shard.lengths != 1).any():
            raise ValueError(f"items of {shard.document!r} have other than one vector each, which Milvus cannot hold")
        vectors = shard.vectors()
        self._begin_changing()
        step = max(1, min(ROWS_AT_ONCE, _FLOATS_AT_ONCE // self.dimension))
        for start in range(0, len(vectors), step):
            part = np.asarray(vectors[start : start + step], dtype=np.float32)
            with self._milvus.client() as client:
                client.upsert(self._name, entities(shard, part, start), timeout=CALL_S)

    def remove(self, rows: "Rows") -> None:
        """Remove items; rows that are not there are ignored."""
        self._begin_changing()
        for start in range(0, len(rows), ROWS_AT_ONCE):
            with self._milvus.client() as client:
                client.delete(self._name, ids=rows[start : start + ROWS_AT_ONCE].tolist(), timeout=CALL_S)

    def search(self, queries: "Sequence[Matrix]", k: int, scope: SearchScope | None = None) -> list[TopItems]:
        """At most `k` items for each question, best first; of equal scores the lower row comes first.

        Raises FingerprintMismatch for a question of another dimension, UsageError for a scope of unknown documents.
        """
        for query in queries:
            if query.shape != (1, self.dimension):
                raise FingerprintMismatch(
                    f"the index holds vectors of {self.dimension} dimensions, and a question has {len(query)} of "
                    f"{query.shape[1]}; search with the model that it was built with, or build it again"
                )
        where = "" if scope is None else expression(scope)
        if not queries or where is None or k < 1:
            return [_top_items([], []) for _ in queries]
        best = self._best(np.concatenate(queries).astype(np.float32), k, where, ask=k + 1)
        return [TopItems(result.rows[:k], result.scores[:k]) for result in best]

    def save(self, folder: Path) -> None:
        """Write a pointer to the index into an empty folder."""
        with self._milvus.client() as client:
            # Flushing writes new items to segments, which are searched many times faster.
            client.flush(self._name, timeout=CALL_S)
        pointer = MilvusPointer(uri=self._uri, collection=self._name, dimension=self.dimension)
        if self._uri == _EMBEDDED:
            stored = {"files": stored_checksums(self._files), "list_of_files": list_of_files(self._files, self.rows)}
            pointer = pointer.model_copy(update=stored)
        self._write_pointer(pointer, folder)

    def drop(self) -> None:
        """Remove the index from Milvus; saved pointers to it are then invalid."""
        with self._milvus.client() as client:
            client.drop_collection(self._name, timeout=CALL_S)

    def drop_others(self, folders: Iterable[Path]) -> int:
        """Drop what killed runs left in the embedded Milvus: collections that no index in these folders points to.

        Returns how many. On a server nothing is dropped, as it may hold collections of other people.
        """
        if self._uri != _EMBEDDED:
            return 0
        referenced = {self._name, *filter(None, map(_pointed_collection, folders))}
        with self._milvus.client() as client:
            existing = [name for name in client.list_collections(timeout=CALL_S) if _OUR_NAME.fullmatch(name)]
            unreferenced = [name for name in existing if name not in referenced]
            for name in unreferenced:
                client.drop_collection(name, timeout=CALL_S)
        # The embedded Milvus does not list a collection that it was creating or dropping when it was killed.
        for folder in (self._database_folder / "collections").iterdir():
            if _OUR_NAME.fullmatch(folder.name) and folder.name not in referenced:
                shutil.rmtree(folder, ignore_errors=True)
        return len(unreferenced)

    def close(self) -> None:
        """End the connection, and the embedded Milvus with its last one; further calls do nothing."""
        if self._pointer is None and not self._milvus.closed:
            with suppress(QuoteweaveError):
                self.drop()
        self._milvus.close()

    @property
    def _files(self) -> Path:
        return self._database_folder / "collections" / self._name

    def _begin_changing(self) -> None:
        """Note that Milvus's list of files will change, so that a killed change does not look like damage."""
        pointer, folder = self._pointer, self._saved_in
        # If the folder was renamed since, it is not found; after a kill, its index is refused and rebuilt.
        if pointer is not None and pointer.list_of_files is not None and folder is not None and folder.exists():
            self._write_pointer(pointer.model_copy(update={"list_of_files": None}), folder)

    def _write_pointer(self, pointer: MilvusPointer, folder: Path) -> None:
        with atomic_write(folder / MILVUS_POINTER) as file:
            file.write(sealed_record(pointer))
        self._pointer, self._saved_in = pointer, folder

    def _create(self) -> None:
        with self._milvus.client() as client:
            schema = make_schema(self.dimension)
            client.create_collection(self._name, schema=schema, consistency_level="Strong", timeout=CALL_S)
            # There is nothing to index yet, and waiting for it would take half a second.
            client.create_index(self._name, make_indexes(), timeout=CALL_S, sync=False)

    def _load(self, *, mending: bool = False) -> None:
        try:
            with self._milvus.client() as client:
                client.load_collection(self._name, timeout=CALL_S)
        except CollectionError as error:
            # The embedded Milvus writes lookup files about its items, and fails on one that a kill cut short. If they
            # are removed, it writes them again.
            lookups = [] if self._uri != _EMBEDDED else list(self._files.rglob("*idx"))
            if mending or not lookups or isinstance(error, StorageError):
                raise
            for path in lookups:
                path.unlink(missing_ok=True)
            self._load(mending=True)

    def _best(self, vectors: "Matrix", k: int, where: str, *, ask: int) -> list[TopItems]:
        """The best `k` or more for each question, so many that ties are complete: of equal scores Milvus gives any."""
        if ask > MAX_HITS:
            return self._best_in_ranges(vectors, k, where)
        best = self._ask(vectors, ask, where)
        unsure = [
            query
            for query, result in enumerate(best)
            if len(result.scores) == ask and result.scores[-1] == result.scores[k - 1]
        ]
        if unsure:
            surer = self._best(vectors[unsure], k, where, ask=4 * ask)
            for query, result in zip(unsure, surer, strict=True):
                best[query] = result
        return best

    def _best_in_ranges(self, vectors: "Matrix", k: int, where: str) -> list[TopItems]:
        """The best `k` for each question, from ranges of rows so small that Milvus returns all items in them."""
        best, rows = [_top_items([], [])] * len(vectors), self.rows
        for start in range(0, len(rows), MAX_HITS):
            part = rows[start : start + MAX_HITS]
            within = f"row >= {part[0]} and row <= {part[-1]}"
            range_results = self._ask(vectors, MAX_HITS, f"{where} and {within}" if where else within)
            best = [
                _top_items([*best_so_far.rows, *result.rows], [*best_so_far.scores, *result.scores], k)
                for best_so_far, result in zip(best, range_results, strict=True)
            ]
        return best

    def _ask(self, vectors: "Matrix", limit: int, where: str) -> list[TopItems]:
        best: list[TopItems] = []
        step = max(1, min(QUESTIONS_AT_ONCE, HITS_AT_ONCE // limit))
        for start in range(0, len(vectors), step):
            with self._milvus.client() as client:
                answers = client.search(
                    self._name,
                    data=list(vectors[start : start + step]),
                    filter=where,
                    limit=limit,
                    output_fields=["row"],
                    anns_field="vector",
                    timeout=CALL_S,
                    consistency_level="Strong",
                )
            best += [_top_items([hit["row"] for hit in hits], [hit["distance"] for hit in hits]) for hits in answers]
        return best


def _top_items(rows: Sequence[int], scores: Sequence[float], k: int | None = None) -> TopItems:
    row_array, score_array = np.array(rows, dtype=np.int64), np.array(scores, dtype=np.float32)
    order = np.lexsort((row_array, -score_array))[:k]
    return TopItems(row_array[order], score_array[order])


def _server(pointer: MilvusPointer | None, uri: str | None, token: str | None) -> Server | None:
    if pointer is not None and pointer.uri == _EMBEDDED:
        return None
    configured_uri = uri or os.environ.get(URI_VARIABLE)
    if configured_uri:
        return Server.at(configured_uri, token or os.environ.get(TOKEN_VARIABLE))
    return None if pointer is None else Server.at(pointer.uri)


def _pointed_collection(folder: Path) -> str | None:
    """The collection that an index in that folder points to; None where there is none."""
    with suppress(OSError, ValueError):
        return unsealed_record(MilvusPointer, (folder / MILVUS_POINTER).read_bytes()).collection
    return None


def _read_pointer(path: Path, dimension: int) -> MilvusPointer:
    try:
        pointer = unsealed_record(MilvusPointer, path.read_bytes())
    except (OSError, ValueError) as error:
        raise CollectionError(f"{path} is missing or damaged; build the index again") from error
    if pointer.dimension != dimension:
        raise FingerprintMismatch(
            f"the index of {path} holds vectors of {pointer.dimension} dimensions, and the model makes {dimension}; "
            "open it with the model that it was built with, or build it again"
        )
    return pointer
