"""The tables that `answers.py` prints, made from rows, and the figures in them."""

import statistics
from collections.abc import Iterator, Mapping, Sequence

from answer_rows import MMDOCIR, MMLONGBENCH, AnswerRow
from common import Table, bounds, percent

from quoteweave.evaluation.statistics.aggregates import AMOUNT, FRACTION, Limits
from quoteweave.evaluation.statistics.intervals import Interval, clustered_interval
from quoteweave.evaluation.statistics.paired_tests import paired_difference

SHARES = ("gold_page", "gold_box", "said", "rule")
OUTCOMES = ("answered", "located", "abstained")
SIZES = ("words", "places", "pages")
TITLES = {
    "gold_page": "gold page cited",
    "gold_box": "gold box cited",
    "said": "answer said",
    "rule": "the benchmark's rule",
    "not_answered": "not answered",
}
FORMATS = ("str", "int", "float", "list")
Figures = Mapping[str, Interval | None]
Groups = Mapping[str, Sequence[AnswerRow]]


def groups_of(rows: Sequence[AnswerRow]) -> dict[str, list[AnswerRow]]:
    """The rows in groups: the answerable questions of each set, and the unanswerable ones."""
    set_rows = {name: [row for row in rows if row.set == name] for name in (MMLONGBENCH, MMDOCIR)}
    return {
        "MMLongBench-Doc, answerable": [row for row in set_rows[MMLONGBENCH] if row.answerable],
        "MMLongBench-Doc, unanswerable": [row for row in set_rows[MMLONGBENCH] if not row.answerable],
        "MMDocIR": set_rows[MMDOCIR],
    }


def kinds_of(rows: Sequence[AnswerRow]) -> dict[str, dict[str, list[AnswerRow]]]:
    """Answerable questions in groups, by each property; one with several types of evidence counts in each of them."""
    types = sorted({name for row in rows for name in row.evidence_types})
    return {
        "type of evidence": {name: [row for row in rows if name in row.evidence_types] for name in types},
        "format of the answer": {name: [row for row in rows if row.answer_format == name] for name in FORMATS},
        "outcome": {name: [row for row in rows if row.status == name] for name in OUTCOMES},
    }


def figures_of(rows: Sequence[AnswerRow]) -> dict[str, Interval | None]:
    """The mean of each figure with its 95 % interval, over documents; outcomes are shares of the questions."""
    documents = [row.document for row in rows]
    return {
        name: clustered_interval(values_of(rows, name), documents, limits=_limits(name))
        for name in (*SHARES, *OUTCOMES, *SIZES)
    }


def differences_of(ours: Sequence[AnswerRow], theirs: Sequence[AnswerRow]) -> dict[str, Interval | None]:
    """Our figures minus theirs, paired by question; questions that only one of the two has are left out."""
    known = {(row.set, row.example): row for row in theirs}
    pairs = [(row, known[row.set, row.example]) for row in ours if (row.set, row.example) in known]
    first, second = [row for row, _ in pairs], [row for _, row in pairs]
    documents = [row.document for row in first]
    return {
        name: paired_difference(values_of(first, name), values_of(second, name), documents, limits=_limits(name))
        for name in (*SHARES, "not_answered", *OUTCOMES, *SIZES)
    }


def _limits(name: str) -> Limits:
    return AMOUNT if name in SIZES else FRACTION


def benchmark_scores(rows: Sequence[AnswerRow]) -> dict[str, float]:
    """Accuracy and F1 of MMLongBench-Doc (arXiv 2407.01523, section 4.1) over all its questions; see `MMLongBench`."""
    mmlongbench_rows = [row for row in rows if row.set == MMLONGBENCH]
    score = sum(row.rule or 0.0 for row in mmlongbench_rows)
    refused = sum(row.status != "answered" for row in mmlongbench_rows if not row.answerable)
    counted = sum(row.answerable for row in mmlongbench_rows) + sum(
        row.status == "answered" for row in mmlongbench_rows
    )
    return {"accuracy": (score + refused) / len(mmlongbench_rows), "f1": 2 * score / counted}


def times_of(rows: Sequence[AnswerRow]) -> dict[str, float]:
    """Milliseconds that answers take after the search: the median and the 95th percentile."""
    milliseconds = [1000 * row.seconds for row in rows]
    return {"median": statistics.median(milliseconds), "p95": statistics.quantiles(milliseconds, n=20)[-1]}


def answer_tables(rows: Sequence[AnswerRow]) -> Iterator[Table]:
    """All tables of one run."""
    groups = groups_of(rows)
    yield _shares("answers within the document, %", groups)
    yield _outcomes("outcomes within the document, %", groups)
    answerable = groups["MMLongBench-Doc, answerable"]
    for by, kinds in kinds_of(answerable).items():
        yield _shares(
            f"MMLongBench-Doc, answerable, by {by}, %",
            {name: kind_rows for name, kind_rows in kinds.items() if kind_rows},
        )
    yield _sizes({**groups, **kinds_of(answerable)["outcome"]})
    scores, times = benchmark_scores(rows), times_of(rows)
    yield Table(
        "MMLongBench-Doc's own scores, short answers read by rule, %",
        tuple(scores),
        [[percent(value) for value in scores.values()]],
    )
    yield Table(
        "milliseconds of an answer, after its search",
        ("median", "95 %"),
        [[f"{value:.1f}" for value in times.values()]],
    )


def difference_tables(title: str, compared: Mapping[str, Figures]) -> Iterator[Table]:
    """Tables by group of questions; differences of shares are in percentage points, those of sizes in their units."""
    shares = (*SHARES, "not_answered", *OUTCOMES)
    cells = [
        [name, *(bounds(differences[figure], signed=True) for figure in shares)]
        for name, differences in compared.items()
    ]
    yield Table(f"{title}, points", ("", *(TITLES.get(figure, figure) for figure in shares)), cells)
    cells = [[name, *(_size(differences[figure]) for figure in SIZES)] for name, differences in compared.items()]
    yield Table(f"{title}, means", ("", *SIZES), cells)


def values_of(rows: Sequence[AnswerRow], figure: str) -> list[float | None]:
    """One figure of each row."""
    if figure in OUTCOMES:
        return [float(row.status == figure) for row in rows]
    if figure == "not_answered":
        return [float(row.status != "answered") for row in rows]
    return [getattr(row, figure) for row in rows]


def _shares(title: str, groups: Groups) -> Table:
    cells = [[name, str(len(rows)), *_cells(rows, SHARES)] for name, rows in groups.items()]
    return Table(title, ("", "n", *(TITLES[figure] for figure in SHARES)), cells)


def _outcomes(title: str, groups: Groups) -> Table:
    cells = [[name, str(len(rows)), *_cells(rows, ("not_answered", *OUTCOMES))] for name, rows in groups.items()]
    return Table(title, ("", "n", TITLES["not_answered"], *OUTCOMES), cells)


def _sizes(groups: Groups) -> Table:
    cells = [
        [name, str(len(rows)), *(f"{statistics.fmean(getattr(row, figure) for row in rows):.1f}" for figure in SIZES)]
        for name, rows in groups.items()
        if rows
    ]
    return Table("size of answers, means", ("", "n", *SIZES), cells)


def _cells(rows: Sequence[AnswerRow], figures: Sequence[str]) -> list[str]:
    documents = [row.document for row in rows]
    return [bounds(clustered_interval(values_of(rows, figure), documents)) for figure in figures]


def _size(interval: Interval | None) -> str:
    return "–" if interval is None else f"{interval.mean:+.1f} [{interval.low or 0:.1f}, {interval.high or 0:.1f}]"
