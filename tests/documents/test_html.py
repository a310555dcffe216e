from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.errors import DocumentError
from quoteweave.documents.reflow import html as module
from quoteweave.documents.reflow.html import html_blocks, parse_html
from quoteweave.documents.reflow.html_page import blocks as outline
from quoteweave.documents.reflow.html_page import cells as html_cells
from quoteweave.documents.reflow.html_page import styles as html_styles

TAGS = ["p", "div", "table", "tr", "td", "ul", "li", "h2", "figure", "figcaption", "b", "pre", "caption", "x-card"]


def said(html: str) -> list[tuple[str, str]]:
    return [(block.layout, block.text) for block in html_blocks(html, name="page.html")]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    Image.new("RGB", (200, 100)).save(folder / "plot.png")
    Image.new("RGB", (16, 16)).save(folder / "icon.png")
    return folder / "page.html"


def test_titles_paragraphs_and_breaks() -> None:
    html = "<h1>The <em>moon</em></h1><p>It  is\n<b>bright</b>.</p>loose text<div>line<br>break &amp; &lt;b&gt;</div>"
    assert said(html) == [
        ("title", "The moon"),
        ("paragraph", "It is bright."),
        ("paragraph", "loose text"),
        ("paragraph", "line\nbreak & <b>"),
    ]


def test_unknown_elements_part_text_and_inline_ones_do_not() -> None:
    assert said("<x-card>One</x-card><x-card>T<b>w</b>o</x-card>") == [("paragraph", "One"), ("paragraph", "Two")]


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>var a = '<p>no</p>';</script>",
        "<script>document.write('<\\/script>no')</script>",
        "<style>p { color: red }</style>",
        "<nav><ul><li>Home</li></ul></nav>",
        "<noscript>no</noscript>",
        "<template><p>no</p></template>",
        "<svg><text>no</text></svg>",
        "<select><option>no</select>",
        "<p hidden>no</p>",
        "<div hidden><div>no</div>no</div>",
        '<div style="color: red; Display:none !important"><div>no</div>no</div>',
        '<hr style="display: none">',
        "<dialog><p>no</p></dialog>",
        "<!-- <p>no</p> -->",
        "<?php echo 'no' ?>",
    ],
)
def test_what_readers_do_not_see_is_left_out(hidden: str) -> None:
    assert said(f"<p>before</p>{hidden}<p>after</p>") == [("paragraph", "before"), ("paragraph", "after")]


NEXT, UP = '<a href="b.html">Cranes</a>', '<a href="i.html">Index</a>'


@pytest.mark.parametrize(
    ("html", "layouts"),
    [
        (f"<p>Next: {NEXT}, Up: {UP}</p><h2>Ports</h2><p>They grew.</p>", "header title paragraph"),
        (f"<h1>Ports</h1><p>They grew.</p><div>{NEXT} | {UP}</div>", "title paragraph footer"),
        (f"<h1>Ports</h1><p>{NEXT} {UP}</p><p>They grew.</p><p>See {NEXT}.</p>", "title header paragraph paragraph"),
        (f"<p>They grew.</p><p>{NEXT} {UP}</p><p>They shrank.</p>", "paragraph paragraph paragraph"),
        (f"<p>Grain is the topic of {NEXT} and {UP} of all.</p><p>They grew.</p>", "paragraph paragraph"),
        (f"<h1>Ports</h1><p>{NEXT} {UP}</p><p>{UP} {NEXT}</p>", "title paragraph paragraph"),
    ],
    ids=["above", "below", "below the title", "within the text", "a sentence", "nothing else"],
)
def test_lines_of_links_around_a_page_are_no_evidence(html: str, layouts: str, page: Path, images: ImageStore) -> None:
    page.write_text(html, "utf-8")
    assert [quote.layout for quote in parse_html(page, images).quotes] == layouts.split()


MANUAL = "<title>Ports</title><link rel=prev href=a.html><link rel=next href=c.html>"


@pytest.mark.parametrize(
    ("html", "layouts"),
    [
        (
            f"{MANUAL}<table><tr><th colspan=2>Ports<tr><td><a href=a.html>Prev</a><td><a href=c.html>Next</a></table>"
            "<h2>Ports</h2><p>They grew.</p>",
            "header title paragraph",
        ),
        (
            f"{MANUAL}<h2>Ports</h2><p>They grew.</p><table><tr><td>{NEXT}<td>{UP}<tr><td>9<td>8</table>",
            "title paragraph table",
        ),
        (
            "<title>Ports</title><p>Small. Fast.</p><ul><li><a href=a.html>Home</a><li><a href=b.html>About</a></ul>"
            "<h2>Ports</h2><p>They grew.</p><ul><li><a href=a.html>Grain</a><li><a href=b.html>Cranes</a></ul>",
            "paragraph header title paragraph list",
        ),
        (
            "<h1>Ports</h1><ol><li><a href='#q1'>Do they grow?</a><li><a href='#q2'>Why?</a></ol>"
            "<h2>1. Do they grow?</h2><p>They do.</p><h2>2. Why?</h2><p>Grain.</p>",
            "title header title paragraph title paragraph",
        ),
        (
            "<h1>Ports</h1><p>The codes are:</p><ul><li><a href='#a'>AB (4)</a><li><a href='#b'>CD (5)</a></ul>"
            "<h2>(4) AB</h2><p>One.</p><h2>(5) CD</h2><p>Two.</p>",
            "title paragraph list title paragraph title paragraph",
        ),
    ],
    ids=["to pages beside it", "of data with links", "a menu", "contents of the page", "a list that a line introduces"],
)
def test_what_leads_through_a_manual_is_no_evidence(html: str, layouts: str, page: Path, images: ImageStore) -> None:
    page.write_text(html, "utf-8")
    assert [quote.layout for quote in parse_html(page, images).quotes] == layouts.split()


HEADLINES = "<ul><li><a href=a.html>The quay was moved</a><li><a href=b.html>Anna Berg is chair</a></ul>"
CRANES = "<tr><td><a href=a.html>Crane 1</a><td>5 t<tr><td>Crane 2<td>9 t<tr><td><a href=c.html>Crane 3</a><td>20 t"


@pytest.mark.parametrize(
    "html",
    [
        f"<title>News</title>{HEADLINES}<h2>Archive</h2><p>More is in the archive.</p>",
        "<ul><li>Soup: <a href=a.html>8 euros</a><li>Cod: <a href=b.html>19 euros</a></ul><h1>Inn</h1><p>Welcome.</p>",
        f"<p>Call 5550123</p><p>{NEXT} {UP}</p><h1>Inn</h1><p>Welcome.</p>",
        f"<table><tr><td>Rent<td>900</table><ul><li>{NEXT}<li>{UP}</ul><h1>Flat</h1><p>Write to us.</p>",
        f"{MANUAL}<h1>Cranes</h1><p>They lift.</p><table><tr><th>Crane<th>Load{CRANES}</table>",
        "<h1>Inn</h1><p>Welcome.</p><p><a href='tel:1'>Call 5550123</a>, <a href='mailto:a@b.no'>write to us</a></p>",
        "<ul><li><a href='#a'>Grain</a><li><a href='#b'>Depth of the quay: 12 m</a></ul><h2>Grain</h2><p>In silos.</p>",
        "<h1>Inn</h1><p>Welcome.</p><h2>Partners</h2><p><a href=a.html>Oslo Boats</a>, <a href=b.html>Port Tours</a>",
    ],
    ids=["headlines", "prices", "above a bar", "a table above a menu", "versions", "contacts", "contents", "partners"],
)
def test_links_that_tell_something_are_evidence(html: str, page: Path, images: ImageStore) -> None:
    page.write_text(html, "utf-8")
    unsearched = [q.text for q in parse_html(page, images).quotes if q.layout in ("header", "footer")]
    assert set(unsearched) <= {"Cranes Index", "- Cranes\n- Index"}


