"""Agreement of raters: on scores, and on whether evidence supports sentences.

For scores, these are computed from the contingency table of a judge's and people's scores:

`exact` and `within_one`: the share of answers whose two scores are equal, or differ by at most 1.
`kappa`: Cohen's kappa with quadratic weights (Cohen, Psychological Bulletin 70, 1968).
`spearman`: the correlation of ranks; equal scores share their mean rank.
`kendall`: tau-b, which allows for equal scores (Kendall, Biometrika 33, 1945).

For verdicts on evidence, MCiteBench (arXiv 2503.02589, appendix C.3 and Table 12) gives precision, recall and F1 of a
judge's entailment judgements against those of people, for explanation ("subjective") and Locating ("objective")
questions. It does not say how they are averaged over grades: here they are means over the grades that either rater
gave, with each grade as a class and people's grades taken as right (macro averages); a grade that a rater never gave
has precision or recall 0.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.files.jsonl import iter_lines, iter_records
from quoteweave.core.files.whole_files import output_file
from quoteweave.core.protocols import Grade
from quoteweave.core.records import Record
from quoteweave.evaluation.judges.batch import JudgingItem
from quoteweave.evaluation.judges.evidence_verdicts import (
    ACCURACY_SCALE,
    RELEVANCE_SCALE,
    SUPPORT_SCALE,
    EvidenceVerdict,
    SentenceVerdict,
)
from quoteweave.evaluation.judges.judgements import ASPECTS, MAX_SCORE, Judgement, is_malformed
from quoteweave.evaluation.statistics.aggregates import CORRELATION, FRACTION, Aggregate, Row
from quoteweave.evaluation.statistics.intervals import Estimate, Intervals, cluster_intervals, estimates

Sums = NDArray[np.float64]
SIZE = MAX_SCORE + 1
_SCORE_DIFFERENCES = np.subtract.outer(np.arange(SIZE), np.arange(SIZE))


class Agreement(Record):
    """A judge's scores beside people's."""

    n: int = Field(ge=0, description="answers that both have scored")
    left_out: int = Field(ge=0, description="answers that one of them alone has scored, or whose scores are malformed")
    figures: Mapping[str, Estimate] = Field(description="such as fluency.kappa; intervals are over questions")


def agreement(
    judge: Mapping[str, Judgement],
    human: Mapping[str, Judgement],
    *,
    intervals: Intervals | None = cluster_intervals,
) -> Agreement:
    """Compare judgements, which are given by the ids of examples; intervals are over examples.

    Raises DatasetError where no answer is scored by both, and for scores that are not whole."""
    shared = [
        name for name in judge if name in human and not is_malformed(judge[name]) and not is_malformed(human[name])
    ]
    if not shared:
        raise DatasetError("no answer has five scores by both the judge and people; check that the ids agree")
    rows = [_row(judge[name], human[name], name) for name in shared]
    figures = [
        Aggregate(f"{aspect}.{name}", _columns(aspect), formula, limits=_LIMITS.get(name, CORRELATION))
        for aspect in ASPECTS
        for name, formula in FORMULAS.items()
    ]
    left_out = len(judge.keys() | human.keys()) - len(shared)
    return Agreement(n=len(shared), left_out=left_out, figures=estimates(figures, rows, shared, intervals))


def _columns(aspect: str) -> tuple[str, ...]:
    """The table's cells, row by row: people's score, then the judge's."""
    return tuple(f"{aspect}.{human}.{judge}" for human in range(SIZE) for judge in range(SIZE))


def _row(judge: Judgement, human: Judgement, name: str) -> Row:
    row = dict.fromkeys((column for aspect in ASPECTS for column in _columns(aspect)), 0.0)
    for aspect, published in ASPECTS.items():
        by_people, by_judge = human[published], judge[published]
        if not (by_people.is_integer() and by_judge.is_integer()):
            raise DatasetError(f"{published} of {name!r} is scored {by_people:g} and {by_judge:g}; it must be whole")
        row[f"{aspect}.{int(by_people)}.{int(by_judge)}"] = 1.0
    return row


def _table(sums: Sums) -> Sums:
    """(SIZE, SIZE, …): how often people gave one score and the judge the other."""
    return sums[1:].reshape(SIZE, SIZE, *sums.shape[1:])


def _share_within(distance: int) -> Callable[[Sums], Sums]:
    def share(sums: Sums) -> Sums:
        near = np.abs(_SCORE_DIFFERENCES) <= distance
        shares: Sums = _table(sums)[near].sum(axis=0) / sums[0]
        return shares

    return share


