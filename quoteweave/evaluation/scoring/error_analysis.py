"""Kinds of error counted over answers, by group of questions, and a judge's verdicts beside people's labels."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from pydantic import Field

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.records import Record
from quoteweave.evaluation.metrics.answers.title_match import TitleMatch
from quoteweave.evaluation.scoring.breakdowns import groups_of
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row
from quoteweave.evaluation.statistics.bootstrap import Intervals, bootstrap_intervals
from quoteweave.evaluation.statistics.estimates import Estimate, estimates

Labels = Mapping[str, Sequence[str]]
"""Example id to the names of the kinds of error in its answer; none for a sound one."""
CELLS = ("both", "judge_alone", "people_alone", "neither")


class ErrorCounts(Record):
    """How many answers have each kind of error. An answer may have several."""

    answers: int = Field(ge=0, description="that were looked at")
    sound: int = Field(ge=0, description="of these, without any of the kinds")
    kinds: Mapping[str, int] = Field(description="kind to the answers that have it")


class ErrorAnalysis(Record):
    """Kinds of error over all answers, and by group."""

    total: ErrorCounts
    groups: Mapping[str, Mapping[str, ErrorCounts]] = Field(
        description="breakdown, such as domain or question_type, to group to its counts"
    )


class ErrorAgreement(Record):
    """A judge's kinds of error beside people's."""

    n: int = Field(ge=1, description="answers that both have looked at")
    left_out: int = Field(ge=0, description="answers that one of them alone has looked at")
    figures: Mapping[str, Estimate] = Field(
        description="kind, then .exact (share of answers of which both say the same), .kappa (Cohen's), .precision and "
        ".recall (of the judge, people's labels being right); intervals are bootstraps that draw questions"
    )


def wrong_papers(items: Sequence[tuple[Prediction, Example]]) -> list[tuple[Prediction, Example]]:
    """Those answers that name another paper than the one cited, or none; technical errors are no such answers.

    What counts as right is the authors' match of titles, or an identifier in common.

        >>> example = Example(id="7", query=Query(text="Grain went by rail [CITATION]."), task="name_paper",
        ...                   reference=Reference(short_answer="Freight in May"))
        >>> named = [Prediction(example="7", scope="context", response=title) for title in ("Freight in May", "Cranes")]
        >>> [answer.response for answer, _ in wrong_papers([(one, example) for one in named])]
        ['Cranes']
    """
    match = TitleMatch()
    rows = [(item, match.row(*item)) for item in items if item[0].error is None]
    return [item for item, row in rows if row.get("title_match") == 0 and not row.get("identifier_match")]


def count_errors(labels: Labels, kinds: Sequence[str], examples: Sequence[Example]) -> ErrorAnalysis:
    """Count kinds over the labelled answers, and by the groups of their questions.

    Raises DatasetError for labels of other questions than these.

        >>> examples = load_dataset("mmdocrag-20", Path("gold.jsonl"))
        >>> found = count_errors({"0": ["excessive_citation"], "1": []}, ["excessive_citation"], examples)
        >>> found.total.answers, found.total.sound, found.total.kinds["excessive_citation"]
        (2, 1, 1)
    """
    known = {example.id: example for example in examples}
    strangers = [name for name in labels if name not in known]
    if strangers:
        raise DatasetError(
            f"{strangers[0]!r} is labelled, and is no question of this dataset; check the file of labels"
        )
    members: defaultdict[str, defaultdict[str, list[Sequence[str]]]] = defaultdict(lambda: defaultdict(list))
    for name, found in labels.items():
        for breakdown, groups in groups_of(known[name]).items():
            for group in groups:
                members[breakdown][group].append(found)
    return ErrorAnalysis(
        total=_counts(list(labels.values()), kinds),
        groups={
            breakdown: {group: _counts(groups[group], kinds) for group in sorted(groups)}
            for breakdown, groups in members.items()
        },
    )


def _counts(labels: Sequence[Sequence[str]], kinds: Sequence[str]) -> ErrorCounts:
    tally = Counter(name for found in labels for name in set(found))
    sound = sum(not found for found in labels)
    return ErrorCounts(answers=len(labels), sound=sound, kinds={name: tally[name] for name in kinds})


def error_agreement(
    judge: Labels, people: Labels, kinds: Sequence[str], *, intervals: Intervals | None = bootstrap_intervals
) -> ErrorAgreement:
    """Compare a judge's kinds with people's, each kind by itself. Raises DatasetError where no answer has both.

    >>> found = error_agreement({"0": ["a"], "1": []}, {"0": ["a"], "1": []}, ["a"], intervals=None)
    >>> found.n, found.figures["a.kappa"].value
    (2, 1.0)
    """
    both = [name for name in judge if name in people]
    if not both:
        raise DatasetError("no answer is labelled by both the judge and people; check that the ids agree")
    rows = [_row(judge[name], people[name], kinds) for name in both]
    figures = [aggregate for kind in kinds for aggregate in _figures(kind)]
    left_out = len(judge.keys() | people.keys()) - len(both)
    return ErrorAgreement(n=len(both), left_out=left_out, figures=estimates(figures, rows, both, intervals))


def _row(judge: Sequence[str], people: Sequence[str], kinds: Sequence[str]) -> Row:
    row: dict[str, float | None] = {f"{kind}.{cell}": 0.0 for kind in kinds for cell in CELLS}
    for kind in kinds:
        cell = CELLS[2 * (kind not in judge) + (kind not in people)]
        row[f"{kind}.{cell}"] = 1.0
    return row


def _figures(kind: str) -> list[Aggregate]:
    columns = tuple(f"{kind}.{cell}" for cell in CELLS)
    # Sums of the cells a (both), b (judge alone), c (people alone), d (neither), behind the number of rows n.
    return [
        Aggregate(f"{kind}.exact", columns, lambda sums: (sums[1] + sums[4]) / sums[0]),
        Aggregate(
            f"{kind}.kappa",
            columns,
            # (p - e) / (1 - e) with p the share of agreement and e that of independent labels (Cohen, 1960)
            lambda sums: (
                2
                * (sums[1] * sums[4] - sums[2] * sums[3])
                / ((sums[1] + sums[2]) * (sums[2] + sums[4]) + (sums[1] + sums[3]) * (sums[3] + sums[4]))
            ),
        ),
        Aggregate(f"{kind}.precision", columns, lambda sums: sums[1] / (sums[1] + sums[2])),
        Aggregate(f"{kind}.recall", columns, lambda sums: sums[1] / (sums[1] + sums[3])),
    ]
