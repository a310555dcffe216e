"""Answers and what the gate says of them."""

from builders import make_context

from quoteweave.core.answers import Answer, Context, Verdict
from quoteweave.core.records import Quote
from quoteweave.generation.citations import build_answer
from quoteweave.generation.gate.sentence_check import check_sentence


def built(text: str, context: Context, *, question: str = "What happened?") -> Answer:
    return build_answer(question, text, context, model="m")


def verdicts(answer: Answer) -> list[Verdict | None]:
    return [citation.verdict for citation in answer.citations]


def verdict(sentence: str, *quotes: Quote | str, question: str = "") -> Verdict:
    """The gate's verdict on a sentence; one without marks cites all text quotes, or else the first image."""
    context = make_context(*quotes)
    marked = sentence
    if "[" not in sentence:
        numbers = ", ".join(str(number) for number, _ in enumerate(context.texts, 1))
        marked = f"{sentence} [{numbers}]" if numbers else f"{sentence} ![it](image1)"
    checked = check_sentence(marked, built(marked, context).citations, context, question=question)
    verdicts_of_quotes = [citation.verdict for citation in checked]
    # Of several quotes that support a sentence together, those that contribute nothing are unchecked.
    return "supported" if "supported" in verdicts_of_quotes else verdicts_of_quotes[0] or "unchecked"
