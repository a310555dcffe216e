"""A long PDF that is interrupted goes on from its pages; what is kept of it does not stay longer than it is wanted."""

import hashlib
import shutil
import signal
import sys
from pathlib import Path

import pytest
from forked_programs import run
from made_files import PROSE, jpeg_bytes, pdf
from pydantic import TypeAdapter

from quoteweave.collection.collection import Collection
from quoteweave.collection.stores.content import ImageStore
from quoteweave.collection.stores.unfinished import PAGE_FORM, UnfinishedPages, UnfinishedStore, unfinished_key
from quoteweave.core.errors import DamagedDocument
from quoteweave.documents.file_reading import AddProgress
from quoteweave.documents.formats import Format
from quoteweave.documents.ingest import AddOptions, add
from quoteweave.documents.layout.page import PageContent
from quoteweave.documents.parser import ParserSettings, SourceFile, file_stamp, read_and_keep_pages

OPTIONS = AddOptions(settings=ParserSettings(ocr=False), processes=1)
PAGES = 20
# Ends, as the first argument says, once half of the pages are read.
ENDING = """
import os, signal, sys
from pathlib import Path
from quoteweave.documents.file_reading import AddProgress
from quoteweave.documents.ingest import AddOptions, add
from quoteweave.documents.parser import ParserSettings
from quoteweave.collection.collection import Collection
done = []
def on_pages(name, pages):
    done.append(pages)
    if sum(done) > 8:
        os.kill(os.getpid(), int(sys.argv[1]))
with Collection.open_or_create(Path(sys.argv[3])) as collection:
    add(collection, [Path(sys.argv[2])], AddOptions(settings=ParserSettings(ocr=False), processes=1),
        AddProgress(on_pages=on_pages))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Has `docs`, with a PDF of 20 pages and a picture on each, and `c`, into which adding these was killed."""
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    made = tmp_path_factory.mktemp("made")
    (made / "docs").mkdir()
    (made / "a.jpg").write_bytes(jpeg_bytes((200, 150)))
    canvas = Canvas(str(made / "docs" / "long.pdf"), pagesize=(500, 300))
    for number in range(PAGES):
        canvas.drawString(20, 260, f"Quay {number}. The harbour was dredged in spring, and the cranes were moved.")
        canvas.drawImage(ImageReader(made / "a.jpg"), 100 + number, 50, 200, 150)
        canvas.showPage()
    canvas.save()
    assert "leaked" not in interrupted(made / "docs", made / "c", signal.SIGKILL)
    return made


@pytest.fixture
def folder(tmp_path: Path, made: Path) -> Path:
    """The folder of the long PDF, for one test alone."""
    return shutil.copytree(made / "docs", tmp_path / "docs")


@pytest.fixture
def killed(tmp_path: Path, made: Path) -> Path:
    """A collection into which adding `folder` was killed, for one test alone."""
    return shutil.copytree(made / "c", tmp_path / "c")


def interrupted(folder: Path, root: Path, ending: signal.Signals) -> str:
    command = [sys.executable, "-c", ENDING, str(int(ending)), str(folder), str(root)]
    found = run(command)
    assert found.returncode != 0
    return found.stderr


def pages_to_come(collection: Collection, folder: Path) -> int:
    totals: list[int] = []
    add(collection, [folder], OPTIONS, AddProgress(on_total=totals.append))
    return sum(totals)


@pytest.fixture
def stopped(tmp_path: Path, made: Path) -> Path:
    """A collection into which adding `folder` was interrupted as by Ctrl-C."""
    assert "leaked" not in interrupted(made / "docs", tmp_path / "c", signal.SIGINT)
    return tmp_path / "c"


@pytest.mark.parametrize("ended", ["killed", "stopped"])
def test_it_goes_on_from_the_pages_that_were_read(
    tmp_path: Path, folder: Path, ended: str, request: pytest.FixtureRequest
) -> None:
    root = request.getfixturevalue(ended)
    with Collection.create(tmp_path / "undisturbed") as undisturbed, Collection.open(root) as collection:
        assert collection.documents() == []
        assert pages_to_come(undisturbed, folder) == PAGES
        assert pages_to_come(collection, folder) <= PAGES - 8
        assert collection.documents() == undisturbed.documents()
        assert collection.document_quotes("long.pdf") == undisturbed.document_quotes("long.pdf")
        keys = [quote.image for quote in collection.document_quotes("long.pdf") if quote.image]
        assert len(keys) == PAGES
        assert all(collection.images.path(key).is_file() for key in keys)
    assert not (root / "unfinished").exists()


