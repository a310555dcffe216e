import pytest
from pydantic import ValidationError

from quoteweave.core.records import Document, Filter, Layout, Page, Query, Quote


def a_quote(**changed: object) -> Quote:
    values: dict[str, object] = {
        "id": "d:0:1",
        "document": "d.pdf",
        "page": 0,
        "page_label": "i",
        "bbox": (1, 2, 3, 4),
        "kind": "text",
        "layout": "paragraph",
    }
    return Quote.model_validate({**values, **changed})


def test_records_are_frozen_and_know_their_fields() -> None:
    query = Query(text="a")
    with pytest.raises(ValidationError, match="frozen"):
        query.text = "b"  # type: ignore[misc]
    with pytest.raises(ValidationError, match="Extra inputs"):
        Query.model_validate({"text": "a", "k": 3})


def test_words_are_all_that_a_quote_says_and_ocr_stands_in_for_text() -> None:
    assert a_quote(caption="Figure 1", text="label", ocr_text="1abel", vlm_text="A map.").all_text() == (
        "Figure 1\nlabel\nA map."
    )
    assert a_quote(caption="Figure 1", ocr_text="read").all_text() == "Figure 1\nread"
    assert a_quote().all_text() == ""


@pytest.mark.parametrize(("layout", "retrievable"), [("header", False), ("footer", False), ("title", True)])
def test_headers_and_footers_are_not_retrievable(layout: Layout, retrievable: bool) -> None:
    assert a_quote(layout=layout).retrievable is retrievable


def test_pages_count_from_0_and_have_a_size() -> None:
    size = {"label": "1", "width": 612.0, "height": 792.0, "text_source": "ocr"}
    assert Page.model_validate({"number": 0, **size}).number == 0
    for wrong in ({"number": -1, **size}, {"number": 0, **size, "width": 0}):
        with pytest.raises(ValidationError):
            Page.model_validate(wrong)


def test_a_filter_of_pages_in_the_wrong_order_is_refused() -> None:
    assert Filter(first_page=2, last_page=2).last_page == 2
    with pytest.raises(ValidationError, match="first_page 3 lies after last_page 2"):
        Filter(first_page=3, last_page=2)
    with pytest.raises(ValidationError):
        Filter(first_page=-1)


def test_one_name_alone_is_a_filter_of_one_document() -> None:
    assert Filter(documents="a.md", layouts="table") == Filter(documents=("a.md",), layouts=("table",))


def test_a_quote_survives_json() -> None:
    quote = a_quote(caption="Ω “quoted”\n", image="ab/cd.png")
    assert Quote.model_validate_json(quote.model_dump_json()) == quote


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        (Filter(kind="text"), None, Filter(kind="text")),
        (Filter(documents=("a", "b")), Filter(documents=("b", "c")), Filter(documents=("b",))),
        (Filter(first_page=2), Filter(last_page=5, kind="image"), Filter(first_page=2, last_page=5, kind="image")),
        (Filter(first_page=2), Filter(last_page=1), Filter(documents=())),
        (Filter(kind="text"), Filter(kind="image"), Filter(documents=())),
        (
            Filter(metadata={"tenant": "a"}),
            Filter(metadata={"year": "1"}),
            Filter(metadata={"tenant": "a", "year": "1"}),
        ),
        (Filter(metadata={"tenant": "a"}), Filter(metadata={"tenant": "b"}), Filter(documents=())),
        (Filter(metadata={"tenant": "a"}), Filter(), Filter(metadata={"tenant": "a"})),
    ],
)
def test_two_filters_pass_what_both_pass(a: Filter, b: Filter | None, both: Filter) -> None:
    assert a.intersect(b) == both


def test_a_filter_admits_documents_by_name_and_metadata() -> None:
    port = Document(
        id="1", name="port.md", content="0", format="markdown", parser="p", pages=1, quotes=2, metadata={"year": "2019"}
    )
    for where in (Filter(), Filter(documents=("port.md",)), Filter(metadata={"year": "2019"}), Filter(first_page=5)):
        assert where.admits(port)
    for where in (Filter(documents=()), Filter(documents=("a.md",)), Filter(metadata={"year": "2020"})):
        assert not where.admits(port)
