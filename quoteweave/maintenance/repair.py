"""Repairs what `check` finds damaged, as far as the rest of the collection allows."""

import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from quoteweave.collection.collection import Collection
from quoteweave.collection.folder import LEXICAL_FOLDER, RECOVERED_FOLDER, write_header
from quoteweave.collection.prepared import PreparedDocument
from quoteweave.collection.records import IndexState, Origin
from quoteweave.collection.stores.generations import MANIFEST, build_command, try_read_manifest
from quoteweave.collection.stores.image_texts import DESCRIPTIONS, drop_damaged_descriptions
from quoteweave.collection.stores.unfinished import unfinished_key
from quoteweave.collection.writer import Writer
from quoteweave.collection.writer_lock import writer_lock
from quoteweave.core.errors import CollectionError, QuoteweaveError
from quoteweave.core.fingerprints import file_sha256
from quoteweave.documents.file_reading import AddProgress, FileIssue, ReadJob, read_files
from quoteweave.documents.parser import ParserSettings, SourceFile
from quoteweave.documents.worker_pool import WorkerPool
from quoteweave.index.sync import refresh_index, refresh_indexes
from quoteweave.maintenance.check import CheckReport, Damage, check
from quoteweave.maintenance.salvage import LostDocuments, salvage

_ADD_AGAIN = "add its file again"


def check_and_repair(root: Path, on_file: Callable[[int], None] = lambda _: None) -> CheckReport:
    """Check the collection at `root`, rebuild what can be rebuilt, and check again.

    Indexes are built from their vectors, crops cut from the stored files, documents read from them again; stored files
    are copied again where the added folder still holds them. Raises CollectionLocked while another process writes,
    StorageError where the disk refuses, and what `check` raises.
    """
    first = check(root, on_file)
    if not first.damaged:
        return first
    advice: dict[str, str] = {}
    lost: list[Damage] = []
    if any(damage.part in ("header", "catalogue") for damage in first.damaged):
        lost = _repair_catalogue(root, first)
    second = check(root, on_file)
    with Collection.open(root) as collection, collection.writer() as writer:
        repairing = _Repair(collection, writer, advice)
        repairing.sources(_of(second, "source"))
        repairing.pictures(_of(second, "picture"))
        repairing.ocr_texts(_of(second, "ocr text"))
        repairing.descriptions(_of(second, "description"))
        repairing.vectors(_of(second, "vectors"))
        repairing.indexes(_of(second, "index"))
        lost += repairing.lost
    last = check(root, on_file)
    left = {(damage.part, damage.file) for damage in last.damaged}
    damages = {(damage.part, damage.file, damage.what): damage for damage in (*first.damaged, *second.damaged)}
    damaged = [
        damage.model_copy(
            update={"repaired": (damage.part, damage.file) not in left, "advice": advice.get(damage.file, "")}
        )
        for damage in damages.values()
    ]
    return last.model_copy(update={"damaged": (*damaged, *lost)})


def _of(report: CheckReport, part: str) -> list[Damage]:
    return [damage for damage in report.damaged if damage.part == part]


def _repair_catalogue(root: Path, report: CheckReport) -> list[Damage]:
    """Rebuild the header and the catalogue; return what documents lost."""
    gone = LostDocuments()
    with writer_lock(root):
        if _of(report, "header"):
            write_header(root)
        if _of(report, "catalogue"):
            gone = salvage(root)
    lost = [_lost(what, None) for what in _set_aside(root, gone.documents)] if _of(report, "catalogue") else []
    with Collection.open(root) as collection, collection.writer() as writer:
        writer.rebuild_lexical()
        for name, read in _read_again(collection, gone.documents | gone.words).items():
            if isinstance(read, str):
                what = f"the words of the pages of {name!r} are" if name in gone.words else f"the document {name!r} is"
                lost.append(_lost(f"{what} lost: {read}", name))
            elif name in gone.words:
                writer.store_words(read)
            else:
                writer.store([read])
        refresh_indexes(collection, writer)
    return lost


