"""The OCR view of an image quote whose words the text layer gives: read when something asks for it, and once."""

import hashlib
import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from made_collections import made_quote
from PIL import Image, ImageDraw, ImageFont

from quoteweave.collection.collection import Collection
from quoteweave.collection.records import Origin
from quoteweave.collection.stores.image_texts import OcrTextStore
from quoteweave.core.answers import Context
from quoteweave.core.errors import DocumentError, StorageError
from quoteweave.core.records import Hit, Page, ParsedDocument, Quote
from quoteweave.documents.layout.page import encode_image
from quoteweave.documents.sources.lines import Line, Word
from quoteweave.documents.sources.ocr import RapidOcr
from quoteweave.documents.sources.raw_page import Raster
from quoteweave.index.removal import remove_documents
from quoteweave.pipeline.pictures_for_models import CollectionPictures
from quoteweave.pipeline.runs.arrangement import with_image_view, with_ocr_texts


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by the language of each reading; what is read is one word."""
    languages: list[str] = []

    def read(ocr: RapidOcr, picture: Raster) -> list[Line]:
        languages.append(ocr.language)
        box = (0.0, 0.0, 9.0, 9.0)
        return [Line((Word("pool", box),), box, size=9, baseline=9)]

    monkeypatch.setattr(RapidOcr, "read", read)
    return languages


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    with Collection.create(tmp_path / "collection") as opened:
        yield opened


def put(collection: Collection, tmp_path: Path, language: str | None, picture: bytes | None = None) -> Quote:
    """A document with one chart, whose words the text layer gives; its quote."""
    source = tmp_path / "a.pdf"
    source.write_bytes(b"%PDF")
    pixels = np.full((20, 30, 3), 255, dtype=np.uint8)
    with collection.writer() as writer:
        image = collection.images.put(picture or encode_image(pixels), suffix=".png")
        chart = made_quote("Depth 5", layout="chart").model_copy(update={"image": image, "id": "0:0"})
        page = Page(number=0, label="1", width=600, height=800, text_source="text_layer")
        parsed = ParsedDocument(pages=(page,), quotes=(chart,), ocr_language=language)
        content = hashlib.sha256(source.read_bytes()).hexdigest()
        origin = Origin(root=tmp_path, content=content, parser="p")
        writer.put(source, name="a.pdf", format="pdf", origin=origin, parsed=parsed)
    return collection.document_quotes("a.pdf")[0]


def test_a_crop_is_read_once_in_its_documents_language_and_announced(
    collection: Collection, tmp_path: Path, reads: list[str]
) -> None:
    quote, told = put(collection, tmp_path, "latin"), list[str]()
    pictures = CollectionPictures(collection, note=told.append)
    assert [unread.id for unread in pictures.unread()] == [quote.id]
    assert pictures.ocr_text(quote, read=False) is None
    assert [pictures.ocr_text(quote), CollectionPictures(collection).ocr_text(quote)] == ["pool", "pool"]
    assert reads == ["latin"]
    assert len(told) == 1
    assert pictures.unread() == []


def test_nothing_is_read_where_ocr_was_off(collection: Collection, tmp_path: Path, reads: list[str]) -> None:
    pictures = CollectionPictures(collection)
    assert pictures.ocr_text(put(collection, tmp_path, None)) is None
    assert (pictures.unread(), reads) == ([], [])


def test_what_is_damaged_on_disk_is_read_again(collection: Collection, tmp_path: Path, reads: list[str]) -> None:
    quote, pictures = put(collection, tmp_path, "ch"), CollectionPictures(collection)
    pictures.ocr_text(quote)
    (kept,) = (path for path in (collection.root / "ocr_texts").rglob("*") if path.is_file())
    kept.write_bytes(kept.read_bytes()[:-1] + b"!")
    assert pictures.ocr_text(quote) == "pool"
    assert len(reads) == 2
    kept.write_bytes(b"")
    assert pictures.ocr_text(quote) == "pool"


def test_who_may_not_write_reads_all_the_same(
    collection: Collection, tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise StorageError("read-only")

    monkeypatch.setattr(OcrTextStore, "put", refuse)
    quote, pictures = put(collection, tmp_path, "ch"), CollectionPictures(collection)
    assert [pictures.ocr_text(quote), pictures.ocr_text(quote)] == ["pool", "pool"]
    assert len(reads) == 2


@pytest.mark.parametrize("part", ["ocr_texts", "ocr_texts/shelf"])
def test_what_was_read_is_not_kept_behind_a_link(
    part: str, collection: Collection, tmp_path: Path, reads: list[str]
) -> None:
    quote = put(collection, tmp_path, "ch")
    assert quote.image is not None
    link = collection.root / part.replace("shelf", quote.image.partition("/")[0])
    link.parent.mkdir(exist_ok=True)
    (tmp_path / "user").mkdir()
    link.symlink_to(tmp_path / "user", target_is_directory=True)
    for _ in range(2):
        assert CollectionPictures(collection).ocr_text(quote) == "pool"
    assert list((tmp_path / "user").iterdir()) == []
    assert reads == ["ch", "ch"]


def test_what_was_read_goes_with_its_document(collection: Collection, tmp_path: Path, reads: list[str]) -> None:
    CollectionPictures(collection).ocr_text(put(collection, tmp_path, "ch"))
    with collection.writer() as writer:
        writer.remove("a.pdf")
    assert [path for path in (collection.root / "ocr_texts").rglob("*") if path.is_file()] == []


def test_a_crop_that_is_gone_or_damaged_is_named(collection: Collection, tmp_path: Path, reads: list[str]) -> None:
    quote, pictures = put(collection, tmp_path, "ch"), CollectionPictures(collection)
    path = collection.images.path(quote.image or "")
    path.write_bytes(b"no picture")
    with pytest.raises(DocumentError, match="cannot be read"):
        pictures.ocr_text(quote)
    path.unlink()
    with pytest.raises(DocumentError, match="is missing"):
        pictures.ocr_text(quote)


def test_a_run_over_that_view_shows_what_ocr_reads(collection: Collection, tmp_path: Path, reads: list[str]) -> None:
    quote = put(collection, tmp_path, "ch")
    context = Context(images=(Hit(rank=1, score=1, quote=quote),))
    (hit,) = with_image_view(with_ocr_texts(context, CollectionPictures(collection)), "ocr_text").images
    assert hit.quote.text == "pool"


def test_json_of_a_document_says_how_much_was_read(collection: Collection, tmp_path: Path) -> None:
    put(collection, tmp_path, "ch")
    told = json.loads(collection.document("a.pdf").model_dump_json())
    assert (told["ocr_language"], told["ocr_pages"], told["ocr_pictures"]) == ("ch", 0, 0)


def test_a_real_crop_is_read(collection: Collection, tmp_path: Path) -> None:
    image, data = Image.new("RGB", (400, 80), "white"), io.BytesIO()
    ImageDraw.Draw(image).text((20, 20), "Depth of the pool", fill="black", font=ImageFont.load_default(28))
    image.save(data, "PNG")
    quote = put(collection, tmp_path, "ch", picture=data.getvalue())
    assert CollectionPictures(collection).ocr_text(quote) == "Depth of the pool"


def test_nothing_stays_of_a_crop_whose_document_is_removed_while_it_is_read(
    collection: Collection, tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    quote = put(collection, tmp_path, "latin")
    read = RapidOcr.read

    def removing(ocr: RapidOcr, picture: Raster) -> list[Line]:
        lines = read(ocr, picture)
        with Collection.open(collection.root) as other:
            remove_documents(other, ["a.pdf"])
        return lines

    monkeypatch.setattr(RapidOcr, "read", removing)
    assert CollectionPictures(collection).ocr_text(quote) == "pool"
    assert reads == ["latin"]
    assert [path for path in (collection.root / "ocr_texts").rglob("*") if path.is_file()] == []
