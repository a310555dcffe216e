"""Runs a retriever over a dataset: adds its documents, builds the indexes, and keeps the rankings as a run."""

import hashlib
import json
import math
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field

from quoteweave.collection.collection import Collection
from quoteweave.collection.stores.generations import try_read_manifest
from quoteweave.core.boxes import Box
from quoteweave.core.examples import Example, Prediction, Task, unusable_boxes_note
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import Retriever
from quoteweave.core.records import Document, Record
from quoteweave.core.runs import UNREACHABLE, RunRecord, RunWriter, open_run
from quoteweave.core.urls import without_credentials
from quoteweave.documents.discovery import find_files
from quoteweave.documents.ingest import AddOptions
from quoteweave.index.lexical import FINGERPRINT
from quoteweave.pipeline.composition.add_documents import add_documents
from quoteweave.pipeline.composition.make_search import (
    lexical_fingerprints,
    make_search_steps,
    name_chat_model,
    read_all_terms,
    resources_for,
)
from quoteweave.pipeline.composition.manage_indexes import build_indexes
from quoteweave.pipeline.composition.progress import NO_PROGRESS, Progress
from quoteweave.pipeline.runs.ranking import SCOPES, RememberingExpander, SearchRetriever, run_retrieval
from quoteweave.pipeline.search import Search
from quoteweave.pipeline.settings import RetrievalSettings
from quoteweave.retrievers.chat_models import NO_CHAT_MODELS, ChatModels
from quoteweave.retrievers.make_retriever import SPARSE_RETRIEVERS, make_fused
from quoteweave.retrievers.spec import parse_spec
from quoteweave.retrievers.terms.terms import Terms


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of a dataset, and where its files are.

    >>> example = Example(id="1", query=Query(text="What went by rail?"), reference=Reference())
    >>> Questions("mine", [example], Path("questions.csv")).dataset
    'mine'

    Fields:
        dataset: its name, such as mmdocrag-20
        examples: as `evaluation.datasets.load_dataset` reads them
        references: its file, of which a run keeps the SHA-256
        images: the folder of its pictures
        partial: whether questions that lack pictures in that folder are left out and counted, and are no error
        documents: the folder of its documents
    """

    dataset: str
    examples: Sequence[Example]
    references: Path
    images: Path | None = None
    partial: bool = False
    documents: Path | None = None

    @property
    def task(self) -> Task:
        """How its questions are asked, which is the same for all of them."""
        return self.examples[0].task if self.examples else "answer"


class RetrievalRun(Record):
    """The rankings of a retriever for every question of a dataset."""

    predictions: tuple[Prediction, ...] = Field(description="one of each question and scope")
    notes: Mapping[str, int] = Field(description="what went wrong in searches that found something, to how often")
    unread: Mapping[str, str] = Field(description="the dataset's documents that cannot be searched, to the reason")
    quote_boxes: Mapping[tuple[str, int], tuple[Box, ...]] = Field(
        default_factory=dict, description="boxes of all quotes on pages with gold boxes, by document and page"
    )


def search_dataset(
    questions: Questions,
    collection: Path,
    settings: RetrievalSettings | None = None,
    *,
    run: Path | None = None,
    progress: Progress = NO_PROGRESS,
) -> RetrievalRun:
    """Ask every question of a dataset within its document and over the whole collection.

    If the dataset has a folder of documents, they are added to the collection in the folder `collection`, and indexes
    are built. Predictions are kept in the folder `run`; questions that it has predictions for are not searched again.
    Raises UsageError for settings that name nothing, and for a folder that holds another run.
    """
    settings = name_chat_model(settings or RetrievalSettings())
    folder = questions.documents
    if folder is not None:
        add_dataset_documents(collection, folder, progress)
    with Collection.open(collection) as opened:
        prepared = prepare_retriever(opened, settings, progress)
        unread = _unread(questions, collection=prepared, folder=folder)
        beyond_notes = [*_pages_beyond(questions.examples, prepared.documents)]
        record = _run_record(
            questions, settings, prepared, [*beyond_notes, *_unread_documents_note(questions.examples, unread)]
        )
        predictions = _predictions(questions.examples, prepared, run, record, progress)
        boxes = _quote_boxes(opened, questions.examples)
    for note in (*beyond_notes, unusable_boxes_note(questions.examples)):
        if note:
            progress.note(f"note: {note}")
    notes = dict(
        (prepared.notes + Counter(note for prediction in predictions for note in prediction.notes)).most_common()
    )
    return RetrievalRun(predictions=tuple(predictions), notes=notes, unread=unread, quote_boxes=boxes)


def _unread(questions: Questions, *, collection: "PreparedRetriever", folder: Path | None) -> dict[str, str]:
    """Return why documents that questions are about cannot be searched, in the order of the questions."""
    documents_asked = dict.fromkeys(example.document for example in questions.examples if example.document is not None)
    where = "the collection" if folder is None else folder
    absent = [name for name in documents_asked if name not in collection.names]
    return {name: collection.failures.get(name, f"not in {where}") for name in absent}


def _unread_documents_note(examples: Sequence[Example], unread: Mapping[str, str]) -> Iterator[str]:
    """Yield a note if questions are on documents that cannot be searched."""
    count = sum(example.document in unread for example in examples)
    if count:
        yield (
            f"{pluralize(count, 'question')} on documents that were not read, such as {next(iter(unread))}; nothing "
            "can be found there, and it counts as not found"
        )


def _quote_boxes(collection: Collection, examples: Sequence[Example]) -> dict[tuple[str, int], tuple[Box, ...]]:
    """Return the boxes of the quotes on every page that has gold boxes, of the documents that can be searched."""
    boxes: dict[tuple[str, int], tuple[Box, ...]] = {}
    for name in sorted({document.name for document in collection.documents()}):
        gold = {box.page for example in examples if example.document == name for box in example.reference.boxes}
        by_page: defaultdict[int, list[Box]] = defaultdict(list)
        for quote in collection.document_quotes(name) if gold else ():
            by_page[quote.page].append(quote.bbox)
        boxes.update({(name, page): tuple(by_page[page]) for page in sorted(gold)})
    return boxes


def _pages_beyond(examples: Sequence[Example], documents: Sequence[Document]) -> Iterator[str]:
    """Yield a note if gold is on pages that documents of the collection lack, so that no retriever can find it."""
    pages = {document.name: document.pages for document in documents}
    pages_by_example = {
        example.id: f"page {max(example.reference.pages) + 1} of {example.document}"
        for example in examples
        if example.reference.pages and max(example.reference.pages) >= pages.get(example.document or "", math.inf)
    }
    if pages_by_example:
        yield (
            f"{pluralize(len(pages_by_example), 'question')} with gold on pages that their documents lack, such as "
            f"{next(iter(pages_by_example.values()))}; nothing can be found there, and it counts as not found"
        )


@dataclass(frozen=True, slots=True)
class PreparedRetriever:
    """A retriever ready to search, its documents, and why other documents could not be read."""

    retriever: Retriever
    search: Search
    """Makes contexts as `ask` does."""
    documents: Sequence[Document]
    indexes: Mapping[str, str]
    """The fingerprint of each index that is searched."""
    failures: Mapping[str, str]
    notes: Counter[str]
    """Problems of searches that found something nonetheless, with how often each occurred."""

    @property
    def names(self) -> set[str]:
        """Names of the documents that can be searched."""
        return {document.name for document in self.documents}


def add_dataset_documents(collection: Path, documents: Path, progress: Progress = NO_PROGRESS) -> None:
    """Update the collection with a folder of documents; the collection records which of them could not be read.

    Documents that were added with other settings are left as they are, and only missing ones are added.
    """
    files = find_files([documents])
    with Collection.open_or_create(collection) as opened:
        origins = opened.origins()
    present = {file.name for file in files if file.name in origins and _hash(file.path) == origins[file.name].content}
    usual = AddOptions().fingerprint
    differently_parsed = [name for name in present if origins[name].parser != usual and not origins[name].imported]
    if not differently_parsed:
        add_documents(collection, [documents], progress=progress)
        return
    command = f"quoteweave add {shlex.quote(str(documents))} -c {shlex.quote(str(collection))}"
    progress.note(
        f"note: searched as they are, though added with other settings: "
        f"{pluralize(len(differently_parsed), 'document')}; anew with: {command}"
    )
    missing_files = [file.path for file in files if file.name not in present]
    if missing_files:
        add_documents(collection, missing_files, progress=progress)


def _hash(path: Path) -> str | None:
    """Return the file's SHA-256; None if it cannot be read, which adding it will report."""
    try:
        return file_sha256(path)
    except OSError:
        return None


