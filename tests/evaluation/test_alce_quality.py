"""ALCE's citation recall and precision, counted by hand."""

import math
from collections.abc import Mapping, Sequence

import pytest
from made_entailment import ListedEntailment, asked, passages

from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.metrics.citations.alce import Alce, alce_responses
from quoteweave.evaluation.metrics.citations.cited_claims import CitedClaim, CitedResponse, entailments
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import Row

ABCD = passages("a", "b", "c", "d", images=["chart", ""])


def lines(text: str) -> list[str]:
    return text.splitlines()


def row_of(
    response: str,
    entailing: Mapping[str, Sequence[str]],
    *,
    first: int | None = None,
    convention: Convention = "strict",
) -> Row:
    pair = asked(response, ABCD)
    responses = alce_responses([pair], lines, first=first)
    metric = Alce(responses, entailments(responses.values(), ListedEntailment(entailing)), convention)
    return {name.removeprefix("alce."): value for name, value in metric.row(*pair).items()}


def ratios(row: Row) -> tuple[float | None, float | None]:
    return row["recall"], row["precision"]


def test_by_hand() -> None:
    # The first claim is entailed by a alone, so b is not needed; the second needs both; the third is not entailed; the
    # last one cites nothing.
    response = "One [1][2].\nTwo [1][2].\nThree [3].\nFour."
    row = row_of(response, {"One.": ["a"], "Two.": ["a b"], "Three.": ["d"], "Four.": ["a"]})
    assert row == {
        "claims": 4,
        "citations": 5,
        "entailed": 2,
        "counting": 3,
        "recall": 0.5,
        "recall.squared": 0.25,
        "precision": 0.6,
        "precision.squared": pytest.approx(0.36),
        "out_of_range": 0,
        "without_words": 0,
        "multiple": 2,
        "jointly_supported": 2,
        "redundant": 1,
        "overcited": 1,
    }


def test_either_of_two_is_enough() -> None:
    assert ratios(row_of("One [1][2].", {"One.": ["a", "b"]})) == (1, 1)


def test_what_the_rest_entails_without_it_does_not_count() -> None:
    # a alone does not entail it, and b and c entail it without a.
    assert ratios(row_of("One [1][2][3].", {"One.": ["b c"]})) == pytest.approx((1, 2 / 3))


def test_duplicates_count_once() -> None:
    row = row_of("One [1] is one [1, 1].", {"One is one.": ["a"]})
    assert (row["citations"], *ratios(row)) == (1, 1, 1)


def test_first_three_citations_under_a_name_of_their_own() -> None:
    entailing = {"One.": ["d"]}
    assert ratios(row_of("One [1][2][3][4].", entailing)) == (1, 0.25)
    row = row_of("One [1][2][3][4].", entailing, first=3)
    assert (row["first3.recall"], row["first3.precision"], row["first3.citations"]) == (0, 0, 3)


def test_a_sentence_that_cites_what_does_not_exist_counts_zero() -> None:
    row = row_of("One [1][9].\nTwo [2], [0].\nThree [3].", {"One.": ["a"], "Two.": ["b"], "Three.": ["c"]})
    assert (row["recall"], row["precision"]) == pytest.approx((1 / 3, 1))
    assert (row["citations"], row["out_of_range"]) == (1, 2)


def test_images_are_read_by_their_words() -> None:
    row = row_of("One ![shown](image1).\nTwo ![](image2).", {"One shown.": ["chart"], "Two.": [""]})
    assert (*ratios(row), row["without_words"]) == (0.5, 0.5, 1)


@pytest.mark.parametrize(("response", "recall"), [("", None), ("One.\nTwo.", 0), ("[1]", None)])
def test_nothing_cited(response: str, recall: float | None) -> None:
    assert ratios(row_of(response, {})) == (recall, None)
    published = row_of(response, {}, convention="published")
    assert ratios(published) == (recall, None if recall is None else 0)


def test_means_over_responses() -> None:
    pairs = [asked("One [1].\nTwo.", ABCD, "p"), asked("One [1][2].", ABCD, "q"), asked("Two.", ABCD, "r")]
    responses = alce_responses(pairs, lines)
    metric = Alce(responses, entailments(responses.values(), ListedEntailment({"One.": ["a"]})))
    rows = [metric.row(*pair) for pair in pairs]
    figures = {figure.name: figure.of(rows) for figure in metric.aggregates}
    assert figures == {
        "alce.recall": 0.5,
        "alce.precision": 0.75,
        "alce.recall.std": pytest.approx(math.sqrt(1 / 6)),
        "alce.precision.std": 0.25,
        "alce.multiple.pooled": 0.25,
        "alce.joint_support.pooled": 1,
        "alce.overcitation.pooled": 1,
        "alce.overcited_claims.pooled": 1,
        "alce.out_of_range.total": 0,
        "alce.without_words.total": 0,
    }
    assert metric.aggregates[1].undefined(rows) == 1


def test_all_is_asked_at_once_and_each_pair_once() -> None:
    pairs = [asked("One [1][2].\nOne [1].", ABCD, "p"), asked("One [2].\nOne [1][2].", ABCD, "q")]
    model = ListedEntailment({})
    entailments(alce_responses(pairs, lines).values(), model)
    assert model.calls == [[("a\nb", "One."), ("a", "One."), ("b", "One.")]]


def test_a_lone_citation_is_one_question() -> None:
    assert set(CitedClaim("One.", ("a",)).pairs()) == {("a", "One.")}
    assert CitedClaim("One.", ()).pairs() == CitedClaim("One.", ("",)).pairs() == []


def test_what_was_not_asked_is_undefined() -> None:
    pair = asked("One [1].", ABCD)
    assert Alce({}, {}).row(*pair) == Alce(alce_responses([pair], lines), {}).row(*pair) == {}
    nothing = asked(None, ABCD)
    assert alce_responses([nothing], lines) == {}
    assert Alce({"q": CitedResponse((), 0)}, {}).row(*nothing) == {}


def test_without_context() -> None:
    with pytest.raises(DatasetError, match="'q' has no context"):
        alce_responses([asked("One [1].", None)], lines)
