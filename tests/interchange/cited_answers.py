"""An answer with citations of texts and of an image, and what of it every form must carry."""

from collections.abc import Iterable

from builders import make_context, make_quote

from quoteweave.core.answers import Answer, Citation, Span
from quoteweave.generation.citations import build_answer, with_citations
from quoteweave.interchange.quotes import QuoteUrls

URLS = QuoteUrls(base_url="https://docs.example", collection="ports & harbours")
CONTEXT = make_context(
    make_quote("The harbour shipped 4,210 tonnes of grain in May.", document="port.pdf", id="d1:0:1"),
    make_quote("Timber went by rail.", document="port.pdf", id="d1:0:2"),
    make_quote("Dues rose by 3 per cent.", document="reports/dues [2023].pdf", page=2, id="d2:2:1"),
    make_quote("May 4,210\nJune 3,900", kind="image", document="port.pdf", id="d1:0:7", caption="Freight by month"),
    make_quote(kind="image", document="reports/dues [2023].pdf", page=3, id="d2:3:4"),
)
TEXT = (
    "Grain 🌾 was shipped [1]. It went by rail or [2][3] by ship:\n\n"
    "![freight by month](image1)\n\n"
    "- dues rose [3, 1]\n- and so on"
)
Carried = tuple[str, str | None]


def made_answer(text: str = TEXT) -> Answer:
    """The answer, with URLs, and with the words that its first citation's quote says."""
    answer = build_answer("What was shipped?", text, CONTEXT, model="m")
    first, *further = (citation.model_copy(update=quoted(citation)) for citation in answer.citations)
    first = first.model_copy(update={"spans": (Span(start=12, end=41),)})
    return URLS.answer(with_citations(answer, [first, *further]))


def quoted(citation: Citation) -> dict[str, object]:
    quote = CONTEXT.quote(citation.kind, citation.number)
    assert quote is not None
    return {"quoted": quote.text, "evidence": "element"}


def carried(citations: Iterable[Citation]) -> list[Carried]:
    """What every form carries of each citation."""
    return [(citation.quote_id, citation.url) for citation in citations]
