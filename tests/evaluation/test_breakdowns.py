"""Figures by group, and the recall of gold quotes by their place."""

import pytest
from made_selection import answered, example, fixed

from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Example, GoldBox, Reference
from quoteweave.core.records import Query
from quoteweave.evaluation.metrics.citations.quote_selection import QuoteSelection
from quoteweave.evaluation.scoring.breakdowns import check_breakdowns, groups_of, marked_count
from quoteweave.evaluation.scoring.scorer import ScoringSettings, score_predictions
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.intervals import Estimate, cluster_intervals


def asked(name: str, *gold: str, domain: str = "Brochure", types: tuple[str, ...] = ("chart",)) -> Example:
    return Example(
        id=name,
        query=Query(text="?"),
        domain=domain,
        question_type="Comparative",
        evidence_types=types,
        context=fixed(),
        reference=Reference(relevant=dict.fromkeys(gold, 1), pages=(3, 3), boxes=(GoldBox(page=3, bbox=(0, 0, 1, 1)),)),
    )


def scored() -> Scores:
    examples = [
        asked("a", "text1", "image1"),
        asked("b", "text1", "image1", "image2", domain="News", types=("chart", "table")),
        asked("c", "text1", "text2", domain="News"),
    ]
    predictions = [answered("[1] ![x](image1)", "a"), answered("[2] ![x](image2)", "b"), answered("[1, 2]", "c")]
    return score_predictions(
        examples,
        predictions,
        metrics=[QuoteSelection("own")],
        settings=ScoringSettings(name="r", dataset="d"),
        intervals=cluster_intervals,
    )


def test_an_example_counts_in_the_groups_that_are_known_of_it() -> None:
    found = groups_of(asked("b", "text1", "image1", "image2", types=("chart", "table")))
    assert found == {
        "domain": ("Brochure",),
        "question_type": ("Comparative",),
        "evidence": ("chart", "table"),
        "gold_quotes": ("3",),
        "gold_images": ("several",),
        "gold_pages": ("single",),
        "gold_modalities": ("several",),
    }
    assert groups_of(example("q", gold=["text1"])) == {"gold_quotes": ("1",), "gold_images": ("none",)}
    assert groups_of(example("q", gold=["image3", "text1"])) == {"gold_quotes": ("2",), "gold_images": ("single",)}
    assert groups_of(example("q", gold=None)) == {}


def test_each_group_has_the_figures_of_its_questions() -> None:
    groups = scored().breakdowns
    assert groups["domain"]["Brochure"]["overall.f1"].value == 1
    assert groups["domain"]["News"]["overall.f1"].value == pytest.approx((2 / 5 + 1) / 2)
    assert groups["domain"]["News"]["overall.f1"].n == 2
    assert groups["evidence"]["chart"]["overall.f1"].n == 3
    assert groups["evidence"]["table"]["image.recall.pooled"].value == 0.5
    assert list(groups["gold_images"]) == ["none", "several", "single"]
    assert set(groups["gold_pages"]) == {"single"}


def test_recall_by_place_is_over_the_gold_quotes_that_stand_there() -> None:
    places = {place: found["recall"] for place, found in scored().breakdowns["position"].items()}
    assert list(places) == ["text1", "text2", "image1", "image2"]
    assert {place: (found.value, found.n) for place, found in places.items()} == {
        "text1": (pytest.approx(2 / 3), 3),
        "text2": (1, 1),
        "image1": (0.5, 2),
        "image2": (1, 1),
    }
    assert [places["image1"].low, places["image1"].high] == pytest.approx([0, 1], abs=1e-6)


def test_places_are_in_the_order_of_their_numbers() -> None:
    gold = [f"text{n}" for n in (10, 9, 2)]
    scores = score_predictions(
        [example("q", gold=["image1", *gold])],
        [answered("[2]")],
        metrics=[QuoteSelection("own")],
        settings=ScoringSettings(name="r", dataset="d"),
    )
    assert list(scores.breakdowns["position"]) == ["text2", "text9", "text10", "image1"]


def crossed(*by: str) -> Scores:
    examples = [
        asked("a", "text1", "image1"),
        asked("b", "text1", "image1", "image2", domain="News", types=("chart", "table")),
        asked("c", "text1", "text2", domain="News", types=("chart", "chart")),
    ]
    predictions = [answered("[1] ![x](image1)", "a"), answered("[2] ![x](image2)", "b"), answered("[1, 2]", "c")]
    settings = ScoringSettings(name="r", dataset="d", by=by)
    return score_predictions(examples, predictions, metrics=[QuoteSelection("own")], settings=settings)


def test_two_breakdowns_are_crossed() -> None:
    groups = crossed("domain,evidence", "gold_quotes").breakdowns
    assert list(groups) == ["domain,evidence", "gold_quotes"]
    # A question of two charts counts once among them, one of chart and table in both.
    assert {group: found["overall.f1"].n for group, found in groups["domain,evidence"].items()} == {
        "Brochure × chart": 1,
        "News × chart": 2,
        "News × table": 1,
    }
    assert groups["domain,evidence"]["News × table"]["overall.f1"].value == pytest.approx(2 / 5)
    assert list(groups["gold_quotes"]) == ["2", "3"]


def test_places_are_crossed_with_groups_in_either_order() -> None:
    found = crossed("domain,position", "position,domain").breakdowns
    assert list(found["domain,position"]) == [
        *("Brochure × text1", "Brochure × image1"),
        *("News × text1", "News × text2", "News × image1", "News × image2"),
    ]
    assert found["position,domain"]["text1 × News"] == found["domain,position"]["News × text1"]
    assert found["domain,position"]["News × text1"]["recall"].value == 0.5


def test_a_breakdown_that_nothing_is_known_for_has_no_groups() -> None:
    assert crossed("domain,answer_format").breakdowns == {}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("colour", "there is no breakdown 'colour'; name one"),
        ("domain,colour", "there is no breakdown 'colour'; name one"),
        ("domain,evidence,subset", "'domain,evidence,subset' is not one breakdown, or two"),
        ("domain,domain", "'domain,domain' is not one breakdown, or two"),
    ],
)
def test_other_names_are_refused(name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        check_breakdowns([name])


def test_groups_of_few_questions_or_few_documents_are_marked() -> None:
    counts = [(29, 29), (400, 9), (400, 10), (30, None)]
    assert [marked_count([Estimate(value=0.5, n=n, clusters=of)]) for n, of in counts] == ["29*", "400*", "400", "30"]
