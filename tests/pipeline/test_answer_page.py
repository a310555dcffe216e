"""The HTML of answers: complete in itself, escaped, and every mark leading to its place."""

import base64
import hashlib
import re

import pytest
from builders import make_context
from example_answers import (
    HOSTILE,
    REPORT,
    abstained_view,
    hostile_view,
    make_answer,
    make_page,
    make_quote,
    moorings_view,
    rendered,
    tidal_view,
)
from lxml import html
from lxml.html import HtmlElement

from quoteweave.core.answers import NO_TOKENS, Context
from quoteweave.core.boxes import Box
from quoteweave.generation.citations import build_answer
from quoteweave.pipeline.answer_page.render import render_answers
from quoteweave.pipeline.answer_page.sections import AnswerView, data_url
from quoteweave.pipeline.pictures_for_people import PagePicture

VIEWS = [tidal_view, moorings_view, abstained_view, hostile_view]
PNG = b"\x89PNG\r\n\x1a\n"


def parse(*views: AnswerView) -> HtmlElement:
    return html.document_fromstring(render_answers(views, "Title"))


def words(element: HtmlElement) -> str:
    return " ".join(element.text_content().split())


@pytest.mark.parametrize("view", VIEWS)
def test_every_address_is_within_the_file(view: object) -> None:
    page = parse(view())  # type: ignore[operator]
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    for address in page.xpath("//@href | //@src"):
        assert address.startswith("data:") or address.removeprefix("#") in ids


@pytest.mark.parametrize("view", VIEWS)
def test_only_the_style_and_script_that_the_policy_names_are_in_the_file(view: object) -> None:
    page = parse(view())  # type: ignore[operator]
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'; img-src data:; ")
    for name in ("style", "script"):
        (element,) = page.xpath(f"//{name}")
        digest = base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert not page.xpath("//@style")
    assert not [name for name in page.xpath("//@*") if getattr(name, "attrname", "").startswith("on")]


def test_each_citation_is_a_chip_that_leads_to_the_box_of_its_quote() -> None:
    view = tidal_view()
    chips = parse(view).xpath("//p//a[@class='chip'] | //div[@class='prose']//li//a[@class='chip']")
    assert [words(chip) for chip in chips] == ["1", "2", "2", "5", "4", "2", "1", "4"]
    assert chips[0].get("href") == "#answer-1-text-1-box"
    assert chips[0].get("aria-label") == f"Citation 1: {REPORT}, page iv (4 in the file)"
    assert chips[5].get("href") == "#answer-1-image-2-box"


def test_boxes_are_placed_in_per_cent_of_the_page() -> None:
    quote = make_quote("a.pdf:0", "words", (61.2, 79.2, 306, 396))
    outside = make_quote("a.pdf:0", "more", (-10, 700, 9999, 900))
    context = make_context(quote, outside)
    pages = [PagePicture(document="a.pdf", page=make_page(0), image=PNG)]
    text = rendered(make_answer("?", "So [1, 2].", context), context, pages)
    assert "#answer-1-text-1-box{left:10.000%;top:10.000%;width:40.000%;height:40.000%}" in text
    assert "#answer-1-text-2-box{left:0.000%;top:88.384%;width:100.000%;height:11.616%}" in text


@pytest.mark.parametrize(
    ("bbox", "place"),
    [
        ((72, 72, 540, 120), "left"),
        ((0, 72, 540, 120), "above"),
        ((320, 72, 540, 120), "right"),
        ((320, 72, 612, 120), "left"),
        ((0, 0, 612, 792), "inside"),
    ],
)
def test_the_number_of_a_box_stands_where_there_is_room(bbox: Box, place: str) -> None:
    context = make_context(make_quote("a.pdf:0", "words", bbox))
    pages = [PagePicture(document="a.pdf", page=make_page(0), image=PNG)]
    text = rendered(make_answer("?", "So [1].", context), context, pages)
    (box,) = html.document_fromstring(text).find_class("box")
    assert f"number-{place}" in box.get("class").split()


