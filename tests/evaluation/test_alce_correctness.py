"""ALCE's correctness: recorded figures of the authors' code, rouge-score's own, and both conventions by hand."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_entailment import ListedEntailment

from quoteweave.core.examples import Example, Prediction, Reference
from quoteweave.core.records import Query
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.metrics.answers.alce_correctness import AlceCorrectness, rouge_lsum
from quoteweave.evaluation.metrics.citations.alce import ClaimRecall, claim_responses
from quoteweave.evaluation.metrics.citations.aliice import CitationSpread
from quoteweave.evaluation.metrics.citations.cited_claims import entailments
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.scoring.saved_runs import ScoringRequest, score
from quoteweave.evaluation.statistics.aggregates import Row

RECORDED = json.loads((Path(__file__).parent / "recorded" / "alce_correctness.json").read_text("utf-8"))
WORDS = st.lists(st.sampled_from(["ships", "ship", "carrying", "grain", "in", "1911", "the", "port"]), max_size=7)
TEXTS = st.lists(WORDS.map(" ".join), max_size=4).map("\n".join)


@cache
def rouge_score() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeLsum"], use_stemmer=True)


def pair(response: str | None, name: str = "q", **gold: Any) -> tuple[Prediction, Example]:
    example = Example(id=name, query=Query(text="?"), reference=Reference(**gold))
    return Prediction(example=name, scope="context", response=response), example


def row(response: str | None, convention: Convention = "strict", **gold: Any) -> Row:
    return AlceCorrectness("own", convention).row(*pair(response, **gold))


@pytest.mark.parametrize("run", RECORDED["runs"])
def test_recorded_short_answers(run: dict[str, Any]) -> None:
    metric = AlceCorrectness("published", "published")
    rows = [
        metric.row(*pair(output, short_answers=answers))
        for output, answers in zip(run["outputs"], run["short_answers"], strict=True)
    ]
    figures = {figure.name: figure.of(rows) for figure in metric.aggregates}
    expected = {name: run[name] for name in ("str_em", "str_em.hit", "str_em.std")}
    assert {name: figures[name] for name in expected} == pytest.approx(expected)


@given(TEXTS, TEXTS)
def test_rouge_is_that_of_rouge_score(said: str, gold: str) -> None:
    theirs = rouge_score().score(gold, said)["rougeLsum"].fmeasure
    assert rouge_lsum(said, gold, split_sentences=str.splitlines) == pytest.approx(theirs)


def test_rouge_by_hand() -> None:
    # Of 8 gold words "ship", "carri" and "grain" are found, of 4 words said: P 3/4, R 3/8.
    gold, said = "Ships carried grain. They sailed in the spring.", "Grain was ships carrying."
    assert rouge_lsum(said, gold) == pytest.approx(2 * (2 / 4) * (2 / 8) / (2 / 4 + 2 / 8))
    assert rouge_lsum("", gold) == rouge_lsum(said, "") == 0


def test_the_best_gold_answer_counts() -> None:
    gold = ("Nothing alike.", "Ships carried grain.")
    assert row("Ships carried grain [1].", long_answers=gold)["rouge_lsum"] == 1
    assert row("Ships carried grain [1].", long_answers=gold[:1])["rouge_lsum"] == 0


def test_short_answers_by_both_conventions() -> None:
    gold: dict[str, Any] = {"short_answers": (("1,911", "the year 1911"), ("art",), ("The",))}
    said = "Part of it was built in 1911 [1].\nArt [2]."
    strict, published = row(said, **gold), row(said, "published", **gold)
    # "The" has no words: it is left out, or held by any answer. "art" stands in the second line, and within "Part".
    assert (strict["str_em"], strict["str_em.hit"]) == (1, 1)
    assert (published["str_em"], published["str_em.hit"]) == (1, 1)
    assert row("Parts.", **gold)["str_em"] == 0
    assert row("Parts.", "published", **gold)["str_em"] == pytest.approx(2 / 3)
    assert row("None.\nIn 1911: art.", "published", **gold)["str_em"] == pytest.approx(1 / 3)


def test_length_counts_the_words_that_the_authors_count() -> None:
    gold: dict[str, Any] = {"long_answers": ("Ships.",)}
    said = "Ships sailed [1][2]. Grain |[3] was aboard.<|im_end|>\nNobody knows [4]."
    assert row(said, "published", **gold)["alce.length"] == 5
    assert row("Ships sailed [1]. None.\nNobody knows.", **gold)["alce.length"] == 5, "all lines"


def test_undefined_is_never_zero() -> None:
    assert row(None, short_answers=(("x",),)) == {}
    assert row("Said.", answer="Said.") == {}
    assert row("Said.", short_answers=(("The",),))["str_em"] is None
    assert row("", short_answers=(("x",),))["str_em"] == 0
    assert row("Said.", long_answers=("Said.",))["str_em"] is None


CLAIMS = ("Ships carried grain.", "They sank.")


@pytest.mark.parametrize(("convention", "recall"), [("strict", 1), ("published", 0.5)])
def test_claims_that_an_answer_entails(convention: Convention, recall: float) -> None:
    said = "Grain went by ship [1].\nAll sank [2]."
    pairs = [
        pair(said, claims=CLAIMS),
        pair("Said.", "r"),
        pair("", "s", claims=CLAIMS),
        pair(None, "t", claims=CLAIMS),
    ]
    responses = claim_responses(pairs, convention)
    assert set(responses) == {"q", "s"}
    # The first claim is entailed by the first line, the second by both.
    model = ListedEntailment({CLAIMS[0]: ["Grain went by ship."], CLAIMS[1]: ["Grain went by ship. All sank."]})
    verdicts = entailments(responses.values(), Lines(model))
    metric = ClaimRecall(responses, verdicts)
    rows = [metric.row(*one) for one in pairs]
    assert rows == [{"claim_recall": recall}, {}, {"claim_recall": 0}, {}]
    assert ClaimRecall(responses, {}).row(*pairs[0]) == {}


class Lines:
    """Reads a premise's lines as one, as words."""

    name = "lines"

    def __init__(self, model: ListedEntailment) -> None:
        self._model = model

    def entails(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        return self._model.entails([(premise.replace(" .", ".").replace(" ", "\n"), claim) for premise, claim in pairs])


def test_gold_of_the_three_datasets(tmp_path: Path) -> None:
    rows = [
        {
            "question": "asqa?",
            "docs": [],
            "answer": "First.",
            "qa_pairs": [{"short_answers": ["a", "b"]}, {"short_answers": ["c"]}],
            "annotations": [{"long_answer": text, "knowledge": []} for text in ("First.", "Second.", "Third.")],
        },
        {"question": "eli5?", "docs": [], "answer": "Long.", "claims": list(CLAIMS)},
        {"question": "qampari?", "docs": [], "answers": [["x", "y"]]},
    ]
    path = tmp_path / "alce.json"
    path.write_text(json.dumps(rows))
    asqa, eli5, qampari = (example.reference for example in load_dataset("alce", path))
    assert (asqa.short_answers, asqa.long_answers) == ((("a", "b"), ("c",)), ("First.", "Second."))
    assert (eli5.long_answers, eli5.claims) == (("Long.",), CLAIMS)
    assert (qampari.short_answers, qampari.long_answers, qampari.claims) == ((), (), ())


def test_the_spread_of_published_marks() -> None:
    said = "ab[1]c[2, 3]d"
    read = CitationSpread(str.splitlines, "published").row(*pair(said))
    assert read["cvcp.citations"] == 1
    assert read["cvcp.places"] == pytest.approx(2 / len(said))


def test_what_the_other_convention_makes_of_it_is_told(tmp_path: Path) -> None:
    asked = {"question": "What?", "sample_id": "a", "docs": [], "qa_pairs": [{"short_answers": ["art"]}]}
    (tmp_path / "asked.json").write_text(json.dumps([asked]))
    (tmp_path / "run.jsonl").write_text(json.dumps({"q_id": "a", "response": "Parts of it."}) + "\n")
    request = ScoringRequest(run=tmp_path / "run.jsonl", dataset="alce", references=tmp_path / "asked.json")
    notes = score(request, intervals=None).scores.notes
    assert "str_em: 0.0000 (n = 1) by the strict convention, 1.0000 (n = 1) by the published one" in notes
