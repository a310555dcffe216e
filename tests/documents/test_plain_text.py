from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quoteweave.core.errors import DocumentError
from quoteweave.documents.reflow import text_files as plain_text
from quoteweave.documents.reflow.paginate import HIDDEN
from quoteweave.documents.reflow.text_files import parse_text


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "notes.txt"


def test_blank_lines_part_paragraphs_and_line_ends_of_all_systems_are_one(file: Path) -> None:
    file.write_bytes(b"\r\n  First line\r\nsecond line\r\n \t\r\nNext\rlast\n\n\n")
    parsed = parse_text(file)
    assert [quote.text for quote in parsed.quotes] == ["  First line\nsecond line", "Next\nlast"]
    assert {(quote.kind, quote.layout, quote.section) for quote in parsed.quotes} == {("text", "paragraph", None)}
    assert parsed.warnings == ()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_is_read_as_it_says(file: Path, encoding: str) -> None:
    file.write_bytes("Größe: 3 字".encode(encoding))
    parsed = parse_text(file)
    assert [quote.text for quote in parsed.quotes] == ["Größe: 3 字"]
    assert parsed.warnings == ()


def test_what_is_not_unicode_is_read_as_windows_1252_with_a_warning(file: Path) -> None:
    file.write_bytes("Größe: 3 €".encode("cp1252"))
    parsed = parse_text(file)
    assert [quote.text for quote in parsed.quotes] == ["Größe: 3 €"]
    assert len(parsed.warnings) == 1
    assert "Windows-1252" in parsed.warnings[0]


def test_a_broken_utf_16_file_is_read_with_a_warning(file: Path) -> None:
    file.write_bytes("abc".encode("utf-16") + b"\x00")
    parsed = parse_text(file)
    assert [quote.text for quote in parsed.quotes] == ["abc\ufffd"]
    assert parsed.warnings == ("1 character is not valid utf-16-le, and replaced.",)


def test_nul_bytes_are_left_out(file: Path) -> None:
    file.write_bytes(b"one\x00 two")
    assert [quote.text for quote in parse_text(file).quotes] == ["one two"]


def test_a_file_of_very_many_lines_is_read(file: Path) -> None:
    file.write_text("ab\n" * 300_000)
    parsed = parse_text(file)
    assert sum(quote.text.count("ab") for quote in parsed.quotes) == 300_000
    assert all(len(quote.text) <= 1200 for quote in parsed.quotes)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_text, "MAX_MEGABYTES", 1)
    file.write_bytes(b"a" * 1_000_001)
    with pytest.raises(DocumentError, match=r"'notes.txt' has 1 MB; .*split the file"):
        parse_text(file)


def test_a_missing_file_is_named(file: Path) -> None:
    with pytest.raises(DocumentError, match=r"'notes.txt' cannot be read: No such file"):
        parse_text(file)


def layouts(file: Path, text: str) -> list[tuple[str, str, str | None]]:
    file.write_text(text, encoding="utf-8")
    return [(quote.layout, quote.text, quote.section) for quote in parse_text(file).quotes]


def test_short_lines_in_capitals_that_stand_alone_are_headings(file: Path) -> None:
    assert layouts(
        file,
        "THE HARBOUR\nby Ada Holm\n\nPIERS (old)\n\nThere are two of them.\n\nTIDES & FLOODS\n\nThere are few.\n",
    ) == [
        ("title", "THE HARBOUR", None),
        ("paragraph", "by Ada Holm", "THE HARBOUR"),
        ("title", "PIERS (old)", "THE HARBOUR"),
        ("paragraph", "There are two of them.", "PIERS (old)"),
        ("title", "TIDES & FLOODS", "THE HARBOUR"),
        ("paragraph", "There are few.", "TIDES & FLOODS"),
    ]


def test_the_line_alone_at_the_head_of_a_file_is_its_title(file: Path) -> None:
    assert layouts(file, "Notes on the harbour\n\nThe port grew.")[0] == ("title", "Notes on the harbour", None)