def _lost(what: str, document: str | None) -> Damage:
    return Damage(part="catalogue", file="catalog.sqlite", what=what, document=document, advice=_ADD_AGAIN)


def _set_aside(root: Path, before: Mapping[str, tuple[Origin, str]]) -> list[str]:
    """Move stored files without a document aside, so that they are not removed; return a message for each."""
    with Collection.open(root) as collection:
        known = {*collection.source_keys().values(), *(key for _, key in before.values())}
        removed = collection.may_have_traces()
    perhaps = "; a removal was not finished: if that file was to be removed, delete it" if removed else ""
    messages = []
    for path in sorted(path for path in (root / "sources").rglob("*") if path.is_file()):
        if f"{path.parent.name}/{path.name}" not in known:
            aside = root / RECOVERED_FOLDER / path.name
            aside.parent.mkdir(exist_ok=True)
            path.replace(aside)
            messages.append(f"the name of a document is lost; its file is {aside} now{perhaps}")
    return messages


def _read_again(
    collection: Collection, documents: Mapping[str, tuple[Origin, str]]
) -> dict[str, PreparedDocument | str]:
    """Parse stored files again: the prepared document or the reason for failure, by name; crops are stored."""
    found: dict[str, PreparedDocument | str] = {}
    to_read = []
    for name, (origin, key) in documents.items():
        settings = _settings(origin)
        try:
            path = collection.stored_source(key)
        except CollectionError as error:
            found[name] = str(error)
            continue
        if settings is None:
            found[name] = "it was parsed with other settings, by another version, or by another tool"
        else:
            kept = collection.unfinished.of(unfinished_key(name, origin.content, settings.fingerprint))
            source = SourceFile(name, path, settings, collection.images)
            anew = origin.model_copy(update={"parser": settings.fingerprint})
            to_read.append(ReadJob(source, anew, settings.fingerprint, collection.sources, kept))
    with WorkerPool(min(4, os.cpu_count() or 1)) as workers:
        for read in read_files(to_read, lambda file: file, workers=workers, progress=AddProgress()):
            if isinstance(read, FileIssue):
                found[read.name] = read.reason
            else:
                found[read.document.name] = read
    for file in to_read:
        file.kept.remove()
    return found


def _settings(origin: Origin) -> ParserSettings | None:
    """The settings that a document was parsed with, if they are usual ones."""
    usual = (ParserSettings(), ParserSettings(ocr=False))
    if not origin.parser:
        return usual[0]
    return next((settings for settings in usual if settings.fingerprint == origin.parser), None)


