"""What an explanation says of a page is true of that page."""

from pathlib import Path

from made_collections import made_quote, make_collection

from quoteweave.core.records import Query
from quoteweave.retrievers.lexical import LexicalRetriever


def details(tmp_path: Path, question: str, *texts: str) -> list[dict[str, str]]:
    """By page, the detail of each reason, where each page has one of these texts."""
    quotes = [made_quote(text, page=page) for page, text in enumerate(texts)]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        retriever, query = LexicalRetriever(collection), Query(text=question)
        (hits,) = retriever.search([query], 20)
        reasons = retriever.explain(query, hits).reasons
    found: list[dict[str, str]] = [{} for _ in texts]
    for hit in hits:
        found[hit.quote.page] = {reason.part: reason.detail for reason in reasons[hit.quote.id]}
    return found


def test_quotations_and_amounts_are_those_of_the_page(tmp_path: Path) -> None:
    question = 'Where are "Riparian Rights" and "Hydrolab DS5X", 5 km and 3 kg?'
    texts = ("Riparian rights, 5km away", "A Hydrolab DS5X of 3 kilograms", "grain")
    found = details(tmp_path, question, *texts)
    assert [page.get("quotation") for page in found] == ["Riparian Rights", "Hydrolab DS5X", None]
    assert [page.get("amount") for page in found] == ["5 km", "3 kg", None]


def test_spellings_references_and_kinds_are_those_of_the_page(tmp_path: Path) -> None:
    found = details(tmp_path / "1", "Where are Illinois and the XR200?", "lllinois grew", "The XR 200 failed", "grain")
    assert [page.get("spelling") for page in found] == ["illinois = lllinois", "xr200 = xr 200", None]
    found = details(tmp_path / "2", "What is on pages 2 and 3?", "timber", "grain", "ships")
    assert [page.get("reference") for page in found] == [None, "page 2", "page 3"]


def test_the_lead_of_the_best_page_is_said_to_be_one(tmp_path: Path) -> None:
    texts = ["zinc by lorry at Quarry Hill", "lorries go to Quarry Hill", *(f"ship {n}" for n in range(12))]
    found = details(tmp_path, "zinc", *texts)
    assert found[0]["page feedback"] == "keeps the page with the most other evidence first"
    assert "next to page 1" in found[1]["page feedback"]


def test_a_page_that_is_best_for_a_side_of_a_comparison_is_said_to_be_so(tmp_path: Path) -> None:
    texts = ["growth of timber and of grain, growth of all", *(f"ship {n}" for n in range(12)), "grain grew"]
    found = details(tmp_path, "Compare the growth of timber with grain", *texts)
    assert found[-1]["page feedback"].startswith("best for: grain; ")
    assert found[1]["page feedback"] == "next to page 1"
