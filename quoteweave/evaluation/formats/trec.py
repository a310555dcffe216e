"""Read and write TREC runs and qrels, as trec_eval reads them.

    run    query Q0 item rank score tag
    qrels  query 0 item grade

trec_eval ranks only by score, in single precision, with ties by the item's name, the greater first; it ignores the rank
column. So does this module in reading; in writing, scores are chosen such that they give the intended ranking.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import quote

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.evaluation.datasets.rows import iter_columns
from quoteweave.evaluation.metrics.gold import Item, item_of
from quoteweave.evaluation.metrics.rankings import by_score, graded_ranking

RUN = ("query", "Q0", "item", "rank", "score", "tag")
_RUN_LINE = re.compile(rb"\s*+(?:[^\s]++\s++){3}-?+[0-9]++\s++[-+0-9.eE]++\s++[^\s]++\s*+")
_SPACE = lazy_regex(r"\s")


def is_trec_run(line: bytes) -> bool:
    """Whether a line has the six columns of a run."""
    return _RUN_LINE.fullmatch(line) is not None


def load_trec_run(path: Path) -> list[Prediction]:
    """One prediction per query, in the order of the file: its items with scores, best first as trec_eval ranks them.

    Raises DatasetError, naming file, line and column, for unreadable content, and for a repeated item.
    """
    ranked: dict[str, dict[str, float]] = {}
    tags: dict[str, str] = {}
    for line in iter_columns(path, RUN):
        query, _, item, _, _, tag = line.values
        scores = ranked.setdefault(query, {})
        if item in scores:
            raise DatasetError(f"{line.where}, item: {item!r} is ranked for query {query!r} already")
        scores[item] = line.number(4)
        tags.setdefault(query, tag)
    return [
        Prediction(example=query, items={item: scores[item] for item in by_score(scores)}, model=tags[query])
        for query, scores in ranked.items()
    ]


def run_lines(ranked: Mapping[str, Mapping[str, float]], *, tag: str) -> Iterator[str]:
    """Lines of a run, best first; scores are exact. Names must be as `column_name` makes them."""
    for query, scores in ranked.items():
        for rank, item in enumerate(by_score(scores), start=1):
            yield f"{query} Q0 {item} {rank} {scores[item]!r} {tag}\n"


def qrels_lines(grades: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Lines of qrels. Names must be as `column_name` makes them."""
    for query, item_grades in grades.items():
        for item, grade in item_grades.items():
            yield f"{query} 0 {item} {grade}\n"


