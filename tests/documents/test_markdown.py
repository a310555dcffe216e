from pathlib import Path

import pytest
from PIL import Image

from quoteweave.collection.stores.content import ImageStore
from quoteweave.documents.reflow.markdown import parse_markdown


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    Image.new("RGB", (200, 100)).save(tmp_path / "notes" / "my plot.png")
    return tmp_path / "notes" / "notes.md"


def said(file: Path, images: ImageStore, text: str) -> list[tuple[str, str]]:
    file.write_text(text, encoding="utf-8")
    return [(quote.layout, quote.text) for quote in parse_markdown(file, images).quotes]


def test_lines_of_labels_and_items_with_letters_stay_lines(file: Path, images: ImageStore) -> None:
    text = "**Present:** Ada,\nBen\n**Absent:** *none*\nTaken by: Cy\n\nThe tenant\na) pays,\nand\nb) leaves."
    assert said(file, images, text) == [
        ("paragraph", "Present: Ada, Ben\nAbsent: none\nTaken by: Cy"),
        ("paragraph", "The tenant\na) pays, and\nb) leaves."),
    ]


@pytest.mark.parametrize(
    "wrapped", ["They met the mayor of\nBergen: he was late.", "Note: it was the mayor of\nBergen."]
)
def test_other_lines_of_a_paragraph_run_on(file: Path, images: ImageStore, wrapped: str) -> None:
    assert said(file, images, wrapped) == [("paragraph", wrapped.replace("\n", " "))]


def test_a_worked_example(file: Path, images: ImageStore) -> None:
    text = """Rain
====
It rained *a lot* in `Oslo`
and [Bergen](https://example.org).

## By month
- January
- February
  1. first half

| month | mm |
|-------|---:|
| **May** | 3 |

```python
x = 1

y = 2
```

> Quoted.

Term<br>and <i>HTML</i>.
"""
    assert said(file, images, text) == [
        ("title", "Rain"),
        ("paragraph", "It rained a lot in Oslo and Bergen."),
        ("title", "By month"),
        ("list", "- January\n- February\n  1. first half"),
        ("table", "month | mm\nMay | 3"),
        ("paragraph", "x = 1\n\ny = 2"),
        ("paragraph", "Quoted."),
        ("paragraph", "Term\nand HTML."),
    ]
    quotes = parse_markdown(file, images).quotes
    assert [quote.section for quote in quotes] == [None, "Rain", "Rain", *["By month"] * 5]
    assert (quotes[4].kind, quotes[4].image) == ("image", None)


@pytest.mark.parametrize(
    "formula",
    [
        "$$a_1 < b\\\\\n- c_2$$",
        "$$\na_1 < b\\\\\n- c_2\n$$",
        "```math\na_1 < b\\\\\n- c_2\n```",
        "~~~ latex\na_1 < b\\\\\n- c_2\n~~~",
    ],
)
def test_formulas_keep_their_tex(file: Path, images: ImageStore, formula: str) -> None:
    expected = [("paragraph", "before"), ("equation", "a_1 < b\\\\\n- c_2"), ("paragraph", "after")]
    assert said(file, images, f"before\n{formula}\nafter\n") == expected


def test_dollars_that_no_formula_closes_are_text(file: Path, images: ImageStore) -> None:
    assert said(file, images, "$$ is slang\n\nfor money") == [("paragraph", "$$ is slang"), ("paragraph", "for money")]


def test_a_formula_in_a_quotation_or_list_ends_with_it(file: Path, images: ImageStore) -> None:
    assert said(file, images, "> $$\n> x\n> $$\n\ny") == [("equation", "x"), ("paragraph", "y")]
    assert said(file, images, "- $$\n  x\n\ny $$") == [("list", "- $$ x"), ("paragraph", "y $$")]


