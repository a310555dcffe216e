import os
import zipfile
from pathlib import Path

import pytest

from quoteweave.core.errors import DamagedDocument, DocumentError, UnsupportedFormat
from quoteweave.documents.formats import ADVICE, SUFFIXES, Format, sniff

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 20
JPEG = b"\xff\xd8\xff\xe0" + b"\x00" * 20
WEBP = b"RIFF\x24\x00\x00\x00WEBPVP8 "
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 20
ZIP = b"PK\x03\x04" + b"\x00" * 60
EPUB = b"PK\x03\x04" + b"\x00" * 26 + b"mimetypeapplication/epub+zip"
BASE64 = b"Subject: Grain\nContent-Transfer-Encoding: base64\n\nR3JhaW4="


def file(tmp_path: Path, name: str, data: bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.pdf", PDF, Format.PDF),
        ("a.PDF", b"junk\n" * 200 + PDF, Format.PDF),
        ("no suffix", PDF, Format.PDF),
        ("scan.bin", PDF, Format.PDF),
        ("really a pdf.txt", PDF, Format.PDF),
        ("a.png", PNG, Format.PNG),
        ("really a png.jpg", PNG, Format.PNG),
        ("a.jpeg", JPEG, Format.JPEG),
        ("a.webp", WEBP, Format.WEBP),
        ("a.tif", b"II*\x00\x08\x00", Format.TIFF),
        ("a.tiff", b"MM\x00*\x00\x08", Format.TIFF),
        ("a.md", b"# Title", Format.MARKDOWN),
        ("a.Markdown", b"text", Format.MARKDOWN),
        ("a.txt", "Größe".encode(), Format.TEXT),
        ("a.txt", "Größe".encode("cp1252"), Format.TEXT),
        ("a.txt", "wide".encode("utf-16"), Format.TEXT),
        ("a.txt", "wide without a mark".encode("utf-16-le"), Format.TEXT),
        ("README", b"Read this.", Format.TEXT),
        ("server.log", b"12:00 started", Format.TEXT),
        ("a.rst", b"Title\n=====", Format.RESTRUCTURED_TEXT),
        ("a.htm", b"<p>x", Format.HTML),
        ("about pdf.md", b"A PDF starts with\n%PDF-1.7\n", Format.MARKDOWN),
        ("about mails.txt", b"Title: Mails\n\nContent-Transfer-Encoding: base64\n", Format.TEXT),
        ('it\'s "odd"\n name.md', b"x", Format.MARKDOWN),
    ],
)
def test_formats_are_told_by_signature_then_by_suffix(tmp_path: Path, name: str, data: bytes, expected: Format) -> None:
    assert sniff(file(tmp_path, name, data)) is expected


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.docx", ZIP, r"'a.docx' is a .docx file, which is not read; save it as PDF"),
        ("a.docx", OLE, "LibreOffice"),
        ("a.doc", OLE, "LibreOffice"),
        ("a.txt", b"{\\rtf1\\ansi", "an RTF document.*LibreOffice"),
        ("a.odt", ZIP, "LibreOffice"),
        ("a.epub", EPUB, "Calibre"),
        ("book", EPUB, "an EPUB book.*Calibre"),
        ("a.djvu", b"AT&TFORM\x00", "ddjvu"),
        ("a.ps", b"%!PS-Adobe-3.0", "ps2pdf"),
        ("a.heic", b"\x00\x00\x00\x18ftypheic", "save it as PNG"),
        ("a.gif", b"GIF89a", "save it as PNG"),
        ("a.zip", ZIP, "unpack"),
        ("a.tar.gz", b"\x1f\x8b\x08\x00", "unpack"),
        ("a.tex", b"\\section{Title}", "pandoc"),
        ("a.json", b"[]", "content_list.json"),
        ("a.eml", BASE64, "save it as PDF or HTML"),
        (
            "INBOX",
            b"From a@b.org May 1\nReceived: by b.org\n\tfor a\n" + BASE64,
            "is a mail or web archive.*PDF or HTML",
        ),
        ("a.html", b"Subject: Grain\r\nContent-Type: multipart/related; x=y\r\n\r\n", "is a mail or web archive"),
        ("a.msg", OLE, "a .msg file.*save it as PDF or HTML"),
        ("a.parquet", b"PAR1\x15", "import"),
        ("a.xyz", b"\x00\x01\x02", r"'a.xyz': .xyz files are not read, unless they are text; convert it to PDF"),
    ],
)
def test_other_formats_are_refused_with_a_way_to_convert_them(
    tmp_path: Path, name: str, data: bytes, says: str
) -> None:
    with pytest.raises(UnsupportedFormat, match=says):
        sniff(file(tmp_path, name, data))


def test_notes_of_what_a_form_sends_are_no_mail(tmp_path: Path) -> None:
    data = b"Host: a\nContent-Type: multipart/form-data; boundary=x\n\nIt is sent so."
    assert sniff(file(tmp_path, "a.md", data)) is Format.MARKDOWN


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.pdf", b"", "'a.pdf' is empty"),
        ("a.pdf", b"<!DOCTYPE html><p>Not found", r"'a.pdf' is not .pdf: it seems to be an HTML page"),
        ("a.pdf", b"hello", "seems to be text"),
        ("a.pdf", ZIP, "seems to be a ZIP archive"),
        ("a.pdf", b"x" * 1030 + PDF, "seems to be"),
        ("a.pdf", b"\x00\x01" * 50, "other binary data"),
        ("a.png", b"RIFF\x24\x00\x00\x00WAVEfmt ", "other binary data"),
        ("a.txt", b"MZ\x90\x00\x03\x00\x00", "not text but binary data"),
        ("a.md", bytes(range(1, 32)) * 4, "not text but binary data"),
    ],
)
def test_files_that_are_not_what_they_say_are_damaged(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    with pytest.raises(DamagedDocument, match=says):
        sniff(file(tmp_path, name, data))


def test_a_zip_bomb_is_never_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"\x00" * 10_000_000)
    with pytest.raises(UnsupportedFormat, match=r"a \.docx file"):
        sniff(path)


def test_folders_pipes_and_missing_files_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pdf")
    for path in (tmp_path, tmp_path / "missing.pdf", tmp_path / "pipe.pdf"):
        with pytest.raises(DocumentError, match="is not a file"):
            sniff(path)


def test_no_suffix_is_both_read_and_refused() -> None:
    assert not SUFFIXES.keys() & ADVICE.keys()
