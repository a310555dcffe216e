"""Published result tables as data (values as printed, per cents as fractions), and rankings of runs among them."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from importlib import resources

import yaml
from pydantic import BaseModel, ConfigDict, Field

from quoteweave.core.errors import UsageError
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Record
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.aggregates import half_up
from quoteweave.evaluation.statistics.intervals import Estimate

_LABELS = ("system", "setting")


class PublishedRow(Record):
    """One system of a published table."""

    system: str
    setting: str = Field(description="how it was run, as far as the table tells; may be empty")
    figures: Mapping[str, float] = Field(description="by our names; as fractions what is printed in per cent")


class PublishedTable(Record):
    """One table of a paper."""

    name: str
    source: str = Field(description="paper and table")
    rows: tuple[PublishedRow, ...]
    datasets: tuple[str, ...] = Field(description="of which it is: runs over others do not belong into it")
    unlike: tuple[str, ...] = Field(default=(), description="figures that are printed and by which no run is ranked")
    published_only: tuple[str, ...] = Field(
        default=(), description="figures that are another thing by the strict convention, and rank no run scored by it"
    )
    split: str | None = Field(default=None, description="the breakdown whose groups the settings of its rows are")
    questions: int | None = Field(default=None, description="how many its figures are of; None if that is not known")

    @property
    def ranks(self) -> list[str]:
        """The figures by which runs can be ranked in the table."""
        printed = dict.fromkeys(name for row in self.rows for name in row.figures)
        return [name for name in printed if name not in self.unlike]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    paper: str
    table: str
    as_printed: tuple[str, ...]
    datasets: tuple[str, ...]
    unlike: tuple[str, ...] = ()
    published_only: tuple[str, ...] = ()
    split: str | None = None
    questions: int | None = None

    def fraction(self, figure: str, printed: str) -> float:
        """The figure as we give it; moving the decimal point makes a per cent a fraction, so that no digit changes."""
        per_cent = not any(figure == name or figure.startswith(f"{name}.") for name in self.as_printed)
        return float(f"{printed}e-2") if per_cent else float(printed)


def published_table(name: str) -> PublishedTable:
    """The table of that name; an empty cell means that the row lacks the figure. Raises UsageError if there is none.

    >>> table = published_table("mmdocrag-20")
    >>> table.source, len(table.rows) > 10
    ('MMDocRAG, arXiv 2505.16470, Table 3, 20 quotes', True)
    """
    entries = _entries()
    if name not in entries:
        raise UsageError(f"there is no published table {name!r}; there are: {', '.join(entries)}")
    entry = entries[name]
    return PublishedTable(
        name=name,
        source=f"{entry.paper}, {entry.table}",
        rows=tuple(_row(line, entry) for line in printed_rows(name)),
        datasets=entry.datasets,
        unlike=entry.unlike,
        published_only=entry.published_only,
        split=entry.split,
        questions=entry.questions,
    )


def printed_rows(name: str) -> list[dict[str, str]]:
    """The rows of that table, with every value as it was printed; empty cells are empty."""
    return list(csv.DictReader((resources.files(__name__) / f"{name}.csv").read_text("utf-8").splitlines()))


def _row(line: Mapping[str, str], entry: _Entry) -> PublishedRow:
    printed = {figure: text for figure, text in line.items() if figure not in _LABELS and text}
    figures = {figure: entry.fraction(figure, text) for figure, text in printed.items()}
    return PublishedRow(system=line["system"], setting=line["setting"], figures=figures)


@cache
def _entries() -> Mapping[str, _Entry]:
    text = (resources.files(__name__) / "tables.yaml").read_text("utf-8")
    return {name: _Entry.model_validate(entry) for name, entry in yaml.safe_load(text).items()}


DEFAULT_FIGURE = "overall.f1"
JUDGED_PREFIXES = ("judge.", "citevqa.answer", "citevqa.relevance", "citevqa.saa")
"""Prefixes of the names of figures that depend on a judge's scores."""


class LeaderboardEntry(Record):
    """One line of the ranking."""

    rank: int | None = Field(description="1 is best; equal figures share a rank; None where there is none")
    system: str
    setting: str
    ours: bool = Field(description="a run of the user's, not a published system")
    figures: Mapping[str, float]


def ranking_figure(table: PublishedTable, by: str | None, runs: Sequence[Scores] = ()) -> str:
    """The figure for ranking: the requested one, else overall F1, else the first possible one that `runs` have.

    Raises UsageError for a figure that the table does not print or by which it cannot rank, and if none is left.
    """
    if not table.ranks:
        raise UsageError(
            f"{table.source} prints no figure by which runs are ranked; published_table({table.name!r}) reads it"
        )
    if by is None:
        ranks = sorted(table.ranks, key=lambda name: name != DEFAULT_FIGURE)
        return next((name for name in ranks if any(name in run.figures for run in runs)), ranks[0])
    if by in table.unlike:
        raise UsageError(
            f"{table.source} prints {by!r}, which is another thing than ours, or not better where it is more; rank by "
            f"one of: {', '.join(table.ranks)}"
        )
    if by not in table.ranks:
        raise UsageError(f"{table.source} does not print {by!r}; rank with --by, by one of: {', '.join(table.ranks)}")
    return by


