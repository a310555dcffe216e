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
        repairing.sources(_damages_of(second, "source"))
        repairing.pictures(_damages_of(second, "picture"))
        repairing.ocr_texts(_damages_of(second, "ocr text"))
        repairing.descriptions(_damages_of(second, "description"))
        repairing.vectors(_damages_of(second, "vectors"))
        repairing.indexes(_damages_of(second, "index"))
    last = check(root, on_file)
    still_damaged = {(damage.part, damage.file, damage.document) for damage in last.damaged}
    damages = {(damage.part, damage.file, damage.what): damage for damage in (*first.damaged, *second.damaged)}
    damaged = [
        damage.model_copy(
            update={
                "repaired": (damage.part, damage.file, damage.document) not in still_damaged,
                "advice": advice.get(damage.file, ""),
            }
        )
        for damage in damages.values()
    ]
    # Documents that could not be read again are taken from the last check, which says why.
    damaged = [damage for damage in damaged if damage.repaired or damage.part != "document"]
    return last.model_copy(update={"damaged": (*damaged, *_damages_of(last, "document"), *lost)})


def _renew_lexical(root: Path) -> bool:
    """Make the lexical index anew if another version made it; return whether it did."""
    with Collection.open(root) as collection:
        if not collection.has_older_segments():
            return False
        with collection.writer():  # a writer makes it anew when it begins
            return True


def _damages_of(report: CheckReport, part: str) -> list[Damage]:
    return [damage for damage in report.damaged if damage.part == part]


def _repair_catalogue(root: Path, report: CheckReport) -> list[Damage]:
    """Rebuild the header and the catalogue; return which documents were lost, wholly or in part."""
    salvaged = Salvaged()
    with writer_lock(root):
        if _damages_of(report, "header"):
            write_header(root)
        if _damages_of(report, "catalogue"):
            salvaged = salvage(root)
    lost = []
    with Collection.open(root) as collection, collection.writer() as writer:
        warning = "; a removal was not finished: if that file was to be removed, delete it"
        removed = warning if collection.may_have_traces() else ""
        for path in salvaged.aside:
            subject = (
                "what stood in place of the catalogue" if path.is_dir() else "the name of a document is lost; its file"
            )
            lost.append(_loss(f"{subject} is {path} now{removed}", None))
        writer.rebuild_lexical()
        for name, outcome in _read_again(collection, salvaged.words).items():
            if isinstance(outcome, str):
                lost.append(_loss(f"the words of the pages of {name!r} are lost: {outcome}", name))
            else:
                writer.store_words(outcome)
        sync_indexes(collection, writer)
    return lost


def _loss(loss: str, document: str | None) -> Damage:
    return Damage(part="catalogue", file="catalog.sqlite", what=loss, document=document, advice=_ADD_AGAIN)


def _read_again(collection: Collection, documents: Mapping[str, LostDocument]) -> dict[str, PreparedDocument | str]:
    """Parse stored files again: the prepared document or the reason for failure, by name; crops are stored."""
    outcomes: dict[str, PreparedDocument | str] = {}
    to_read = []
    for name, document in documents.items():
        origin = document.origin
        settings = _settings(origin)
        try:
            path = collection.source_file_by_key(document.source)
        except CollectionError as error:
            outcomes[name] = str(error)
            continue
        if settings is None:
            outcomes[name] = "it was parsed with other settings, by another version, or by another tool"
        else:
            unfinished_pages = collection.unfinished.of(unfinished_key(name, origin.content, settings.fingerprint))
            source = SourceFile(name, path, settings, collection.images)
            current_origin = origin.model_copy(update={"parser": settings.fingerprint})
            to_read.append(
                FileReading(source, current_origin, settings.fingerprint, collection.sources, unfinished_pages)
            )
    with WorkerPool(min(4, os.cpu_count() or 1)) as workers:
        for result in read_files(to_read, lambda file: file, workers=workers, progress=AddProgress()):
            if isinstance(result, FileIssue):
                outcomes[result.name] = result.reason
            else:
                outcomes[result.document.name] = result
    for file in to_read:
        file.unfinished.remove()
    return outcomes


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
        for name, outcome in _read_again(self._collection, lost).items():
            if isinstance(outcome, str):
                origin_fields = failures[name].model_dump(include={"root", "content", "path"})
                self._writer.fail(
                    name, reason=f"{outcome}; {_ADD_AGAIN}, or remove it", lost=lost[name], **origin_fields
                )
            else:
                self._writer.store([outcome])
        if lost:
            sync_indexes(self._collection, self._writer)

    def sources(self, damaged: Iterable[Damage]) -> None:
        """Copy stored files again from where they were added, if they are still there unchanged."""
        origins = self._collection.origins()
        for damage in damaged:
            name = damage.document or ""
            path, content = origins[name].file(name), origins[name].content
            try:
                is_unchanged = file_sha256(path) == content
            except OSError:
                is_unchanged = False
            if is_unchanged:
                remove_path(self._path(damage))
                self._writer.put_source(path, content)
            else:
                reason = f"it is not at {path} any more"
                self._advice[damage.file] = f"{reason}; what was made of it is kept; put it there, or {_ADD_AGAIN}"

    def pictures(self, damaged: Sequence[Damage]) -> None:
        """Read the documents of crops again, which stores the same crops."""
        documents: dict[str, list[Damage]] = defaultdict(list)
        contents: dict[str, bytes] = {}
        for damage in damaged:
            documents[damage.document or ""].append(damage)
            # The damaged file is removed first, as the store does not replace a file of the right size; it is put back
            # if the repair fails.
            with suppress(OSError):
                contents[damage.file] = self._path(damage).read_bytes()
            remove_path(self._path(damage))
        origins, keys = self._collection.origins(), self._collection.source_keys()
        stored_documents = {name: LostDocument(origin=origins[name], source=keys[name]) for name in documents}
        outcomes = _read_again(self._collection, stored_documents)
        for name, damages in documents.items():
            result = outcomes[name]
            reason = result if isinstance(result, str) else "reading it again gives other pictures"
            for damage in damages:
                if not self._path(damage).exists():
                    self._advice[damage.file] = (
                        f"{reason}; keep the document as it is, or remove {name!r}, then {_ADD_AGAIN}, with the "
                        "pictures that it shows beside it"
                    )
                    if damage.file in contents:
                        self._path(damage).write_bytes(contents[damage.file])

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
        lexical_damages = [damage for damage in damaged if damage.file.partition("/")[0] == LEXICAL_FOLDER]
        if lexical_damages:
            self._writer.rebuild_lexical()
        for damage in damaged:
            if damage in lexical_damages:
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