def test_what_is_not_wanted_any_more_goes_with_the_next_writer(tmp_path: Path, folder: Path, killed: Path) -> None:
    root = killed
    assert any((root / "unfinished").iterdir())
    other = tmp_path / "other"
    other.mkdir()
    pdf(other / "other.pdf", [PROSE])
    with Collection.open(root) as collection:
        add(collection, [other], OPTIONS)
        assert not (root / "unfinished").exists()
        assert len(list((root / "images").rglob("*.png"))) == 0
    interrupted(folder, root, signal.SIGKILL)
    assert any((root / "unfinished").iterdir())
    with Collection.open(root) as collection:
        with collection.writer() as writer:
            writer.remove("other.pdf")
        assert not (root / "unfinished").exists()


def test_a_file_that_has_changed_is_read_from_its_start(folder: Path, killed: Path) -> None:
    pdf(folder / "long.pdf", [f"Another {number}. {PROSE}" for number in range(30)])
    with Collection.open(killed) as collection:
        assert pages_to_come(collection, folder) == 30
        assert all("Another" in quote.text for quote in collection.document_quotes("long.pdf")[:1])


def test_a_damaged_page_and_one_in_the_place_of_another_are_read_again(folder: Path, killed: Path) -> None:
    (kept,) = (killed / "unfinished").iterdir()
    paths = sorted(path for path in kept.iterdir() if path.name.isdecimal())
    data = bytearray(paths[0].read_bytes())
    data[-5] ^= 1
    paths[0].write_bytes(data)
    paths[1].write_bytes(paths[1].read_bytes()[:-9])
    paths[2].write_bytes(b"")
    third, fourth = paths[3].read_bytes(), paths[4].read_bytes()
    paths[3].write_bytes(fourth)
    paths[4].write_bytes(third)
    with Collection.open(killed) as collection:
        assert pages_to_come(collection, folder) == PAGES - len(paths) + 5
        assert len(collection.pages("long.pdf")) == PAGES


def test_pages_kept_in_the_form_of_an_earlier_version_are_read_again(folder: Path, killed: Path) -> None:
    (kept,) = (killed / "unfinished").iterdir()
    content = hashlib.sha256((folder / "long.pdf").read_bytes()).hexdigest()
    named = f"long.pdf\0{content}\0{OPTIONS.settings.fingerprint}".encode()
    earlier = UnfinishedPages(kept.rename(kept.with_name(hashlib.sha256(named).hexdigest()[:32])))
    for number in earlier.pages():
        earlier.put(number, (earlier.get(number) or b"").replace(b'"elements":', b'"pieces":'), images=[])
    with Collection.open(killed) as collection:
        assert pages_to_come(collection, folder) == PAGES
        assert len(collection.pages("long.pdf")) == PAGES


def test_the_form_of_kept_pages_changes_with_its_version() -> None:
    schema = TypeAdapter(PageContent).json_schema()
    fields = {name: sorted(part["properties"]) for name, part in [("", schema), *schema["$defs"].items()]}
    form = hashlib.sha256(repr(fields).encode()).hexdigest()[:8]
    assert (PAGE_FORM, form) == ("5", "531c48ab"), "raise PAGE_FORM, and write the new form here"


def test_pages_come_back_as_they_were(tmp_path: Path) -> None:
    store = UnfinishedStore(tmp_path / "unfinished")
    key = unfinished_key("a.pdf", "content", "parser")
    pages = store.of(key)
    assert (pages.pages(), pages.get(0), store.images()) == (set(), None, set())
    pages.put(3, b"three\nlines\n", images=["ab/cd.png", "ab/cd.png"])
    pages.put(4, b"", images=[])
    assert (pages.pages(), pages.get(3), pages.get(4)) == ({3, 4}, b"three\nlines\n", b"")
    assert store.images() == {"ab/cd.png"}
    store.prune({key})
    assert pages.pages() == {3, 4}
    pages.remove()
    pages.remove()
    store.prune(())
    assert not (tmp_path / "unfinished").exists()
    assert unfinished_key("a.pdf", "content", "other") != key
    assert UnfinishedPages(tmp_path / "nowhere").pages() == set()
    assert list(tmp_path.iterdir()) == []


def test_pages_are_not_kept_of_a_file_that_has_changed_since_it_was_hashed(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", [PROSE, PROSE])
    source = SourceFile(
        "a.pdf", path, ParserSettings(ocr=False), ImageStore(tmp_path / "images"), stamp=file_stamp(path)
    )
    kept = UnfinishedPages(tmp_path / "kept")
    assert list(read_and_keep_pages([0], source, Format.PDF, kept)) == [0]
    pdf(path, [PROSE, PROSE, "Another version."])
    with pytest.raises(DamagedDocument, match=r"'a\.pdf' changed while it was being read"):
        list(read_and_keep_pages([1], source, Format.PDF, kept))
    assert kept.pages() == {0}
