"""Small contexts and answers for the tests of the gate."""

from quoteweave.core.answers import Answer, Context, Verdict
from quoteweave.core.records import Hit, Layout, Quote
from quoteweave.generation.citations import weave
from quoteweave.generation.gate import check_sentence


def text_quote(text: str, *, document: str = "report.pdf", section: str | None = None) -> Quote:
    return _quote(text, "paragraph", document).model_copy(update={"section": section})


def image_quote(layout: Layout = "table", *, document: str = "report.pdf", text: str = "", **words: str) -> Quote:
    return _quote(text, layout, document).model_copy(update=words)


def context_of(*quotes: Quote | str) -> Context:
    made = [text_quote(quote) if isinstance(quote, str) else quote for quote in quotes]
    hits = [Hit(rank=rank, score=1 / rank, quote=quote) for rank, quote in enumerate(made, 1)]
    texts = tuple(hit for hit in hits if hit.quote.kind == "text")
    return Context(texts=texts, images=tuple(hit for hit in hits if hit.quote.kind == "image"))


def woven(text: str, context: Context, *, question: str = "What happened?") -> Answer:
    return weave(question, text, context, model="m")


def verdicts(answer: Answer) -> list[Verdict | None]:
    return [citation.verdict for citation in answer.citations]


def verdict(sentence: str, *quotes: Quote | str, question: str = "") -> Verdict:
    """The gate's verdict on a sentence; one without marks cites all text quotes, or else the first image."""
    context = context_of(*quotes)
    marked = sentence
    if "[" not in sentence:
        numbers = ", ".join(str(number) for number, _ in enumerate(context.texts, 1))
        marked = f"{sentence} [{numbers}]" if numbers else f"{sentence} ![it](image1)"
    return check_sentence(marked, woven(marked, context).citations, context, question=question).verdict


def _quote(text: str, layout: Layout, document: str) -> Quote:
    return Quote(
        id=f"{document}:0:{abs(hash(text)) % 1000}",
        document=document,
        page=0,
        page_label="1",
        bbox=(0, 0, 1, 1),
        kind="text" if layout == "paragraph" else "image",
        layout=layout,
        text=text,
    )
