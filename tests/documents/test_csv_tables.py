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
        ("a.csv", b'Ship,Cargo\nMay,"coal,\r\nor ""rye"" | oats"\n', 'Ship | Cargo\nMay | coal, or "rye" ¦ oats'),
        ("a.csv", b"\xef\xbb\xbfShip,Tonnes\n,\nMay,\n", "Ship | Tonnes\nMay | "),
        ("a.csv", "Schiff,Höhe\nMay,3\n".encode("utf-16"), "Schiff | Höhe\nMay | 3"),
        ("a.csv", b"Ship\nMay\nJune\n", "Ship\nMay\nJune"),
        ("a.csv", b'Ship,Tonnes\nMay,"10\n200"\n', "Ship | Tonnes\nMay | 10; 200"),
        ("a.csv", b'Ship, Cargo, Tonnes\nMay, "coal, rye", 3\n', "Ship | Cargo | Tonnes\nMay | coal, rye | 3"),
        (
            "a.csv",
            rb"""Ship,Cargo
"The \"May\", of C:\ports",coal
""",
            'Ship | Cargo\nThe "May", of C:\\ports | coal',
        ),
        ("a.csv", b'Ship,Cargo\n"May" ,"coal, rye" \n', "Ship | Cargo\nMay | coal, rye"),
        ("a.csv", b"\xef\xbb\xbfSEP=;\r\nShip;Tonnes\r\nMay;3,5\r\n", "Ship | Tonnes\nMay | 3,5"),
    ],
)
def test_a_file_is_a_table_with_a_line_for_each_row(tmp_path: Path, name: str, data: bytes, table: str) -> None:
    assert parsed(tmp_path, name, data) == [table.rstrip()]


@pytest.mark.parametrize(
    ("name", "data", "rows", "warning"),
    [
        (
            "a.tsv",
            'Ship\tYear\n"May\t1874\nJune\t1875\n',
            ['"May | 1874', "June | 1875"],
            "In line 2, quotation marks",
        ),
        (
            "a.csv",
            'Ship,Cargo\nIda,tin\n"the "May", old","coal, rye"\n"June","salt, tin"\n',
            ["Ida | tin", 'the May" | old" | coal, rye', "June | salt, tin"],
            "In line 3, quotation marks",
        ),
        (
            "a.csv",
            "Ship,Year\nMay,1874,coal\n,,,\nJune,1875,,\n",
            ["May | 1874 | coal", "June | 1875 |  |"],
            "first: 1.",
        ),
        ("a.csv", "Ship,Year\nMay,1874\n", ["May | 1874"], None),
    ],
    ids=["no cell is quoted", "marks within a cell", "cells beyond the head", "nothing"],
)
def test_cells_that_may_stand_elsewhere_are_told(
    tmp_path: Path, name: str, data: str, rows: list[str], warning: str | None
) -> None:
    (tmp_path / name).write_text(data, "utf-8")
    found = parse_csv(tmp_path / name)
    assert found.quotes[0].text.split("\n")[1:] == rows
    assert warning in found.warnings[0] if warning else found.warnings == ()


