"""Citation quality: how far a judge finds that cited items support a sentence and are relevant to it.

The source is MCiteBench (arXiv 2503.02589, section 4). For each sentence of a response:

    support     0, 0.5 or 1: how far all cited items together (concatenated, as its first version says) support it
    precision   the mean over its cited items of 0 or 1: whether the item is relevant to the sentence

and Citation F1 is the harmonic mean of recall and precision. An item that is not in the context is a citation with
precision 0, and supports nothing. The paper does not decide two points, so each choice has a name:

    sentences without citation   `recall.cited` and `f1.cited` leave them out; in `recall.all` and `f1.all` their
                                 support is 0. Precision is over sentences with citations.
    level of averaging           `citation.recall.cited`: mean over the sentences of a response, then over responses;
                                 F1 is of each response, then averaged. `….of_means`: the F1 of the two mean figures.
                                 `….pooled`: over all sentences of all responses, and the F1 of these.

None of them is claimed to reproduce published figures. Figures are named `citation_by_rule.…` if responses were split
by rule: published ones were split by a model, and are not comparable.

Undefined are precision and `.cited` figures if nothing is cited, all of them without a sentence, and recall or
precision if a judgement that they need failed or is off the scale; `failed.total` counts these judgements.

By the `published` convention, `recall.cited`, `f1.cited` and `precision` are what MCiteBench's own script computes for
each response; `f1.cited` is its Citation F1. The other figures are our own by either convention. The script
(caiyuhu/MCiteBench at d9d41d3, evaluation/eval_citation_f1_source_f1_em/) differs from `strict` in these points:

nothing cited    a response without citations counts in no figure: neither Citation F1 nor Source F1
failures         a failed judgement leaves the whole response out, too: its exception ends the script's work on that
                 response (`openai.error` is no attribute of the client that the script imports)
repeated names   an item named twice in a sentence counts twice in the sentence's precision
other spellings  an item is recognised as a bare number ("01" is 1), or as `figure`, `fig`, `table` or `tab` with a
                 number, in any case; "Fig. 3", "Figure 3a" and "[1]" are items that do not exist. Citations and gold
                 are compared as written, so that "figure 3" is not "Figure 3". If any item of a sentence is recognised
                 here, the grade of its support is the one that was given with all items that `strict` recognises
off the scale    a grade off the scale is left out of its mean; a figure without any grade is undefined. Our judge is
                 asked once more, and stores such a grade as failed; it is read from the judge's last reply
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from quoteweave.core.examples import Example, Prediction
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.protocols import Grade
from quoteweave.evaluation.judges.chat import UnreadableReply, read_scores
from quoteweave.evaluation.judges.evidence_verdicts import (
    ACCURACY_SCALE,
    GRADE_FIELDS,
    RELEVANCE_SCALE,
    SUPPORT_SCALE,
    EvidenceVerdict,
    SentenceVerdict,
)
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of, ratio_of, total_of

if TYPE_CHECKING:
    from quoteweave.evaluation.statistics.aggregates import Sums


MAX_DIGITS = 100
"""The most digits of an item's number; Python itself refuses to read a number of more than 4,300 digits."""
_NUMBERED = lazy_regex(r"(?:(?P<figure>fig(?:ure)?)|tab(?:le)?)\s*(?P<number>\d+)", re.IGNORECASE)


class PublishedResponse(NamedTuple):
    """Recall, precision and F1 of a response, 0 to 1, and what it cites, as written."""

    recall: float | None
    precision: float | None
    f1: float | None
    cited: frozenset[str]


def read_as_published(verdict: EvidenceVerdict) -> PublishedResponse | None:
    """What the scripts count for a response; None if they leave it out."""
    cited = [sentence for sentence in verdict.sentences or () if sentence.cited]
    graded = [(_published_support(sentence), list(_published_relevances(sentence))) for sentence in cited]
    if any(support is None or None in relevances for support, relevances in graded):
        return None
    supports = _scores_on_scale((support for support, _ in graded), SUPPORT_SCALE)
    relevances_on_scale = [_scores_on_scale(relevances, RELEVANCE_SCALE) for _, relevances in graded]
    precisions = [fmean(scores) for scores in relevances_on_scale if scores]
    if not supports and not precisions:
        return None
    recall, precision = fmean(supports) if supports else None, fmean(precisions) if precisions else None
    names = frozenset(name for sentence in cited for name in sentence.names)
    return PublishedResponse(recall, precision, harmonic_mean(recall, precision), names)