def _kappa(sums: Sums) -> Sums:
    """1 - Σ w O / Σ w E, with w = (i - j)², O the table and E that of independent scores with its margins."""
    table = _table(sums)
    weights = _SCORE_DIFFERENCES**2.0
    expected = np.einsum("i...,j...->ij...", table.sum(axis=1), table.sum(axis=0)) / sums[0]
    observed, by_chance = (np.einsum("ij,ij...->...", weights, counts) for counts in (table, expected))
    kappa: Sums = 1 - observed / by_chance
    return kappa


def _spearman(sums: Sums) -> Sums:
    table = _table(sums)
    counts = table.sum(axis=1), table.sum(axis=0)
    # Centred mean ranks: all lower scores, plus half of those with the same score, less half of all.
    human, judge = (np.cumsum(count, axis=0) - count / 2 - sums[0] / 2 for count in counts)
    spread = (counts[0] * human**2).sum(axis=0) * (counts[1] * judge**2).sum(axis=0)
    rho: Sums = np.einsum("ij...,i...,j...->...", table, human, judge) / np.sqrt(spread)
    return rho


def _kendall(sums: Sums) -> Sums:
    table = _table(sums)
    order = np.sign(_SCORE_DIFFERENCES).astype(float)
    ordered = np.einsum("ij...,ik,jl,kl...->...", table, order, order, table, optimize=True)
    untied = [sums[0] ** 2 - (count**2).sum(axis=0) for count in (table.sum(axis=1), table.sum(axis=0))]
    tau: Sums = ordered / np.sqrt(untied[0] * untied[1])
    return tau


FORMULAS: Mapping[str, Callable[[Sums], Sums]] = {
    "exact": _share_within(0),
    "within_one": _share_within(1),
    "kappa": _kappa,
    "spearman": _spearman,
    "kendall": _kendall,
}
_LIMITS = {"exact": FRACTION, "within_one": FRACTION}


PEOPLE = "people"
JUDGEMENT_KINDS = ("support", "relevance")
ALL = "all"


class GradeAgreement(Record):
    """How far one rater's grades agree with another's."""

    n: int = Field(description="judgements that both gave")
    exact: float = Field(description="the share of these that are the same")
    precision: float = Field(description="mean over grades")
    recall: float = Field(description="mean over grades")
    f1: float = Field(description="mean over grades")


class EvidenceAgreement(Record):
    """The agreement of two raters on the sentences of the same answers."""

    figures: Mapping[str, GradeAgreement] = Field(
        description="question type, or `all`, and kind of judgement: `locating.support`, `all.relevance`, `all`…"
    )
    left_out: int = Field(description="judgements that one of them alone gave, and sentences that were cut otherwise")


def _on_scale(scale: tuple[float, ...]) -> AfterValidator:
    def check(grade: float) -> float:
        if grade not in scale:
            raise ValueError(f"{grade:g} is no grade; there are {', '.join(map('{:g}'.format, scale))}, and null")
        return grade

    return AfterValidator(check)


class _Sentence(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: str
    support: Annotated[float, _on_scale(SUPPORT_SCALE)] | None = None
    relevance: Mapping[str, Annotated[float, _on_scale(RELEVANCE_SCALE)] | None] = {}


class _Form(BaseModel):
    """A line that people fill in; fields that they do not judge stay null."""

    model_config = ConfigDict(extra="ignore")

    example: str
    answer: str | None = None
    sentences: tuple[_Sentence, ...] = ()
    accuracy: Annotated[float, _on_scale(ACCURACY_SCALE)] | None = None


def is_form(path: Path) -> bool:
    """Whether a file is a form that people filled in rather than output of `judge_evidence`. Raises DatasetError."""
    _, first = next(iter(iter_lines(path)), (0, b""))
    return b'"judge"' not in first


def load_forms(path: Path, items: Sequence[JudgingItem]) -> dict[str, EvidenceVerdict]:
    """What people wrote into a form, by example.

    Raises DatasetError, naming file and line, for grades off their scales and for lines on answers other than `items`.
    """
    responses = {example.id: prediction.response for prediction, example in items}
    verdicts: dict[str, EvidenceVerdict] = {}
    for number, form in iter_records(path, _Form):
        where = f"{path}, line {number}, example"
        if form.example in verdicts:
            raise DatasetError(f"{where}: {form.example!r} is there already")
        if form.example not in responses:
            raise DatasetError(f"{where}: {form.example!r} is no question that this run answers")
        if form.answer is not None and form.answer != responses[form.example]:
            raise DatasetError(f"{where}: {form.example!r} has another answer in this run; judge that anew")
        verdicts[form.example] = _verdict(form)
    return verdicts


def write_forms(items: Sequence[JudgingItem], verdicts: Mapping[str, EvidenceVerdict], path: Path) -> int:
    """Write a form for people: a line for each answer with the sentences that a judge judged, with null grades.

    People write 0, 0.5 or 1 for support, 0 or 1 for each item's relevance, and 0, 1 or 2 for accuracy. Returns the
    number of lines.
    """
    lines = [_form(*item, verdicts[item[1].id]) for item in items if item[1].id in verdicts]
    with output_file(path) as file:
        file.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode())
    return len(lines)


