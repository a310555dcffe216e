"""`quoteweave eval compare`: whether runs differ, and where they stand among published results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from quoteweave.cli.console import console, plain, print_json
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.options.evaluation import (
    CitationsOption,
    JudgementsOption,
    RunsArgument,
    ScoringOptions,
)
from quoteweave.cli.options.settings import takes_options
from quoteweave.cli.tables import UNDEFINED, make_table, show_table
from quoteweave.core.errors import UsageError
from quoteweave.core.messages import join_names, pluralize
from quoteweave.endpoints.prices import chat_price
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.published import (
    LeaderboardEntry,
    PublishedTable,
    comparability_notes,
    leaderboard,
    published_table,
    ranking_figure,
)
from quoteweave.evaluation.report.labels import p_value, unit
from quoteweave.evaluation.scoring.comparison import Comparison, run_names
from quoteweave.evaluation.scoring.saved_runs import COMPARED, ScoredRun, ScoringRequest, score
from quoteweave.evaluation.scoring.saved_runs import compare as compare_runs
from quoteweave.evaluation.statistics.intervals import few_clusters

WIDE_TERMINAL = 100
"""On a terminal with so many columns or more, names of figures are not broken."""
MAX_UNBROKEN_NAME = 18
"""Characters, at most, of a figure's name that is never broken."""
JSON = """--json prints one object; figures are fractions, judgements 0 to 5, null where undefined:

dataset, convention, marks, clusters (what intervals and p are over: document or question);

runs: name (what tells it from the others), run (its path), questions, failed, missing, figures and notes of each run;

comparisons: figure, first, second, first_value, second_value, difference (first less second), low,
high (95 % interval), p, p_holm (corrected for all that are listed), effect, n (questions), clusters
(documents that these come from), left_out;

published: with --published, table, source, by, notes, and standings: rank, system, setting, ours,
figures, best first."""