class _Repair:
    """Repairs the files that the catalogue refers to."""

    def __init__(self, collection: Collection, writer: Writer, advice: dict[str, str]) -> None:
        self._collection, self._writer, self._advice = collection, writer, advice
        self.lost: list[Damage] = []
        """Things lost with what was damaged, which the user has to restore."""

    def _path(self, damage: Damage) -> Path:
        return self._collection.root / damage.file

    def sources(self, damaged: Iterable[Damage]) -> None:
        """Copies them again from where they were added, if they are there unchanged."""
        origins = self._collection.origins()
        for damage in damaged:
            name = damage.document or ""
            path, content = origins[name].file(name), origins[name].content
            try:
                same = file_sha256(path) == content
            except OSError:
                same = False
            if same:
                self._path(damage).unlink(missing_ok=True)
                self._writer.put_source(path, content)
            else:
                where = f"it is not at {path} any more"
                self._advice[damage.file] = f"{where}; what was made of it is kept; put it there, or {_ADD_AGAIN}"

    def pictures(self, damaged: Sequence[Damage]) -> None:
        """Reads their documents again, which stores the same crops."""
        documents: dict[str, list[Damage]] = defaultdict(list)
        before: dict[str, bytes] = {}
        for damage in damaged:
            documents[damage.document or ""].append(damage)
            # The store leaves a file of the right size as it is, so the damaged one goes first, to return if need be.
            with suppress(OSError):
                before[damage.file] = self._path(damage).read_bytes()
            self._path(damage).unlink(missing_ok=True)
        origins, keys = self._collection.origins(), self._collection.source_keys()
        read = _read_again(self._collection, {name: (origins[name], keys[name]) for name in documents})
        for name, lost in documents.items():
            result = read[name]
            reason = result if isinstance(result, str) else "reading it again gives other pictures"
            for damage in lost:
                if not self._path(damage).exists():
                    self._advice[damage.file] = (
                        f"{reason}; keep the document as it is, or remove {name!r}, then {_ADD_AGAIN}, with the "
                        "pictures that it shows beside it"
                    )
                    if damage.file in before:
                        self._path(damage).write_bytes(before[damage.file])

    def ocr_texts(self, damaged: Iterable[Damage]) -> None:
        """Drops what OCR read of crops; they are read again when that is asked for."""
        for damage in damaged:
            self._path(damage).unlink(missing_ok=True)

    def descriptions(self, damaged: Sequence[Damage]) -> None:
        """Drops the lines; the pictures are described anew, or keep what their documents say of them."""
        if damaged:
            drop_damaged_descriptions(self._collection.root)
            self._advice[DESCRIPTIONS] = "damaged lines were dropped; quoteweave describe asks for their pictures again"

    def vectors(self, damaged: Sequence[Damage]) -> None:
        """Drops them; the model makes them again when their index is built."""
        fingerprints = set()
        for damage in damaged:
            path = self._path(damage)
            fingerprint, key = path.parent.name, path.stem
            fingerprints.add(fingerprint)
            path.unlink(missing_ok=True)
            self._writer.drop_shard(fingerprint, key)
            specs = [state.name for state in self._collection.indexes() if state.fingerprint.startswith(fingerprint)]
            if specs:
                command = build_command(self._collection.root, self._spec(fingerprint))
                self._advice[damage.file] = f"it was dropped; have the model make it again with: {command}"
        for state in self._collection.indexes():
            if state.fingerprint.partition(".")[0] in fingerprints:
                self._refresh(state)

    def _spec(self, fingerprint: str) -> str:
        states = [state for state in self._collection.indexes() if state.fingerprint.startswith(fingerprint)]
        manifests = [manifest for state in states if (manifest := try_read_manifest(state)) is not None]
        return manifests[0].spec if manifests else states[0].name

    def indexes(self, damaged: Sequence[Damage]) -> None:
        """Builds them again from their vectors, the lexical index from the quotes."""
        of_words = [damage for damage in damaged if damage.file.partition("/")[0] == LEXICAL_FOLDER]
        if of_words:
            self._writer.rebuild_lexical()
        for damage in damaged:
            if damage in of_words:
                continue
            folder = self._path(damage)
            fingerprint = folder.parent.name
            states = [state for state in self._collection.indexes() if state.fingerprint == fingerprint]
            if states and states[0].folder != folder:
                continue  # made again meanwhile, with the vectors that it lacked
            manifest = try_read_manifest(states[0]) if states else None
            if manifest is None:
                self._writer.drop_index(fingerprint, keep_shards=True)
                # The catalogue knows its name, but not where its model lay, nor an index whose row was lost.
                name = states[0].name if states else f"NAME@{fingerprint.partition('.')[2]}"
                what = "what the index was built with is lost with it, and so is the index"
                advice = f"build it again: {build_command(self._collection.root, name)}"
                self.lost.append(Damage(part="index", file=damage.file, what=what, advice=advice))
                continue
            for path in folder.iterdir():
                if path.is_dir():
                    shutil.rmtree(path)
                elif path.name != MANIFEST:
                    path.unlink()
            if not self._refresh(states[0]) and manifest.kind == "milvus":
                shutil.rmtree(self._collection.root / "milvus", ignore_errors=True)
                self._refresh(states[0])

    def _refresh(self, state: IndexState) -> bool:
        try:
            refresh_index(self._collection, self._writer, state)
        except QuoteweaveError as error:
            place = state.folder.relative_to(self._collection.root).as_posix()
            self._advice[place] = str(error)
            return False
        return True