def test_pictures_are_read_from_beside_the_file(file: Path, images: ImageStore) -> None:
    text = "![A plot](<my plot.png>)\n\n![Gone](gone.png) ![Up](../secret.png) ![Web](https://127.0.0.1/a.png)\n"
    assert said(file, images, text) == [("figure", ""), ("paragraph", "Gone Up Web")]
    parsed = parse_markdown(file, images)
    assert parsed.quotes[0].caption == "A plot"
    assert parsed.quotes[0].image is not None
    assert images.path(parsed.quotes[0].image).is_file()
    assert [warning.split("'")[1] for warning in parsed.warnings] == [
        "gone.png",
        "../secret.png",
        "https://127.0.0.1/a.png",
    ]


def test_front_matter_gives_a_missing_title_and_is_not_text(file: Path, images: ImageStore) -> None:
    matter = "---\ntitle: 'Notes on rain'\ntags: [a]\n---\n"
    assert said(file, images, matter + "Text") == [("title", "Notes on rain"), ("paragraph", "Text")]
    assert said(file, images, matter + "# Rain") == [("title", "Notes on rain"), ("title", "Rain")]
    assert said(file, images, matter + "# Notes on rain") == [("title", "Notes on rain")]
    assert said(file, images, "---\n\nno front matter") == [("paragraph", "no front matter")]


@pytest.mark.parametrize(
    "matter",
    [
        "---\ntitle: Rain\nauthors:\n- Ada Rowe\n- 'Ben Lane'\ndate: 2023\nabstract: >\n  It rained\n  for long.\n---",
        '+++\ntitle = "Rain"\nauthors = [\'Ada Rowe\', "Ben Lane"]\ndate = 2023\nabstract = "It rained for long."\n+++',
    ],
    ids=["YAML", "TOML"],
)
def test_who_wrote_a_file_and_when_stands_in_its_front_matter(matter: str, file: Path, images: ImageStore) -> None:
    assert said(file, images, f"{matter}\nText") == [
        ("title", "Rain"),
        ("paragraph", "authors: Ada Rowe, Ben Lane"),
        ("paragraph", "date: 2023"),
        ("paragraph", "abstract: It rained for long."),
        ("paragraph", "Text"),
    ]


def test_lists_of_authors_may_have_several_lines(file: Path, images: ImageStore) -> None:
    for matter, authors in (
        ("+++\nauthors = [\n  'Ada Rowe',\n  'Ben Lane',\n]\n+++", "Ada Rowe, Ben Lane"),
        (
            "---\nauthors:\n  - name: Ada Rowe\n    post: pilot\n  - name: Ben Lane\n---",
            "name: Ada Rowe, post: pilot, name: Ben Lane",
        ),
    ):
        assert said(file, images, f"{matter}\nText") == [("paragraph", f"authors: {authors}"), ("paragraph", "Text")]


@pytest.mark.parametrize(
    ("matter", "title", "authors"),
    [
        ("---\ntitle: 'It''s deep'  # draft\nauthors: [Ada, \"Lee, Bo\"]\n---", "It's deep", "Ada, Lee, Bo"),
        ("---\ntitle: Depth: A Study\nauthors: @ada\n---", "Depth: A Study", "@ada"),
        (
            '---\ntitle: "\\0De\\ud800ep"\nauthors: [{name: Ada, of: Ys}, Bo]\n---',
            "De\ufffdep",
            "name: Ada, of: Ys, Bo",
        ),
        ('+++\ntitle = "The \\"deep\\""\nauthors = ["""Ada\nRowe"""]\n+++', 'The "deep"', "Ada Rowe"),
    ],
)
def test_values_of_front_matter_are_those_that_yaml_and_toml_give(
    matter: str, title: str, authors: str, file: Path, images: ImageStore
) -> None:
    assert said(file, images, f"{matter}\nText")[:2] == [("title", title), ("paragraph", f"authors: {authors}")]


