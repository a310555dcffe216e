"""An answer that repeats itself endlessly is distinguished from one that lists, counts or draws tables."""

import asyncio

import pytest
from harbour_quotes import EVERYTHING
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.chat.completions import Completion
from quoteweave.core.records import Query
from quoteweave.generation.chat_generator import (
    CUT_SHORT,
    MIN_CHARACTERS,
    MIN_REPETITIONS,
    REPETITION_WARNING,
    CitedGenerator,
    ends_in_repetition,
)
from quoteweave.testing import FakeChat

SENTENCE = "Grain gained because of a dry harvest inland [3]. "


@pytest.mark.parametrize("end", ["", "Grain gain", "Grain gained because of a dry harvest inland ["])
@pytest.mark.parametrize("beginning", ["", "The port received 1,058 calls [4]. "])
def test_a_sentence_over_and_over(beginning: str, end: str) -> None:
    assert ends_in_repetition(beginning + SENTENCE * 8 + end)
    assert not ends_in_repetition(beginning + SENTENCE * (MIN_REPETITIONS - 2) + end)


def test_a_paragraph_over_and_over() -> None:
    paragraph = " ".join(f"Berth {number} is {number * number} metres long." for number in range(30))
    assert ends_in_repetition(f"{paragraph}\n\n" * MIN_REPETITIONS)
    assert not ends_in_repetition(paragraph)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Grain gained [3].",
        "| year | calls |\n|" + "-" * 40 + "|" + "-" * 40 + "|\n| 2023 | 1,058 |",
        "\n".join(f"- In 20{year} the port received {year * 31} calls [4]." for year in range(10, 40)),
        "| " + " | ".join(["0"] * 60) + " |",
    ],
)
def test_what_is_no_loop(text: str) -> None:
    assert not ends_in_repetition(text)


@given(st.text(min_size=1, max_size=80).filter(str.strip), st.text(max_size=200))
def test_whatever_is_repeated_often_enough(piece: str, beginning: str) -> None:
    assert ends_in_repetition(beginning + piece.strip() * (MIN_CHARACTERS + MIN_REPETITIONS))


def test_the_answer_is_kept_as_it_is_with_a_warning() -> None:
    said = (SENTENCE * 400)[:-21]
    chat = FakeChat([Completion(text=said, model="m", finish_reason="length")])
    answer = asyncio.run(CitedGenerator(chat).answer(Query(text="Why did grain gain?"), EVERYTHING))
    assert answer.text == said
    assert answer.warnings == (CUT_SHORT, REPETITION_WARNING)
