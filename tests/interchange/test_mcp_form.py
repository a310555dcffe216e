from builders import make_quote
from cited_answers import CONTEXT, URLS

from quoteweave.interchange.mcp import fetched, search_results


def test_hits_are_named_by_their_quotes() -> None:
    assert search_results(CONTEXT.texts[1:], URLS) == {
        "results": [
            {"id": "d1:0:2", "title": "port.pdf, page 1", "url": URLS.quote("d1:0:2")},
            {"id": "d2:2:1", "title": "reports/dues [2023].pdf, page 3", "url": URLS.quote("d2:2:1")},
        ]
    }


def test_a_quote_is_fetched_with_its_words_and_its_place() -> None:
    image = fetched(CONTEXT.images[0].quote, URLS)
    assert image["text"] == "Freight by month\nMay 4,210\nJune 3,900"
    assert image["metadata"] == {
        "document": "port.pdf",
        "page": "0",
        "page_label": "1",
        "place": "page 1",
        "kind": "image",
        "layout": "figure",
        "caption": "Freight by month",
        "image_url": URLS.image("d1:0:7"),
    }
    text = fetched(make_quote("Grain.", section="Freight", has_pages=False), URLS)
    assert (text["title"], text["metadata"]["section"]) == ("report.pdf, Freight", "Freight")
    assert "image_url" not in text["metadata"]