@takes_options()
def compare(
    runs: RunsArgument,
    options: ScoringOptions,
    judgements: JudgementsOption = None,
    citations: CitationsOption = None,
    figure: Annotated[
        list[str] | None, typer.Option(help="A figure to compare, as eval score --json names it; may be repeated.")
    ] = None,
    published: Annotated[
        str | None, typer.Option(help="Rank the runs in a published table, such as mmdocrag-20.", metavar="TABLE")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Figure to rank by; the default is overall.f1, or the table's first.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare runs over the same questions, or rank them among published results.

    Differences are over the questions that count in both runs, the first run's
    figure less the second's. Intervals
    and p values are over documents, or questions if documents are not known.
    p is below 0.05 where the interval excludes 0; shown are p values corrected
    by Holm's method over all comparisons.
    """
    if len(runs) == 1 and published is None:
        raise UsageError("one run cannot be compared; name another, or a table with --published")
    requests = options.requests(runs, judgements, citations)
    with Console(stderr=True).status("scoring"):
        scored = _score_runs(requests)
        comparisons = compare_runs(scored, figure)
        placement = None if published is None else _place_in_leaderboard(scored, published, by)
    if as_json:
        _print_json(dict(zip(runs, scored, strict=True)), comparisons, placement)
    else:
        _show(scored, comparisons, placement)


@dataclass(frozen=True, slots=True)
class LeaderboardPlacement:
    """The ranks of the runs in a published table."""

    table: PublishedTable
    by: str
    standings: Sequence[LeaderboardEntry]
    notes: Sequence[str]


def _score_runs(requests: Sequence[ScoringRequest]) -> list[ScoredRun]:
    """Score each run and print its notes; the dataset is read once."""
    examples = load_dataset(requests[0].dataset, requests[0].references)
    names, scored_runs = run_names([request.run for request in requests]), []
    for request, name in zip(requests, names, strict=True):
        scored_run = score(request, examples=examples, intervals=None, prices=chat_price)
        scored_runs.append(replace(scored_run, scores=scored_run.scores.model_copy(update={"name": name})))
    return scored_runs


def _place_in_leaderboard(scored: Sequence[ScoredRun], name: str, figure: str | None) -> LeaderboardPlacement:
    table, scores = published_table(name), [run.scores for run in scored]
    by = ranking_figure(table, figure, scores)
    return LeaderboardPlacement(table, by, leaderboard(table, scores, by=by), comparability_notes(table, scores))


def _print_json(
    scored: Mapping[Path, ScoredRun], comparisons: Sequence[Comparison], placement: LeaderboardPlacement | None
) -> None:
    first_scores = next(iter(scored.values())).scores
    value: dict[str, object] = {
        **first_scores.model_dump(mode="json", include={"dataset", "convention", "marks", "clusters"}),
        "runs": [
            {
                "name": run.scores.name,
                "run": str(path),
                "questions": len(run.scores.questions),
                "failed": run.scores.failed,
                "missing": run.scores.missing,
                "figures": {name: estimate.value for name, estimate in run.scores.figures.items()},
                "notes": run.scores.notes,
            }
            for path, run in scored.items()
        ],
        "comparisons": [comparison.model_dump(mode="json") for comparison in comparisons],
    }
    if placement is not None:
        places = [standing.model_dump(mode="json") for standing in placement.standings]
        head = {
            "table": placement.table.name,
            "source": placement.table.source,
            "by": placement.by,
            "notes": placement.notes,
        }
        value["published"] = {**head, "standings": places}
    print_json(value)


def _show(
    scored: Sequence[ScoredRun], comparisons: Sequence[Comparison], placement: LeaderboardPlacement | None
) -> None:
    stdout = console()
    if comparisons:
        first_scores = scored[0].scores
        heading = f"{first_scores.dataset}: convention {first_scores.convention}, marks {first_scores.marks}"
        stdout.print(plain(f"{heading}; 95 % intervals and p are over {first_scores.clusters}s"))
    for pair in dict.fromkeys((comparison.first, comparison.second) for comparison in comparisons):
        stdout.print(plain(f"\nfirst {pair[0]}\nsecond {pair[1]}"))
        of_pair = [comparison for comparison in comparisons if (comparison.first, comparison.second) == pair]
        show_table(stdout, _comparison_table(of_pair, narrow=stdout.width < WIDE_TERMINAL))
        if cluster_note := few_clusters(
            {comparison.figure: comparison.clusters for comparison in of_pair if comparison.low is not None},
            first_scores.clusters,
        ):
            stdout.print(plain(f"note: {cluster_note}"))
    if not comparisons and len(scored) > 1:
        stdout.print(plain(f"nothing is compared: {_nothing_in_common(scored)}"))
    more_names = set(_names_in_common(scored)).difference(comparison.figure for comparison in comparisons)
    if comparisons and more_names:
        stdout.print(plain(f"{pluralize(len(more_names), 'more figure')} in common: name any with --figure"))
    for line in _legend(comparisons):
        stdout.print(plain(line))
    if placement is not None:
        stdout.print(plain(f"\n{placement.table.source}, by {placement.by}; * is yours."))
        show_table(stdout, _standing_table(placement.standings, placement.by))
    _show_notes(stdout, scored, () if placement is None else placement.notes)


def _show_notes(stdout: Console, scored: Sequence[ScoredRun], leaderboard_notes: Sequence[str]) -> None:
    """Print how many answers each run has, with its own notes; then the notes that all runs share, and those given."""
    shared = [note for note in scored[0].scores.notes if all(note in run.scores.notes for run in scored)]
    for run in scored:
        unanswered = pluralize(run.scores.missing, "question is", "questions are")
        missing = f"; {unanswered} not answered" if run.scores.missing else ""
        stdout.print(plain(f"{run.scores.name}: {pluralize(len(run.scores.questions), 'answer')}{missing}"))
        for note in run.scores.notes:
            if note not in shared:
                stdout.print(plain(f"  note: {note}"))
    for note in (*shared, *leaderboard_notes):
        stdout.print(plain(f"note: {note}"))


def _names_in_common(scored: Sequence[ScoredRun]) -> list[str]:
    return [name for name in scored[0].figures if all(name in run.figures for run in scored)]


def _nothing_in_common(scored: Sequence[ScoredRun]) -> str:
    shared = _names_in_common(scored)
    if not shared:
        return "the runs have no figure in common"
    return f"name a figure with --figure; those that the runs have in common are {join_names(shared)}"


def _legend(comparisons: Sequence[Comparison]) -> list[str]:
    """Lines on the units of figures, and on why cells are empty, if any are."""
    by_unit: dict[str, list[str]] = {}
    for figure in dict.fromkeys(comparison.figure for comparison in comparisons):
        by_unit.setdefault(unit(figure).name, []).append(figure)
    units = "; ".join(f"{', '.join(figures)} ({name})" for name, figures in by_unit.items())
    if len(by_unit) == 1:
        (units,) = by_unit
    lines = [f"units: {units}"] if units else []
    if any(comparison.low is None for comparison in comparisons):
        lines.append(f"{UNDEFINED} as 95 %: too few documents, or questions, to tell its spread")
    if any(comparison.p_holm is None for comparison in comparisons):
        lines.append(f"{UNDEFINED} as p: there is no interval")
    if any(comparison.effect is None for comparison in comparisons):
        lines.append(f"{UNDEFINED} as effect: the figure is pooled, or the runs differ alike in every question")
    return lines


def _comparison_table(comparisons: Sequence[Comparison], *, narrow: bool) -> Table:
    """The table of comparisons; with `narrow`, long names of figures are broken at their first full stop."""
    columns = ("figure", "first", "second", "differ-\nence", "95 %", "p\n(Holm)", "effect", "n")
    table = make_table(columns, words=["figure"], padding=0)
    for comparison in comparisons:
        _, scale, decimals = unit(comparison.figure)
        bounds = UNDEFINED
        if comparison.low is not None and comparison.high is not None:
            until = " to " if comparison.low < 0 else "-"
            bounds = f"{_number(comparison.low, scale, decimals)}{until}{_number(comparison.high, scale, decimals)}"
        values = [
            _number(value, scale, max(2, decimals))
            for value in (comparison.first_value, comparison.second_value, comparison.difference)
        ]
        name = comparison.figure
        if narrow and len(name) > MAX_UNBROKEN_NAME:
            name = name.replace(".", ".\n", 1)
        p = p_value(comparison.p_holm)
        table.add_row(name, *values, bounds, p, _number(comparison.effect, 1), str(comparison.n))
    return table


def _standing_table(ranked: Sequence[LeaderboardEntry], by: str) -> Table:
    shared = {name for standing in ranked if not standing.ours for name in standing.figures}
    columns = [name for name in dict.fromkeys([by, *COMPARED]) if name in shared]
    headings = [name.replace(".", "\n") for name in columns]
    table = make_table(["rank", "system", "setting", *headings], words=["system", "setting"], padding=0)
    for standing in ranked:
        figures = [_number(standing.figures.get(name), unit(name).scale) for name in columns]
        system = f"* {standing.system}" if standing.ours else standing.system
        table.add_row(
            str(standing.rank or UNDEFINED), plain(system), plain(standing.setting), *figures,
            style="bold" if standing.ours else None,
        )  # fmt: skip
    return table


def _number(value: float | None, scale: float, decimals: int = 2) -> str:
    return UNDEFINED if value is None else f"{scale * value:.{decimals}f}"
