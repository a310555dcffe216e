"""`quoteweave check`: what it says of a whole and of a damaged collection, and what it makes again."""

import shutil
from pathlib import Path

import pytest
from command_line import Quoteweave
from PIL import Image

from quoteweave.collection.collection import Collection

# The sample document of whose pages none is read by OCR, which would take all the time of reading it again.
PAPER = "two-column-paper.pdf"


@pytest.fixture
def copy(sample_collection: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sample_collection, tmp_path / "copy"))


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


def test_a_whole_collection(quoteweave: Quoteweave, copy: Path) -> None:
    ended = quoteweave("check", "-c", copy)
    assert ended.code == 0
    assert "files were read; nothing is damaged" in ended.out


def test_damage_is_listed_with_its_file_and_the_exit_code_says_so(quoteweave: Quoteweave, copy: Path) -> None:
    image, source = (max(path for path in (copy / part).rglob("*") if path.is_file()) for part in ("images", "sources"))
    flip(image)
    source.unlink()
    ended = quoteweave("check", "-c", copy)
    assert ended.code == 1
    assert f"damaged: {image.relative_to(copy)} (of " in ended.out
    assert f"damaged: {source.relative_to(copy)} (of " in ended.out
    assert "2 damaged; make again what can be made again with --repair" in ended.out
    told = quoteweave("check", "-c", copy, "--json").json()
    assert told["whole"] is False
    assert {damage["part"]: damage["file"] for damage in told["damaged"]} == {
        "source": str(source.relative_to(copy)),
        "picture": str(image.relative_to(copy)),
    }


def test_crops_are_cut_again_and_missing_files_copied_again(quoteweave: Quoteweave, copy: Path) -> None:
    whole = {path: path.read_bytes() for part in ("images", "sources") for path in (copy / part).rglob("*.*")}
    with Collection.open(copy) as collection:
        images = [collection.images.path(quote.image) for quote in collection.document_quotes(PAPER) if quote.image]
    flip(images[0])
    images[1].unlink()
    next(path for path in whole if path.is_relative_to(copy / "sources")).unlink()
    ended = quoteweave("check", "-c", copy, "--repair")
    assert ended.code == 0
    assert ended.out.count("repaired: ") == 3
    assert {path: path.read_bytes() for part in ("images", "sources") for path in (copy / part).rglob("*.*")} == whole


def test_a_damaged_text_of_ocr_is_told_and_read_again(quoteweave: Quoteweave, copy: Path) -> None:
    with Collection.open(copy) as collection:
        quotes = (quote for _, _, quotes in collection.iter_documents_quotes() for quote in quotes)
        image = next(quote.image for quote in quotes if quote.image)
        collection.ocr_texts.put(image, "ch", "Harbour dues")
        (path,) = (path for path in (copy / "ocr_texts").rglob("*") if path.is_file())
        assert quoteweave("check", "-c", copy).code == 0
        flip(path)
        assert collection.ocr_texts.get(image, "ch") is None
    assert f"damaged: {path.relative_to(copy)}" in quoteweave("check", "-c", copy).out
    assert quoteweave("check", "-c", copy, "--repair").code == 0
    assert not path.exists()


def test_a_text_of_ocr_in_the_place_of_another_is_told(quoteweave: Quoteweave, copy: Path) -> None:
    with Collection.open(copy) as collection:
        quotes = (quote for _, _, quotes in collection.iter_documents_quotes() for quote in quotes)
        image, other = sorted({quote.image for quote in quotes if quote.image})[:2]
        collection.ocr_texts.put(image, "ch", "Harbour dues")
        (path,) = (path for path in (copy / "ocr_texts").rglob("*") if path.is_file())
        collection.ocr_texts.put(other, "ch", "Grain")
        (there,) = (found for found in (copy / "ocr_texts").rglob("*") if found.is_file() and found != path)
        path.replace(there)
        assert collection.ocr_texts.get(other, "ch") is None
    assert f"damaged: {there.relative_to(copy)}" in quoteweave("check", "-c", copy).out


def test_documents_are_read_again_where_their_rows_are_damaged(quoteweave: Quoteweave, copy: Path) -> None:
    before = quoteweave("search", "a dye pulse", "-c", copy, "--json").json()["hits"]
    assert before[0]["document"] == PAPER
    path = copy / "catalog.sqlite"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"dye pulse", b"DYE pulse"))
    assert data != path.read_bytes()
    ended = quoteweave("search", "a dye pulse", "-c", copy)
    assert ended.code == 1
    assert f"{path} is damaged" in ended.err
    assert f"quoteweave check -c {copy} --repair" in ended.err
    assert quoteweave("check", "-c", copy, "--repair").code == 0
    assert quoteweave("search", "a dye pulse", "-c", copy, "--json").json()["hits"] == before


def test_a_damaged_crop_is_told_where_its_quote_is_found(quoteweave: Quoteweave, copy: Path) -> None:
    hits = quoteweave("search", "vessel calls", "-c", copy, "--kind", "image", "--json").json()["hits"]
    image = Path(next(hit["image"] for hit in hits if hit["image"]))
    flip(image)
    ended = quoteweave("search", "vessel calls", "-c", copy, "--kind", "image")
    assert ended.code == 0
    assert f"{image} is damaged" in ended.err
    ended = quoteweave("ask", "How many vessel calls?", "-c", copy, "--html", copy.parent / "answer.html")
    assert f"{image} is damaged" in ended.err
    assert f"{image} is damaged" in (copy.parent / "answer.html").read_text("utf-8").replace("&#39;", "'")


def test_what_is_no_collection_is_an_error(quoteweave: Quoteweave, tmp_path: Path) -> None:
    ended = quoteweave("check", "-c", tmp_path)
    assert ended.code == 1
    assert "no collection is at" in ended.err


def test_a_missing_header_is_damage_that_is_repaired(quoteweave: Quoteweave, copy: Path, tmp_path: Path) -> None:
    (copy / "collection.json").unlink()
    (tmp_path / "new.txt").write_text("Anchors.")
    for command in (("search", "wood"), ("add", tmp_path / "new.txt")):
        ended = quoteweave(*command, "-c", copy)
        assert ended.code == 1
        assert "collection.json is damaged: it is missing" in ended.err
    assert "damaged: collection.json: it is missing" in quoteweave("check", "-c", copy).out
    assert quoteweave("check", "-c", copy, "--repair").code == 0
    assert quoteweave("add", tmp_path / "new.txt", "-c", copy).code == 0


def test_a_picture_that_cannot_be_made_again_stays_as_it_is(quoteweave: Quoteweave, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    Image.new("RGB", (300, 200), "red").save(tmp_path / "docs" / "a.png")
    (tmp_path / "docs" / "a.html").write_text("<p>Tides</p><img src=a.png>")
    root = tmp_path / "c"
    assert quoteweave("add", tmp_path / "docs" / "a.html", "-c", root, "--no-ocr").code == 0
    (tmp_path / "docs" / "a.png").unlink()
    (stored,) = (path for path in (root / "images").rglob("*") if path.is_file())
    flip(stored)
    damaged = stored.read_bytes()
    ended = quoteweave("check", "-c", root, "--repair")
    assert ended.code == 1
    assert "keep the document as it is, or remove 'a.html'" in ended.out
    assert "1 damaged thing could not be made again" in ended.out
    assert stored.read_bytes() == damaged
