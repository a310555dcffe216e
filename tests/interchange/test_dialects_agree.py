"""One answer in five forms: each names the same quotes, by the same URLs, for the same words."""

from collections.abc import Callable, Sequence
from urllib.parse import unquote

import pytest
from cited_answers import CONTEXT, TEXT, URLS, made_answer

from quoteweave.core.answers import Answer, replay_events
from quoteweave.interchange.anthropic import cited_quotes, message_content
from quoteweave.interchange.cited_text import statements
from quoteweave.interchange.cohere import response_message
from quoteweave.interchange.openai import ChatAnnotation, chat_delta, chat_message, output_text
from quoteweave.interchange.shown_text import ShownTextStream
from quoteweave.interchange.vercel import UiMessageStream

Stated = list[tuple[str, set[tuple[str, str]]]]
"""The words before each mark, and the ids and URLs of the quotes that they cite."""
Mark = tuple[int, int, str, str]

TEXTS = [
    TEXT,
    "[1] begins, and ![an image](image2) stands within [2, 3].",
    "![a](image1)![b](image2) Grain [1][1]",
    "Line one [1]\n\n```\nx[2]\n```\n\n| a | b [3] |",
]


def of_answer(answer: Answer) -> Stated:
    return [
        (each.text.strip(), {(citation.quote_id, str(citation.url)) for citation in each.citations})
        for each in statements(answer)
        if each.citations
    ]


def of_marks(text: str, marks: Sequence[Mark]) -> Stated:
    """What is stated by text with marks in it: what stands before each; marks side by side cite together."""
    stated: Stated = []
    at = 0
    for start, end, quote_id, url in marks:
        if stated and not text[at:start].removesuffix(" "):
            stated[-1][1].add((quote_id, url))
        else:
            stated.append((text[at:start].strip(), {(quote_id, url)}))
        at = max(at, end)
    return stated


def quote_of(url: str) -> str:
    return unquote(url.rpartition("/")[2])


def of_annotations(content: str, annotations: Sequence[ChatAnnotation]) -> Stated:
    given = [annotation["url_citation"] for annotation in annotations]
    return of_marks(content, [(g["start_index"], g["end_index"], quote_of(g["url"]), g["url"]) for g in given])


def openai_whole(answer: Answer) -> Stated:
    message = chat_message(answer)
    return of_annotations(message["content"], message["annotations"])


def openai_streamed(answer: Answer) -> Stated:
    stream = ShownTextStream()
    deltas = [chat_delta(part) for event in replay_events(answer) for part in stream.take(event)]
    content = "".join(delta.get("content", "") for delta in deltas)
    return of_annotations(content, [each for delta in deltas for each in delta.get("annotations", [])])


def openai_response(answer: Answer) -> Stated:
    output = output_text(answer)
    given = output["annotations"]
    marks = [(g["start_index"], g["end_index"], quote_of(g["url"]), g["url"]) for g in given]
    return of_marks(output["text"], marks)


def anthropic_message(answer: Answer) -> Stated:
    stated: Stated = []
    for block in message_content(answer, CONTEXT):
        cited = [
            quote.id
            for each in block.get("citations") or []
            for *_, quote in cited_quotes(
                CONTEXT, each["search_result_index"], each["start_block_index"], each["end_block_index"]
            )
        ]
        if cited:
            stated.append((block["text"].strip(), {(each, URLS.quote(each)) for each in cited}))
    return stated


def cohere_message(answer: Answer) -> Stated:
    message = response_message(answer, CONTEXT, urls=URLS)
    return [
        (each["text"].strip(), {(source["id"], source["document"]["url"]) for source in each["sources"]})
        for each in message["citations"]
    ]


def vercel_stream(answer: Answer) -> Stated:
    stream = UiMessageStream("m")
    text, begins, sources, marks = "", {}, {}, []
    for part in [part for event in replay_events(answer) for part in stream.take(event)]:
        if part["type"] == "text-start":
            begins[part["id"]] = len(text)
        elif part["type"] == "text-delta":
            text += str(part["delta"])
        elif part["type"] == "source-url":
            sources[part["sourceId"]] = str(part["url"])
        elif part["type"] == "data-citation":
            data = part["data"]
            assert isinstance(data, dict)
            quote_id, shown = data["citation"]["quote_id"], data["shown"]
            start, end = (
                (len(text),) * 2 if shown is None else (begins[shown["part"]] + shown[at] for at in ("start", "end"))
            )
            marks.append((start, end, quote_id, sources[quote_id]))
    return of_marks(text, marks)


FORMS: list[Callable[[Answer], Stated]] = [
    *(openai_whole, openai_streamed, openai_response),
    *(anthropic_message, cohere_message, vercel_stream),
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_each_form_names_the_same_quotes_for_the_same_words(form: Callable[[Answer], Stated], text: str) -> None:
    answer = made_answer(text)
    assert form(answer) == of_answer(answer)
    assert {quote_id for _, cited in form(answer) for quote_id, _ in cited} == {
        citation.quote_id for citation in answer.citations
    }