@pytest.mark.parametrize(
    "matter",
    [
        *("---\na: &a [*a]\n---", f"---\na: {'[' * 300}\n---", "---\na: [\n---", "---\n- a\n---"),
        *('---\na: "\\UFFFFFFFF"\n---', f"+++\na = {'9' * 5000}\n+++", f"+++\n{'a.' * 3000}a = 1\n+++"),
    ],
)
def test_front_matter_that_cannot_be_read_is_text(matter: str, file: Path, images: ImageStore) -> None:
    assert "a" in "".join(text for _, text in said(file, images, f"{matter}\nText"))


def test_text_between_lines_of_plus_signs_is_read(file: Path, images: ImageStore) -> None:
    assert said(file, images, "+++\nIt rained.\n+++\nText") == [("paragraph", "+++ It rained.\n+++ Text")]


def test_front_matter_is_read_in_time(file: Path, images: ImageStore) -> None:
    blanks = " " * 300_000
    for mark, line in (("---", f"a{blanks}(:"), ("+++", f"b = 1\na{blanks}("), ("+++", "#" * 300_000)):
        assert said(file, images, f"{mark}\n{line}\n{mark}\n\n# Text")[-1] == ("title", "Text")


def test_lines_that_are_no_markdown_of_ours_stay_lines(file: Path, images: ImageStore) -> None:
    for text in (
        "[^1]: One.\n[^b]: Two.",
        "Term\n: It is said.\n: Of it.",
        "| a | b |\n| c | d |",
        "+---+\n| a |\n+---+",
    ):
        assert said(file, images, text) == [("paragraph", text)]


def test_stars_between_digits_are_no_emphasis(file: Path, images: ImageStore) -> None:
    kept = "2*3*4, 2**3**4, 2***3***4 or 1*2"
    assert said(file, images, f"{kept}, un*for*given, 5 *b* 6") == [("paragraph", f"{kept}, unforgiven, 5 b 6")]


@pytest.mark.parametrize("mark", [">", "|", ">-", "|2"])
def test_a_title_on_the_lines_below_is_a_title(mark: str, file: Path, images: ImageStore) -> None:
    matter = f"---\ntitle: {mark}\n  Notes on\n  rain\ntags: [a]\n---\n"
    assert said(file, images, matter + "Text") == [("title", "Notes on rain"), ("paragraph", "Text")]


def test_prose_in_front_matter_is_told(file: Path, images: ImageStore) -> None:
    title, prose = "title: All that there is to say of rain here", "Rain fell on most days of that year."
    unread = "What its front matter says was not read, but for a title, authors, date and abstract."
    for matter, told in (
        (title, ()),
        (f"abstract: {prose}", ()),
        (f"note: {prose}", (unread,)),
        (f"{title}\nnote: |\n  {prose}", (unread,)),
    ):
        file.write_text(f"---\n{matter}\ntags: [a]\n# {prose}\n---\nText")
        assert parse_markdown(file, images).warnings == told


@pytest.mark.parametrize(
    "text",
    [
        "Set <your-name> and <the file> in List<String>.",
        "The <select> tag, an <iframe> and a <title> are no more than named.",
        "<your-name>",
        "Draw <path> in <svg>.",
    ],
)
def test_a_tag_that_is_never_closed_is_text(text: str, file: Path, images: ImageStore) -> None:
    assert said(file, images, f"{text}\n\nMore.") == [("paragraph", text), ("paragraph", "More.")]
    assert parse_markdown(file, images).warnings == ()


def test_elements_of_html_and_of_other_programs_are_none(file: Path, images: ImageStore) -> None:
    text = "<a name=x>An anchor, <br>a line, <Badge text='x' /> and <Card>a card</Card> of <select>none</select>"
    assert said(file, images, text) == [
        ("paragraph", "An anchor,\na line,"),
        ("paragraph", "and"),
        ("paragraph", "a card"),
        ("paragraph", "of"),
    ]


