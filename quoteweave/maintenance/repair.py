"""Repairs what `check` finds damaged, as far as the rest of the collection allows."""

import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from quoteweave.collection.collection import Collection
from quoteweave.collection.folder import LEXICAL_FOLDER, write_header
from quoteweave.collection.prepared import PreparedDocument
from quoteweave.collection.records import IndexState, LostDocument, Origin
from quoteweave.collection.stores.generations import PLAN, build_command, read_plan, try_read_manifest, write_plan
from quoteweave.collection.stores.image_texts import DESCRIPTIONS, drop_damaged_descriptions
from quoteweave.collection.stores.unfinished import unfinished_key
from quoteweave.collection.unreferenced import MILVUS_FOLDER
from quoteweave.collection.writer import Writer
from quoteweave.collection.writer_lock import writer_lock
from quoteweave.core.errors import CollectionError, QuoteweaveError
from quoteweave.core.files.whole_files import remove_path
from quoteweave.core.fingerprints import file_sha256
from quoteweave.documents.file_reading import AddProgress, FileIssue, FileReading, read_files
from quoteweave.documents.parser import ParserSettings, SourceFile
from quoteweave.documents.worker_pool import WorkerPool
from quoteweave.index.sync import sync_index, sync_indexes
from quoteweave.maintenance.check import CheckReport, Damage, check
from quoteweave.maintenance.salvage import Salvaged, salvage

_ADD_AGAIN = "add its file again"


def check_and_repair(root: Path, on_file: Callable[[int], None] = lambda _: None) -> CheckReport:
    """Check the collection at `root`, rebuild what can be rebuilt, and check again.

    Indexes are rebuilt from their vectors; crops and documents are made again from the stored files; stored files are
    copied again if the added folder still has them. Raises CollectionLocked while another process writes, StorageError
    if the disk refuses, and what `check` raises.
    """
    first = check(root, on_file)
    if not first.damaged:
        return check(root, on_file) if _renew_lexical(root) else first
    advice: dict[str, str] = {}
    lost: list[Damage] = []
    second = first
    if any(damage.part in ("header", "catalogue") for damage in first.damaged):  # these hide what else is damaged
        lost = _repair_catalogue(root, first)
        second = check(root, on_file)
    with Collection.open(root) as collection, collection.writer() as writer:
        repairing = _Repair(collection, writer, advice)
        repairing.documents()
        repairing.sources(_of(second, "source"))
        repairing.pictures(_of(second, "picture"))
        repairing.ocr_texts(_of(second, "ocr text"))
        repairing.descriptions(_of(second, "description"))
        repairing.vectors(_of(second, "vectors"))
        repairing.indexes(_of(second, "index"))
    last = check(root, on_file)
    left = {(damage.part, damage.file, damage.document) for damage in last.damaged}
    damages = {(damage.part, damage.file, damage.what): damage for damage in (*first.damaged, *second.damaged)}
    damaged = [
        damage.model_copy(
            update={
                "repaired": (damage.part, damage.file, damage.document) not in left,
                "advice": advice.get(damage.file, ""),
            }
        )
        for damage in damages.values()
    ]
    # Documents that could not be read again are taken from the last check, which says why.
    damaged = [damage for damage in damaged if damage.repaired or damage.part != "document"]
    return last.model_copy(update={"damaged": (*damaged, *_of(last, "document"), *lost)})


def _renew_lexical(root: Path) -> bool:
    """Make the lexical index anew if another version made it; return whether it did."""
    with Collection.open(root) as collection:
        if not collection.has_older_segments():
            return False
        with collection.writer():  # a writer makes it anew when it begins
            return True


def _of(report: CheckReport, part: str) -> list[Damage]:
    return [damage for damage in report.damaged if damage.part == part]


def _repair_catalogue(root: Path, report: CheckReport) -> list[Damage]:
    """Rebuild the header and the catalogue; return which documents were lost, wholly or in part."""
    gone = Salvaged()
    with writer_lock(root):
        if _of(report, "header"):
            write_header(root)
        if _of(report, "catalogue"):
            gone = salvage(root)
    lost = []
    with Collection.open(root) as collection, collection.writer() as writer:
        perhaps = "; a removal was not finished: if that file was to be removed, delete it"
        removed = perhaps if collection.may_have_traces() else ""
        for path in gone.aside:
            what = (
                "what stood in place of the catalogue" if path.is_dir() else "the name of a document is lost; its file"
            )
            lost.append(_lost(f"{what} is {path} now{removed}", None))
        writer.rebuild_lexical()
        for name, read in _read_again(collection, gone.words).items():
            if isinstance(read, str):
                lost.append(_lost(f"the words of the pages of {name!r} are lost: {read}", name))
            else:
                writer.store_words(read)
        sync_indexes(collection, writer)
    return lost


def _lost(what: str, document: str | None) -> Damage:
    return Damage(part="catalogue", file="catalog.sqlite", what=what, document=document, advice=_ADD_AGAIN)


def _read_again(collection: Collection, documents: Mapping[str, LostDocument]) -> dict[str, PreparedDocument | str]:
    """Parse stored files again: the prepared document or the reason for failure, by name; crops are stored."""
    outcome: dict[str, PreparedDocument | str] = {}
    to_read = []
    for name, document in documents.items():
        origin = document.origin
        settings = _settings(origin)
        try:
            path = collection.source_file_by_key(document.source)
        except CollectionError as error:
            outcome[name] = str(error)
            continue
        if settings is None:
            outcome[name] = "it was parsed with other settings, by another version, or by another tool"
        else:
            unfinished_pages = collection.unfinished.of(unfinished_key(name, origin.content, settings.fingerprint))
            source = SourceFile(name, path, settings, collection.images)
            anew = origin.model_copy(update={"parser": settings.fingerprint})
            to_read.append(FileReading(source, anew, settings.fingerprint, collection.sources, unfinished_pages))
    with WorkerPool(min(4, os.cpu_count() or 1)) as workers:
        for read in read_files(to_read, lambda file: file, workers=workers, progress=AddProgress()):
            if isinstance(read, FileIssue):
                outcome[read.name] = read.reason
            else:
                outcome[read.document.name] = read
    for file in to_read:
        file.unfinished.remove()
    return outcome


