"""What `quoteweave eval` measures: the documents of a dataset in a collection, and what searches them."""

import hashlib
import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from quoteweave.cli.retrieving import DEFAULT, Finding, means_for, tell
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.messages import counted

if TYPE_CHECKING:
    from quoteweave.collection.collection import Collection
    from quoteweave.core.protocols import Retriever
    from quoteweave.core.records import Document, Filter
    from quoteweave.pipeline.search import Search
    from quoteweave.retrievers.step_registry import Chats


class Subject(NamedTuple):
    """What is measured: a retriever, the documents it searches, and why others could not be read.

    `indexes` has the fingerprint of each that is searched; `notes` counts what went wrong in searches that found
    something nonetheless.
    """

    retriever: "Retriever"
    documents: "Sequence[Document]"
    indexes: Mapping[str, str]
    failures: Mapping[str, str]
    notes: Counter[str]

    @property
    def names(self) -> set[str]:
        """Names of the documents that can be searched."""
        return {document.name for document in self.documents}


def ingest_for_eval(collection: Path, documents: Path, *, quiet: bool) -> None:
    """Brings the collection up to date with a folder of documents; it remembers which of them could not be read.

    Where documents were added with settings of their own, they are left as they are, and what is missing is added.
    """
    from quoteweave.cli.add import add_paths
    from quoteweave.collection.collection import Collection
    from quoteweave.documents.discovery import find_files
    from quoteweave.documents.ingest import AddOptions

    files = find_files([documents])
    with Collection.open_or_create(collection) as opened:
        origins = opened.origins()
    present = {file.name for file in files if file.name in origins and _hash(file.path) == origins[file.name].content}
    usual = AddOptions().fingerprint
    others = [name for name in present if origins[name].parser != usual and not origins[name].imported]
    if not others:
        add_paths(collection, [documents], quiet=quiet)
        return
    command = f"quoteweave add {shlex.quote(str(documents))} -c {shlex.quote(str(collection))}"
    tell(
        f"note: searched as they are, though added with other settings: "
        f"{counted(len(others), 'document')}; anew with: {command}"
    )
    lacking = [file.path for file in files if file.name not in present]
    if lacking:
        add_paths(collection, lacking, quiet=quiet)


def _hash(path: Path) -> str | None:
    """None for a file that cannot be read, which adding it will tell."""
    try:
        return file_sha256(path)
    except OSError:
        return None


@contextmanager
def open_subject(collection: Path, finding: Finding, *, quiet: bool) -> Iterator[Subject]:
    """The retriever that is named, over the collection in that folder, its indexes built."""
    from quoteweave.collection.collection import Collection

    with Collection.open(collection) as opened:
        failures = {failure.name: failure.reason for failure in opened.failures()}
        notes = Counter[str]()
        retriever = _searching(opened, finding, notes)
        specs = build_all(opened, finding, quiet=quiet)
        yield Subject(retriever, opened.documents(), fingerprints_of(opened, specs), failures, notes)


def build_all(collection: "Collection", finding: Finding, *, quiet: bool) -> list[str]:
    """Builds the index of every retriever that is named; the specs of these."""
    from quoteweave.cli.indexing import Building, build_index
    from quoteweave.retrievers.registry import as_built, members

    parts = [part for text in finding.retrievers or [DEFAULT] for part in members(text)]
    specs = [as_built(part, collection, tell) for part in parts]
    for spec in specs:
        build_index(collection, spec, Building(replace(finding, terms=()), quiet=quiet))
    return specs


def content_of(documents: "Sequence[Document]") -> str:
    """Changes whenever the quotes of these documents may have."""
    state = sorted((document.name, document.content, document.parser) for document in documents)
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()


def fingerprints_of(collection: "Collection", specs: Sequence[str]) -> dict[str, str]:
    """Of the indexes that these retrievers search: `index` and the spec, to the fingerprint."""
    from quoteweave.collection.stores.generations import manifest_of
    from quoteweave.index.lexical import FINGERPRINT
    from quoteweave.retrievers.registry import SPARSE
    from quoteweave.retrievers.spec import parse_spec

    wanted = {parse_spec(spec).shown for spec in specs}
    found = dict.fromkeys(SPARSE, FINGERPRINT)
    for state in collection.indexes():
        manifest = manifest_of(state)
        found[state.name if manifest is None else manifest.spec] = state.fingerprint
    return {f"index {spec}": fingerprint for spec, fingerprint in found.items() if spec in wanted}


def _searching(collection: "Collection", finding: Finding, notes: Counter[str]) -> "Retriever":
    """The retriever, with expansion and reranking where they are asked for. Raises UsageError."""
    from quoteweave.pipeline.experiment import SearchRetriever

    retriever, search_in = searches(collection, finding)
    if not finding.expand and not finding.rerank:
        return retriever
    return SearchRetriever(search_in, reranks=bool(finding.rerank), tell=lambda note: notes.update([note]))


def searches(
    collection: "Collection", finding: Finding, chats: "Chats | None" = None
) -> "tuple[Retriever, Callable[[Filter | None], Search]]":
    """The retriever, and the search of all steps for a filter; models are loaded once. Raises UsageError."""
    from quoteweave.pipeline.experiment import RememberingExpander
    from quoteweave.pipeline.search import Search
    from quoteweave.retrievers.registry import make_fused
    from quoteweave.retrievers.step_registry import NO_CHATS, make_expander, make_reranker

    names, means = finding.retrievers or [DEFAULT], means_for(collection, finding)
    # What a retriever sends is told when its index is built.
    retriever = make_fused(names, finding.fusion, collection, replace(means, tell=lambda _: None))
    how = finding.expand
    chats = chats or NO_CHATS
    shared = RememberingExpander(make_expander(how, names, collection, means=means, chats=chats)) if how else None
    reranker = make_reranker(finding.rerank, means=means, chats=chats) if finding.rerank else None

    def search_in(where: "Filter | None") -> "Search":
        # rm3 alone looks into the collection, and has to look where the question is asked.
        expander = make_expander(how, names, collection, where=where) if how == "rm3" else shared
        return Search(retriever, expander=expander, reranker=reranker)

    return retriever, search_in