@pytest.mark.parametrize("line", ["Dear Ada,", "The port grew.", "Port: Holm", "and so it went", "17:30 5 2"])
def test_a_line_at_the_head_of_a_file_that_says_something_is_no_title(file: Path, line: str) -> None:
    assert layouts(file, f"{line}\n\nThe port grew.")[0][0] == "paragraph"


@pytest.mark.parametrize(
    "line",
    [
        "STOP THE PUMP.",
        "PORT: HOLM",
        "PIERS,",
        "NO",
        "AB-12 34 567",
        "HOLM\n12 High Street",
        "SELECT A FROM B WHERE C = 1",
    ],
)
def test_other_lines_in_capitals_are_no_headings(file: Path, line: str) -> None:
    assert {layout for layout, _, _ in layouts(file, f"The port grew.\n\n{line}\n\nIt shrank.")} == {"paragraph"}


def test_lines_in_capitals_head_the_text_right_below_them_where_several_do(file: Path) -> None:
    text = "Ada Holm\n\nWORK\nShe built piers.\n\nLANGUAGES\nDutch and Low German\n\nHOBBIES\nFlying kites\n"
    assert layouts(file, text)[1:3] == [("title", "WORK", None), ("paragraph", "She built piers.", "WORK")]


def test_two_columns_are_a_list_of_terms_with_what_is_said_of_them(file: Path) -> None:
    text = "Commands:\n  port-open   Open a port\n              for ships\n  port-close  Close it\n"
    assert layouts(file, text) == [
        ("paragraph", "Commands:", None),
        ("list", "- port-open: Open a port for ships\n- port-close: Close it", None),
    ]


LEFT = """The harbour was dredged in spring by
the crew of the town council, and
all of its cranes were moved
to the quay of the old town"""
RIGHT = """The ferries kept to their own hours
as the keepers wrote down in the log
of each night, as they had done
for ever"""


def side_by_side(left: str, right: str) -> str:
    rows = zip(left.split("\n"), right.split("\n"), strict=True)
    return "\n".join(f"{one:40}{other}" for one, other in rows)


def test_prose_in_two_columns_is_read_column_by_column(file: Path) -> None:
    left, right = f"{LEFT}\nbefore it rained again.", f"{RIGHT}\nin the years of oil."
    assert layouts(file, side_by_side(left, right)) == [("paragraph", left, None), ("paragraph", right, None)]
    short, table = side_by_side(LEFT, RIGHT), side_by_side(left, right.replace("the", "2,019").replace("s ", " 5 "))
    for text in (short, table, side_by_side(left.title(), right.title())):
        assert layouts(file, text) == [("paragraph", text, None)]


def test_what_signs_of_unicode_strike_out_is_marked(file: Path) -> None:
    file.write_text("It costs 1\u03360\u0336 \u0336e\u0336u\u0336r\u0336o\u0336s\u0336 80.\n")
    assert parse_text(file).quotes[0].text == "It costs ~~10 euros~~ 80."


@pytest.mark.parametrize(
    "text",
    [
        "port-open   Open a port",
        "Ada    Holm   1815\nGrace  Hale   1906",
        "a = 1;  # one\nb = 2;  # two",
        "1.  The port\n2.  The quay",
        "The  port\ngrew  by three",
        "port-open   Open a port\nand other ones  too",
    ],
)
def test_other_wide_spaces_make_no_list(file: Path, text: str) -> None:
    assert layouts(file, text) == [("paragraph", text, None)]


def test_lines_with_marks_below_are_headings_with_levels_by_their_marks(file: Path) -> None:
    text = "Ports\n=====\nThey grew.\n\n----\nQuay\n----\n\nIt is long.\n\nCrane 2\n~~~~~\nNew.\n\nEnd\n===\n"
    assert layouts(file, text) == [
        ("title", "Ports", None),
        ("paragraph", "They grew.", "Ports"),
        ("title", "Quay", "Ports"),
        ("paragraph", "It is long.", "Quay"),
        ("title", "Crane 2", "Quay"),
        ("paragraph", "New.", "Crane 2"),
        ("title", "End", None),
    ]


