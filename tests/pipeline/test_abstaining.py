"""Answers that are withheld, and questions that are not asked, for want of confidence."""

import re

import pytest

from quoteweave.core.answers import Answer, Context, TextBlock, Usage
from quoteweave.core.confidence import Calibration, ConfidenceModel, RiskCoveragePoint, SignalName, SignalWeight
from quoteweave.core.records import Hit, Quote
from quoteweave.generation.citations import build_answer
from quoteweave.generation.confidence_signals import signals_of
from quoteweave.generation.gate.answer_check import check_citations
from quoteweave.pipeline.gate import NOT_ENOUGH, abstain_before, abstain_below

TEXT = "In 1921 the port shipped 1,204 tonnes of grain."
ASKED = "How many tonnes of grain did the port ship in 1921?"
OTHER = "How many passengers took the night ferry?"


def context(text: str = TEXT) -> Context:
    place = {"document": "a.pdf", "page": 0, "page_label": "1", "bbox": (0, 0, 9, 9), "kind": "text"}
    quote = Quote.model_validate({"id": "a.pdf:0:0", "layout": "paragraph", "text": text, **place})
    return Context(texts=(Hit(rank=1, score=4.0, quote=quote),))


def stage(signal: SignalName, threshold: float) -> ConfidenceModel:
    """A confidence of one half where the signal is one half, far higher and lower at 1 and 0."""
    weight = SignalWeight(signal=signal, mean=0.5, scale=0.1, least=0, most=1, weight=1)
    return ConfidenceModel(intercept=0, weights=(weight,), threshold=threshold)


CALIBRATION = Calibration(
    retriever="bm25",
    model="m",
    risk=0.1,
    answers=40,
    before=stage("bearing", 0.2),
    after=stage("support", 0.7),
    curve=(RiskCoveragePoint(threshold=0.7, answers=40, coverage=1, risk=0.1),),
)


def written(said: str) -> Answer:
    answer = build_answer(ASKED, said, context(), model="m", warnings=("Cut short.",))
    return check_citations(answer, context()).model_copy(update={"usage": Usage(input_tokens=9), "seconds": 2.0})


def test_an_answer_that_is_sure_enough_is_given_as_it_is() -> None:
    answer = written("It shipped 1,204 tonnes [1].")
    assert answer.citations[0].verdict == "supported"
    assert abstain_below(answer, context(), CALIBRATION) is answer


def test_an_answer_below_the_threshold_becomes_an_abstention() -> None:
    answer = written("It shipped 1,304 tonnes [1].")
    assert answer.citations[0].verdict == "unsupported"
    shown = abstain_below(answer, context(), CALIBRATION)
    assert (shown.status, shown.text, shown.citations) == ("abstained", NOT_ENOUGH, ())
    assert shown.blocks == (TextBlock(text=NOT_ENOUGH),)
    assert shown.raw == "It shipped 1,304 tonnes [1]."
    assert (shown.usage, shown.seconds, shown.model, shown.question) == (answer.usage, 2.0, "m", ASKED)
    assert shown.warnings[0] == "Cut short."
    assert shown.warnings[-1] == (
        "Withheld: a confidence of 0.007 is below the threshold of 0.700 that was fitted on 40 answers."
    )


def test_raw_keeps_what_was_written_first() -> None:
    answer = written("It shipped 1,304 tonnes [1] [7].")
    assert answer.raw == "It shipped 1,304 tonnes [1] [7]."
    assert abstain_below(answer, context(), CALIBRATION).raw == answer.raw


def test_an_abstention_stays_as_it_is() -> None:
    answer = build_answer(ASKED, "The quotes do not say.", context(), model="m", status="abstained")
    assert abstain_below(answer, context(), CALIBRATION) is answer


def test_the_model_is_asked_only_where_something_bears_on_the_question() -> None:
    assert abstain_before(ASKED, context(), CALIBRATION) is None
    answer = abstain_before(OTHER, context(), CALIBRATION)
    assert answer is not None
    assert (answer.status, answer.text, answer.question, answer.model) == ("abstained", NOT_ENOUGH, OTHER, "m")
    assert answer.usage == Usage(input_tokens=0, output_tokens=0)
    assert answer.warnings == (
        "Not asked: on what was found, a confidence of 0.007 is below the threshold of 0.200 that was fitted on 40 "
        "answers.",
    )


def test_where_nothing_was_found_the_model_is_not_asked() -> None:
    assert abstain_before(ASKED, Context(), CALIBRATION) is not None


@pytest.mark.parametrize("near", [1e-4, 1e-7])
def test_numbers_that_are_close_are_told_apart(near: float) -> None:
    answer = written("It shipped 1,304 tonnes [1].")
    low = CALIBRATION.after.confidence(signals_of(ASKED, context(), answer))
    close = CALIBRATION.model_copy(update={"after": stage("support", low + near)})
    below, least = re.findall(r"0\.\d+", abstain_below(answer, context(), close).warnings[-1])
    assert float(below) < float(least)
