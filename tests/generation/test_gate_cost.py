"""The gate reads long sentences in reasonable time, and each with the marks that it has in its answer."""

import asyncio
import time
from collections.abc import Mapping

from numbered_quotes import CONTEXT, quotes

from quoteweave.core.answers import Context, Event
from quoteweave.core.chat.completions import Completion
from quoteweave.core.chat.streams import ReasoningSplitter
from quoteweave.core.records import Query
from quoteweave.generation.chat_generator import CitedGenerator
from quoteweave.generation.citations import build_answer
from quoteweave.generation.gate.answer_check import check_citations
from quoteweave.generation.gate.claims import ClaimReader, claims_of
from quoteweave.pipeline.window import Window, fit_to_window


def context_of(*texts: str) -> Context:
    hits = zip(quotes("text", len(texts)), texts, strict=True)
    return Context(texts=tuple(h.model_copy(update={"quote": h.quote.model_copy(update={"text": t})}) for h, t in hits))


def seconds(work: object) -> float:
    started = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - started


def test_a_sentence_of_thousands_of_numbers_is_judged_in_a_moment() -> None:
    given = context_of(" ".join(f"{n * 7 + 1000} kg" for n in range(60)))
    text = f"Together {' '.join(str(n * 13 + 200_003) for n in range(2000))} [1]."
    answer = build_answer("why?", text, given, model="m")
    assert seconds(lambda: check_citations(answer, given)) < 2


def test_long_reasoning_and_long_sentences_are_read_in_linear_time() -> None:
    splitter = ReasoningSplitter(opened=True)
    assert seconds(lambda: [splitter.feed("word ") for _ in range(100_000)]) < 2
    assert len(splitter.end().text) == 500_000
    text, reader = "e.g. word " * 4000, ClaimReader()
    read = [claim for at in range(0, len(text), 4) for claim in reader.feed(text[at : at + 4])]
    assert [*read, *reader.end()] == claims_of(text)
    again = ClaimReader()
    assert seconds(lambda: [again.feed(text[at : at + 4]) for at in range(0, len(text), 4)]) < 3


def test_code_amid_a_line_does_not_hide_the_marks_behind_it() -> None:
    given = context_of("It grew.", "Dues rose by 7 %.")
    answer = check_citations(
        build_answer("why?", "It grew [1]. ```x``` dues rose by 7 % [2].", given, model="m"), given
    )
    assert answer.citations[1].verdict != "unsupported"


def test_a_tag_that_the_answer_speaks_of_takes_nothing_away() -> None:
    class Chat:
        name = "m"

        def request_settings(self) -> Mapping[str, object]:
            return {}

        async def complete(self, messages: object) -> Completion:
            return Completion(text="It ends with `</think>` [1]. Then [2].", reasoning="Well.", model="m")

    generator = CitedGenerator(Chat())
    answer = asyncio.run(generator.answer(Query(text="?"), CONTEXT))
    assert answer.text == "It ends with `</think>` [1]. Then [2]."

    async def told() -> list[Event]:
        return [event async for event in generator.stream(Query(text="?"), CONTEXT)]

    events = asyncio.run(told())
    assert "".join(event.text for event in events if event.type == "text") == answer.text


def test_quotes_of_many_short_lines_and_long_names_keep_to_the_window() -> None:
    from quoteweave.core.chat.usage import estimate_message_tokens
    from quoteweave.generation.prompt_messages import CitedMessages

    given = context_of(*["a\n" * 4000] * 10)
    for question in ("why?", "why " * 3000):
        cut, _ = fit_to_window(given, Window(tokens=8000), question)
        assert estimate_message_tokens(CitedMessages().of(Query(text=question), cut, {})) <= 8000
