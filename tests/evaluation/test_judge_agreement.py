"""Agreement of a judge with people: by hand, and against scipy and scikit-learn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.judges.agreement import FORMULAS, Agreement, agreement
from quoteweave.evaluation.judges.judgements import ASPECTS, Judgement

SCORES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=40)


def judged(scores: list[int]) -> dict[str, Judgement]:
    return {str(place): dict.fromkeys(ASPECTS.values(), float(score)) for place, score in enumerate(scores)}


def values(found: Agreement, aspect: str = "fluency") -> dict[str, float | None]:
    return {name: found.figures[f"{aspect}.{name}"].value for name in FORMULAS}


def test_by_hand() -> None:
    # People 0 1 2 5, the judge 0 2 2 3. Squared differences are 0 1 0 4, together 5; those of all 16 pairs together
    # 4 · 30 + 4 · 17 - 2 · 8 · 7 = 76, of which four pairs would have a quarter, 19, by chance.
    found = agreement(judged([0, 2, 2, 3]), judged([0, 1, 2, 5]))
    assert (found.n, found.left_out) == (4, 0)
    # Ranks 1 2 3 4 and 1 2.5 2.5 4: five of six pairs in order, and one tied.
    assert values(found) == {
        "exact": 0.5,
        "within_one": 0.75,
        "kappa": pytest.approx(1 - 5 / 19),
        "spearman": pytest.approx(4.5 / (5 * 4.5) ** 0.5),
        "kendall": pytest.approx(5 / 30**0.5),
    }


@given(SCORES)
def test_as_the_reference_libraries_have_it(pairs: list[tuple[int, int]]) -> None:
    from scipy.stats import kendalltau, spearmanr
    from sklearn.metrics import cohen_kappa_score

    people, judge = ([pair[side] for pair in pairs] for side in (0, 1))
    found = values(agreement(judged(judge), judged(people), intervals=None))
    assert found["exact"] == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    assert found["within_one"] == pytest.approx(sum(abs(a - b) <= 1 for a, b in pairs) / len(pairs))
    if len({*people, *judge}) > 1:
        assert found["kappa"] == pytest.approx(cohen_kappa_score(people, judge, weights="quadratic", labels=range(6)))
    else:
        assert found["kappa"] is None
    if len(set(people)) > 1 and len(set(judge)) > 1:
        assert found["spearman"] == pytest.approx(spearmanr(people, judge).statistic, abs=1e-12)
        assert found["kendall"] == pytest.approx(kendalltau(people, judge).statistic, abs=1e-12)
    else:
        assert (found["spearman"], found["kendall"]) == (None, None)


def test_criteria_are_apart_and_intervals_hold_their_figures() -> None:
    people, judge = judged([0, 1, 2, 3, 4, 5] * 5), judged([0, 1, 2, 3, 4, 5] * 5)
    judge = {name: {**scores, "Factuality": 5 - scores["Factuality"]} for name, scores in judge.items()}
    found = agreement(judge, people)
    assert values(found)["kappa"] == 1
    assert values(found, "factuality")["spearman"] == pytest.approx(-1)
    exact = found.figures["factuality.exact"]
    assert exact.value == 0
    within = found.figures["factuality.within_one"]
    assert within.low is not None
    assert within.high is not None
    assert 0 < within.low < 1 / 3 < within.high < 1


def test_answers_that_one_alone_has_scored_are_left_out_and_counted() -> None:
    people, judge = judged([1, 2, 3]), judged([1, 2, 3, 4])
    people["1"] = {"Fluency": 3}
    found = agreement(judge, people)
    assert (found.n, found.left_out) == (2, 2)
    assert values(found)["exact"] == 1


@pytest.mark.parametrize(
    ("people", "said"),
    [({}, "ids agree"), ({"0": dict.fromkeys(ASPECTS.values(), 2.5)}, "'0' is scored 2.5 and 1; it must be whole")],
)
def test_what_cannot_be_compared_is_refused(people: dict[str, Judgement], said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        agreement(judged([1]), people)