def entailment_agreement(
    judged: Mapping[str, EvidenceVerdict], right: Mapping[str, EvidenceVerdict], examples: Sequence[Example]
) -> EvidenceAgreement:
    """How far `judged` agrees with `right`, which people gave, by the question types of `examples`.

    Only judgements of the same item, or of all items together, for the same sentence of the same answer are compared.
    If there are none, there are no figures.
    """
    pairs: dict[str, Counter[tuple[float, float]]] = {}
    left_out = 0
    for example in (example for example in examples if example.id in judged and example.id in right):
        ours, theirs = _grades(judged[example.id]), _grades(right[example.id])
        left_out += len(ours.keys() ^ theirs.keys())
        for key in ours.keys() & theirs.keys():
            kind = JUDGEMENT_KINDS[0] if key[1] is None else JUDGEMENT_KINDS[1]
            groups = [ALL, *([example.question_type] if example.question_type else [])]
            for name in (*groups, *(f"{group}.{kind}" for group in groups)):
                pairs.setdefault(name, Counter())[(ours[key], theirs[key])] += 1
    return EvidenceAgreement(figures={name: _agreement(pairs[name]) for name in sorted(pairs)}, left_out=left_out)


def _agreement(pairs: Counter[tuple[float, float]]) -> GradeAgreement:
    """The agreement from counts of (judged, right) pairs."""
    total = sum(pairs.values())
    grades = sorted({grade for pair in pairs for grade in pair})
    rows = [_grade_figures(pairs, grade) for grade in grades]
    return GradeAgreement(
        n=total,
        exact=sum(count for (judged, right), count in pairs.items() if judged == right) / total,
        precision=fmean(row[0] for row in rows),
        recall=fmean(row[1] for row in rows),
        f1=fmean(row[2] for row in rows),
    )


def _grade_figures(pairs: Counter[tuple[float, float]], grade: float) -> tuple[float, float, float]:
    """Precision, recall and F1 of one grade."""
    agreed = pairs[(grade, grade)]
    judged_total = sum(count for (judged, _), count in pairs.items() if judged == grade)
    right_total = sum(count for (_, right_grade), count in pairs.items() if right_grade == grade)
    return (
        agreed / judged_total if judged_total else 0.0,
        agreed / right_total if right_total else 0.0,
        2 * agreed / (judged_total + right_total),
    )


def _grades(verdict: EvidenceVerdict) -> dict[tuple[str, str | None], float]:
    """The grade by sentence and item; the item is None for all items together."""
    grades: dict[tuple[str, str | None], float] = {}
    for sentence in verdict.sentences or ():
        text = " ".join(sentence.text.split())
        for item, grade in _sentence_grades(sentence):
            if grade.score is not None:
                grades[text, item] = grade.score
    return grades


def _sentence_grades(sentence: SentenceVerdict) -> Iterator[tuple[str | None, Grade]]:
    if sentence.support is not None:
        yield None, sentence.support
    yield from sentence.relevance.items()


def _form(prediction: Prediction, example: Example, verdict: EvidenceVerdict) -> dict[str, object]:
    sentences = [
        {"text": sentence.text, "support": None, "relevance": dict.fromkeys(sentence.relevance)}
        for sentence in verdict.sentences or ()
        if sentence.support is not None
    ]
    question_fields = {"example": example.id, "question": example.query.text, "answer": prediction.response}
    return {**question_fields, "sentences": sentences, "accuracy": None}


def _verdict(form: _Form) -> EvidenceVerdict:
    return EvidenceVerdict(
        example=form.example,
        judge=PEOPLE,
        splitter=PEOPLE,
        by_rule=False,
        request="",
        sentences=tuple(
            SentenceVerdict(
                text=sentence.text,
                cited=tuple(sentence.relevance),
                support=_grade(sentence.support),
                relevance={item: _grade(score) for item, score in sentence.relevance.items()},
            )
            for sentence in form.sentences
        ),
        accuracy=_grade(form.accuracy),
    )


def _grade(score: float | None) -> Grade:
    return Grade(score=score, error=None if score is not None else "not judged", model=PEOPLE, prompt="")
