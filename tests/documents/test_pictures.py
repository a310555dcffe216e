import base64
import io
import struct
import tempfile
import zlib
from pathlib import Path

import pytest
from other_user import printed_by_nobody
from PIL import Image

from quoteweave.collection.stores.content import ImageStore
from quoteweave.documents.reflow import linked_images as module
from quoteweave.documents.reflow.linked_images import LinkedImages, file_hash


def encoded(format_name: str = "PNG", size: tuple[int, int] = (40, 50), mode: str = "RGB") -> bytes:
    stream = io.BytesIO()
    Image.new(mode, size).save(stream, format_name)
    return stream.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG whose header claims a size that its data does not hold."""
    chunk = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "documents"
    (path / "figures").mkdir(parents=True)
    return path


def test_a_picture_below_the_folder_is_stored_as_it_is(folder: Path, images: ImageStore) -> None:
    (folder / "figures" / "a b.jpg").write_bytes(encoded("JPEG"))
    pictures = LinkedImages(folder, images)
    picture = pictures.at_address("figures/a%20b.jpg?version=2#top")
    assert picture is not None
    assert (picture.width, picture.height, Path(picture.key).suffix) == (40, 50, ".jpg")
    assert images.path(picture.key).read_bytes() == encoded("JPEG")
    assert pictures.at_path("figures/a b.jpg") == picture
    assert pictures.warnings == ()


@pytest.mark.parametrize(("format_name", "mode"), [("GIF", "P"), ("BMP", "RGB"), ("TIFF", "CMYK")])
def test_formats_that_browsers_do_not_all_show_become_png(
    folder: Path, images: ImageStore, format_name: str, mode: str
) -> None:
    (folder / "picture").write_bytes(encoded(format_name, mode=mode))
    picture = LinkedImages(folder, images).at_path("picture")
    assert picture is not None
    assert Image.open(images.path(picture.key)).format == "PNG"


def test_a_picture_within_the_document_is_read(folder: Path, images: ImageStore) -> None:
    address = "data:image/png;base64," + base64.b64encode(encoded()).decode()
    picture = LinkedImages(folder, images).at_address(address)
    assert picture is not None
    assert picture.width == 40


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("missing.png", "no such file"),
        ("../secret.png", "outside the document's folder"),
        ("figures/../../secret.png", "outside the document's folder"),
        ("%2e%2e/secret.png", "outside the document's folder"),
        ("link.png", "outside the document's folder"),
        ("/etc/hostname", "outside the document's folder"),
        ("http://127.0.0.1/a.png", "nothing is fetched"),
        ("//127.0.0.1/a.png", "nothing is fetched"),
        ("file:///etc/hostname", "nothing is fetched"),
        ("http://[", "no address"),
        ("figures", "no such file"),
        ("a\x00b.png", "cannot be read"),
        ("a" * 5000, "cannot be read"),
        ("text.png", "damaged, or is not PNG"),
        ("short.png", "damaged, or is not PNG"),
        ("script.eps", "damaged, or is not PNG"),
        ("data:image/png", "has no data"),
        ("data:image/png;base64,A", "is damaged"),
        ("data:image/png,hello", "damaged, or is not PNG"),
    ],
)
def test_what_cannot_be_had_becomes_a_warning(folder: Path, images: ImageStore, address: str, says: str) -> None:
    (folder.parent / "secret.png").write_bytes(encoded())
    (folder / "link.png").symlink_to(folder.parent / "secret.png")
    (folder / "text.png").write_bytes(b"hello")
    (folder / "short.png").write_bytes(encoded("PNG", (300, 300))[:80])
    (folder / "script.eps").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n")
    pictures = LinkedImages(folder, images)
    assert pictures.at_address(address) is None
    assert len(pictures.warnings) == 1
    assert says in pictures.warnings[0]
    assert len(pictures.warnings[0]) < 250


READING = """
from pathlib import Path
from quoteweave.collection.stores.content import ImageStore
from quoteweave.documents.reflow.linked_images import LinkedImages
"""
LOOKING = """
pictures = LinkedImages(Path(sys.argv[1]), ImageStore(Path(sys.argv[1])))
pictures.at_path("a.png")
print(*pictures.warnings)
"""


def test_a_picture_that_may_not_be_read_says_what_to_do() -> None:
    # Not under tmp_path, which only its owner may enter.
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        Path(name, "a.png").write_bytes(encoded())
        Path(name, "a.png").chmod(0)
        (said,) = printed_by_nobody(READING, LOOKING, name)
    assert said == "Picture 'a.png' was left out: it may not be read; allow reading it, and add the document again."


@pytest.mark.parametrize("size", [(8001, 8001), (12_000, 12_000), (60_000, 60_000)])
def test_decompression_bombs_are_told_by_their_header(folder: Path, images: ImageStore, size: tuple[int, int]) -> None:
    (folder / "bomb.png").write_bytes(png_header(*size) + b"\x00\x00\x00\x00IDAT")
    pictures = LinkedImages(folder, images)
    assert pictures.at_path("bomb.png") is None
    assert "more than 64 megapixels" in pictures.warnings[0]


def test_a_file_that_is_too_large_is_not_read(
    folder: Path, images: ImageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_MEGABYTES", 0)
    (folder / "a.png").write_bytes(encoded())
    pictures = LinkedImages(folder, images)
    assert pictures.at_path("a.png") is None
    assert "larger than 0 MB" in pictures.warnings[0]


def test_files_are_known_by_the_hash_of_what_was_read(
    folder: Path, images: ImageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_MEGABYTES", 0.001)
    (folder / "a.png").write_bytes(encoded())
    (folder / "text.png").write_bytes(b"hello")
    (folder / "large.png").write_bytes(bytes(1001))
    pictures, names = LinkedImages(folder, images), ("a.png", "text.png", "large.png", "missing.png", "figures")
    for name in names:
        pictures.at_path(name)
    assert pictures.files == {name: file_hash(folder / name) for name in names}
    assert [name for name in names if pictures.files[name] is None] == ["large.png", "missing.png", "figures"]


def test_a_single_address_is_read_once(folder: Path, images: ImageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.png").write_bytes(encoded())
    read, names = Path.read_bytes, []

    def counted(path: Path) -> bytes:
        names.append(path.name)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", counted)
    assert LinkedImages(folder, images).at_one_of(["a.png"]) is not None
    assert names == ["a.png"]


def test_a_picture_is_read_and_warned_of_once(folder: Path, images: ImageStore) -> None:
    (folder / "a.png").write_bytes(encoded())
    pictures = LinkedImages(folder, images)
    first = pictures.at_address("a.png")
    (folder / "a.png").unlink()
    assert pictures.at_address("a.png") == first
    for _ in range(3):
        pictures.at_address("b.png")
    assert len(pictures.warnings) == 1


def test_only_so_many_pictures_are_stored_and_only_so_many_warnings_listed(
    folder: Path, images: ImageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_PICTURES", 2)
    for number in range(30):
        (folder / f"{number}.png").write_bytes(encoded())
    pictures = LinkedImages(folder, images)
    stored = [pictures.at_path(f"{number}.png") for number in range(30)]
    assert sum(picture is not None for picture in stored) == 2
    assert len(pictures.warnings) == 21
    assert pictures.warnings[-1] == "8 more pictures could not be read."