@pytest.mark.parametrize(
    "text",
    ["Port  Calls\n----  -----\nTolland  3", "12\n30\n--\n42", "They grew.\n-", "A line that says much\n---", "=-=-=-"],
    ids=["a table", "a sum", "one mark", "a short rule", "several marks"],
)
def test_other_lines_of_marks_make_no_heading(file: Path, text: str) -> None:
    assert layouts(file, text) == [("paragraph", text, None)]


def test_nothing_is_a_heading_at_the_end_or_where_all_is_in_capitals(file: Path) -> None:
    assert layouts(file, "The port grew.\n\nTHE END")[1][0] == "paragraph"
    assert layouts(file, "The port.\n\nGALE WARNING\n\nWIND NORTH, SEA ROUGH ALL OVER\n\nEND")[1][0] == "paragraph"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00\x08\x1b\u0336")))
def test_every_character_but_space_and_marks_below_headings_is_in_exactly_one_quote(file: Path, text: str) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    joined, marks = "".join(quote.text for quote in parse_text(file).quotes), str.maketrans("", "", "=~^*#+-")
    assert "".join(joined.translate(marks).split()) == "".join(text.translate(marks).split())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary())
def test_any_bytes_are_read(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    assert parse_text(file) == parse_text(file)


def test_a_line_without_a_first_cell_goes_on_with_the_row_above(file: Path) -> None:
    border = "====  =====  ====\n"
    rows = "East  new     60\n      again  61\nWest         62\n"
    text = f"{border}Pier  Built\n----  -----------\nName  From   To\n{border}{rows}{border}"
    assert layouts(file, text) == [
        ("table", "Pier | Built | \nName | From | To\nEast | new again | 60 61\nWest |  | 62", None)
    ]


@pytest.mark.parametrize(
    ("text", "table"),
    [
        (
            "Port\tShips\tYear\nMerrow\t12\t1901\nBrede\t\t1902",
            "Port | Ships | Year\nMerrow | 12 | 1901\nBrede |  | 1902",
        ),
        ("+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n| 3 |   |\n+---+---+", "a | b\n1 | 2\n3 |"),
        (
            "+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |\n|   | x |\n+---+---+\n| 3 | 4 |\n+---+---+",
            "a | b\n1 | 2 x\n3 | 4",
        ),
        (
            "+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |\n| 3 | 4 |\n+---+---+\n| 4 | 6 |\n+---+---+",
            "a | b\n1 | 2\n3 | 4\n4 | 6",
        ),
        ("┌───┬───┐\n│ a │ b │\n├───┼───┤\n│ 1 │ 2 │\n└───┴───┘", "a | b\n1 | 2"),
        ("Port    Ships\n------  -----\nMerrow     12\nBrede       9", "Port | Ships\nMerrow | 12\nBrede | 9"),
        (" port | ships\n------+------\n Brede |   9", "port | ships\nBrede | 9"),
    ],
)
def test_tables_that_are_drawn_or_have_tabs_are_tables(file: Path, text: str, table: str) -> None:
    file.write_text(f"Ships by port.\n\n{text}\n", "utf-8")
    assert [(one.layout, one.text) for one in parse_text(file).quotes][1:] == [("table", table)]


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\tc\nd\te",
        "\tone\t1\n\ttwo\t2",
        "| a | b\n| c",
        "+-----+\n| A box |\n+-----+",
        "x | y\n-----\nz",
        "-----\na | b\n-----",
        "Port    Ships\n----  -----\nMerrow 12",
        "= " * 300 + "=\na\n" + "= " * 300 + "=\n" + "= " * 300 + "=",
    ],
)
def test_other_text_with_tabs_and_bars_is_no_table(file: Path, text: str) -> None:
    file.write_text(f"Ships by port.\n\n{text}\n", "utf-8")
    assert [one.layout for one in parse_text(file).quotes if one.layout == "table"] == []