def test_the_sign_by_which_a_heading_can_be_linked_to_is_none_of_its_words() -> None:
    html = "<h2>Ports<a href='#ports'> ¶</a></h2><p>Grain <a href='#1'>#</a>, <a href='#2'>#2</a></p>"
    assert said(html) == [("title", "Ports"), ("paragraph", "Grain , #2")]


def test_entities_are_not_resolved() -> None:
    html = '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/hostname">]><p>a &x; b</p>'
    assert "&x;" in " ".join(text for _, text in said(html))


def test_lists_stay_together_but_for_items_of_several_paragraphs() -> None:
    html = """<ul><li>one<li><p>two</p><p>more of two</p>
              <ol start=3><li>three</li><li>four</li></ol></li></ul><dl><dt>term<dd>meaning</dl>"""
    assert said(html) == [
        ("list", "- one"),
        ("list", "- two\n\n  more of two\n  3. three\n  4. four"),
        ("list", "- term: meaning"),
    ]


def test_a_paragraph_of_an_item_ends_without_a_full_stop() -> None:
    html = "<ol><li><p>Sizes</p><ul><li>number of ports</ul><p>The default is 9.</p><p>It may grow.</p></ol>"
    assert said(html) == [
        ("list", "1. Sizes\n\n  - number of ports\n\n  The default is 9.\n  It may grow."),
    ]


def test_code_keeps_its_lines_and_interrupts_a_list() -> None:
    html = "<ul><li>run<pre>if x:\n    go()\n</pre></li><li>stop</li></ul>"
    assert said(html) == [("list", "- run"), ("paragraph", "if x:\n    go()"), ("list", "- stop")]


def test_a_table_becomes_its_cells() -> None:
    html = """<table><caption>Table 1: Rain</caption><tr><th>City<th>mm</tr>
              <tr><td>Oslo</td><td><p>7</p><p>63</p></td></tr><tr><td></td><td></td></tr></table>"""
    (block,) = html_blocks(html, name="page.html")
    assert (block.layout, block.caption, block.text) == ("table", "Table 1: Rain", "City | mm\nOslo | 7; 63")


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            "<tr><td><th colspan=3>2021<th colspan=3>2020<tr><td>Sales<td>$<td>1,234<td><td>$<td>1,100<td>"
            "<tr><td>Costs<td><td>(900<td>)<td><td>(800<td>)",
            " | 2021 | 2020\nSales | $ 1,234 | $ 1,100\nCosts | (900) | (800)",
        ),
        ("<tr><td>Share<td colspan=2>2021<tr><td>Tax<td>21.0<td>%", "Share | 2021\nTax | 21.0 %"),
        ("<tr><th>Item<th>Currency<th>Amount<tr><td>A<td>$<td>5", "Item | Currency | Amount\nA | $ | 5"),
        ("<tr><td>A<td>10<br>200<tr><td>B<td>3<br>cranes", "A | 10; 200\nB | 3 cranes"),
        ("<tr><td>2021<td>%<td>5<tr><td>2020<td>%<td>6", "2021 | % | 5\n2020 | % | 6"),
        (
            "<tr><th>Item<th colspan=2>Share<tr><td>A<td>10<td>10<tr><td>B<td>20<td>%",
            "Item | Share | Share\nA | 10 | 10\nB | 20 | %",
        ),
    ],
)
def test_numbers_of_a_table_keep_their_signs_and_stay_apart(rows: str, text: str) -> None:
    (block,) = html_blocks(f"<table>{rows}</table>", name="page.html")
    assert block.text == text


