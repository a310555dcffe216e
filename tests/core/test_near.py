"""Which names are offered for one that does not exist: those it may have been meant for, and no others."""

import pytest

from quoteweave.core.messages import similar_names

DOCUMENTS = [
    "field-notes-scan.pdf",
    "2023/harbour-report.pdf",
    "2023/README.md",
    "two-column-paper.pdf",
    "a.txt",
    "b.txt",
]
RETRIEVERS = ["lexical", "bm25", "tfidf", "dpr", "bge", "e5", "colpali", "colqwen2", "ensemble"]


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("harbour-report.pdf", DOCUMENTS, ["2023/harbour-report.pdf"]),
        ("Harbor-Report.pdf", DOCUMENTS, ["2023/harbour-report.pdf"]),
        ("2024/harbour-report.pdf", DOCUMENTS, ["2023/harbour-report.pdf"]),
        ("harbour.pdf", DOCUMENTS, ["2023/harbour-report.pdf"]),
        ("paper.md", DOCUMENTS, ["two-column-paper.pdf"]),
        ("harbour-report", DOCUMENTS, ["2023/harbour-report.pdf"]),
        ("A.TXT", DOCUMENTS, ["a.txt"]),
        ("readme.md", DOCUMENTS, ["2023/README.md"]),
        ("colpalli", RETRIEVERS, ["colpali"]),
        ("bm52", RETRIEVERS, ["bm25"]),
        ("BGE", RETRIEVERS, ["bge"]),
    ],
)
def test_a_mistyped_name_finds_what_was_meant(text: str, known: list[str], expected: list[str]) -> None:
    assert similar_names(text, known) == expected


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("c.txt", DOCUMENTS),
        ("invoice.pdf", DOCUMENTS),
        ("port.pdf", DOCUMENTS),
        ("2023/scan-of-rods.pdf", DOCUMENTS),
        ("2023/minutes.md", DOCUMENTS),
        ("annual-summary.pdf", DOCUMENTS),
        ("zzz", DOCUMENTS),
        (".pdf", DOCUMENTS),
        ("dense", RETRIEVERS),
        ("gpt", RETRIEVERS),
        ("x5", RETRIEVERS),
        ("colbert", RETRIEVERS),
        ("", RETRIEVERS),
    ],
)
def test_an_unrelated_name_finds_nothing(text: str, known: list[str]) -> None:
    assert similar_names(text, known) == []


def test_three_at_most_are_offered() -> None:
    assert similar_names("report", [f"{year}/report.pdf" for year in range(2000, 2020)]) == [
        "2000/report.pdf", "2001/report.pdf", "2002/report.pdf"
    ]  # fmt: skip
