"""Finds and removes unreferenced files of a collection: left by killed processes, or not removable earlier."""

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from quoteweave.collection.catalog.stored_indexes import index_states
from quoteweave.collection.folder import CollectionFolder
from quoteweave.collection.records import IndexState
from quoteweave.collection.stores.generations import PLAN, try_read_manifest
from quoteweave.collection.stores.image_texts import DESCRIPTIONS
from quoteweave.collection.views import VISUAL_VIEWS

MILVUS_FOLDER = "milvus"
"""The folder of the embedded Milvus."""
MILVUS_POINTER = "milvus.json"
"""The file that says where in Milvus an index is."""
MILVUS_NAME_PATTERN = r"quoteweave_[0-9a-f]{32}"
"""The pattern of the names of our collections in Milvus."""


# The sources of documents that a damaged catalogue has lost are kept: they are all that is left of these documents.
_SOURCES = """SELECT source FROM documents
UNION SELECT json_extract(record, '$.lost.source') FROM failures WHERE json_extract(record, '$.lost') IS NOT NULL"""


@dataclass(frozen=True, slots=True)
class ReferencedKeys:
    """The keys that the catalogue, and the indexes that it names, refer to."""

    images: set[str]
    sources: set[str]
    shards: Mapping[str, set[str]]
    """Keys of shards by fingerprint."""
    generations: Mapping[str, int]
    """The current generation of each fingerprint."""
    milvus: set[str]
    """Names of collections in the embedded Milvus."""
    segments: set[str]
    """Names of files of the lexical index."""


def shards_fingerprint(fingerprint: str) -> str:
    """The fingerprint of an index's shards: the part before the dot."""
    return fingerprint.partition(".")[0]


def referenced_keys(folder: CollectionFolder) -> ReferencedKeys:
    """The keys that are referred to now. Raises CollectionError where the catalogue cannot be read."""
    shards: dict[str, set[str]] = defaultdict(set)
    with folder.catalog.read() as db:
        images = {key for (key,) in db.execute("SELECT DISTINCT image FROM quotes WHERE image IS NOT NULL")}
        images |= folder.unfinished.images()
        sources = {key for (key,) in db.execute(_SOURCES)}
        for fingerprint, key in db.execute("SELECT fingerprint, key FROM shards"):
            shards[fingerprint].add(key)
        segments = {name for (name,) in db.execute("SELECT name FROM segments")}
    states = _current_states(folder)
    for state in states:
        # An index that is not up to date may still use the vectors of a removed document.
        if (manifest := try_read_manifest(state)) is not None:
            shards[shards_fingerprint(state.fingerprint)].update(manifest.documents.values())
    milvus = {name for state in states for name in _milvus_names(state.folder)}
    generations = {state.fingerprint: state.generation for state in states}
    return ReferencedKeys(images, sources, shards, generations, milvus, segments)


def shards_of_pictures(folder: CollectionFolder) -> set[str]:
    """Fingerprints of the shards of indexes whose encoder sees pictures, not words."""
    manifests = [(state, try_read_manifest(state)) for state in _current_states(folder)]
    return {
        shards_fingerprint(state.fingerprint)
        for state, manifest in manifests
        if manifest is not None and manifest.view in VISUAL_VIEWS
    }


def _current_states(folder: CollectionFolder) -> list[IndexState]:
    with folder.catalog.read() as db:
        return index_states(db, folder.generations)


def remove_unused(folder: CollectionFolder) -> None:
    """Remove the images, sources, shards, indexes and collections in the embedded Milvus that nothing refers to.

    Pages of documents whose reading is not finished stay. Only for the owner of the writer's lock. Raises
    StorageError where the disk refuses.
    """
    remove_unlisted(folder)
    referenced = referenced_keys(folder)
    folder.shards.prune(referenced.shards)
    folder.generations.prune(referenced.generations)
    for path in (folder.root / MILVUS_FOLDER / "collections").glob("quoteweave_*"):
        if re.fullmatch(MILVUS_NAME_PATTERN, path.name) and path.name not in referenced.milvus:
            shutil.rmtree(path, ignore_errors=True)
    for path in folder.root.glob(f".{DESCRIPTIONS}.*"):
        if path.suffix != ".lock":
            path.unlink(missing_ok=True)


def remove_unlisted(folder: CollectionFolder) -> None:
    """Remove the images, sources and segments of documents that the catalogue does not list, as of a refused one.

    Vectors stay, as the next command goes on from them. Only for the owner of the writer's lock. Raises StorageError
    where the disk refuses.
    """
    referenced = referenced_keys(folder)
    folder.images.prune(referenced.images)
    folder.ocr_texts.prune(referenced.images)
    folder.sources.prune(referenced.sources)
    folder.segments.prune(referenced.segments)


def unreferenced_files(folder: CollectionFolder) -> Iterator[Path]:
    """The files that nothing refers to, in the folders where documents leave traces.

    Pages of documents that are being read are not among them: the next `add` of these documents goes on from them.
    """
    referenced = referenced_keys(folder)
    for store, keys in ((folder.images, referenced.images), (folder.sources, referenced.sources)):
        yield from (path for path in _files(store.root) if path.relative_to(store.root).as_posix() not in keys)
    crops = {key.partition(".")[0] for key in referenced.images}
    texts = ((path, path.relative_to(folder.ocr_texts.root).as_posix()) for path in _files(folder.ocr_texts.root))
    yield from (path for path, key in texts if key.partition(".")[0] not in crops)
    referenced_shards = {
        folder.shards.root / name / f"{key}.npz" for name, keys in referenced.shards.items() for key in keys
    }
    yield from (path for path in _files(folder.shards.root) if path not in referenced_shards)
    current = {folder.generations.path(*generation) for generation in referenced.generations.items()}
    plans = {folder.parent / PLAN for folder in current}
    yield from (
        path for path in _files(folder.generations.root) if path not in plans and not current & set(path.parents)
    )
    yield from (path for path in _files(folder.segments.root) if path.name not in referenced.segments)
    root = folder.root / MILVUS_FOLDER / "collections"
    yield from (path for path in _files(root) if path.relative_to(root).parts[0] not in referenced.milvus)
    yield from (path for path in folder.root.glob(f".{DESCRIPTIONS}.*") if path.suffix != ".lock")


def unfinished_pages(folder: CollectionFolder) -> Iterator[Path]:
    """The files of pages of documents that are being read, or whose reading was stopped."""
    return _files(folder.unfinished.root)


def _files(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if not path.is_dir())


def _milvus_names(generation: Path) -> set[str]:
    """The collection in Milvus that an index points to, if it is a Milvus index."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return {str(json.loads((generation / MILVUS_POINTER).read_bytes())["collection"])}
    return set()
