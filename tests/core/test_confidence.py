"""How signals become a confidence, and calibrations that cannot be used."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.confidence import (
    Calibration,
    ConfidenceModel,
    RiskCoveragePoint,
    Signals,
    SignalWeight,
    load_calibration,
    retriever_name,
    sigmoid,
)
from quoteweave.core.errors import DatasetError, UsageError

BEFORE = ConfidenceModel(
    intercept=0.5,
    weights=(
        SignalWeight(signal="score", mean=10, scale=2, least=6, most=14, weight=1.5),
        SignalWeight(signal="bearing", mean=0.6, scale=0.2, least=0.2, most=0.8, weight=2.0),
    ),
    threshold=0.2,
)
CALIBRATION = Calibration(
    retriever="bm25",
    model="m",
    risk=0.1,
    answers=50,
    before=BEFORE,
    after=BEFORE.model_copy(update={"threshold": 0.7}),
    curve=(RiskCoveragePoint(threshold=0.7, answers=40, coverage=0.8, risk=0.1),),
)


def test_a_confidence_by_hand() -> None:
    # 0.5 + 1.5 · (12 - 10) / 2 + 2 · (0.4 - 0.6) / 0.2 = 0
    assert BEFORE.confidence(Signals(score=12, bearing=0.4)) == pytest.approx(0.5)
    # The mean of every signal leaves the intercept; support has no weight here.
    assert BEFORE.confidence(Signals(score=10, bearing=0.6, support=1)) == pytest.approx(1 / (1 + math.exp(-0.5)))


@pytest.mark.parametrize(("beyond", "edge"), [((99, 1), (14, 0.8)), ((-99, 0), (6, 0.2))])
def test_what_was_never_seen_counts_as_the_nearest_that_was(
    beyond: tuple[float, float], edge: tuple[float, float]
) -> None:
    found, seen = (Signals(score=score, bearing=bearing) for score, bearing in (beyond, edge))
    assert BEFORE.confidence(found) == BEFORE.confidence(seen)


def test_where_nothing_was_found_there_is_no_confidence() -> None:
    assert BEFORE.confidence(Signals(score=None, bearing=0)) == 0


@given(st.floats(-1e300, 1e300))
def test_the_sigmoid_of_any_number_is_a_chance(log_odds: float) -> None:
    assert 0 <= sigmoid(log_odds) <= 1
    assert sigmoid(log_odds) + sigmoid(-log_odds) == pytest.approx(1)


def test_a_calibration_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(CALIBRATION.model_dump_json(indent=2))
    assert load_calibration(path, retriever="bm25", model="m") == CALIBRATION


@pytest.mark.parametrize(
    ("retriever", "model", "said"),
    [
        ("bge", "m", "for the retriever 'bm25', and this is 'bge'"),
        ("bm25", "n", "for the model 'm', and this is 'n'"),
    ],
)
def test_a_calibration_for_another_is_refused(tmp_path: Path, retriever: str, model: str, said: str) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(CALIBRATION.model_dump_json())
    with pytest.raises(UsageError, match=said):
        load_calibration(path, retriever=retriever, model=model)


def test_what_is_no_calibration_is_told(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    with pytest.raises(UsageError, match="cannot be read"):
        load_calibration(path, retriever="bm25", model="m")
    path.write_text('{"format": 2}')
    with pytest.raises(DatasetError, match=r"is no calibration that this version reads: .*format"):
        load_calibration(path, retriever="bm25", model="m")


def test_all_that_decides_scores_is_in_the_name_of_a_retriever() -> None:
    assert retriever_name(["bm25"]) == "bm25"
    assert retriever_name(["bm25", "tfidf"], fusion="rrf", rerank="x") == "bm25, tfidf; fusion rrf; rerank x"
