"""Two raters of the same sentences: precision, recall and F1 by hand and against scikit-learn, ranks of runs."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_selection import answered, example
from made_verdicts import grade, sentence, verdict

from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import Example
from quoteweave.evaluation.judges.agreement import (
    entailment_agreement,
    is_form,
    load_forms,
    write_forms,
)
from quoteweave.evaluation.judges.evidence_verdicts import EvidenceVerdict, SentenceVerdict
from quoteweave.evaluation.scoring.comparison import JudgedRun, compare_judges


def of_supports(scores: Sequence[float | None]) -> EvidenceVerdict:
    return verdict(
        *(
            SentenceVerdict(text=f"Sentence {n}.", cited=("1",), support=grade(score), relevance={})
            for n, score in enumerate(scores)
        )
    )


def located(name: str = "q") -> Example:
    return example(name).model_copy(update={"question_type": "locating"})


def test_by_hand() -> None:
    judged = {"q": verdict(sentence(1, a=1, b=1))}
    people = {"q": verdict(sentence(0.5, a=1, b=0))}
    found = entailment_agreement(judged, people, [located()])
    assert sorted(found.figures) == sorted(
        f"{group}{kind}" for group in ("all", "locating") for kind in ("", ".support", ".relevance")
    )
    relevance = found.figures["locating.relevance"]
    # Of grade 1: precision 1/2, recall 1; of grade 0: both 0.
    assert (relevance.n, relevance.exact, relevance.precision, relevance.recall) == (2, 0.5, 0.25, 0.5)
    assert relevance.f1 == pytest.approx((2 / 3) / 2)
    assert found.figures["all"].n == 3
    assert found.figures["all.support"].f1 == 0


GRADES = st.sampled_from([0.0, 0.5, 1.0])


@given(st.lists(st.tuples(GRADES, GRADES), min_size=1, max_size=20))
def test_macro_averages_are_those_of_scikit_learn(pairs: list[tuple[float, float]]) -> None:
    from sklearn.metrics import precision_recall_fscore_support

    judged, right = zip(*pairs, strict=True)
    found = entailment_agreement({"q": of_supports(judged)}, {"q": of_supports(right)}, [located()]).figures["all"]
    labels = [f"{2 * score:.0f}" for score in right], [f"{2 * score:.0f}" for score in judged]
    expected = precision_recall_fscore_support(*labels, average="macro", zero_division=0)[:3]
    assert (found.precision, found.recall, found.f1) == pytest.approx(expected)


def test_what_one_alone_judged_is_counted() -> None:
    found = entailment_agreement({"q": of_supports([1, None, 0])}, {"q": of_supports([1, 1])}, [located()])
    assert (found.figures["all"].n, found.left_out) == (1, 2)
    assert entailment_agreement({"q": of_supports([1])}, {"r": of_supports([1])}, [located()]).figures == {}


def test_a_form_is_written_filled_in_and_read(tmp_path: Path) -> None:
    items, judged = [(answered("Said.", "q"), located())], {"q": verdict(sentence(1, a=1, b=0), sentence())}
    path = tmp_path / "form.jsonl"
    assert write_forms(items, judged, path) == 1
    line = json.loads(path.read_text())
    assert [one["relevance"] for one in line["sentences"]] == [{"a": None, "b": None}], "the cited sentence alone"
    line["sentences"][0] |= {"support": 1, "relevance": {"a": 1, "b": None}}
    path.write_text(json.dumps({**line, "accuracy": 2}) + "\n")
    assert is_form(path)
    people = load_forms(path, items)
    found = entailment_agreement(judged, people, [located()])
    assert (found.figures["all"].n, found.figures["all"].exact, found.left_out) == (2, 1, 1)
    with pytest.raises(DatasetError, match="'q' has another answer in this run"):
        load_forms(path, [(answered("Else.", "q"), located())])
    with pytest.raises(DatasetError, match="line 1, example: 'q' is no question that this run answers"):
        load_forms(path, [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"sentences": [{"text": "S.", "support": 5}]},
            r"line 1, sentences\.0\.support: .*5 is no grade; there are 0, 0\.5",
        ),
        (
            {"sentences": [{"text": "S.", "relevance": {"a": -3}}]},
            r"line 1, sentences\.0\.relevance\.a: .*-3 is no grade",
        ),
        ({"accuracy": 0.5}, r"line 1, accuracy: .*0\.5 is no grade; there are 0, 1, 2, and null"),
    ],
)
def test_grades_off_the_scale_are_refused(given: dict[str, object], message: str, tmp_path: Path) -> None:
    path = tmp_path / "form.jsonl"
    path.write_text(json.dumps({"example": "q", **given}) + "\n")
    with pytest.raises(DatasetError, match=message):
        load_forms(path, [(answered("Said.", "q"), located())])


def run(name: str, first: dict[str, float | None], second: dict[str, float | None]) -> JudgedRun:
    items = [(answered("Said.", one), example(one)) for one in "abc"]
    by_first, by_second = ({one: verdict(accuracy=value) for one, value in of.items()} for of in (first, second))
    return JudgedRun(name, items, by_first, by_second)


def test_ranks_of_runs_by_two_judges() -> None:
    runs = [
        run("best", {"a": 2, "b": 2, "c": 0}, {"a": 2, "b": 2}),
        run("worst", {"a": 0, "b": 0}, {"a": 1, "b": 1}),
        run("middle", {"a": 1, "b": 1}, {"a": 1, "b": 2}),
    ]
    found = compare_judges(runs)
    assert [(one.n, one.first, one.second) for one in found.runs] == [(2, 1, 1), (2, 0, 0.5), (2, 0.5, 0.75)]
    assert [(one.first_rank, one.second_rank) for one in found.runs] == [(1, 1), (3, 3), (2, 2)]
    assert (found.kendall, found.same_order) == (1, True)
    turned = compare_judges([*runs[:2], run("middle", {"a": 1, "b": 1}, {"a": 0, "b": 0})])
    assert turned.kendall == pytest.approx(1 / 3)
    assert turned.same_order is False
    assert [one.second_rank for one in compare_judges([runs[0], runs[0]]).runs] == [1.5, 1.5]
    alone = compare_judges(runs[:1])
    assert (alone.kendall, alone.same_order) == (None, None)


def test_a_grade_that_failed_leaves_its_answer_out_of_both_figures() -> None:
    found = compare_judges([run("one", {"a": 2, "b": 0, "c": 2}, {"a": 2, "b": None, "c": 0})]).runs[0]
    assert (found.n, found.first, found.second) == (2, 1, 0.5)
    none = compare_judges([run("one", {"a": 2, "b": None}, {"a": None, "b": 1})]).runs[0]
    assert (none.n, none.first, none.second) == (0, None, None)


def test_a_tie_of_two_runs_leaves_tau_defined_and_ties_of_all_do_not() -> None:
    runs = [run("x", {"a": 2}, {"a": 2}), run("y", {"a": 2}, {"a": 1}), run("z", {"a": 0}, {"a": 0})]
    assert compare_judges(runs).kendall == pytest.approx(2 / 6**0.5)
    assert compare_judges(runs[:2]).kendall is None


def test_an_unknown_figure_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no figure 'bleu'; there are: citation\."):
        compare_judges([run("one", {"a": 1}, {"a": 1})], figure="bleu")