def test_a_page_picture_is_in_the_file_once_though_two_answers_use_it() -> None:
    text = render_answers([tidal_view(), moorings_view()], "Two")
    for page in tidal_view().pages[:2]:
        assert page.image is not None
        assert text.count(base64.b64encode(page.image).decode()) == 1
    page = html.document_fromstring(text)
    assert [words(link) for link in page.find_class("contents")[0].iter("li")] == [
        "How did the tidal pilot perform in its first year, and why?",
        "How often were the moorings inspected?",
    ]
    assert [words(tag) for tag in page.get_element_by_id("answer-2").find_class("tag")] == ["3", "4"]


def test_the_head_says_question_status_model_and_time() -> None:
    page = parse(moorings_view())
    assert words(page.xpath("//h1")[0]) == "How often were the moorings inspected?"
    facts = [words(fact) for fact in page.find_class("facts")[0].iter("li")]
    assert facts == ["Answered", "llama-3.1-8b-instruct", "3.9 s", "2,381 tokens in, 64 out", "2 of 7 quotes cited"]
    (warning,) = page.xpath("//div[@class='warnings']//li")
    assert words(warning) == "The mark [9] names no quote of the context and was left as it is."
    assert [words(mark) for mark in page.find_class("unresolved")] == ["[9]"]


def test_no_tokens_are_told_where_no_model_was_asked() -> None:
    view = moorings_view()
    answer = view.answer.model_copy(update={"usage": NO_TOKENS})
    page = parse(view.model_copy(update={"answer": answer}))
    facts = [words(fact) for fact in page.find_class("facts")[0].iter("li")]
    assert facts == ["Answered", "llama-3.1-8b-instruct", "3.9 s", "2 of 7 quotes cited"]


def test_sources_list_cited_quotes_first_and_mark_the_others() -> None:
    page = parse(tidal_view())
    entries = page.find_class("source")
    assert [entry.get("id").removeprefix("answer-1-") for entry in entries] == [
        *("text-1", "text-2", "image-1", "text-5", "text-4", "image-2", "text-3"),
    ]
    assert ["not cited" in words(entry) for entry in entries] == [False] * 6 + [True]


def test_a_page_shows_its_label_and_its_place_in_the_file_where_they_differ() -> None:
    shown = [words(place) for place in parse(tidal_view()).xpath("//article//span[@class='page']")]
    assert shown == ["page iv (4 in the file)", "page 9", "page 1"]


def test_figures_carry_their_summary_as_caption_and_alternative_text() -> None:
    page = parse(tidal_view())
    chart, table = page.xpath("//figure")
    summary = "Energy delivered rose from 0.48 GWh in the first quarter to 1.12 GWh in the fourth"
    assert chart.find(".//img").get("alt") == summary
    assert words(chart.find("figcaption")) == f"1 {summary}"
    # The table has no crop of its own: it is cut out of the picture of its page.
    cut = table.find_class("cut")[0]
    assert cut.get("aria-label") == "Vessel days were far below budget; spare parts a little above"
    assert cut.get("viewbox") == "100.00 230.00 400.00 88.00"
    assert cut.find("use").get("href") == "#picture-2"


def test_an_image_with_neither_crop_nor_page_picture_is_told_in_words() -> None:
    chart = make_quote("a.pdf:0", "bars", (0, 0, 100, 100), "chart", image="c.png")
    context = make_context(chart)
    answer = make_answer("?", "![rising bars](image1)", context)
    page = html.document_fromstring(rendered(answer, context, crops={"c.png": b"<svg onload=alert(1)>"}))
    assert words(page.xpath("//figure")[0]) == "The picture itself is not at hand. 1 rising bars"
    assert page.find_class("chip")[0].get("href") == "#answer-1-image-1"


