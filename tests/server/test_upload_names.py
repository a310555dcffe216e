"""Whatever a sender calls a file, its document's name is a path on every system, and leads out of no folder."""

import unicodedata
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.errors import UsageError
from quoteweave.server.jobs.upload_names import MAX_BYTES, document_path, known_name

PARTS = st.sampled_from(
    ["..", ".", "/", "\\", "C:", "CON", "nul.txt", "\x00", "\n", "\u202e", " ", "~", "é", "e\u0301", "😀"]
)
NAMES = st.one_of(st.text(), st.lists(PARTS | st.text(max_size=3), max_size=8).map("".join))


@given(filename=NAMES, folder=NAMES)
def test_a_name_stays_below_its_folder_and_means_itself_to_itself(filename: str, folder: str) -> None:
    try:
        path = document_path(filename, folder)
    except UsageError:
        return
    posix, windows = PurePosixPath(path), PureWindowsPath(path)
    assert not posix.is_absolute()
    assert (windows.drive, windows.root, windows.is_reserved()) == ("", "", False)
    assert not {"..", "."} & set(path.split("/"))
    assert Path("/uploads", path).resolve().is_relative_to("/uploads")
    assert all(0 < len(part.encode()) <= MAX_BYTES and not part.startswith(".") for part in posix.parts)
    assert path.isprintable() or "\u200c" in path or "\u200d" in path
    assert unicodedata.is_normalized("NFC", path)
    head, _, last = path.rpartition("/")
    assert document_path(last, head) == path


@pytest.mark.parametrize(
    ("filename", "folder", "path"),
    [
        ("report.pdf", "", "report.pdf"),
        ("report.pdf", "/manuals/2024/", "manuals/2024/report.pdf"),
        ("../../etc/passwd", "", "passwd"),
        ("C:\\Users\\me\\report.pdf", "", "report.pdf"),
        ("/etc/shadow", "", "shadow"),
        (".hidden.txt", "", "hidden.txt"),
        ("a\x00b\r\n.txt", "", "ab.txt"),
        ("CON.pdf", "aux", "_aux/_CON.pdf"),
        ("CON .0", "", "_CON .0"),
        ("Report: May?.pdf", "", "Report_ May_.pdf"),
        ("e\u0301te\u0301.pdf", "", "été.pdf"),
        ("fdp\u202etxt.exe", "", "fdptxt.exe"),
        ("trailing. . ", "", "trailing"),
    ],
)
def test_names_are_made_fit(filename: str, folder: str, path: str) -> None:
    assert document_path(filename, folder) == path


@pytest.mark.parametrize(
    ("filename", "folder"),
    [("", ""), ("..", ""), ("a/", ""), ("\x00", ""), ("a", "../b"), ("a", "b/./c"), ("a", "b/\n")],
)
def test_what_is_no_name_is_refused(filename: str, folder: str) -> None:
    with pytest.raises(UsageError, match=r"is no name of a file|cannot stand before names"):
        document_path(filename, folder)


def test_long_names_stay_apart_and_keep_what_tells_their_format() -> None:
    one, other = (document_path("é" * 300 + f"{end}.pdf") for end in "ab")
    assert one != other
    assert one.endswith(".pdf")
    assert len(one.encode()) <= MAX_BYTES


def test_a_document_whose_name_no_upload_can_have_is_still_replaced() -> None:
    known = ["Report: May.pdf", "e\u0301.pdf", "sub/CON.txt", "x:.pdf", "x?.pdf", "plain.pdf"]
    assert known_name("Report_ May.pdf", known) == "Report: May.pdf"
    assert known_name("é.pdf", known) == "e\u0301.pdf"
    assert known_name("sub/_CON.txt", known) == "sub/CON.txt"
    assert known_name("plain.pdf", known) == "plain.pdf"
    assert known_name("x_.pdf", known) == "x_.pdf"
    assert known_name("new.pdf", known) == "new.pdf"