def harmonic_mean(recall: float | None, precision: float | None) -> float | None:
    """F1; 0 if both are 0; undefined (None) if one of them is."""
    if recall is None or precision is None:
        return None
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def _published_support(sentence: SentenceVerdict) -> float | None:
    known = any(_find_grade(name, sentence.relevance) is not None for name in sentence.names)
    return _read_score(sentence.support) if known and sentence.support is not None else 0.0


def _published_relevances(sentence: SentenceVerdict) -> Iterator[float | None]:
    for name in sentence.names:
        grade = _find_grade(name, sentence.relevance)
        yield 0.0 if grade is None else _read_score(grade)


def _read_score(grade: Grade) -> float | None:
    """The score; if a judgement failed for being off the scale, the score in the judge's reply."""
    if grade.score is not None or grade.raw is None:
        return grade.score
    for field in GRADE_FIELDS:
        try:
            return read_scores(grade.raw, {field: None})[field]
        except UnreadableReply:
            continue
    return None


def _find_grade(name: str, graded: Mapping[str, Grade]) -> Grade | None:
    """The grade of an item by its name as written; None if the scripts find no such item."""
    numbered = _NUMBERED.fullmatch(name)
    if len(name if numbered is None else numbered["number"]) > MAX_DIGITS:
        return None
    if numbered is None:
        return graded.get(str(int(name))) if name.isdecimal() else None
    return graded.get(f"{'Figure' if numbered['figure'] else 'Table'} {int(numbered['number'])}")


def _scores_on_scale(scores: Iterable[float | None], scale: Collection[float]) -> list[float]:
    return [score for score in scores if score is not None and score in scale]


SCOPES = ("cited", "all")
COUNTS = {"cited": "cited_sentences", "all": "sentences"}
MAX_ACCURACY = 2
FAILED_RATING = -1.0
"""The rating that MCiteBench's script writes for a missing judgement, and adds up like any other."""


class CitationQuality:
    """Columns `sentences`, `cited_sentences`, `support` and `relevance` (sums over sentences), `failed`, and means."""

    name = "citation_quality"

    def __init__(self, verdicts: Mapping[str, EvidenceVerdict], convention: Convention = "strict") -> None:
        self._verdicts = verdicts
        self._convention = convention
        by_rule = any(verdict.by_rule for verdict in verdicts.values())
        self._prefix = prefix = "citation_by_rule" if by_rule else "citation"
        self.aggregates: tuple[Aggregate, ...] = (
            *(mean_of(f"{prefix}.{ratio}.{scope}") for ratio in ("recall", "f1") for scope in SCOPES),
            mean_of(f"{prefix}.precision"),
            *(_f1_of_means(prefix, scope) for scope in SCOPES),
            *(ratio_of(f"{prefix}.recall.{s}.pooled", f"{prefix}.support", f"{prefix}.{COUNTS[s]}") for s in SCOPES),
            ratio_of(f"{prefix}.precision.pooled", f"{prefix}.relevance", f"{prefix}.cited_sentences"),
            *(_pooled_f1(prefix, scope) for scope in SCOPES),
            total_of(f"{prefix}.failed.total", f"{prefix}.failed"),
        )

    def row(self, prediction: Prediction, example: Example) -> Row:
        """Sums over sentences, and fractions."""
        verdict = self._verdicts.get(example.id)
        if prediction.response is None or (verdict is None and prediction.response):
            return {}
        sentences = () if verdict is None else verdict.sentences
        if sentences is None:
            return {}
        cited = [sentence for sentence in sentences if sentence.cited]
        support, relevance = (_sum_or_none(map(score, cited)) for score in (_support, _relevance))
        recalls = {"cited": _mean_or_none(support, len(cited)), "all": _mean_or_none(support, len(sentences))}
        precision = _mean_or_none(relevance, len(cited))
        columns: dict[str, float | None] = {
            "sentences": float(len(sentences)),
            "cited_sentences": float(len(cited)),
            "support": support,
            "relevance": relevance,
            "failed": float(sum(map(_count_failed, sentences))),
            "precision": precision,
        }
        for scope, recall in recalls.items():
            columns[f"recall.{scope}"] = recall
            columns[f"f1.{scope}"] = harmonic_mean(recall, precision) if cited or recall is None else 0.0
        if self._convention == "published":
            published = None if verdict is None else read_as_published(verdict)
            recall, precision, f1 = (None, None, None) if published is None else published[:3]
            columns |= {"recall.cited": recall, "precision": precision, "f1.cited": f1}
        return {f"{self._prefix}.{column}": value for column, value in columns.items()}