@pytest.mark.parametrize(
    ("data", "said", "head"),
    [
        (
            "Account;DE12;;\nPeriod;May;;\n;;;\nDate;Payee;Sum;Left\n2.5.;Rent;640;60\n",
            "Account: DE12\nPeriod: May",
            "Date",
        ),
        ("# Made in May\n# Version 2\nPort,Ships\nMerrow,12\n", "# Made in May\n# Version 2", "Port"),
        ("#,Ship\n1,May\n2,Ida\n", None, "#"),
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


@pytest.mark.parametrize(
    ("below", "texts"),
    [
        ("Town,Cranes\nBrede,5\n", ["Town | Cranes\nBrede | 5"]),
        ("Month,Day,Ships\nMay,1,5\n", ["Month | Day | Ships\nMay | 1 | 5"]),
        (",\nOf 2023\nMonth,Cost\nJune,5\n", ["Of 2023", "Month | Cost\nJune | 5"]),
        (",\nDay of May,,\nDay,Port,Ships\n1,Brede,9\n", ["Day of May", "Day | Port | Ships\n1 | Brede | 9"]),
        ("Brede,n/a\nCelle,9\n", None),  # rows of the same table, set apart
        ("Brede\nCelle,n/a\n", None),
        ("Brede,9\nCelle,8\n", None),
        ("Brede,Ships\nCelle,8\n", None),
    ],
    ids=[
        "a head",
        "a wider head",
        "a line above a head",
        "lines above a head",
        "a row without numbers",
        "a row without a cell",
        "rows",
        "a row with a name of a column",
    ],
)
def test_what_stands_below_an_empty_row_with_a_head_is_another_table(
    tmp_path: Path, below: str, texts: list[str] | None
) -> None:
    rows = "".join(f"Town {number},{number}\n" for number in range(3))
    (tmp_path / "a.csv").write_text(f"Town,Ships\n{rows}\n{below}", "utf-8")
    first, *others = (quote.text for quote in parse_csv(tmp_path / "a.csv").quotes)
    assert others == (texts or [])
    assert first.count("\n") == 3 + (0 if texts else below.count("\n"))


def test_a_narrower_table_below_another_is_one_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Town,Ships,Cost\nBrede,9,5\nCelle,8,4\n,,\nSum,Value,\nNet,9,\nTax,3,\n", "utf-8")
    parsed = parse_csv(tmp_path / "a.csv")
    assert [quote.text.replace("\n", " / ") for quote in parsed.quotes] == [
        "Town | Ships | Cost / Brede | 9 | 5 / Celle | 8 | 4",
        "Sum | Value |  / Net | 9 |  / Tax | 3 |",
    ]
    assert parsed.warnings == ()


@pytest.mark.parametrize("below", ["Port,Cranes\nBrede,5\n", "Fees,n/a\nRent,9\n"])
def test_a_row_that_may_be_the_head_of_another_table_is_told(tmp_path: Path, below: str) -> None:
    (tmp_path / "a.csv").write_text(f"Town,Ships\nCelle,8\n\n{below}", "utf-8")
    parsed = parse_csv(tmp_path / "a.csv")
    assert len(parsed.quotes) == 1
    assert parsed.warnings == ("Rows below empty rows that may be heads of other tables: 1.",)


def test_a_long_table_is_cut_between_rows_each_part_below_the_head(tmp_path: Path) -> None:
    rows = [f"{number},ship {number}" for number in range(500)]
    texts = parsed(tmp_path, "a.csv", "\n".join(["Number,Name", *rows]).encode())
    assert len(texts) > 1
    assert {text.partition("\n")[0] for text in texts} == {"Number | Name"}
    held = [line for text in texts for line in text.split("\n")[1:]]
    assert held == [row.replace(",", " | ") for row in rows]


def test_a_file_without_cells_is_empty_and_a_cell_without_end_is_told(tmp_path: Path) -> None:
    assert parsed(tmp_path, "a.csv", b",,\n,,\n") == []
    with pytest.raises(DocumentError, match=r"'b.csv' cannot be read as a table: a cell has more than 131,072"):
        parsed(tmp_path, "b.csv", b'a,b\n"' + b"x" * 200_000)
    (tmp_path / "c.csv").write_text(f'Ship,Cargo\nMay,"{"coal, " * 30_000}"\n')
    assert (
        parse_csv(tmp_path / "c.csv").warnings[0].startswith("In line 2, a cell has more than 131,072 characters, or")
    )


def test_a_head_of_years_is_told_from_the_lines_above_it_which_may_state_the_unit(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Skarn\nAll amounts in thousands of euros\n\nItem,2021,2020\nSales,10,11\nCosts,5,6\n")
    above, table = parse_csv(path).quotes
    assert (above.text, table.text) == (
        "Skarn\nAll amounts in thousands of euros",
        "Item | 2021 | 2020\nSales | 10 | 11\nCosts | 5 | 6",
    )
    assert table.unit == "amounts in thousands of euros"