def test_a_table_that_can_be_seen_nowhere_is_cited_by_its_mark_alone() -> None:
    written = make_quote("rivers.csv:0", "river | km | note\nRhine | 1233 |", (0, 0, 100, 100), "table")
    table = written.model_copy(update={"has_pages": False})
    context = make_context(table)
    answer = make_answer("?", "It lists Rhine. ![The table in part 1](image1)", context)
    pages = [PagePicture(document=table.document, page=make_page(0), quotes=(table,))]
    page = html.document_fromstring(rendered(answer, context, pages=pages))
    assert page.xpath("//figure") == []
    (chip,) = page.xpath("//p//*[contains(@class, 'chip')]")
    assert chip.get("href") == "#answer-1-image-1-box"
    rows = page.xpath("//*[@id='answer-1-image-1-box']//tr")
    assert [row.xpath("td/text()") for row in rows] == [["river", "km", "note"], ["Rhine", "1233"]]


def test_a_page_without_picture_is_shown_as_text_with_its_cited_quotes_marked() -> None:
    sheet = parse(tidal_view()).find_class("sheet")[2]
    heading, visit = sheet.find_class("written")[0]
    assert (heading.get("class"), words(heading)) == ("written-title", "Site visit, 14 May")
    assert visit.get("id") == "answer-1-text-5-box"
    assert "cited" in visit.get("class")


def test_a_cited_quote_that_its_page_view_leaves_out_is_shown_all_the_same() -> None:
    context = make_context(make_quote("a.md:0", "Said here.", (0, 0, 1, 1)))
    pages = [PagePicture(document="a.md", page=make_page(0))]
    page = html.document_fromstring(rendered(make_answer("?", "So [1].", context), context, pages))
    assert words(page.get_element_by_id("answer-1-text-1-box")) == "1 Said here."


def test_an_abstained_answer_is_a_plain_notice_without_pages() -> None:
    page = parse(abstained_view())
    assert words(page.find_class("status")[0]) == "Not answered"
    (said,) = page.xpath("//div[@class='notice']/p")
    assert words(said) == "Nothing in the documents bears on the price of solar panels."
    assert not [*page.find_class("prose"), *page.find_class("pages"), *page.find_class("chip")]
    assert len(page.find_class("uncited")) == 7


def test_hostile_text_stays_text_everywhere() -> None:
    text = rendered(hostile_view().answer, hostile_view().context, hostile_view().pages)
    page = html.document_fromstring(text)
    assert len(page.xpath("//script")) == 1
    assert not page.xpath("//*[@onerror or @onload]")
    assert not re.findall(r"<(?:b|i|code)>", text)
    assert HOSTILE in page.xpath("//h1")[0].text_content()
    assert HOSTILE in page.find(".//strong").text_content()
    assert HOSTILE in page.xpath("//div[@class='warnings']//li")[0].text_content()
    assert "{{ 7 * 7 }}" in page.find_class("says")[0].text_content()


def test_a_citation_outside_the_context_is_refused() -> None:
    view = tidal_view()
    with pytest.raises(ValueError, match="cites text quote 1, which is not in its context"):
        rendered(view.answer, Context())


@pytest.mark.parametrize(
    ("data", "media_type"),
    [(PNG, "image/png"), (b"\xff\xd8\xff\xe0", "image/jpeg"), (b"RIFF\x00\x00\x00\x00WEBP", "image/webp")],
)
def test_the_media_type_is_read_from_the_first_bytes(data: bytes, media_type: str) -> None:
    assert data_url(data) == f"data:{media_type};base64,{base64.b64encode(data).decode()}"


@pytest.mark.parametrize("data", [None, b"", b"<svg/>", b"RIFF\x00\x00\x00\x00WAVE", b"GIF89a"])
def test_other_bytes_are_no_picture(data: bytes | None) -> None:
    assert data_url(data) is None


def test_no_word_is_lost_where_a_mark_was_taken_out() -> None:
    context = make_context(make_quote("report:0:1", "Bars were read.", (10.0, 10.0, 90.0, 30.0)))
    answer = build_answer("Which?", "Foo [9] bar baz [1]. And more [1].", context, model="m")
    assert answer.unresolved
    page = rendered(answer, context)
    assert "Foo bar baz" in re.sub(r"<[^>]+>", "", page)
