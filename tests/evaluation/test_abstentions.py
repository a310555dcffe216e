"""Responses of which no outcome was kept: which of them do nothing but abstain."""

import pytest

from quoteweave.core.examples import Prediction
from quoteweave.evaluation.text.abstentions import MAX_LENGTH, is_abstention, only_abstains


@pytest.mark.parametrize(
    "text",
    [
        "The quotes do not answer this question.",
        "Not answerable.",
        "**Unanswerable**",
        "This question cannot be answered with the given context.",
        "I cannot answer the question based on the provided documents.",
        "I'm unable to answer this question.",
        "I’m sorry, but I can’t answer that question.",
        "The provided quotes do not contain enough information to answer the question.",
        "Unfortunately, the context doesn't provide any relevant information.",
        "There is not enough information in the documents to answer this question.",
        "Based on the provided text quotes, there is insufficient information to answer the question.",
        "The answer cannot be determined from the given passages.",
        "No answer found.",
        "I don't know.",
    ],
)
def test_these_only_abstain(text: str) -> None:
    assert is_abstention(text)
    assert only_abstains(Prediction(example="1", response=f"<think>Grain?</think>\n\n{text} [1]"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No",
        "None of them.",
        "The documents do not say how much grain was shipped.",
        "The contract does not provide information to the buyer.",
        "There is no evidence of harm.",
        "If a student cannot be found, contact Campus Security.",
        "The quotes do not answer this question. But grain was shipped in May.",
        "I cannot answer the door.",
        "No information on prices was given in 2019.",
        "The question is not answerable. " * (MAX_LENGTH // 30),
    ],
)
def test_these_say_something(text: str) -> None:
    assert not is_abstention(text)


def test_of_no_response_nothing_is_known() -> None:
    assert not only_abstains(Prediction(example="1", items={"a": 1.0}))