class AnswerAccuracy:
    """`accuracy`, and `accuracy.explanation` and `accuracy.locating`: a judge's 0, 1 or 2, divided by 2; means.

    The source is MCiteBench (arXiv 2503.02589, section 4 and Tables 9 and 10), whose two kinds of questions have
    separate rubrics. Undefined if the judgement failed or is off the scale, and without a gold answer.

    By the `published` convention (caiyuhu/MCiteBench at d9d41d3, evaluation/eval_ans_acc/), a failed judgement, an
    empty response, a question without a gold answer and a Locating question without a gold explanation are rated -1,
    and the mean includes that -1/2; a rating off the scale counts unchanged. A response that was not judged does not
    count.
    """

    name = "answer_accuracy"
    aggregates = tuple(mean_of(name) for name in ("accuracy", "accuracy.explanation", "accuracy.locating"))

    def __init__(self, verdicts: Mapping[str, EvidenceVerdict], convention: Convention = "strict") -> None:
        self._verdicts = verdicts
        self._convention = convention

    def row(self, prediction: Prediction, example: Example) -> Row:
        """Fractions."""
        verdict = self._verdicts.get(example.id)
        grade = None if verdict is None else verdict.accuracy
        rating = None if grade is None else grade.score
        if self._convention == "published" and verdict is not None:
            rating = None if grade is None else _read_score(grade)
            rating = FAILED_RATING if rating is None or _is_unrated(prediction, example) else rating
        elif rating not in ACCURACY_SCALE:
            rating = None
        value = None if rating is None else rating / MAX_ACCURACY
        return {"accuracy": value, f"accuracy.{example.question_type}": value}


def _is_unrated(prediction: Prediction, example: Example) -> bool:
    """Whether the published script does not have the answer judged, because something is missing."""
    explained = example.question_type != "locating" or bool((example.reference.explanation or "").strip())
    return not (explained and (example.reference.answer or "").strip() and (prediction.response or "").strip())


def _mean_or_none(total: float | None, count: int) -> float | None:
    return None if count == 0 or total is None else total / count


def _count_failed(sentence: SentenceVerdict) -> int:
    relevances = [_on_scale(grade, RELEVANCE_SCALE) for grade in sentence.relevance.values()]
    return [_support(sentence), *relevances].count(None)


def _support(sentence: SentenceVerdict) -> float | None:
    return 0.0 if sentence.support is None else _on_scale(sentence.support, SUPPORT_SCALE)


def _relevance(sentence: SentenceVerdict) -> float | None:
    total = _sum_or_none(_on_scale(grade, RELEVANCE_SCALE) for grade in sentence.relevance.values())
    return None if total is None else total / len(sentence.cited)


def _on_scale(grade: Grade, scale: Sequence[float]) -> float | None:
    return grade.score if grade.score in scale else None


def _sum_or_none(values: Iterable[float | None]) -> float | None:
    """The sum; None if any value is None."""
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def _f1_of_means(prefix: str, scope: str) -> Aggregate:
    columns = (f"{prefix}.recall.{scope}", f"{prefix}.precision")
    return Aggregate(
        f"{prefix}.f1.{scope}.of_means", columns, lambda sums: _harmonic_means(sums[1] / sums[0], sums[2] / sums[0])
    )


def _pooled_f1(prefix: str, scope: str) -> Aggregate:
    columns = tuple(f"{prefix}.{column}" for column in ("support", COUNTS[scope], "relevance", "cited_sentences"))
    return Aggregate(
        f"{prefix}.f1.{scope}.pooled", columns, lambda sums: _harmonic_means(sums[1] / sums[2], sums[3] / sums[4])
    )


def _harmonic_means(recall: "Sums", precision: "Sums") -> "Sums":
    """The harmonic mean; 0 if both are 0."""
    import numpy as np

    total = recall + precision
    harmonic: Sums = 2 * recall * precision / np.where(total == 0, 1, total)
    return harmonic