def _settings(origin: Origin) -> ParserSettings | None:
    """The settings that a document was parsed with, if they are among the usual ones; else None."""
    usual = (ParserSettings(), ParserSettings(ocr=False))
    if not origin.parser:
        return usual[0]
    return next((settings for settings in usual if settings.fingerprint == origin.parser), None)


class _Repair:
    """Repairs the files that the catalogue refers to."""

    def __init__(self, collection: Collection, writer: Writer, advice: dict[str, str]) -> None:
        self._collection, self._writer, self._advice = collection, writer, advice

    def _path(self, damage: Damage) -> Path:
        return self._collection.root / damage.file

    def documents(self) -> None:
        """Read documents again that a damaged catalogue lost; if that fails, the catalogue records why."""
        failures = {failure.name: failure for failure in self._collection.failures()}
        lost = {name: failure.lost for name, failure in failures.items() if failure.lost is not None}
        for name, read in _read_again(self._collection, lost).items():
            if isinstance(read, str):
                about = failures[name].model_dump(include={"root", "content", "path"})
                self._writer.fail(name, reason=f"{read}; {_ADD_AGAIN}, or remove it", lost=lost[name], **about)
            else:
                self._writer.store([read])
        if lost:
            sync_indexes(self._collection, self._writer)

    def sources(self, damaged: Iterable[Damage]) -> None:
        """Copy stored files again from where they were added, if they are still there unchanged."""
        origins = self._collection.origins()
        for damage in damaged:
            name = damage.document or ""
            path, content = origins[name].file(name), origins[name].content
            try:
                same = file_sha256(path) == content
            except OSError:
                same = False
            if same:
                remove_path(self._path(damage))
                self._writer.put_source(path, content)
            else:
                where = f"it is not at {path} any more"
                self._advice[damage.file] = f"{where}; what was made of it is kept; put it there, or {_ADD_AGAIN}"

    def pictures(self, damaged: Sequence[Damage]) -> None:
        """Read the documents of crops again, which stores the same crops."""
        documents: dict[str, list[Damage]] = defaultdict(list)
        before: dict[str, bytes] = {}
        for damage in damaged:
            documents[damage.document or ""].append(damage)
            # The damaged file is removed first, as the store does not replace a file of the right size; it is put back
            # if the repair fails.
            with suppress(OSError):
                before[damage.file] = self._path(damage).read_bytes()
            remove_path(self._path(damage))
        origins, keys = self._collection.origins(), self._collection.source_keys()
        found = {name: LostDocument(origin=origins[name], source=keys[name]) for name in documents}
        read = _read_again(self._collection, found)
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
        """Remove damaged OCR texts of crops; the crops are read again when the user asks for it."""
        for damage in damaged:
            remove_path(self._path(damage))

    def descriptions(self, damaged: Sequence[Damage]) -> None:
        """Remove damaged lines; the pictures are described again, or keep what their documents say about them."""
        if damaged:
            drop_damaged_descriptions(self._collection.root)
            self._advice[DESCRIPTIONS] = "damaged lines were dropped; quoteweave describe asks for their pictures again"

    def vectors(self, damaged: Sequence[Damage]) -> None:
        """Remove damaged vectors; the model makes them again when their index is built."""
        fingerprints = set()
        for damage in damaged:
            path = self._path(damage)
            fingerprint, key = path.parent.name, path.stem
            fingerprints.add(fingerprint)
            remove_path(path)
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
        plans = [plan for state in states if (plan := read_plan(state)) is not None]
        return plans[0].spec if plans else states[0].name

    def indexes(self, damaged: Sequence[Damage]) -> None:
        """Build indexes again from their vectors, and the lexical index from the quotes.

        If nothing says how an index was built, it stays in the catalogue, empty, until the user builds or removes it.
        """
        of_words = [damage for damage in damaged if damage.file.partition("/")[0] == LEXICAL_FOLDER]
        if of_words:
            self._writer.rebuild_lexical()
        for damage in damaged:
            if damage in of_words:
                continue
            folder = self._path(damage)
            fingerprint = folder.parent.name
            (state,) = (state for state in self._collection.indexes() if state.fingerprint == fingerprint)
            if folder.name == PLAN:
                remove_path(folder)
                if (manifest := try_read_manifest(state)) is not None:
                    write_plan(state.folder, manifest)
                continue
            if state.folder != folder:
                continue  # it was built again already, when its vectors were repaired
            plan = read_plan(state)
            self._writer.remove_index_files(fingerprint)
            if plan is None:
                command = build_command(self._collection.root, state.name)
                self._advice[damage.file] = f"how it was built is lost with it; build it again: {command}"
            elif not self._refresh(state) and plan.kind == "milvus":
                shutil.rmtree(self._collection.root / MILVUS_FOLDER, ignore_errors=True)
                self._refresh(state)

    def _refresh(self, state: IndexState) -> bool:
        try:
            sync_index(self._collection, self._writer, state)
        except QuoteweaveError as error:
            place = state.folder.relative_to(self._collection.root).as_posix()
            self._advice[place] = str(error)
            return False
        return True
