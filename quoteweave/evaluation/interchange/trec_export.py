"""What was ranked and what is gold, as a run and qrels of which trec_eval gives the figures that `Rankings` gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.gold import Item
from quoteweave.evaluation.interchange.trec import column
from quoteweave.evaluation.metrics.rankings import by_score, judged

Items = Literal["quotes", "pages", "documents"]
_Graded = tuple[list[str], Mapping[str, int], list[float]]
"""A ranking, best first, the grades of what is gold, and the scores of the ranking, or none where it has none."""


@dataclass(frozen=True, slots=True)
class TrecPair:
    """A run and its qrels, over the questions that have gold and did not fail."""

    run: Mapping[str, Mapping[str, float]]
    """Query to item to score."""
    qrels: Mapping[str, Mapping[str, int]]
    """Query to item to grade."""
    failed: int
    """Questions left out of both: their predictions are errors."""
    undefined: int
    """Questions left out of both: nothing is known to be gold among what was ranked."""

    @property
    def empty(self) -> int:
        """Questions for which nothing was found: they stand in the qrels alone, as a run has no line for them."""
        return len(self.qrels) - len(self.run)


def trec_pair(examples: Sequence[Example], predictions: Sequence[Prediction], *, items: Items = "quotes") -> TrecPair:
    """Rankings of `quotes` (or of whatever a TREC run ranked), of `pages`, or of `documents`, one of each question.

    quotes     as `Rankings` matches them: by id, or as `DOCUMENT#LAYOUT_ID` where the dataset names layouts
    pages      as `DOCUMENT#PAGE`, pages from 0; gold are the dataset's pages
    documents  by name without its last suffix, each where its first quote stands; gold are the dataset's items, which
               such a name must be: for corpora of which each passage was added as a file

    Scores are those of the ranking where trec_eval would rank by them as was ranked, and else count down to 1.
    """
    asked = {example.id: example for example in examples}
    whole = [prediction for prediction in predictions if prediction.error is None]
    run: dict[str, Mapping[str, float]] = {}
    qrels: dict[str, Mapping[str, int]] = {}
    for prediction in whole:
        graded = _GRADED[items](prediction, asked[prediction.example])
        if graded is None or not any(grade > 0 for grade in graded[1].values()):
            continue
        ranking, grades, scores = graded
        query = column(prediction.example)
        qrels[query] = {column(item): grade for item, grade in grades.items()}
        if ranking:
            run[query] = _scored([column(item) for item in ranking], scores)
    return TrecPair(run, qrels, failed=len(predictions) - len(whole), undefined=len(whole) - len(qrels))


def _scored(ranking: list[str], scores: list[float]) -> dict[str, float]:
    """Scores by which trec_eval ranks as was ranked."""
    given = dict(zip(ranking, scores, strict=False))
    if len(scores) == len(ranking) == len(given) and by_score(given) == ranking:
        return given
    return {item: float(left) for left, item in zip(range(len(ranking), 0, -1), ranking, strict=True)}


def _quotes(prediction: Prediction, example: Example) -> _Graded | None:
    found = judged(prediction, example)
    if found is None:
        return None
    scores = [prediction.items[str(item)] for item in found.ranking] if prediction.items else _scores(prediction)
    return [_name(item) for item in found.ranking], {_name(item): g for item, g in found.grades.items()}, scores


def _name(item: Item) -> str:
    return item if isinstance(item, str) else f"{item[0]}#{item[1]}"


def _scores(prediction: Prediction) -> list[float]:
    return [hit.score for hit in prediction.hits]


def _pages(prediction: Prediction, example: Example) -> _Graded | None:
    if example.document is None or prediction.scope == "context" or prediction.items:
        return None
    ranking = dict.fromkeys(f"{page.document}#{page.page}" for page in prediction.pages)
    grades = {f"{example.document}#{page}": 1 for page in example.reference.pages}
    return list(ranking), grades, [page.score for page in prediction.pages]


def _documents(prediction: Prediction, example: Example) -> _Graded | None:
    if prediction.scope == "context" or prediction.items:
        return None
    ranking = dict.fromkeys(PurePosixPath(hit.quote.document).stem for hit in prediction.hits)
    return list(ranking), example.reference.relevant or {}, _scores(prediction)


_GRADED: Mapping[Items, Callable[[Prediction, Example], _Graded | None]] = {
    "quotes": _quotes,
    "pages": _pages,
    "documents": _documents,
}
