"""Citation recall, precision and F1 of MCiteBench, and accuracy, from verdicts written by hand."""

import pytest
from made_selection import answered, example
from made_verdicts import sentence, verdict

from quoteweave.evaluation.judges.evidence_verdicts import EvidenceVerdict
from quoteweave.evaluation.metrics.citations.citation_quality import AnswerAccuracy, CitationQuality
from quoteweave.evaluation.scoring.breakdowns import groups_of

# Two cited sentences, one of them half supported by one good and one bad item; one sentence that cites nothing.
MIXED = verdict(sentence(1, a=1), sentence(0.5, a=1, b=0), sentence())


def row_of(found: EvidenceVerdict) -> dict[str, float | None]:
    row = CitationQuality({"q": found}).row(answered("said"), example())
    return {name.removeprefix("citation."): value for name, value in row.items()}


def test_by_hand() -> None:
    assert row_of(MIXED) == {
        "sentences": 3,
        "cited_sentences": 2,
        "support": 1.5,
        "relevance": 1.5,
        "failed": 0,
        "precision": 0.75,
        "recall.cited": 0.75,
        "recall.all": 0.5,
        "f1.cited": 0.75,
        "f1.all": pytest.approx(2 * 0.5 * 0.75 / 1.25),
    }


def test_an_item_that_the_context_has_not_is_a_wrong_citation() -> None:
    row = row_of(verdict(sentence(1, a=1, gone=-1), sentence(None, gone=-1)))
    assert (row["recall.cited"], row["precision"]) == (0.5, 0.25)


@pytest.mark.parametrize("name", ["1" * 5000, f"Figure {'1' * 5000}"])
def test_a_name_of_more_digits_than_can_be_read_is_a_wrong_citation(name: str) -> None:
    cited = sentence(1.0, **{"1": 1.0}).model_copy(update={"written": ("1", name)})
    row = CitationQuality({"q": verdict(cited)}, "published").row(answered("Up."), example())
    assert row["citation.precision"] == 0.5


def test_nothing_cited() -> None:
    row = row_of(verdict(sentence(), sentence()))
    assert [row[name] for name in ("recall.all", "f1.all")] == [0, 0]
    assert [row[name] for name in ("recall.cited", "f1.cited", "precision")] == [None, None, None]


def test_all_wrong_is_zero_and_no_sentence_is_undefined() -> None:
    assert row_of(verdict(sentence(0, a=0)))["f1.cited"] == 0
    assert row_of(verdict())["f1.all"] is None


def test_a_failed_judgement_is_undefined_and_counted() -> None:
    row = row_of(verdict(sentence(None, a=1), sentence(1, a=1)))
    assert (row["recall.cited"], row["f1.all"], row["precision"], row["failed"]) == (None, None, 1, 1)
    row = row_of(verdict(sentence(1, a=None, b=1)))
    assert (row["recall.cited"], row["precision"], row["f1.cited"]) == (1, None, None)
    unsplit = MIXED.model_copy(update={"sentences": None, "error": "away"})
    assert row_of(unsplit) == {}


def test_levels_of_averaging_have_their_names() -> None:
    metric = CitationQuality({"q": MIXED, "r": verdict(sentence(0, b=1))})
    rows = [metric.row(answered("x", name), example(name)) for name in "qr"]
    figures = {figure.name.removeprefix("citation."): figure.of(rows) for figure in metric.aggregates}
    recall, precision = (0.75 + 0) / 2, (0.75 + 1) / 2
    assert figures == {
        "recall.cited": recall,
        "recall.all": 0.25,
        "precision": precision,
        "f1.cited": pytest.approx((0.75 + 0) / 2),
        "f1.all": pytest.approx((0.6 + 0) / 2),
        "f1.cited.of_means": pytest.approx(2 * recall * precision / (recall + precision)),
        "f1.all.of_means": pytest.approx(2 * 0.25 * precision / (0.25 + precision)),
        "recall.cited.pooled": pytest.approx(1.5 / 3),
        "recall.all.pooled": pytest.approx(1.5 / 4),
        "precision.pooled": pytest.approx(2.5 / 3),
        "f1.cited.pooled": pytest.approx(2 * (1.5 / 3) * (2.5 / 3) / (1.5 / 3 + 2.5 / 3)),
        "f1.all.pooled": pytest.approx(2 * (1.5 / 4) * (2.5 / 3) / (1.5 / 4 + 2.5 / 3)),
        "failed.total": 0,
    }


def test_figures_of_a_rule_say_so() -> None:
    metric = CitationQuality({"q": verdict(sentence(1, a=1), by_rule=True)})
    assert {figure.name.partition(".")[0] for figure in metric.aggregates} == {"citation_by_rule"}
    assert "citation_by_rule.recall.cited" in metric.row(answered("said"), example())


def test_what_was_not_judged() -> None:
    strict, published = CitationQuality({}), CitationQuality({}, "published")
    assert strict.row(answered("said"), example()) == published.row(answered("said"), example()) == {}
    assert strict.row(answered(""), example())["citation.f1.all"] is None
    assert published.row(answered(""), example())["citation.f1.cited"] is None


def test_accuracy_is_normalised_and_told_apart_by_question_type() -> None:
    verdicts = {"a": verdict(accuracy=1), "b": verdict(accuracy=2), "c": verdict(accuracy=None)}
    kinds = {"a": "explanation", "b": "locating", "c": "locating"}
    metric = AnswerAccuracy(verdicts)
    questions = [example(name).model_copy(update={"question_type": kind}) for name, kind in kinds.items()]
    rows = [metric.row(answered("x", question.id), question) for question in questions]
    assert [figure.of(rows) for figure in metric.aggregates] == [0.75, 0.5, 1]
    assert metric.aggregates[0].undefined(rows) == 1
    assert AnswerAccuracy({}, "published").row(answered(""), questions[0])["accuracy"] is None
    assert AnswerAccuracy({}).row(answered(""), questions[0])["accuracy"] is None


def test_groups() -> None:
    def made(gold: list[str], types: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        question = example(gold=gold).model_copy(update={"question_type": "explanation", "evidence_types": types})
        groups = groups_of(question)
        return tuple(groups.get(name, ()) for name in ("sources", "mcitebench_task", "modality"))

    assert made(["1"], ("text",)) == (("single-source",), ("explanation, single-source",), ("text",))
    assert made(["Table 2", "Table 6"], ("table",)) == (
        ("multi-source",),
        ("explanation, multi-source",),
        ("table",),
    )
    assert made(["Figure 1a", "Figure 1b"], ("figure", "text"))[0::2] == (("single-source",), ("mixed",))
    assert made([], ()) == ((), (), ())
