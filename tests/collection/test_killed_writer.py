"""A writer killed at any moment leaves a whole collection, and the next writer ends where it would have ended."""

import hashlib
import random
import subprocess
import sys
from pathlib import Path

from forked_programs import ForkedProgram
from killed_processes import left_by_kills
from made_documents import made_document, put, stored_files

from quoteweave.collection.collection import Collection
from quoteweave.index import lexical


def work(root: Path) -> None:
    """Puts, replaces, removes and publishes; each version's quotes carry its number. Ends the same from any state."""
    with Collection.open_or_create(root) as collection, collection.writer() as writer:
        known = {document.name for document in collection.documents()}
        for name, version in [("a.txt", 1), ("b.txt", 1), ("a.txt", 2)]:
            image = collection.images.put(f"{name} {version}".encode(), suffix=".png")
            put(writer, root.parent, name, made_document([f"{version}"] * 3, image=image))
        writer.publish("made", "f1", build=_build, revision=collection.revision())
        for name in {"b.txt"} | known - {"a.txt"}:
            writer.remove(name)
        writer.publish("made", "f1", build=_build, revision=collection.revision())


def _build(folder: Path) -> None:
    for name in ("one", "two"):
        (folder / name).write_text("whole")


def assert_whole(collection: Collection) -> None:
    for document, rows, quotes in collection.iter_documents_quotes():
        assert len(rows) == len(quotes) == document.quotes == document.pages + 1
        assert len(collection.pages(document.name)) == document.pages
        words = [collection.page_words(document.name, page) for page in range(document.pages)]
        assert [word.text for page in words if page for word in page.words] == [quotes[0].text] * document.pages
        (picture,) = (quote for quote in quotes if quote.image)
        assert len({quote.text for quote in quotes if quote is not picture}) == 1
        source = collection.source_file(document.name).read_bytes()
        assert hashlib.sha256(source).hexdigest() == document.content
        assert source.decode().splitlines()[0] == quotes[0].text
        image = collection.images.path(str(picture.image))
        assert hashlib.sha256(image.read_bytes()).hexdigest() == image.stem
    indexed = [
        name for segment in lexical.current_lexical_index(collection).segments.values() for name in segment.names
    ]
    assert sorted(indexed) == [document.name for document in collection.documents()]
    for state in collection.indexes():
        assert [path.read_text() for path in state.folder.iterdir()] == ["whole", "whole"]


def assert_finished(root: Path) -> None:
    with Collection.open(root) as collection:
        assert_whole(collection)
        assert [document.name for document in collection.documents()] == ["a.txt"]
        quotes = collection.document_quotes("a.txt")
        assert sorted(quote.text for quote in quotes) == ["", "2", "2", "2"]
        (state,) = collection.indexes()
        assert state.revision == collection.revision()
        image = collection.images.path(next(quote.image for quote in quotes if quote.image))
        assert stored_files(root / "images") | stored_files(root / "sources") == {
            image,
            collection.source_file("a.txt"),
        }
        assert stored_files(root / "lexical") == set(collection.segments()[0])
        assert stored_files(root / "indexes") == {state.folder / "one", state.folder / "two"}
    assert sorted(path.name for path in root.iterdir()) == [
        "catalog.sqlite", "catalog.sqlite.checksum", "changes-of-catalog.sqlite", "collection.json", "images",
        "indexes", "lexical", "reserve", "sources", "writer.lock",
    ]  # fmt: skip


def test_killed_at_each_step_it_leaves_a_whole_collection_that_can_be_finished(tmp_path: Path) -> None:
    folder, copies = tmp_path / "undisturbed", tmp_path / "copies"
    folder.mkdir()
    left = left_by_kills(folder, copies, work, folder / "c")
    assert_finished(folder / "c")
    for copy in left:
        root = copy / "c"
        if (root / "collection.json").exists():
            with Collection.open(root) as collection:
                assert_whole(collection)
        work(root)
        assert_finished(root)
    assert len(left) > 50


FOREVER = """
import sys
from pathlib import Path
sys.path.append(sys.argv[2])
from test_killed_writer import work
print("ready", flush=True)
while True:
    work(Path(sys.argv[1]))
    print("again", flush=True)
"""


def test_killed_between_steps_it_leaves_a_whole_collection(tmp_path: Path) -> None:
    root = tmp_path / "c"
    moments = random.Random(7)
    for lines in (moments.randint(1, 8) for _ in range(8)):
        command = [sys.executable, "-c", FOREVER, str(root), str(Path(__file__).parent)]
        with ForkedProgram(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(lines):
                assert process.stdout.readline()
            process.kill()
        with Collection.open_or_create(root) as collection:
            assert_whole(collection)
    work(root)
    assert_finished(root)