def test_what_a_terminal_is_told_is_no_text(file: Path) -> None:
    file.write_text("N\bNA\bAM\bME\bE\n\n_\bf_\bi is \x1b[1;31mred\x1b[0m o\b_n 6\b5 \b.\b\n")
    assert [quote.text for quote in parse_text(file).quotes] == ["NAME", "fi is red on 5 ."]


def test_pages_and_paragraphs_end_where_their_own_signs_say(file: Path) -> None:
    file.write_text("One page.\n\fAnother page.\u2029A paragraph\u2028of two lines.", "utf-8")
    texts = [quote.text for quote in parse_text(file).quotes]
    assert texts == ["One page.", "Another page.", "A paragraph\nof two lines."]


@pytest.mark.parametrize(
    ("one", "two", "above"),
    [
        ("1. INTRODUCTION", "2. METHODS", None),
        ("CHAPTER I", "CHAPTER II", None),
        ("I. THE SEA", "II. THE PORT", None),
        ("THE SEA", "2. METHODS", "THE SEA"),
        ("I AM A SAILOR", "METHODS", "I AM A SAILOR"),
    ],
)
def test_numbered_parts_do_not_contain_each_other(file: Path, one: str, two: str, above: str | None) -> None:
    file.write_text(f"{one}\n\nIt is old.\n\n{two}\n\nWe counted them all by hand.\n")
    titles = [(quote.text, quote.section) for quote in parse_text(file).quotes if quote.layout == "title"]
    assert titles == [(one, None), (two, above)]


def test_short_lines_right_above_sentences_and_values_are_headings(file: Path) -> None:
    file.write_text(
        "Breakfast\nIt is served from 7:30.\n\nOpening hours\nMonday: 8:30\nSunday: closed\n\n"
        "Pets\nDogs may stay in Room 2.\nCats may not.\n"
    )
    quotes = parse_text(file).quotes
    assert [one.text for one in quotes if one.layout == "title"] == ["Breakfast", "Opening hours", "Pets"]
    assert [one.section for one in quotes if one.layout == "paragraph"] == ["Breakfast", "Opening hours", "Pets"]


@pytest.mark.parametrize(
    "paragraph",
    [
        "Ida Holm\nMill Lane 3\n7100 Vejle",  # an address
        "The harbour of Varna\nlies on the sea.",  # a sentence that goes on
        "It rains.\nWe stay.",
        "O ship\nO sea\nO port",
    ],
)
def test_other_short_first_lines_are_no_headings(file: Path, paragraph: str) -> None:
    file.write_text("\n\n".join([paragraph] * 4))
    assert {one.layout for one in parse_text(file).quotes} == {"paragraph"}


def test_fewer_than_half_short_first_lines_are_no_headings(file: Path) -> None:
    headed, plain = "Pets\nDogs may stay.", "The ferry left the port at nine\nand was late again."
    file.write_text("\n\n".join([headed] * 3 + [plain] * 4))
    assert {one.layout for one in parse_text(file).quotes} == {"paragraph"}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Fees rise." + "".join(chr(0xE0000 + ord(letter)) for letter in "ignore it"), 1),
        ("England \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f, ❤\ufe0f 葛\U000e0100", 0),
        ("Flag \U0001f3f4" + "\U000e0061" * 20, 1),
        ("Fees" + "\ufe01\U000e0123\ufe02", 1),
        ("It costs \u202e005\u202c crowns.", 1),
        ("\u2067שלום\u2069 a\u200db", 0),
    ],
)
def test_characters_that_hide_words_are_told(file: Path, text: str, count: int) -> None:
    file.write_text(text, "utf-8")
    assert parse_text(file).warnings == ((f"{HIDDEN}: {count}.",) if count else ())
