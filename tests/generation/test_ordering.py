"""A model puts the sentences of answers in order, and changes no check of what answers."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
from harbour_quotes import EVERYTHING, context, quote
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.answers import Answer, Context
from quoteweave.core.protocols import SentenceScorer
from quoteweave.core.records import Query
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.generation.extractive.selection import MIN_SCORE, MIN_SENTENCES, score_sentences, sentence_key
from quoteweave.generation.extractive.statements import text_statements

COAL = "The harbour shipped 300 tonnes of coal in 2022."
MORE = "In 2022 the harbour shipped 90 tonnes of coal."
OLDER = "The harbour shipped 200 tonnes of coal in 2021."
OTHERS = "Ships wait for a berth. The mole was built long ago. Dogs need no ticket."
QUESTION = "How many tonnes of coal did the harbour ship in 2022?"
# Of "tonnes, grain, sheds, harbour, Tolland, store" it holds three, and its document's name a fourth: too little by
# words alone.
STORED = "The silos of Tolland hold 40 tonnes of grain."
STORED_QUESTION = "How many tonnes of grain can the sheds of the harbour of Tolland store?"
STORES = context([f"{STORED} {OTHERS}", "Coal is dear. Fog came in May."])


class Scorer:
    """Scores sentences by a function, and keeps what it was asked."""

    name = "made"

    def __init__(self, score: Callable[[str], float | None]) -> None:
        self._score = score
        self.asked: list[tuple[str, list[list[str]]]] = []

    async def score(self, question: str, passages: Sequence[Sequence[str]]) -> list[list[float | None]]:
        self.asked.append((question, [list(passage) for passage in passages]))
        return [[self._score(sentence) for sentence in passage] for passage in passages]


def favouring(*texts: str) -> Scorer:
    """The first of the texts is best by far, then the second…; all else is equal."""
    return Scorer(lambda sentence: float(len(texts) - texts.index(sentence)) if sentence in texts else 0.0)


def ask(question: str, given: Context, scorer: SentenceScorer | None = None) -> Answer:
    return asyncio.run(ExtractiveGenerator(scorer=scorer).answer(Query(text=question), given))


def test_the_model_says_which_of_the_sentences_that_answer_comes_first() -> None:
    texts = context([f"{COAL} {OTHERS}", MORE])
    by_words, by_model = ask(QUESTION, texts), ask(QUESTION, texts, favouring(MORE))
    assert by_words.text.startswith("The harbour shipped 300 tonnes")
    assert by_model.text.startswith("In 2022 the harbour shipped 90 tonnes of coal [2].")
    assert "300" not in by_model.text


@pytest.mark.parametrize("preferred", [OLDER, "Coal is dear in 2022.", "Ships wait for a berth."])
def test_what_fails_the_checks_is_no_answer_however_high_it_stands(preferred: str) -> None:
    answer = ask(QUESTION, context([f"{COAL} {OTHERS}", f"{preferred} It is so."]), favouring(preferred, COAL))
    assert answer.status == "answered"
    assert answer.text.startswith("The harbour shipped 300 tonnes of coal in 2022 [1].")
    assert preferred.removesuffix(".") not in answer.text


def test_what_is_clearly_first_may_hold_fewer_of_the_questions_words() -> None:
    assert ask(STORED_QUESTION, STORES).status == "located"
    answer = ask(STORED_QUESTION, STORES, favouring(STORED))
    assert answer.status == "answered"
    assert answer.text.startswith("The silos of Tolland hold 40 tonnes of grain [1].")


def test_what_is_first_by_little_needs_them_all() -> None:
    close = Scorer(lambda sentence: {STORED: 1.0, "Fog came in May.": 0.9}.get(sentence, 0.0))
    assert ask(STORED_QUESTION, STORES, close).status == "located"


def test_where_the_model_says_that_nothing_answers_places_are_shown() -> None:
    assert ask(QUESTION, context([COAL, OTHERS])).status == "answered"
    answer = ask(QUESTION, context([COAL, OTHERS]), Scorer(lambda _: None))
    assert answer.status == "located"
    assert answer.citations[0].number == 1


def test_of_a_place_the_sentence_is_shown_that_the_model_prefers() -> None:
    filler = "The coal harbour has sheds for ships and for the people who work in them through the year. " * 5
    said = "Many a barge leaves the harbour."
    texts = context([f"{filler} {said}"])
    question = "Why did the coal harbour close?"
    assert said.removesuffix(".") not in ask(question, texts).text
    located = ask(question, texts, favouring(said))
    assert located.status == "located"
    assert said.removesuffix(".") in located.text


def test_each_part_of_a_question_is_asked_with_the_sentences_of_each_quote() -> None:
    scorer = Scorer(lambda _: 0.0)
    ask("How many tonnes of coal did the harbour ship in 2022, and why did it close?", context([OTHERS, COAL]), scorer)
    first, second = scorer.asked
    assert "coal" in first[0]
    assert "close" in second[0]
    assert first[1] == [["Ships wait for a berth.", "The mole was built long ago.", "Dogs need no ticket."], [COAL]]


def test_nothing_is_asked_of_the_model_where_the_documents_are_about_something_else() -> None:
    scorer = Scorer(lambda _: 1.0)
    assert ask("What is the capital of France?", EVERYTHING, scorer).status == "abstained"
    assert scorer.asked == []


SCORES = st.lists(st.integers(-5, 5), min_size=2, max_size=8)


@given(SCORES, st.sampled_from([0.25, 1.0, 8.0]), st.integers(-10, 10))
def test_standings_do_not_depend_on_the_scale_of_scores(scores: list[int], factor: float, more: int) -> None:
    statements = text_statements(context([quote(f"Ship number {number} left.") for number in range(len(scores))]), 350)
    by_text = {statement.text: float(score) for statement, score in zip(statements, scores, strict=True)}
    plain = asyncio.run(score_sentences(Scorer(by_text.__getitem__), "?", statements))
    scaled = asyncio.run(score_sentences(Scorer(lambda text: factor * by_text[text] + more), "?", statements))
    assert plain == scaled
    assert set(plain.of) == {sentence_key(statement) for statement in statements}
    assert MIN_SCORE <= min(plain.of.values()) <= max(plain.of.values()) == 1
    best = [sentence_key(one) for one in statements if by_text[one.text] == max(by_text.values())]
    assert plain.first in ([None] if len(best) > 1 else [None, *best])


@pytest.mark.parametrize(
    ("scores", "first"),
    [
        ({"A": 3.0, "B": 1.0}, "A"),  # 2 ahead, of a lead of 3 over the middle
        ({"A": 9.0, "B": 10.0}, None),  # 1 ahead, of 10: less than a fifth
        ({"A": 8.0, "B": 10.0}, "B"),  # 2 ahead
        ({"A": 0.0}, None),
        ({"A": None, "B": None, "C": None, "D": None, "E": None}, None),
        ({"A": None, "B": -1.0, "C": None, "D": None, "E": None}, "B"),  # the only one that answers
    ],
)
def test_which_is_clearly_first(scores: dict[str, float | None], first: str | None) -> None:
    quotes = [quote(f"Ship {name} left the quay.", id=name) for name in "ABCDE"]
    # A repeated statement does not lower the confidence.
    again = [quote(f"Ship {first} left the quay.", id="again")] if first else []
    scorer = Scorer(lambda sentence: scores.get(sentence[5], 0.0))
    found = asyncio.run(score_sentences(scorer, "?", text_statements(context([*quotes, *again]), 350)))
    assert found.first == (None if first is None else (first, 0))


def test_of_few_sentences_none_is_clearly_the_first() -> None:
    statements = text_statements(context(["One ship left. Two came. Three stayed. Four sank."]), 350)
    assert len(statements) == MIN_SENTENCES - 1
    assert asyncio.run(score_sentences(Scorer(lambda text: float(text == "Two came.")), "?", statements)).first is None


def test_a_model_that_leaves_sentences_out_is_a_mistake_and_no_answer() -> None:
    class Short(Scorer):
        async def score(self, question: str, passages: Sequence[Sequence[str]]) -> list[list[float | None]]:
            return [[1.0] for _ in passages]

    with pytest.raises(ValueError, match="zip"):
        ask(QUESTION, context([f"{COAL} {OTHERS}"]), Short(lambda _: 1.0))