def prepare_retriever(
    collection: Collection, settings: RetrievalSettings, progress: Progress = NO_PROGRESS
) -> PreparedRetriever:
    """Make the configured retriever with expansion and reranking, and build its indexes."""
    failures = {failure.name: failure.reason for failure in collection.failures()}
    notes, terms = Counter[str](), read_all_terms(settings)
    retriever, search = make_run_search(collection, settings, terms, progress=progress)
    if settings.expand or settings.rerank:
        retriever = SearchRetriever(search, reranks=bool(settings.rerank), on_note=lambda note: notes.update([note]))
    specs = build_indexes(collection, settings.retriever, settings, progress)
    indexes = {**index_fingerprints(collection, specs), **lexical_fingerprints(settings, terms)}
    return PreparedRetriever(retriever, search, collection.documents(), indexes, failures, notes)


def make_run_search(
    collection: Collection,
    settings: RetrievalSettings,
    terms: Sequence[Terms],
    *,
    chats: ChatModels = NO_CHAT_MODELS,
    progress: Progress = NO_PROGRESS,
) -> tuple[Retriever, Search]:
    """Return the retriever, and the search that uses it with expansion and reranking. Raises UsageError.

    Contexts are those of `ask`; with a published preset they are the ranking alone, like its authors'.
    """
    resources = resources_for(collection, settings, progress, terms)
    # No notes here, as building the index already notes what a retriever sends.
    silent = replace(resources, notify=lambda _: None)
    retriever = make_fused(settings.retriever, settings.fusion, collection, silent)
    expander, reranker = make_search_steps(collection, settings, resources, chats)
    if expander is not None and settings.expand != "rm3":  # whose clauses depend on the documents that are searched
        expander = RememberingExpander(expander)
    context_collection = collection if settings.preset is None else None
    return retriever, Search(retriever, expander=expander, reranker=reranker, collection=context_collection)


