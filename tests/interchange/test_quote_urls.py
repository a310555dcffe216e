from urllib.parse import unquote

import pytest
from builders import make_context, make_quote

from quoteweave.core.answers import (
    Answer,
    AnswerEvent,
    Citation,
    CitationEvent,
    ImageBlock,
    TextEvent,
    replay_events,
)
from quoteweave.generation.citations import build_answer
from quoteweave.interchange.exports.markdown import to_markdown
from quoteweave.interchange.quotes import QuoteUrls

URLS = QuoteUrls(base_url="https://docs.example/", collection="ports & harbours")


@pytest.fixture
def answer() -> Answer:
    context = make_context(
        make_quote("Grain was shipped.", id="d1:0:1"), make_quote("Freight by month", kind="image", id="d1:1:4")
    )
    return build_answer("How much?", "Grain [1]: ![freight](image1) Also [1].", context, model="m")


def in_blocks(answer: Answer) -> list[Citation]:
    return [
        citation
        for block in answer.blocks
        for citation in ((block.citation,) if isinstance(block, ImageBlock) else block.citations)
    ]


def test_every_citation_of_an_answer_gets_its_urls_and_its_blocks_agree(answer: Answer) -> None:
    filled = QuoteUrls(base_url="https://docs.example", collection="ports & harbours").answer(answer)
    text, image = "https://docs.example/c/ports%20%26%20harbours/q/d1:0:1", "/c/ports%20%26%20harbours/q/d1:1:4"
    assert [citation.url for citation in filled.citations] == [text, f"https://docs.example{image}", text]
    assert [citation.image_url for citation in filled.citations] == [
        None,
        "https://docs.example/v1/collections/ports%20%26%20harbours/quotes/d1:1:4/image",
        None,
    ]
    assert in_blocks(filled) == list(filled.citations)
    assert filled.text == answer.text


def test_streamed_events_carry_the_urls_of_the_whole_answer(answer: Answer) -> None:
    events = [URLS.event(event) for event in replay_events(answer)]
    streamed = [event.citation for event in events if isinstance(event, CitationEvent)]
    (whole,) = [event.answer for event in events if isinstance(event, AnswerEvent)]
    assert streamed == list(whole.citations) == list(URLS.answer(answer).citations)
    assert "".join(event.text for event in events if isinstance(event, TextEvent)) == answer.text


@pytest.mark.parametrize("name", ["a/b", "ö", "50%", "a?b#c", "a b"])
def test_names_and_ids_stay_one_segment_of_the_path(name: str) -> None:
    urls = QuoteUrls(base_url="", collection=name)
    _, c, collection, q, quote_id = urls.quote(f"{name}:0:1").split("/")
    assert (c, unquote(collection), q, unquote(quote_id)) == ("c", name, "q", f"{name}:0:1")
    assert not {"?", "#", " "} & set(urls.image(name))


def test_a_page_keeps_the_slashes_of_its_documents_name() -> None:
    assert URLS.page("reports/may 2023.pdf", 2).endswith("/ports%20%26%20harbours/pages/reports/may%202023.pdf/2")


def test_only_an_image_quote_that_can_be_seen_has_a_picture() -> None:
    assert URLS.image_of(make_quote("x")) is None
    seen = make_quote("x", kind="image", id="d:0:2")
    written = seen.model_copy(update={"has_pages": False})  # a table of a CSV file
    cropped = written.model_copy(update={"image": "00/picture.png"})  # of a web page
    images = [URLS.image("d:0:2"), None, URLS.image("d:0:2")]
    assert [URLS.image_of(quote) for quote in (seen, written, cropped)] == images
    cited = [
        build_answer("?", "It is so ![x](image1).", make_context(quote), model="m")
        for quote in (seen, written, cropped)
    ]
    assert [URLS.answer(answer).citations[0].image_url for answer in cited] == images
    assert "(Image: x)" in to_markdown(URLS.answer(cited[1]))