def test_signs_of_a_table_with_too_many_cells_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short rows cost as much as the longest, when columns are compared."""
    monkeypatch.setattr(html_cells, "MAX_CELLS", 5)
    (block,) = html_blocks("<table><tr><td>A<td>5<td>%<tr><td>B<td>6<td>%</table>", name="page.html")
    assert block.text == "A | 5 | %\nB | 6 | %"


@pytest.mark.parametrize(
    "table",
    [
        "<table role=presentation><tr><td>One</td><td>Two</td></tr></table>",
        "<table><tr><td>One</td></tr><tr><td>Two</td></tr></table>",
        "<table><tr><td>One</td><td><table><tr><td>Two</td></tr></table></td></tr></table>",
    ],
)
def test_a_table_that_arranges_the_page_is_read_as_the_page(table: str) -> None:
    assert said(table) == [("paragraph", "One"), ("paragraph", "Two")]


def test_a_table_with_headings_arranges_the_page() -> None:
    assert said("<table><tr><td><h2>Menu</h2><td>Text</table>") == [("title", "Menu"), ("paragraph", "Text")]


def test_a_note_beside_its_sign_is_a_paragraph() -> None:
    sign = "<td rowspan=2><img alt='[Note]' src=note.png></td>"
    html = f"<table><tr>{sign}<th>Note</th></tr><tr><td><p>Ports freeze.</p><p>Not all.</p></td></tr></table>"
    assert said(html) == [("paragraph", "Note: Ports freeze."), ("paragraph", "Not all.")]
    assert said("<table><tr><td rowspan=2>Fruit<td>Pear<tr><td>Plum</table>") == [
        ("table", "Fruit | Pear\nFruit | Plum")
    ]
    master = "<td rowspan=2><img alt=Portrait src=berg.png> Anna Berg</td>"
    assert said(f"<table><tr>{master}<th>Harbour master<tr><td>Room 9</table>") == [
        ("table", "Portrait Anna Berg | Harbour master\nPortrait Anna Berg | Room 9")
    ]


def test_short_paragraphs_in_bold_are_headings() -> None:
    html = (
        "<p><b>How do ports <i>grow</i>?</b></p><p>By grain.</p><p><b>Ports freeze.</b> Not all.</p><p><b>End</b></p>"
    )
    assert [layout for layout, _ in said(html)] == ["title", "paragraph", "paragraph", "paragraph"]
    shouted = "<p><b>First; second;</b></p><p>x</p><p><b>Third</b></p><p>y</p>"
    assert {layout for layout, _ in said(shouted)} == {"paragraph"}
    assert said("<ul><li><b>Grain</b></ul>") == [("list", "- Grain")]


@pytest.mark.parametrize("bold", ["Total: 40", "Rent 900 €", "Adults 12 euros", "WARNING! Keep it shut", "Keep out!"])
def test_what_states_something_in_bold_is_no_heading(bold: str) -> None:
    assert said(f"<p><b>{bold}</b></p><p>It is old.</p>") == [("paragraph", bold), ("paragraph", "It is old.")]


def test_an_answer_in_bold_below_its_question_is_no_heading() -> None:
    asked = "<p>Who owns the quay?</p><p><b>The city</b></p><p>Who owns the cranes?</p><p><b>Anna Berg</b></p><p>x</p>"
    assert {layout for layout, _ in said(asked)} == {"paragraph"}


def test_a_heading_in_bold_ends_with_its_box(page: Path, images: ImageStore) -> None:
    box = "<div><div><p><b>TIP Grain</b></p></div><p>Keep it dry.</p></div>"
    page.write_text(f"<h1>Ports</h1><p>They grow.</p>{box}<p>They freeze.</p><h2>Cranes</h2><p>They lift.</p>", "utf-8")
    sections = [quote.section for quote in parse_html(page, images).quotes if quote.layout == "paragraph"]
    assert sections == ["Ports", "TIP Grain", "Ports", "Cranes"]


def test_a_numbered_line_beside_a_table_is_its_caption() -> None:
    table, head = "<table><tr><td>a<td>b</table>", "<p><b>Table 1. Ports</b></p>"
    blocks = html_blocks(
        f"<p>x</p>{head}{table}<p>Table 2. Cranes</p>{table}<p>Table 2 shows cranes.</p>", name="p.html"
    )
    assert [(block.layout, block.caption) for block in blocks] == [
        ("paragraph", None),
        ("table", "Table 1. Ports"),
        ("table", "Table 2. Cranes"),
        ("paragraph", None),
    ]
    below = html_blocks(f"{table}{head}<p>y</p>{table}<p>Table 2. Cranes</p>", name="p.html")
    assert [block.caption for block in below] == ["Table 1. Ports", None, "Table 2. Cranes"]
    own = "<p>Table 1. Ports</p><table><caption>In metres</caption><tr><td>a<td>b</table>"
    assert said(own) == [("paragraph", "Table 1. Ports"), ("table", "a | b")]


def test_a_page_of_text_as_typed_is_read_as_a_text_file() -> None:
    man = "<b>NAME</b>\n  ship - moves grain\n\n<b>OPTIONS</b>\n  -F  Float.\n\n  -s  Sink.\n\nFILES\n  FLEET  Ships.\n"
    assert said(f"<title>ship(1)</title><pre>{man}</pre>") == [
        ("title", "ship(1)"),
        ("title", "NAME"),
        ("paragraph", "  ship - moves grain"),
        ("title", "OPTIONS"),
        ("paragraph", "  -F  Float."),
        ("paragraph", "  -s  Sink."),
        ("title", "FILES"),
        ("paragraph", "  FLEET  Ships."),
    ]
    assert said("<p>Type:</p><pre>NAME\n  ship</pre>") == [("paragraph", "Type:"), ("paragraph", "NAME\n  ship")]
    assert said("<table><tr><td>Oslo<td><pre>3 cranes</pre></table>") == [("table", "Oslo | 3 cranes")]


@pytest.mark.parametrize(
    "html",
    [
        "<math display=block alttext='a &lt; b'><mi>a</mi></math>",
        "<p>$$a &lt; b$$</p>",
        r"<p>\[ a &lt; b \]</p>",
        "<math display=block><mi>a</mi> <mo>&lt;</mo> <mi>b</mi></math>",
    ],
)
def test_displayed_formulas_are_equations(html: str) -> None:
    assert said(f"<p>x</p>{html}<p>y</p>") == [("paragraph", "x"), ("equation", "a < b"), ("paragraph", "y")]


def test_a_formula_in_a_line_stays_in_its_line() -> None:
    assert said("<p>for <math alttext='n^2'><mi>n</mi></math> items</p>") == [("paragraph", "for n^2 items")]


def test_the_head_title_stands_in_for_a_missing_heading() -> None:
    assert said("<title>Tides</title><h2>Moon</h2>") == [("title", "Tides"), ("title", "Moon")]
    assert said("<title>Tides - Site</title><h1>Tides</h1>") == [("title", "Tides")]
    assert said("<title>Tides</title><h3>Tides</h3>") == [("title", "Tides")]
    assert said("<title>Tides</title><h1>Moon</h1><p>x</p><h1>Sun</h1>")[0] == ("title", "Tides")


def test_a_picture_follows_its_paragraph_with_its_caption(page: Path, images: ImageStore) -> None:
    page.write_text("<h1>T</h1><p>See <img src=plot.png alt='A plot'> and <img src=icon.png> this.</p>")
    parsed = parse_html(page, images)
    assert [(quote.kind, quote.layout, quote.text, quote.caption) for quote in parsed.quotes[1:]] == [
        ("text", "paragraph", "See and this.", None),
        ("image", "figure", "", "A plot"),
    ]
    assert parsed.quotes[2].image is not None
    assert images.path(parsed.quotes[2].image).read_bytes() == (page.parent / "plot.png").read_bytes()
    assert parsed.quotes[2].section == "T"
    assert parsed.warnings == ()


@pytest.mark.parametrize("source", ["src=gone.png", "src=check.svg", "src=icon.png", ""])
def test_where_a_picture_is_no_quote_its_words_stand_in_the_text(source: str, page: Path, images: ImageStore) -> None:
    (page.parent / "check.svg").write_text("<svg/>")
    page.write_text(
        f"<p>With <img {source} alt='x &lt;  2'>, the plan<img {source} alt=Gold><img {source} alt=''> fits.</p>"
        f"<table><tr><th>Refund<td><img {source} alt=yes title=Tick></table>"
    )
    parsed = parse_html(page, images)
    assert [(quote.layout, quote.text) for quote in parsed.quotes] == [
        ("paragraph", "With x < 2, the plan Gold fits."),
        ("table", "Refund | yes"),
    ]
    assert len(parsed.warnings) == (source in ("src=gone.png", "src=check.svg"))


def test_a_picture_that_is_loaded_late_is_one_too(page: Path, images: ImageStore) -> None:
    blank = "data:image/gif;base64,R0lGODlhAQABAAAAACw="
    others = "<img src=icon.png data-src=plot.png><img data-original=plot.png><img srcset='plot.png 2x, y.png 3x'>"
    page.write_text(
        f"<p>x{others}<img data-src=plot.png><img src='{blank}' data-src=plot.png><img src=plot.png data-src=y.png>"
    )
    parsed = parse_html(page, images)
    assert [quote.layout for quote in parsed.quotes] == ["paragraph", *["figure"] * 6]
    assert parsed.warnings == ()


def test_a_figcaption_is_the_caption_of_picture_or_table_wherever_it_stands(page: Path, images: ImageStore) -> None:
    caption = "<figcaption>Figure 2: <b>Rain</b></figcaption>"
    page.write_text(
        f"<figure>{caption}<img src=plot.png alt='A plot'></figure>"
        f"<figure><table><tr><td>a<td>b</table>{caption}</figure>"
        f"<figure><img src=gone.png>{caption}</figure>"
    )
    parsed = parse_html(page, images)
    assert [(quote.layout, quote.text, quote.caption) for quote in parsed.quotes] == [
        ("figure", "A plot", "Figure 2: Rain"),
        ("table", "a | b", "Figure 2: Rain"),
        ("caption", "Figure 2: Rain", None),
    ]
    assert parsed.warnings == ("Picture 'gone.png' was left out: there is no such file.",)


def test_pictures_of_a_list_and_of_a_table_follow_it(page: Path, images: ImageStore) -> None:
    page.write_text("<ul><li>a<img src=plot.png><li>b</ul><table><tr><td>c<img src=plot.png><td>d</table>")
    assert [quote.layout for quote in parse_html(page, images).quotes] == ["list", "figure", "table", "figure"]


def test_the_declared_encoding_is_used(page: Path, images: ImageStore) -> None:
    page.write_bytes('<?xml version="1.0" encoding="shift_jis"?><html><p>日本'.encode("shift_jis"))
    assert parse_html(page, images).quotes[0].text == "日本"


def test_a_file_that_is_too_large_is_refused(page: Path, images: ImageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_MEGABYTES", 0)
    page.write_text("<p>x")
    with pytest.raises(DocumentError, match=r"'page.html' has 0 MB"):
        parse_html(page, images)


def test_too_many_blocks_are_refused_while_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline, "MAX_QUOTES", 3)
    with pytest.raises(DocumentError, match=r"'page.html' holds more than 3 paragraphs"):
        said("<p>a" * 4)


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 50_000 + "deep",
        "<b>" * 50_000 + "deep",
        "<table><tr><td>" * 20_000 + "deep",
        "<figure>" * 20_000 + "<figcaption>deep",
        "<figure><h2></h2>" * 20_000 + "deep",
        "<ul><li>" * 20_000 + "deep",
        "<a " + " ".join(f"a{number}=1" for number in range(50_000)) + ">deep",
        "<table><tr>" + "<td>" * 50_000 + "deep",
        "</div>" * 50_000 + "deep",
    ],
)
def test_bombs_of_tags_still_give_their_text(html: str) -> None:
    blocks = said(html)
    assert len(blocks) == 1
    assert blocks[0][1].split()[-1] == "deep"


def test_words_before_the_cells_of_a_table_are_kept() -> None:
    assert said("<table> word <td>a<td>b</table>") == [("paragraph", "word"), ("table", "a | b")]


def test_words_beside_empty_cells_are_kept() -> None:
    assert said("<p>start</p><table> word <td> <td></table>") == [("paragraph", "start"), ("paragraph", "word")]


@pytest.mark.parametrize("html", ["", " ", "<!-- -->", "</p>", "\x00", "<p>", "<table></table>", "<td>", "</figure>"])
def test_html_without_text_says_nothing(html: str) -> None:
    assert said(html) == []


@given(st.lists(st.sampled_from([*(f"<{tag}>" for tag in TAGS), *(f"</{tag}>" for tag in TAGS), "word"]), max_size=40))
def test_every_word_is_said_once_however_tags_are_nested(parts: list[str]) -> None:
    numbered = [f"w{number}" if part == "word" else part for number, part in enumerate(parts)]
    blocks = html_blocks("<p>start</p>" + " ".join(numbered), name="page.html")
    text = " ".join(f"{block.text} {block.caption or ''}" for block in blocks)
    words = [word for word in text.replace("|", " ").split() if word.startswith("w")]
    assert sorted(words) == sorted(part for part in numbered if part.startswith("w"))


SECTIONS = """<h1>Limits</h1>
<ol>
<li><p><b>Maximum length of a record</b></p><p>A record holds a billion bytes.</p>
<pre>-DLENGTH=9</pre><p>No more.</p></li>
<li><p><b>Maximum Number Of Columns</b></p><p>The limit holds for</p><ul><li>tables</li><li>indexes</li></ul></li>
<li>Short.</li><li>Shorter.</li>
</ol>
<p>All can be changed.</p>
<dl><dt>cache</dt><dd>Pages in memory.</dd>
<dt>journal</dt><dd><p>A file of changes.</p><p>It goes when the transaction ends.</p></dd></dl>"""


def test_items_of_several_paragraphs_are_quotes_of_their_own_under_their_headings(tmp_path: Path) -> None:
    (tmp_path / "limits.html").write_text(SECTIONS)
    quotes = parse_html(tmp_path / "limits.html", ImageStore(tmp_path / "images")).quotes
    assert [(quote.section, quote.text) for quote in quotes[1:]] == [
        ("Maximum length of a record", "1. Maximum length of a record\n\n   A record holds a billion bytes."),
        ("Maximum length of a record", "-DLENGTH=9"),
        ("Maximum length of a record", "   No more."),
        (
            "Maximum Number Of Columns",
            "2. Maximum Number Of Columns\n\n   The limit holds for\n  - tables\n  - indexes",
        ),
        ("Limits", "3. Short.\n4. Shorter."),
        ("Limits", "All can be changed."),
        ("Limits", "- cache: Pages in memory."),
        ("journal", "- journal: A file of changes.\n  It goes when the transaction ends."),
    ]


def test_lists_nested_a_thousand_deep_cost_no_more_than_their_length(tmp_path: Path) -> None:
    (tmp_path / "deep.html").write_text("<ol><li><p>a</p><p>b</p>" * 5000)
    quotes = parse_html(tmp_path / "deep.html", ImageStore(tmp_path / "images")).quotes
    assert sum(quote.text.count("a") for quote in quotes) == 5000


def test_what_readers_would_miss_is_told(page: Path, images: ImageStore) -> None:
    page.write_text(
        "<p>Seen.</p><iframe src=x></iframe><video></video><svg><text>Axis</text><text>Label</text></svg>"
        "<svg><path d=M></svg><iframe hidden></iframe><nav>Home</nav><p>Also seen.</p><select><option>a<p>Swallowed."
    )
    parsed = parse_html(page, images)
    assert [quote.text for quote in parsed.quotes] == ["Seen.", "Also seen."]
    assert parsed.warnings == (
        "What these elements show was not read: 1 iframe, 1 select, 1 svg, 1 unclosed select, 1 video.",
    )


def test_words_of_html_within_a_drawing_and_what_was_entered_in_a_form_are_told(page: Path, images: ImageStore) -> None:
    page.write_text(
        "<p>Seen.</p><svg><path d=M /><foreignObject><div>A label</div></foreignObject></svg>"
        "<input value=Ada><input type=search value=x><input type=hidden value=token><input type=submit value=Send>"
        "<input value='  '><input placeholder=Name>"
    )
    assert parse_html(page, images).warnings == ("What these elements show was not read: 3 input, 1 svg.",)


def test_a_heading_that_is_a_button_is_a_heading(page: Path, images: ImageStore) -> None:
    page.write_text(
        "<h2><button>What does it <b>cost</b>?</button></h2><div>Nothing.</div><p><button>Send</button></p>"
        "<h2><button hidden>Fold</button>When?</h2><p>Now.</p>"
    )
    parsed = parse_html(page, images)
    assert [(quote.layout, quote.text) for quote in parsed.quotes] == [
        ("title", "What does it cost?"),
        ("paragraph", "Nothing."),
        ("title", "When?"),
        ("paragraph", "Now."),
    ]
    assert parsed.warnings == ("What these elements show was not read: 1 button, 1 hidden button.",)


def test_words_that_only_some_readers_see_are_told(page: Path, images: ImageStore) -> None:
    page.write_text(
        "<head><noscript><style>p { color: red }</style></noscript></head><p>Seen.</p>"
        "<noscript><img src=a.png alt=Lazy></noscript><noscript><p>Without <b>scripts</b></p>only.</noscript>"
        "<template><script>x = 1</script><p>Later.</p></template><template><div><slot></slot></div></template>"
        "<div hidden><p>Folded.</p><p>Too.</p></div><p hidden></p><nav hidden>Home</nav><p>Also seen.</p>"
    )
    parsed = parse_html(page, images)
    assert [quote.text for quote in parsed.quotes] == ["Seen.", "Also seen."]
    assert parsed.warnings == (
        "What these elements show was not read: 1 hidden div, 1 hidden nav, 1 noscript, 1 template.",
    )


@pytest.mark.parametrize(
    "start", ["<body style='display:none'>", "<p style='display:none; display:block'>", "<p style='display:none-such'>"]
)
def test_what_a_style_or_a_script_shows_is_read(page: Path, images: ImageStore, start: str) -> None:
    page.write_text(f"{start}Seen")
    assert [quote.text for quote in parse_html(page, images).quotes] == ["Seen"]


def test_what_a_style_hides_is_told_and_part_of_no_cell(page: Path, images: ImageStore) -> None:
    page.write_text(
        "<table><tr><th>Town<th>Ships<tr><td>Brede<td><span style='display:none'>7001100000</span>10</table>"
        "<p>Seen<img src=a.png alt=dot style='display:none'>.<input value=x style='display:none'></p>"
    )
    parsed = parse_html(page, images)
    assert [quote.text for quote in parsed.quotes] == ["Town | Ships\nBrede | 10", "Seen."]
    assert parsed.warnings == ("What these elements show was not read: 1 hidden span.",)


@pytest.mark.parametrize(
    ("styles", "is_read"),
    [
        (".note { display: none }", False),
        ("p { color: red } /* x */ p.note, #top { color: blue; DISPLAY:none!important }", False),
        ("#first {display:none}", False),
        ("p {display:block} .note {display:none}", False),
        ("@media print { .note { display: block } } .note { display: none }", False),
        ("@media print { .note { display: none } }", True),
        ("@media (max-width: 600px) { .note { display: none } }", True),
        (".other, div.note, .note.long { display: none }", True),
        (".tab .note { display: none }", True),  # which may not be within one
        (".note { display: none } .note.open { display: block }", False),
        (".note { display: none } .open .note { display: block }", True),
        (".note { display: none } .note:target { display: block }", True),
        (".note { display: none }</style><script>show('note')</script><style>", True),
        (".note { display: none }</style><script>show('a-note')</script><style>", False),
        (".note { display: none }</style><b onclick=\"show('note')\"></b><style>", True),
        (".note { display: none }</style><a href='#first'></a><style>", True),
        (".note { display: none }</style><a href='first/note.html'></a><style>", False),
        (".note { display: none } :target { display: block }", True),
        (".note { display: none } @media (min-width: 9px) { .md\\:big { display: block } }", True),
        ("</style><style media=print>.note { display: none }", True),
        ("</style><style media=print>.note { display: block }</style><style>.note { display: none }", False),
        ("</style><style media='screen, print'>.note { display: block }</style><style>.note { display: none }", True),
        ("</style><noscript><style>.note { display: none }</style></noscript><style>", True),
        ("</style><!-- <style>.note { display: none }</style> --><style>", True),
        (".a { display: none }" * 1001 + ".note { display: none }", False),
        ("{ display: none } .note { visibility: visible }", True),
        (".note { display: none", False),
    ],
)
def test_what_the_styles_of_a_page_hide_is_told(styles: str, is_read: bool, page: Path, images: ImageStore) -> None:
    page.write_text(f"<style>{styles}</style><p>Seen.<p class='Note big md:big' id=first>Hidden.<p>Also seen.")
    parsed = parse_html(page, images)
    assert [quote.text for quote in parsed.quotes] == ["Seen.", *(["Hidden."] if is_read else []), "Also seen."]
    told = "What these elements show was not read: 1 hidden p."
    assert parsed.warnings == (() if is_read else (told,))


@pytest.mark.parametrize("rule", [".a { display: none }", ".b .a { font-size: 0 }"])
def test_styles_that_take_too_long_to_be_compared_with_all_elements_are_told(
    rule: str, page: Path, images: ImageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html_styles, "MAX_COMPARED", 15)
    page.write_text(f"<style>{rule}</style>" + "<div class='b'><span class='a'>It costs 5.</span></div>" * 20)
    told = "Words were read in spite of style sheets that are too long to tell what they hide or strike out: 1."
    assert told in parse_html(page, images).warnings


@pytest.mark.parametrize("rule", [".a { display: block }", ".a { font-size: 9px }"])
def test_style_sheets_that_are_too_long_to_be_examined_are_told(
    rule: str, page: Path, images: ImageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html_styles, "MAX_RULES", 4)
    page.write_text(f"<style>{rule * 3}.old {{ text-decoration: line-through }}</style><p>It costs 5.")
    assert parse_html(page, images).warnings == ()
    page.write_text(f"<style>{rule * 5}.old {{ text-decoration: line-through }}</style><p>It costs 5.")
    told = "Words were read in spite of style sheets that are too long to tell what they hide or strike out: 1."
    assert parse_html(page, images).warnings == (told,)


def test_what_is_struck_out_stays_marked() -> None:
    html = "<p>It costs <s>$50</s> <strong>$30</strong>, <del>not <b>now</b></del>.</p>"
    assert said(html) == [("paragraph", "It costs ~~$50~~ $30, ~~not now~~.")]
    html = "<del><p>One.<p>Two.</del><p>Three<s></s>fold.<table><tr><td><s>5</s><td>6</table>"
    html += "<STRIKE>Four<p>Five.</p></strike>"
    assert said(html) == [
        ("paragraph", "~~One.~~"),
        ("paragraph", "~~Two.~~"),
        ("paragraph", "Threefold."),
        ("table", "~~5~~ | 6"),
        ("paragraph", "~~Four~~"),
        ("paragraph", "~~Five.~~"),
    ]


def test_numbers_that_are_set_apart_by_height_stay_apart() -> None:
    html = (
        "<p>5,196<sup>1</sup> of 10<sup>6</sup>, or 10<sup>−6</sup> m<sup><b>2</b></sup>, as<sup>1, 2</sup> of the "
        "1<sup>st</sup><sup><a href='#n'>[3]</a></sup> say. H<sub>2</sub>O, log<sub>10</sub>100, 5<small>50</small>7"
        ", 1,300<a href='#n'>1</a>, 7<a id=p></a>5<a href='#n'></a>0"
        "<p>Half: <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>, <math><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn>"
        "</mrow><mi>b</mi></mfrac><mo>=</mo><msup><mi>x</mi><mn>2</mn></msup><msqrt><mn>3</mn></msqrt></math> of 7."
    )
    assert said(html) == [
        ("paragraph", "5,196¹ of 10⁶, or 10⁻⁶ m², as¹, ² of the 1st[3] say. H₂O, log₁₀100, 5 50 7, 1,300 1, 750"),
        ("paragraph", "Half: 1/2, (a+1)/b=x^2√(3) of 7."),
    ]
    html = (
        "<p>SO<sub>4</sub><sup>2−</sup>, 10<sup>–6</sup>, as<sup>1–3</sup> and 5<sup>1)</sup> say"
        "<p><sup>Put back <b>0</b></sup><p>2<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> of <math><msup><mfrac>"
        "<mn>1</mn><mn>2</mn></mfrac><mn>3</mn></msup><mroot><mn>8</mn><mn>3</mn></mroot></math>, <math><mtable><mtr>"
        "<mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr></mtable></math>"
    )
    assert [text for _, text in said(html)] == [
        "SO₄²⁻, 10⁻⁶, as¹⁻³ and 5¹) say",
        "Put back 0",
        "2 1/2 of (1/2)^3 8^1/3, 1 0",
    ]
    html = (
        "<p>2<sup>n</sup> of x<sub><i>i</i></sub> = e<sup>n−1</sup>, a<sub>ij</sub>, T<sub>b</sub>, e<sup>2πi</sup>, "
        "y<sup>k<sub>1</sub></sup>, Lee<sup>a,b</sup>; T<sub>max</sub>, M<sup>me</sup>, b<sup>*</sup>, "
        "9<sup>1/2</sup>, 9<sup>0.5</sup>, K<sub>d </sub>is"
    )
    assert said(html) == [
        ("paragraph", "2ⁿ of xᵢ = eⁿ⁻¹, aᵢⱼ, T_b, e^(2πi), yᵏ₁, Leeᵃ,ᵇ; Tmax, Mme, b*, 9^(1/2), 9^(0.5), K_d is"),
    ]


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        (
            "<p>5,196<span style='vertical-align: super'>1</span> at <b style='text-decoration:line-through'>$40",
            ["5,196¹ at ~~$40~~"],
        ),
        (
            "<style>.d{text-decoration:line-through}</style><ul><li class=d>A <b>b</b><li>C</ul>"
            "<table><tr><td class=d>1<td>2<tr><td>3<td><a class=d>4</a> 5</table>",
            ["- ~~A b~~\n- C", "~~1~~ | 2\n3 | ~~4~~ 5"],
        ),
        (
            "<style>.a{vertical-align:sub} .b{display:block} .c{vertical-align:baseline} .d:hover{display:block}"
            "</style><p>H<i class=a>2</i>O <i class='a c'>2</i> <i class=b>on</i>its <i class=d>own</i> line",
            ["H₂O 2", "on", "its own line"],
        ),
        (
            "<p>5 <i style='font-family:Symbol'>m</i>g <font face=Symbol>&pound;</font> 6, "
            "<i style='font-family: \"Wingdings\"'>þ</i> yes",
            ["5 μg ≤ 6, ☑ yes"],
        ),
        (
            "<div role=table><div role=row><i role=columnheader>A</i><i role=columnheader>B</i></div>"
            "<div role=row><i role=cell>1</i><i role=cell>2",
            ["A | B\n1 | 2"],
        ),
        (
            "<p>She said <q>never</q> on the don&shy;key, he&#8203;re; in <st1:place>Ys</st1:place> now",
            ["She said “never” on the donkey, here; in Ys now"],
        ),
        ("<table><tr><td><pre>1\n2</pre><td><pre>a = 1\nb = 2</pre></table>", ["1\n2", "a = 1\nb = 2"]),
        ("<table><tr><th>Ships<td>May<br>June</table>", ["Ships | May June"]),
        (
            "<h2>Trade<b>[<a href=e>edit</a> | <a href=s>source</a>]</b></h2><h2>A [<a href=n>b</a>] c</h2>"
            "<h2><a href=d>#[doc]</a></h2>",
            ["Trade", "A [b] c", "#[doc]"],
        ),
    ],
)
def test_elements_are_read_as_what_they_are_shown_as(html: str, texts: list[str]) -> None:
    assert [text for _, text in said(html)] == texts


@pytest.mark.parametrize(
    "formula",
    [
        "<b><math><msup><mi>x</mi><mn>2</mn></msup></math></b><span aria-hidden=true><b>x</b><b>2</b></span>",
        "<b><nobr aria-hidden=true><i>x</i>2</nobr><b><math><msup><mi>x</mi><mn>2</mn></msup></math></b></b>",
        "<mjx-a><mjx-b aria-hidden=true></mjx-b><math><msup><mi>x</mi><mn>2</mn></msup></math></mjx-a>",
    ],
)
def test_a_formula_that_is_drawn_too_is_read_once(formula: str) -> None:
    html = f"<p>So {formula} is, <i aria-hidden=true>not</i> was.<p><i aria-hidden=true>★</i> <math><mi>y</mi></math>"
    assert [text for _, text in said(html)] == ["So x^2 is, not was.", "★ y"]


def test_words_that_may_not_be_seen_are_told(page: Path, images: ImageStore) -> None:
    page.write_text(
        "<p>A <i style='visibility:hidden'>b</i> <i style='opacity: 0; left:0'>c</i> <i style='left:-999px'>d</i> "
        "<i style='font-size:0'>e</i><i style='opacity:0.5'>f</i>"
        "<i style='font-family:wingdings'>Y</i> <meter value=3></meter>"
    )
    parsed = parse_html(page, images)
    assert [quote.text for quote in parsed.quotes] == ["A b c d efY"]
    assert parsed.warnings == (
        "What these elements show was not read: 1 meter.",
        "Words were read in spite of styles that hide them: 4.",
        "Words were read in spite of a font of other signs: 1.",
    )


def test_what_style_sheets_strike_out_or_do_not_show_is_marked_or_told(page: Path, images: ImageStore) -> None:
    page.write_text(
        "<style>.a, #b {visibility: hidden} em{text-decoration: line-through} .old > b, .old i i {text-decoration: "
        "line-through} @media print {p {opacity: 0}} .c {left: -999px} .d {opacity: 0} .d {opacity: 1}</style>"
        "<p class=a>One.</p><p id=b>Two <em>three</em>.</p><p class=old><b>4</b> <i>5 <i>6</i></i></p><i><i>7</i></i>"
        "<p class=c>Eight.</p><p class=d>Nine.</p><b>Ten.</b>"
    )
    parsed = parse_html(page, images)
    texts = ["One.", "Two ~~three~~.", "~~4~~ 5 ~~6~~", "7", "Eight.", "Nine.", "Ten."]
    assert [quote.text for quote in parsed.quotes] == texts
    assert parsed.warnings == ("Words were read in spite of styles that hide them: 4.",)


def test_what_else_than_readings_of_words_is_left_out_is_told(page: Path, images: ImageStore) -> None:
    page.write_text(
        "<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rt>ji<rt>letter</ruby> are characters.</p>"
        "<p>Outside <rt>of any ruby</rt> it is text.</p>"
        "<p><ruby>One<rt>two <ruby>three<rt>four</rt></ruby></rt></ruby> <ruby>Five<rt><p>Six.</p></rt></ruby></p>"
    )
    parsed = parse_html(page, images)
    assert [quote.text for quote in parsed.quotes] == ["漢字 are characters.", "Outside it is text.", "One Five"]
    assert parsed.warnings == ("What these elements show was not read: 3 rt.",)


@pytest.mark.parametrize("tag", ["script", "style"])
def test_what_an_unclosed_script_or_style_may_swallow_is_told(tag: str, page: Path, images: ImageStore) -> None:
    page.write_text(f"<p>Seen.</p><script>let x = '<script>'</script><{tag}>a<p>Swallowed.")
    parsed = parse_html(page, images)
    assert [quote.text for quote in parsed.quotes] == ["Seen."]
    assert parsed.warnings == (f"What these elements show was not read: 1 unclosed {tag}.",)


@pytest.mark.parametrize("opened", ["<!-- ", '<p title="', "<p title='", "<![CDATA[ ", "<? "])
def test_what_an_unclosed_comment_or_tag_swallows_is_told(opened: str, page: Path, images: ImageStore) -> None:
    page.write_text(f"<p>Seen.</p>{opened}the rest is swallowed")
    parsed = parse_html(page, images)
    assert [quote.text for quote in parsed.quotes] == ["Seen."]
    assert parsed.warnings == ("What these elements show was not read: 1 unclosed comment or tag.",)


@pytest.mark.parametrize("tag", ["plaintext", "xmp", "p"])
def test_an_unclosed_element_whose_text_is_read_says_nothing(tag: str, page: Path, images: ImageStore) -> None:
    page.write_text(f"<p>Seen.</p><!-- closed --><{tag}>Also seen.")
    parsed = parse_html(page, images)
    assert [quote.text for quote in parsed.quotes] == ["Seen.", "Also seen."]
    assert parsed.warnings == ()


@pytest.mark.parametrize("tag", ["svg", "map", "datalist", "annotation"])
def test_an_unclosed_drawing_or_map_that_swallows_words_is_told(tag: str, page: Path, images: ImageStore) -> None:
    page.write_text(f"<p>Seen.</p><div><{tag}>Swallowed.</div>")
    assert f"1 unclosed {tag}" in parse_html(page, images).warnings[0]


def test_what_stands_after_an_embedded_file_is_read(page: Path, images: ImageStore) -> None:
    page.write_text("<p>Seen.</p><embed src=a.swf><p>Also <embed src=b.swf>seen.</p><embed hidden>")
    parsed = parse_html(page, images)
    assert [quote.text for quote in parsed.quotes] == ["Seen.", "Also seen."]
    assert parsed.warnings == ("What these elements show was not read: 2 embed.",)


def test_frames_and_ticked_boxes_are_told(page: Path, images: ImageStore) -> None:
    page.write_text("<frameset><frame src=a.html><frame src=b.html><noframes>Seen.</noframes></frameset>")
    assert parse_html(page, images).warnings == ("What these elements show was not read: 2 frame.",)
    page.write_text("<p>Smoker? <input type=radio checked>yes <input type=radio>no <input type=checkbox></p>")
    assert parse_html(page, images).warnings == ("What these elements show was not read: 1 input.",)


@pytest.mark.parametrize("written", ["'Note: '", "' %'", "'\\201C' attr(data-name)", "counter(part) '. '"])
def test_words_that_css_writes_are_told(written: str, page: Path, images: ImageStore) -> None:
    told = ("What these elements show was not read: 1 CSS content.",)
    body = "<p class=note>Rain.</p>"
    rule = f".note::before {{ color: red; content: {written} }}"
    for sheet in (rule, f"/* {{ */ @media screen {{ p {{ top: 0 }} {rule} }}", f".other:after, p{rule}"):
        page.write_text(f"<style>{sheet}</style>{body}")
        assert parse_html(page, images).warnings == told, sheet
    seen_by_none = f"@media print {{ p {{ top: 0 }} {rule} }}", rule.replace("note", "other"), f"/* {rule} */"
    no_words = [rule.replace(written, other) for other in ("'\\f101'", "'» '", "open-quote", "none")]
    for sheet in (*seen_by_none, *no_words, rule.replace("::before", ""), ".note::before { align-content: 'a' }"):
        page.write_text(f"<style>{sheet}</style>{body}")
        assert parse_html(page, images).warnings == (), sheet


@pytest.mark.parametrize(
    ("body", "is_told"),
    [
        ("<style>ol.steps, dl { list-style-type: 'Step ' }</style><ol class=steps><li>Row.</ol>", True),
        ("<ul style='list-style: inside \"Note: \"'><li>Row.</ul>", True),
        ("<ul><li style='list-style-type: \"Note: \"'>Row.</ul>", True),
        ("<style>ul { list-style-type: '→ ' } ol { list-style: 'Step ' }</style><ul><li>Row.</ul>", False),
        ("<ul style='list-style-type: \"– \"'><li style='list-style: square'>Row.</ul>", False),
    ],
)
def test_words_that_css_sets_before_items_are_told(body: str, is_told: bool, page: Path, images: ImageStore) -> None:
    page.write_text(body)
    assert parse_html(page, images).warnings == (
        ("What these elements show was not read: 1 CSS content.",) if is_told else ()
    )


@pytest.mark.parametrize(
    ("script", "is_told"),
    [
        ("document.write('<b>Closed on Sunday</b>');", True),
        ("document.write(new Date().getFullYear())", True),
        ("if (late) { document.writeln('It is late'); } run();", True),
        ("document.write('<script src=\"a.js\"><\\/script>'); run('words');", False),
        ('document.write(unescape("%3Cscript src=\'" + host + "a.js\'%3E%3C/script%3E"));', False),
        ("document.write('<div id=\"ad\"></div>')", False),
    ],
)
def test_what_a_script_writes_beside_other_text_is_told(
    script: str, is_told: bool, page: Path, images: ImageStore
) -> None:
    page.write_text(f"<p>Seen.</p><script>{script}</script>")
    parsed = parse_html(page, images)
    assert [quote.text for quote in parsed.quotes] == ["Seen."]
    told = ("What these elements show was not read: 1 script that writes.",)
    assert parsed.warnings == (told if is_told else ())


def test_a_hostile_style_sheet_is_read_in_time(page: Path, images: ImageStore) -> None:
    for sheet in ("{" * 100_000, "/*" * 100_000, "p::before{content:'a'}" * 20_000, "@media print{" * 50_000):
        page.write_text(f"<style>{sheet}</style><b>Seen.</b>")
        assert len(parse_html(page, images).quotes) == 1


def test_what_scripts_write_is_told(page: Path, images: ImageStore) -> None:
    page.write_text("<title>App</title><div id=root></div><script>render('words')</script>")
    assert parse_html(page, images).warnings == ("What these elements show was not read: 1 page that scripts write.",)
    formula = '<script src="mathjax/MathJax.js"></script><p>With <script type="math/tex">x^2</script>.</p>'
    page.write_text(formula)
    assert parse_html(page, images).warnings == ("What these elements show was not read: 1 formula in a script.",)
    page.write_text(formula + '<span class="MathJax">x2</span>')
    assert parse_html(page, images).warnings == ()


@pytest.mark.parametrize(("name", "start"), [("a.xhtml", ""), ("a.html", "<?xml version='1.0'?>\n")])
def test_text_of_xhtml_is_read_where_it_is_not_escaped(name: str, start: str, page: Path, images: ImageStore) -> None:
    path = page.with_name(name)
    path.write_text(f"{start}<html><body><p>Seen, <![CDATA[a < b & c]]>.</p><p>Also.</p></body></html>")
    parsed = parse_html(path, images)
    assert ([quote.text for quote in parsed.quotes], parsed.warnings) == (["Seen, a < b & c.", "Also."], ())


def test_a_page_without_such_says_nothing(page: Path, images: ImageStore) -> None:
    page.write_text(
        "<nav>Home</nav><p>Seen.</p><button><svg><path d=M /></svg></button><script>let x = '<select>'</script>"
    )
    assert parse_html(page, images).warnings == ()


def test_what_stands_in_several_rows_is_said_in_each() -> None:
    head = "<tr><th rowspan=2>City<th colspan=2>Price</tr><tr><th>low<th>high</tr>"
    oslo = "<tr><td rowspan=2>Oslo<td>1<td>2</tr><tr><td>3<td>4</tr>"
    assert said(f"<table>{head}{oslo}<tr><td colspan=2>Total<td>6</tr></table>") == [
        ("table", "City | Price | Price\nCity | low | high\nOslo | 1 | 2\nOslo | 3 | 4\nTotal |  | 6")
    ]
    to_the_end = "<tbody><tr><td rowspan=0>a<td>b<tr><td>c<tbody><tr><td>d<td rowspan=9>e<tfoot><tr><td>f<td>g"
    assert said(f"<table>{to_the_end}</table>") == [("table", "a | b\na | c\nd | e\nf | g")]
    wide = "<td colspan=999999999 rowspan=0>a<td rowspan=x>b" * 40
    ((_, text),) = said(f"<table><tr>{wide}</table>")
    assert len(text) < 50_000


def test_items_have_the_numbers_that_they_say() -> None:
    items = "<ol><li>a<li value=9>b<li>c</ol><ul><li value=3>d</ul><ol start=4><li value=x>e</ol>"
    assert [text for _, text in said(items)] == ["1. a\n9. b\n10. c", "- d", "4. e"]


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("<ol type=a><li>x<li>y</ol>", ["a. x\nb. y"]),
        ("<ol type=A start=26><li>x<li>y</ol>", ["Z. x\nAA. y"]),
        ("<ol type=i start=8><li>x<li>y</ol>", ["viii. x\nix. y"]),
        ("<ol type=I start=1989><li>x</ol>", ["MCMLXXXIX. x"]),
        ("<ol type=I start=4000><li>x</ol>", ["4000. x"]),
        ("<ol type=a start=-1><li>x<li>y<li>z</ol>", ["-1. x\n0. y\na. z"]),
        ("<ol type=a><li>x<li type=I>y<li>z</ol>", ["a. x\nII. y\nc. z"]),
        ("<ol style='list-style-type: lower-roman'><li>x<li>y</ol>", ["i. x\nii. y"]),
        ("<ol type=disc><li>x</ol>", ["1. x"]),
        ("<ol reversed><li>x<li>y<li>z</ol>", ["3. x\n2. y\n1. z"]),
        ("<ol reversed start=10 type=a><li>x<li>y</ol>", ["j. x\ni. y"]),
        ("<ol reversed><li>x<li value=9>y<li>z</ol>", ["3. x\n9. y\n8. z"]),
        ("<ol reversed><li>x<li hidden>no<li>y</ol>", ["2. x\n1. y"]),
        (
            "<ol><li>q</ol><ol REVERSED><li>x<ul><li>u<li>v<li>w</ul><li>y</ol>",
            ["1. q", "2. x\n  - u\n  - v\n  - w\n1. y"],
        ),
    ],
)
def test_items_are_numbered_as_a_browser_numbers_them(html: str, texts: list[str]) -> None:
    assert [text for _, text in said(html)] == texts


def test_a_hostile_number_of_reversed_lists_is_read_in_time() -> None:
    deep = "<ol reversed><li>a" * 5_000
    assert "a" in said(deep)[0][1]
    assert said("<ol " * 50_000 + ">x")


@pytest.mark.parametrize(
    ("style", "is_told"),
    [
        ("color: white", True),
        ("color: white; background: navy", False),
        ("color: #00f; background-color: #00f", True),
        ("color: transparent", True),
        ("color: transparent; background-clip: text", False),
        ("color: rgba(0, 0, 0, 0.0)", True),
        ("color: rgba(0, 0, 0, 0.5)", False),
        ("color: #12345600", True),
        ("color: #123400", False),
        ("clip: rect(0 0 0 0)", True),
        ("clip-path: inset(100%)", True),
        ("transform: scale(0)", True),
        ("transform: scale(0.9)", False),
        ("transform: translateX(-9999px)", True),
        ("filter: opacity(0)", True),
        ("content-visibility: hidden", True),
        ("height: 0; overflow: hidden", True),
        ("height: 0", False),
        ("width: 1px; overflow: hidden", True),
        ("margin-left: -240px", False),
        ("margin-left: -9999px", True),
        ("max-width: 0; overflow: hidden", False),
    ],
)
def test_words_without_colour_size_or_place_are_told(style: str, is_told: bool, page: Path, images: ImageStore) -> None:
    told = ("Words were read in spite of styles that hide them: 1.",) if is_told else ()
    for html in (f"<p>One.<p style='{style}'>Two.", f"<style>div > .x {{ {style} }}</style>One.<div><p class=x>Two."):
        page.write_text(html)
        parsed = parse_html(page, images)
        assert [quote.text for quote in parsed.quotes] == ["One.", "Two."]
        assert parsed.warnings == told


def test_words_that_are_hidden_within_others_or_in_the_colour_of_a_font_are_told(
    page: Path, images: ImageStore
) -> None:
    page.write_text("<style>div .x { display: none } .open .x { display: block }</style>One.<div><p class=x>Two.</div>")
    assert parse_html(page, images).warnings == ("Words were read in spite of styles that hide them: 1.",)
    page.write_text(page.read_text().replace("<div>", "<div class=open>"))
    assert parse_html(page, images).warnings == ()
    page.write_text("<p>One. <font color=white>Two.</font>")
    assert parse_html(page, images).warnings == ("Words were read in spite of styles that hide them: 1.",)