def fingerprint_documents(documents: Sequence[Document]) -> str:
    """Return a hash that changes whenever the quotes of these documents may have changed."""
    state = sorted((document.name, document.content, document.parser) for document in documents)
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()


def index_fingerprints(collection: Collection, specs: Sequence[str]) -> dict[str, str]:
    """Return the fingerprints of the indexes that these retrievers search, by `index` and the spec."""
    searched = {parse_spec(spec).shown for spec in specs}
    fingerprints = dict.fromkeys(SPARSE_RETRIEVERS, FINGERPRINT)
    for state in collection.indexes():
        manifest = try_read_manifest(state)
        fingerprints[state.name if manifest is None else manifest.spec] = state.fingerprint
    return {f"index {spec}": fingerprint for spec, fingerprint in fingerprints.items() if spec in searched}


def retriever_shown(settings: RetrievalSettings) -> str:
    """Return the retrievers and their fusion in one line, without credentials."""
    return without_credentials("; ".join([*settings.retriever, *([settings.fusion] if settings.fusion else [])]))


def _run_record(
    questions: Questions, settings: RetrievalSettings, prepared: PreparedRetriever, unreachable: Sequence[str]
) -> RunRecord:
    steps = {"expand": settings.expand, "rerank": settings.rerank}
    return RunRecord(
        configuration={
            "dataset": questions.dataset,
            "retriever": retriever_shown(settings),
            **{step: without_credentials(spec) for step, spec in steps.items() if spec},
        },
        fingerprints={
            "annotations": file_sha256(questions.references),
            "documents": fingerprint_documents(prepared.documents),
            **prepared.indexes,
        },
        noted={UNREACHABLE: "; ".join(unreachable)} if unreachable else {},
    )


def _predictions(
    examples: Sequence[Example], prepared: PreparedRetriever, folder: Path | None, record: RunRecord, progress: Progress
) -> list[Prediction]:
    if folder is None:
        return list(_search(examples, prepared, None, progress))
    with open_run(folder, record) as run:
        if len(run):
            progress.note(f"resuming {folder}: {pluralize(len(run), 'prediction is', 'predictions are')} there")
        for prediction in _search(examples, prepared, run, progress):
            run.append(prediction)
        return run.predictions


def _search(
    examples: Sequence[Example], prepared: PreparedRetriever, run: RunWriter | None, progress: Progress
) -> Iterator[Prediction]:
    """Search for the questions that the run does not hold yet, in both scopes."""
    for scope in SCOPES:
        to_search = [example for example in examples if run is None or not run.is_done(example.id, scope)]
        with progress.task(f"searching, {scope}", len(to_search)) as task:
            predictions = run_retrieval(
                to_search, prepared.retriever, scope=scope, documents=prepared.names, search=prepared.search
            )
            for prediction in predictions:
                yield prediction
                task.advance()