def with_column_names(ranked: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """The same rankings with names as `column_name` makes them."""
    return {
        column_name(query): {column_name(item): score for item, score in scores.items()}
        for query, scores in ranked.items()
    }


def column_name(name: str) -> str:
    """A name as one column: white space, which separates trec_eval's columns, is written as in URLs (`%20`).

    Raises DatasetError for a name that is empty.
    """
    if not name:
        raise DatasetError("a question or an item has an empty name, which has no place in a file of columns")
    return _SPACE.sub(lambda space: quote(space[0]), name)


Items = Literal["quotes", "pages", "documents"]
_Graded = tuple[list[str], Mapping[str, int], list[float]]
"""A ranking, best first; the grades of the gold items; and the scores of the ranking, empty if it has none."""


@dataclass(frozen=True, slots=True)
class TrecPair:
    """A run and its qrels, over the questions that have gold and did not fail."""

    run: Mapping[str, Mapping[str, float]]
    """Query to item to score."""
    qrels: Mapping[str, Mapping[str, int]]
    """Query to item to grade."""
    failed: int
    """How many questions are left out of both because their predictions are errors."""
    undefined: int
    """How many questions are left out of both because no gold among what was ranked is known."""

    @property
    def empty(self) -> int:
        """How many questions found nothing: they are only in the qrels, as a run has no line for them."""
        return len(self.qrels) - len(self.run)


def trec_pair(examples: Sequence[Example], predictions: Sequence[Prediction], *, items: Items = "quotes") -> TrecPair:
    """Rankings of `quotes` (or of whatever a TREC run ranked), `pages` or `documents`, one for each question.

    quotes     as `Rankings` matches them: by id, or as `DOCUMENT#LAYOUT_ID` where the dataset names layouts
    pages      as `DOCUMENT#PAGE`, pages from 0; the dataset's pages are gold
    documents  by name without its last suffix, each at the rank of its first quote; the dataset's items are gold, and
               must be such names: for corpora of which each passage was added as a file

    Scores are those of the ranking if trec_eval would rank by them in the same order; else they count down to 1.
    """
    examples_by_id = {example.id: example for example in examples}
    succeeded = [prediction for prediction in predictions if prediction.error is None]
    run: dict[str, Mapping[str, float]] = {}
    qrels: dict[str, Mapping[str, int]] = {}
    for prediction in succeeded:
        graded = _GRADED[items](prediction, examples_by_id[prediction.example])
        if graded is None or not any(grade > 0 for grade in graded[1].values()):
            continue
        ranking, grades, scores = graded
        query = column_name(prediction.example)
        qrels[query] = {column_name(item): grade for item, grade in grades.items()}
        if ranking:
            run[query] = _with_scores([column_name(item) for item in ranking], scores)
    return TrecPair(run, qrels, failed=len(predictions) - len(succeeded), undefined=len(succeeded) - len(qrels))


def all_rankings(predictions: Sequence[Prediction], *, items: Items = "quotes") -> dict[str, dict[str, float]]:
    """Query to item to score, for every prediction that did not fail and has a ranking, whether gold is known or not.

    Items have the names that `trec_pair` gives them; quotes are named by id if their collection has no layout ids.
    Queries that found nothing have no items.
    """
    rankings = {}
    for prediction in predictions:
        if prediction.error is None and prediction.scope != "context" and not _keeps_answer_alone(prediction):
            rankings[prediction.example] = _with_scores(*_ranked(prediction, items))
    return rankings


def _keeps_answer_alone(prediction: Prediction) -> bool:
    return prediction.response is not None and not (prediction.hits or prediction.pages or prediction.items)


def _ranked(prediction: Prediction, items: Items) -> tuple[list[str], list[float]]:
    if prediction.items:
        return list(prediction.items), list(prediction.items.values())
    if items == "pages":
        names = [f"{page.document}#{page.page}" for page in prediction.pages]
        return list(dict.fromkeys(names)), [page.score for page in prediction.pages]
    quotes = [hit.quote for hit in prediction.hits]
    if items == "documents":
        return list(dict.fromkeys(PurePosixPath(quote.document).stem for quote in quotes)), _scores(prediction)
    return list(dict.fromkeys(_name(item_of(quote)) for quote in quotes)), _scores(prediction)


def _with_scores(ranking: list[str], scores: list[float]) -> dict[str, float]:
    """Scores by which trec_eval ranks in the same order."""
    scores_by_item = dict(zip(ranking, scores, strict=False))
    if len(scores) == len(ranking) == len(scores_by_item) and by_score(scores_by_item) == ranking:
        return scores_by_item
    return {item: float(score) for score, item in zip(range(len(ranking), 0, -1), ranking, strict=True)}


def _quotes(prediction: Prediction, example: Example) -> _Graded | None:
    graded = graded_ranking(prediction, example)
    if graded is None:
        return None
    scores = [prediction.items[str(item)] for item in graded.ranking] if prediction.items else _scores(prediction)
    return [_name(item) for item in graded.ranking], {_name(item): g for item, g in graded.grades.items()}, scores


def _name(item: Item) -> str:
    return item if isinstance(item, str) else f"{item[0]}#{item[1]}"


def _scores(prediction: Prediction) -> list[float]:
    return [hit.score for hit in prediction.hits]


def _pages(prediction: Prediction, example: Example) -> _Graded | None:
    if example.document is None or prediction.scope == "context" or prediction.items:
        return None
    ranking, scores = _ranked(prediction, "pages")
    return ranking, {f"{example.document}#{page}": 1 for page in example.reference.pages}, scores


def _documents(prediction: Prediction, example: Example) -> _Graded | None:
    if prediction.scope == "context" or prediction.items:
        return None
    ranking, scores = _ranked(prediction, "documents")
    return ranking, example.reference.relevant or {}, scores


_GRADED: Mapping[Items, Callable[[Prediction, Example], _Graded | None]] = {
    "quotes": _quotes,
    "pages": _pages,
    "documents": _documents,
}
