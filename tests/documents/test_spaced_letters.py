"""Words whose letters are set apart are whole, and letters that are words of their own stay so."""

from pathlib import Path

import pytest
from made_files import HELVETICA, page_pdf

from quoteweave.documents.sources.pdf import open_pdf


def lines(path: Path, content: str) -> list[str]:
    """The lines of a page in Helvetica of 10 points."""
    page_pdf(path, f"BT /F1 10 Tf 72 700 Td {content} ET", HELVETICA)
    with open_pdf(path, None) as pages:
        return [line.text for line in pages.read(0).lines]


def apart(text: str, gap: int = -300) -> str:
    """An operand that sets each letter, in thousandths of the font's size."""
    return f" {gap} ".join(f"({letter})" for letter in text)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (f"[{apart('HARBOUR')}] TJ", "HARBOUR"),
        (f"[{apart('THE')} -900 {apart('NEW')} -900 {apart('QUAY')}] TJ", "THE NEW QUAY"),
        (f"[(It is ) {apart('important')} ( to all.)] TJ", "It is important to all."),
        (f"[(H) -300 (AR) -300 {apart('BOUR')}] TJ", "HARBOUR"),
    ],
)
def test_a_word_whose_letters_are_set_apart_is_whole(tmp_path: Path, content: str, line: str) -> None:
    assert lines(tmp_path / "a.pdf", content) == [line]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("(Vitamins A B C D E are listed.) Tj", "Vitamins A B C D E are listed."),
        (f"[(Vitamins) -300 {apart('ABCDE')} -300 (are)] TJ", "Vitamins A B C D E are"),  # as TeX parts all words
        (f"[{apart('12345')}] TJ", "1 2 3 4 5"),
        # The first letters of months stand with their middles alike far apart.
        (" ".join(f"1 0 0 1 {72 + 12 * i} 600 Tm ({month}) Tj" for i, month in enumerate("JFMAMJJ")), "J F M A M J J"),
    ],
)
def test_letters_that_are_words_stay_apart(tmp_path: Path, content: str, line: str) -> None:
    assert lines(tmp_path / "a.pdf", content) == [line]
