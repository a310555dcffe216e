"""Answers over 20 quotes are not scored against references over 15, in which their marks do not resolve."""

import pytest
from builders import make_context
from made_selection import answered, example, fixed, quote

from quoteweave.core.answers import Context
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.scoring.matching import match_predictions

FIFTEEN = fixed(texts=10, images=5)


def questions(count: int, given: Context | None = FIFTEEN) -> list[Example]:
    return [example(f"q{n}", given=given) for n in range(count)]


def answers(count: int, response: str, beyond: int, told: str) -> list[Prediction]:
    """Of `count` answers, the first `beyond` say something else."""
    return [answered(told if n < beyond else response, f"q{n}") for n in range(count)]


def test_many_marks_beyond_the_context_are_told_with_counts_and_instances() -> None:
    made = answers(40, "Yes [1].", 12, "No [11] [10] ![a](image8).")
    with pytest.raises(DatasetError) as caught:
        match_predictions(questions(40), made)
    assert str(caught.value).startswith(
        "12 answers cite quotes that their questions do not have ('q0: text 11, image 8', 'q1: text 11, image 8', "
        "'q2: text 11, image 8', …), of 40 that cite; they were made over another setting"
    )


@pytest.mark.parametrize(
    ("made", "given"),
    [
        (answers(40, "Yes [10] ![a](image5).", 10, "No [11]."), FIFTEEN),  # a quarter: models do err
        (answers(19, "", 19, "No [11]."), FIFTEEN),  # too few to tell
        (answers(40, "Yes [1].", 40, "No [11]."), None),  # gold alone: what the answers saw is not known
        (answers(40, "", 40, "No [11]."), make_context(quote("text", "1"))),  # quotes that do not go by their places
        ([one.model_copy(update={"context": fixed(12, 8)}) for one in answers(40, "", 40, "[11]")], FIFTEEN),
    ],
)
def test_else_answers_are_scored(made: list[Prediction], given: Context | None) -> None:
    assert match_predictions(questions(len(made), given), made) == made
