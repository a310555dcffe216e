import re
from pathlib import Path

import pytest

from quoteweave.documents.reflow.text_files import read_text, without_unstorable

CHARSET = re.compile(rb"charset=([\w-]+)")


def decoded(tmp_path: Path, data: bytes) -> tuple[str, tuple[str, ...]]:
    path = tmp_path / "page.html"
    path.write_bytes(data)
    return read_text(path, megabytes=1, declared=CHARSET)


@pytest.mark.parametrize("name", ["shift_jis", "euc-kr", "gb18030", "big5", "koi8-r", "iso-8859-2"])
def test_a_declared_encoding_is_used(tmp_path: Path, name: str) -> None:
    words = {"shift_jis": "日本語", "euc-kr": "한국어", "gb18030": "中文", "big5": "中文", "koi8-r": "слово"}.get(
        name, "łódź"
    )
    assert decoded(tmp_path, f"charset={name} {words}".encode(name)) == (f"charset={name} {words}", ())


@pytest.mark.parametrize(
    ("name", "words"),
    [("iso-2022-jp", "日本語"), ("iso-2022-kr", "한국어"), ("hz-gb-2312", "中文"), ("iso-2022-jp-2", "語")],
)
def test_an_encoding_whose_bytes_are_valid_utf_8_is_used(tmp_path: Path, name: str, words: str) -> None:
    assert decoded(tmp_path, f"charset={name} ".encode() + words.encode(name)) == (f"charset={name} {words}", ())
    assert decoded(tmp_path, f"charset={name} plain".encode()) == (f"charset={name} plain", ())


def test_iso_2022_jp_is_known_where_nothing_declares_it(tmp_path: Path) -> None:
    assert decoded(tmp_path, "港は春に".encode("iso-2022-jp")) == ("港は春に", ())
    assert decoded(tmp_path, b"a ~{ b \x1b[1m c") == ("a ~{ b \x1b[1m c", ())


def test_valid_utf_8_wins_over_what_is_declared(tmp_path: Path) -> None:
    assert decoded(tmp_path, "charset=iso-8859-1 é".encode()) == ("charset=iso-8859-1 é", ())


def test_latin_1_means_windows_1252_as_on_the_web(tmp_path: Path) -> None:
    assert decoded(tmp_path, b"charset=iso-8859-1 \x80") == ("charset=iso-8859-1 €", ())


@pytest.mark.parametrize("name", ["zip", "rot13", "unicode_escape", "punycode", "idna", "nonsense", "utf-7"])
def test_codecs_that_are_no_encodings_of_text_are_not_used(tmp_path: Path, name: str) -> None:
    text, warnings = decoded(tmp_path, f"charset={name} ".encode() + b"\xe9\\u0041")
    assert text == f"charset={name} é\\u0041"
    assert "Windows-1252" in warnings[0]


def test_what_cannot_be_stored_is_replaced() -> None:
    assert without_unstorable("a\x00b\ud800c") == "ab\ufffdc"
