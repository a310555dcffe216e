"""A prompt keeps to the window whatever its question, sections and lines, and leaves room for the answer."""

import pytest

from quoteweave.core.answers import Context
from quoteweave.core.chat.usage import estimate_message_tokens
from quoteweave.core.records import Hit, Query, Quote
from quoteweave.generation.prompt_messages import CitedMessages
from quoteweave.pipeline.window import Window, fit_to_window


def hits(kind: str, many: int, text: str, section: str | None) -> tuple[Hit, ...]:
    layout = "paragraph" if kind == "text" else "chart"
    said = {"document": "reports/2023/annual report of the harbour board.pdf", "page": 0, "page_label": "1"}
    said |= {"bbox": (0.0, 0.0, 1.0, 1.0), "kind": kind, "layout": layout, "text": text, "section": section}
    quotes = [Quote.model_validate({"id": f"{kind}{n}", **said}) for n in range(many)]
    return tuple(Hit(rank=n, score=1, quote=quote) for n, quote in enumerate(quotes, 1))


@pytest.mark.parametrize("text", ["barley " * 3000, "12\n" * 5000])
@pytest.mark.parametrize("section", [None, "Chapter 4: what the harbour board reported on grain, coal and tin in 2023"])
@pytest.mark.parametrize("question", ["How much?", "How much? " * 400])
@pytest.mark.parametrize("answer", [0, 1000])
def test_prompt_and_answer_keep_to_the_window(text: str, section: str | None, question: str, answer: int) -> None:
    context = Context(texts=hits("text", 12, text, section), images=hits("image", 8, text, section))
    made, count = fit_to_window(context, Window(tokens=8000, answer=answer), question)
    messages = CitedMessages().of(Query(text=question), made, {})
    assert count == 20
    assert 6000 < estimate_message_tokens(messages) + answer <= 8000


def test_titles_as_long_as_pages_do_not_fill_the_window() -> None:
    context = Context(texts=hits("text", 12, "barley " * 3000, "A title without an end. " * 500), images=())
    made, count = fit_to_window(context, Window(tokens=8000), "How much?")
    assert count == 12
    assert 6000 < estimate_message_tokens(CitedMessages().of(Query(text="How much?"), made, {})) <= 8000
