"""Tables of separated values become quotes like the tables of other formats."""

from pathlib import Path

import pytest

from quoteweave.core.errors import DocumentError
from quoteweave.documents.formats import Format, sniff
from quoteweave.documents.reflow.csv_tables import parse_csv


def parsed(folder: Path, name: str, data: bytes) -> list[str]:
    path = folder / name
    path.write_bytes(data)
    assert sniff(path) is Format.CSV
    quotes = parse_csv(path).quotes
    assert {quote.layout for quote in quotes} <= {"table"}
    return [quote.text for quote in quotes]


@pytest.mark.parametrize(
    ("name", "data", "table"),
    [
        ("a.csv", b"Ship,Tonnes\nMay,300\nJune,120\n", "Ship | Tonnes\nMay | 300\nJune | 120"),
        ("a.csv", b"Ship;Tonnes\nMay;3,5\nJune;1,2\n", "Ship | Tonnes\nMay | 3,5\nJune | 1,2"),
        ("a.TSV", b"Ship\tCargo\nMay\tcoal, grain\n", "Ship | Cargo\nMay | coal, grain"),
        ("a.csv", b'Ship,Cargo\nMay,"coal,\r\nor ""rye"" | oats"\n', 'Ship | Cargo\nMay | coal, or "rye" / oats'),
        ("a.csv", b"\xef\xbb\xbfShip,Tonnes\n,\nMay,\n", "Ship | Tonnes\nMay | "),
        ("a.csv", "Schiff,Höhe\nMay,3\n".encode("utf-16"), "Schiff | Höhe\nMay | 3"),
        ("a.csv", b"Ship\nMay\nJune\n", "Ship\nMay\nJune"),
    ],
)
def test_a_file_is_a_table_with_a_line_for_each_row(tmp_path: Path, name: str, data: bytes, table: str) -> None:
    assert parsed(tmp_path, name, data) == [table.rstrip()]


@pytest.mark.parametrize(
    ("data", "said", "head"),
    [
        (
            "Account;DE12;;\nPeriod;May;;\n;;;\nDate;Payee;Sum;Left\n2.5.;Rent;640;60\n",
            "Account: DE12\nPeriod: May",
            "Date",
        ),
        ("Ships of May\n\nPort,Ships,Tonnes\nMerrow,12,400\n", "Ships of May", "Port"),
        (",2023,,2024,\nRegion,a,b,a,b\nNorth,1,2,3,4\n", None, ""),
        ("Region,2023,,2024,\n,a,b,a,b\nNorth,1,2,3,4\n", None, "Region"),
        ("Notes\nPort,Ships\nMerrow,12\n", None, "Notes"),  # of two columns, a row with one may be any row
        ("Only a title\n", None, "Only a title"),
        # Rows of a table without a head that lack cells.
        ("Sarah,555,,\nTom,556,,\nAnna,557,Oslo,May\nBen,558,Rome,June\nIda,559,Bonn,May\n", None, "Sarah"),
        ("Sarah,Bonn,,\nAnna,Oslo,May,Nurse\nBen,Rome,June,Cook\n", None, "Sarah"),
        ("a,,,\nx,1,2,3\ny,2,3,4\n", None, "a"),  # of the head only one cell is named
    ],
)
def test_lines_above_the_head_are_no_part_of_the_table(tmp_path: Path, data: str, said: str | None, head: str) -> None:
    (tmp_path / "a.csv").write_text(data, "utf-8")
    *above, table = parse_csv(tmp_path / "a.csv").quotes
    assert [(quote.layout, quote.text) for quote in above] == ([] if said is None else [("list", said)])
    assert table.layout == "table"
    assert table.text.partition(" |")[0].partition("\n")[0].strip() == head


def test_a_long_table_is_cut_between_rows_each_part_below_the_head(tmp_path: Path) -> None:
    rows = [f"{number},ship {number}" for number in range(500)]
    texts = parsed(tmp_path, "a.csv", "\n".join(["Number,Name", *rows]).encode())
    assert len(texts) > 1
    assert {text.partition("\n")[0] for text in texts} == {"Number | Name"}
    held = [line for text in texts for line in text.split("\n")[1:]]
    assert held == [row.replace(",", " | ") for row in rows]


def test_a_file_without_cells_is_empty_and_a_cell_without_end_is_told(tmp_path: Path) -> None:
    assert parsed(tmp_path, "a.csv", b",,\n,,\n") == []
    with pytest.raises(DocumentError, match=r"'b.csv' cannot be read as a table: field larger than"):
        parsed(tmp_path, "b.csv", b'a,b\n"' + b"x" * 200_000)
