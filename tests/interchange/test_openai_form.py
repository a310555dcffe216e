import pytest
from cited_answers import CONTEXT, URLS, made_answer

from quoteweave.core.answers import Answer, Citation, replay_events
from quoteweave.generation.citations import build_answer
from quoteweave.interchange.openai import chat_delta, chat_message, file_search_call, output_text
from quoteweave.interchange.shown_text import ShownTextStream, joined, shown_text

IMAGE = f"![freight by month]({URLS.image('d1:0:7')})"


def test_annotations_cover_the_marks_and_images_are_shown_by_their_url() -> None:
    from openai.types.chat import ChatCompletionMessage

    answer = made_answer()
    message = ChatCompletionMessage.model_validate(chat_message(answer))
    content = message.content or ""
    assert content == answer.text.replace("![freight by month](image1)", IMAGE)
    covered = [each.url_citation for each in message.annotations or []]
    assert [content[each.start_index : each.end_index] for each in covered] == [
        *("[1]", "[2]", "[3]", IMAGE),
        *("[3, 1]", "[3, 1]"),
    ]
    assert [each.url for each in covered] == [citation.url for citation in answer.citations]
    assert covered[2].title == "reports/dues [2023].pdf, page 3"


def test_responses_carry_the_same_annotations() -> None:
    from openai.types.responses import ResponseOutputText

    answer = made_answer()
    chat, response = chat_message(answer), ResponseOutputText.model_validate(output_text(answer))
    assert response.text == chat["content"]
    assert [each.model_dump() for each in response.annotations] == [
        {"type": "url_citation", **each["url_citation"]} for each in chat["annotations"]
    ]


def test_the_whole_records_of_citations_index_the_text_that_is_sent() -> None:
    answer = made_answer()
    message = chat_message(answer)
    records = [Citation.model_validate(each) for each in message["citations"]]
    assert [message["content"][each.start : each.end] for each in records] == [each.mark for each in records]
    own = {"mark", "start", "end"}
    assert [each.model_dump(exclude=own) for each in records] == [
        each.model_dump(exclude=own) for each in answer.citations
    ]


def test_streamed_deltas_make_up_the_whole_message() -> None:
    answer = made_answer()
    stream = ShownTextStream()
    parts = [part for event in replay_events(answer) for part in stream.take(event)]
    deltas = [chat_delta(part) for part in [*parts, *stream.end()]]
    whole = chat_message(answer)
    assert "".join(delta.get("content", "") for delta in deltas) == whole["content"]
    assert [each for delta in deltas for each in delta.get("annotations", [])] == whole["annotations"]
    assert [each for delta in deltas for each in delta.get("citations", [])] == whole["citations"]
    assert joined(parts) == shown_text(answer)


def test_sources_can_be_listed_below_the_text() -> None:
    answer = made_answer("Grain [1] and [1, 2]. ![freight](image1)")
    listed, plain = chat_message(answer, with_sources=True), chat_message(answer)
    assert listed["content"] == f"{plain['content']}\n\nSources:\n\n" + "\n".join(
        [
            f"- [1] port.pdf, page 1: {URLS.quote('d1:0:1')}",
            f"- [2] port.pdf, page 1: {URLS.quote('d1:0:2')}",
            f"- Image 1: port.pdf, page 1: {URLS.quote('d1:0:7')}",
        ]
    )
    assert listed["annotations"] == plain["annotations"]
    nothing = build_answer("?", "No idea.", CONTEXT, model="m")
    assert chat_message(nothing, with_sources=True)["content"] == "No idea."


def test_without_urls_images_are_words_and_annotations_are_refused() -> None:
    answer: Answer = build_answer("?", "See ![a [b] c](image1) [1].", CONTEXT, model="m")
    assert shown_text(answer).text == "See (Image: a [b] c) [1]."
    with pytest.raises(ValueError, match="'d1:0:7' has no URL"):
        chat_message(answer)


def test_hits_are_results_of_a_file_search() -> None:
    from openai.types.responses import ResponseFileSearchToolCall

    hits = CONTEXT.hits
    call = ResponseFileSearchToolCall.model_validate(file_search_call("fs_1", ["grain?"], hits, URLS))
    results = call.results or []
    assert [(each.file_id, each.filename) for each in results[:3]] == [
        ("d1", "port.pdf"),
        ("d1", "port.pdf"),
        ("d2", "reports/dues [2023].pdf"),
    ]
    assert [each.score for each in results] == [hit.score for hit in hits]
    attributes = results[3].attributes or {}
    assert attributes["quote_id"] == "d1:0:7"
    assert (attributes["url"], attributes["image_url"]) == (URLS.quote("d1:0:7"), URLS.image("d1:0:7"))
    assert all(len(each.attributes or {}) <= 16 for each in results)


def test_scores_beyond_those_of_the_api_are_left_to_the_attributes() -> None:
    hits = [CONTEXT.texts[0].model_copy(update={"score": 17.5}), CONTEXT.texts[1]]
    results = file_search_call("fs_1", ["grain?"], hits, URLS)["results"]
    assert [(each["score"], each["attributes"]["score"]) for each in results] == [(None, 17.5), (None, 0.5)]