def leaderboard(table: PublishedTable, runs: Sequence[Scores], *, by: str) -> list[LeaderboardEntry]:
    """Published systems and runs, best first by one figure, for which more is better.

    A run's figure is rounded half up to the printed number of decimals, so that it shares its rank with the same figure
    in print. A run that is not complete, with questions that are missing or left out as failed, has no rank; nor has a
    run over a part of the dataset, nor one scored by the strict convention if that defines the figure otherwise
    (`published_only`). Raises UsageError as `ranking_figure`, and for a run over a dataset other than the table's.

        >>> leaderboard(published_table("mmdocrag-20"), [], by="overall.f1")[0].rank
        1
    """
    by = ranking_figure(table, by)
    lines = [(row.system, row.setting, False, row.figures, row.figures.get(by)) for row in table.rows]
    for run in runs:
        if run.dataset not in table.datasets:
            raise UsageError(f"{table.source} is of {' and '.join(table.datasets)}, and {run.name} of {run.dataset}")
        for setting, figures in _settings(table, run):
            comparable = is_complete(run) and not _is_partial(table, run) and _is_defined_alike(table, run, by)
            value = _rounded(figures.get(by), table, by) if comparable else None
            lines.append((run.name, setting, True, figures, value))
    ranked = sorted(lines, key=lambda line: (line[4] is None, -(line[4] or 0.0)))
    values = [line[4] for line in ranked]
    return [
        LeaderboardEntry(
            rank=None if value is None else values.index(value) + 1,
            system=system,
            setting=setting,
            ours=ours,
            figures=figures,
        )
        for system, setting, ours, figures, value in ranked
    ]


def _is_defined_alike(table: PublishedTable, run: Scores, by: str) -> bool:
    return by not in table.published_only or run.convention == "published"


def _is_partial(table: PublishedTable, run: Scores) -> bool:
    """Whether a run is known to be of fewer questions than the table."""
    return table.questions is not None and bool(run.questions) and _count_questions(run) < table.questions


def _count_questions(run: Scores) -> int:
    """How many questions a run was scored over; those that failed are among its rows."""
    return len(run.questions) + run.missing


def is_complete(run: Scores) -> bool:
    """Whether every question of the dataset counts in the run's figures."""
    return not run.missing and (not run.failed or run.convention == "published")


def comparability_notes(table: PublishedTable, runs: Sequence[Scores]) -> list[str]:
    """What readers must know about these runs in that table."""
    notes = [
        f"{run.name} has no rank: {pluralize(run.missing, 'question is', 'questions are')} not "
        f"answered, {run.failed} failed"
        for run in runs
        if not is_complete(run)
    ]
    notes += [
        f"{run.name} has no rank: it is of {pluralize(_count_questions(run), 'question')}, and the table of "
        f"{table.questions:,}; a part of them may be easier or harder than all"
        for run in runs
        if _is_partial(table, run)
    ]
    strict = [run.name for run in runs if run.convention != "published"]
    if table.published_only and strict:
        notes.append(
            f"{', '.join(strict)}: no rank by {', '.join(table.published_only)}, which the strict convention defines "
            "otherwise than what is printed; score with --convention published for one"
        )
    marks = any(name.endswith(".f1.pooled") or name == DEFAULT_FIGURE for name in table.ranks)
    if marks and any((run.convention, run.marks) != ("published", "published") for run in runs):
        notes.append(
            "published figures are by the published convention and marks: --convention published is comparable"
        )
    if any(name.startswith(JUDGED_PREFIXES) for name in table.ranks):
        notes.append("scores of a judge are comparable where model and prompt are the same as in the paper")
    return notes


def _settings(table: PublishedTable, run: Scores) -> Iterator[tuple[str, dict[str, float]]]:
    """The run's figures for each group that the table's rows distinguish."""
    if table.split is None:
        yield f"{run.convention}, marks {run.marks}", _defined_values(run.figures)
        return
    for setting in dict.fromkeys(row.setting for row in table.rows):
        figures = run.breakdowns.get(table.split, {}).get(setting)
        if figures is not None:
            yield setting, _defined_values(figures)


def _defined_values(figures: Mapping[str, Estimate]) -> dict[str, float]:
    return {name: estimate.value for name, estimate in figures.items() if estimate.value is not None}


def _rounded(value: float | None, table: PublishedTable, by: str) -> float | None:
    if value is None:
        return None
    printed = [Decimal(str(row.figures[by])) for row in table.rows if by in row.figures]
    exponents = [number.as_tuple().exponent for number in printed]
    return float(half_up(value, max(-exponent for exponent in exponents if isinstance(exponent, int))))