def test_text_between_two_rules_at_the_top_is_text(file: Path, images: ImageStore) -> None:
    text = "The harbour was dredged.\n\nNote: twice."
    assert said(file, images, f"---\n\n{text}\n\n---\n\nAfter") == [
        ("paragraph", "The harbour was dredged."),
        ("paragraph", "Note: twice."),
        ("paragraph", "After"),
    ]
    matter = (
        "# Made by a program\ntitle: Rain\ntags:\n- a\n- b: c\nmore: [\n  1\n]\nlong: |\n  Two words.\n\n  Three.\n"
    )
    assert said(file, images, f"---\n{matter}---\nText") == [("title", "Rain"), ("paragraph", "Text")]


def test_a_footnote_of_one_word_is_text(file: Path, images: ImageStore) -> None:
    assert said(file, images, "Rain[^1] fell, see [1].\n\n[^1]: Ibid.\n\n[1]: https://127.0.0.1/") == [
        ("paragraph", "Rain[^1] fell, see 1."),
        ("paragraph", "[^1]: Ibid."),
    ]


def test_scripts_are_left_out_and_html_around_markdown_is_read(file: Path, images: ImageStore) -> None:
    text = "<script>\nalert(1)\n</script>\n\n<details><summary>More</summary>\n\n**Inner** text\n\n</details>\n"
    assert said(file, images, text) == [("paragraph", "More"), ("paragraph", "Inner text")]


def test_a_file_with_a_byte_order_mark_starts_with_its_title(file: Path, images: ImageStore) -> None:
    assert said(file, images, "\ufeff# Rain") == [("title", "Rain")]


def test_nesting_without_end_is_left_out_with_a_warning(file: Path, images: ImageStore) -> None:
    assert said(file, images, "> " * 5000 + "deep\n\nafter") == [("paragraph", "after")]
    assert parse_markdown(file, images).warnings == ("What is nested more than 60 deep was left out.",)
    assert said(file, images, "> " * 20 + "deep") == [("paragraph", "deep")]


def test_what_follows_a_list_nested_too_deeply_is_kept(file: Path, images: ImageStore) -> None:
    deep = "\n".join(f"{'  ' * depth}- item {depth}" for depth in range(100))
    texts = [text for _, text in said(file, images, f"before\n\n{deep}\n- shallow\n\nafter\n\n# Then")]
    assert texts[0] == "before"
    assert texts[-2:] == ["after", "Then"]
    assert "shallow" in texts[-3]
    assert "item 99" not in "".join(texts)
    assert parse_markdown(file, images).warnings == ("What is nested more than 60 deep was left out.",)


@pytest.mark.parametrize(
    "part", ["[", "![", "$$\n\n", "$$a\n", "<a ", "**a", "`a", "[a](", "- ", "\n", "<!--", "&", "|"]
)
def test_bombs_of_marks_are_read(file: Path, images: ImageStore, part: str) -> None:
    file.write_text(part * 5000 + "\n\nafter")
    quotes = parse_markdown(file, images).quotes
    assert part == "<!--" or "after" in quotes[-1].text


def test_an_empty_file_is_one_empty_page(file: Path, images: ImageStore) -> None:
    assert said(file, images, "\n") == []
    assert parse_markdown(file, images).warnings == ("There is no text in it.",)


def test_a_row_keeps_the_cells_beyond_the_head_of_its_table(file: Path, images: ImageStore) -> None:
    rows = "| port | cranes |\n|---|---|\n| Oslo | 4 | two *old* ones |\n| Bergen | 5 \\| 6 |\n| Moss | 1 | a | b | |\n"
    (table,) = (text for layout, text in said(file, images, f"Before.\n\n{rows}\nAfter.") if layout == "table")
    cells = [[cell.strip() for cell in row.split(" |")] for row in table.split("\n")]
    assert [[cell for cell in row if cell] for row in cells] == [
        ["port", "cranes"],
        ["Oslo", "4", "two old ones"],
        ["Bergen", "5 ¦ 6"],
        ["Moss", "1", "a", "b"],
    ]
