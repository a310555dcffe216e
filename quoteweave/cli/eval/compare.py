"""`quoteweave eval compare` and `judges`: whether runs differ, and whether judges of answers agree."""

from collections.abc import Callable, Mapping, Sequence
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
    ConventionName,
    ConventionOption,
    DatasetOption,
    JudgementsOption,
    MarksOption,
    PartialOption,
    ReferencesOption,
    RunsArgument,
    ScopeOption,
    files_per_run,
    scoring_requests,
)
from quoteweave.cli.tables import make_table, show_table
from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Example
from quoteweave.core.messages import pluralize
from quoteweave.endpoints.prices import chat_price
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.judges.agreement import is_form, load_forms, write_forms
from quoteweave.evaluation.judges.batch import judging_items
from quoteweave.evaluation.published import (
    LeaderboardEntry,
    PublishedTable,
    comparability_notes,
    leaderboard,
    published_table,
    ranking_figure,
)
from quoteweave.evaluation.report.labels import p_value, unit
from quoteweave.evaluation.scoring.comparison import (
    Comparison,
    JudgeComparison,
    JudgedRun,
    RunByJudges,
    compare_judges,
    run_names,
)
from quoteweave.evaluation.scoring.saved_runs import COMPARED, LoadedRun, ScoredRun, ScoringRequest, load_run, score
from quoteweave.evaluation.scoring.saved_runs import compare as compare_runs

UNDEFINED = "-"
WIDE = 100
"""Columns of a terminal from which on names of figures are not broken."""
LONG = 18
"""Most characters of a figure's name that is not broken."""
JSON = """--json prints one object; figures are fractions, judgements 0 to 5, null where undefined:

runs: name (what tells it from the others), run (its path), questions, failed, missing, figures and notes of each run;

comparisons: figure, first, second, first_value, second_value, difference, low, high (95 %
interval), p, p_holm (corrected for all that are listed), at_floor (no permutation came as far,
so that p is at most what is given), effect, n, left_out;

published: with --published, table, source, by, notes, and standings: rank, system, setting, ours,
figures, best first."""


def compare(
    runs: RunsArgument,
    dataset: DatasetOption,
    references: ReferencesOption = None,
    judgements: JudgementsOption = None,
    citations: CitationsOption = None,
    scope: ScopeOption = None,
    figure: Annotated[
        list[str] | None, typer.Option(help="A figure to compare, as eval score --json names it; may be repeated.")
    ] = None,
    published: Annotated[
        str | None, typer.Option(help="Rank the runs in a published table, such as mmdocrag-20.", metavar="TABLE")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Figure to rank by; the default is overall.f1, or the table's first.")
    ] = None,
    convention: ConventionOption = ConventionName.STRICT,
    marks: MarksOption = None,
    partial: PartialOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare runs over the same questions, or rank them among published results.

    Differences are over the questions that count in both runs. Intervals
    resample documents, or questions if documents are not known. p values swap
    the runs' rows within these, and are corrected by Holm's method over all
    comparisons.
    """

    if len(runs) == 1 and published is None:
        raise UsageError("one run cannot be compared; name another, or a table with --published")
    sources = scoring_requests(
        runs,
        dataset,
        references,
        judgements=judgements,
        citations=citations,
        scope=scope,
        convention=convention,
        marks=marks,
        partial=partial,
    )
    with Console(stderr=True).status("scoring"):
        scored = _scored(sources)
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


def _scored(sources: Sequence[ScoringRequest]) -> list[ScoredRun]:
    """Each run, its notes included; the dataset is read once."""

    examples = load_dataset(sources[0].dataset, sources[0].references)
    names, found = run_names([one.run for one in sources]), []
    for one, name in zip(sources, names, strict=True):
        scored = score(one, examples=examples, intervals=None, prices=chat_price)
        found.append(replace(scored, scores=scored.scores.model_copy(update={"name": name})))
    return found


def _place_in_leaderboard(scored: Sequence[ScoredRun], name: str, asked: str | None) -> LeaderboardPlacement:
    table, scores = published_table(name), [one.scores for one in scored]
    by = ranking_figure(table, asked, scores)
    return LeaderboardPlacement(table, by, leaderboard(table, scores, by=by), comparability_notes(table, scores))


def _print_json(
    scored: Mapping[Path, ScoredRun], comparisons: Sequence[Comparison], placement: LeaderboardPlacement | None
) -> None:

    value: dict[str, object] = {
        "runs": [
            {
                "name": one.scores.name,
                "run": str(path),
                "questions": len(one.scores.questions),
                "failed": one.scores.failed,
                "missing": one.scores.missing,
                "figures": {name: found.value for name, found in one.scores.figures.items()},
                "notes": one.scores.notes,
            }
            for path, one in scored.items()
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

    out = console()
    for pair in dict.fromkeys((one.first, one.second) for one in comparisons):
        out.print(plain(f"first {pair[0]}\nsecond {pair[1]}"))
        of_pair = [one for one in comparisons if (one.first, one.second) == pair]
        show_table(out, _comparison_table(of_pair, narrow=out.width < WIDE))
    if not comparisons and len(scored) > 1:
        out.print("nothing is compared: the runs have no figure in common")
    for line in _legend(comparisons):
        out.print(plain(line))
    if placement is not None:
        out.print(plain(f"\n{placement.table.source}, by {placement.by}; * is yours."))
        show_table(out, _standing_table(placement.standings, placement.by))
    for one in scored:
        missing = (
            f"; {pluralize(one.scores.missing, 'question is', 'questions are')} not answered"
            if one.scores.missing
            else ""
        )
        out.print(plain(f"{one.scores.name}: {pluralize(len(one.scores.questions), 'answer')}{missing}"))
        for note in one.scores.notes:
            out.print(plain(f"  note: {note}"))
    for note in () if placement is None else placement.notes:
        out.print(plain(f"note: {note}"))


def _legend(comparisons: Sequence[Comparison]) -> list[str]:
    """Why cells of the tables are empty, for what is empty."""
    empty: dict[str, tuple[str, Callable[[Comparison], bool]]] = {
        "95 %": ("fewer than two documents, or questions, to resample", lambda one: one.low is None),
        "p": ("no question has the figure in both runs", lambda one: one.p_holm is None),
        "effect": ("the figure is pooled, or the runs differ alike in every question", lambda one: one.effect is None),
    }
    return [f"{UNDEFINED} as {column}: {why}" for column, (why, of) in empty.items() if any(map(of, comparisons))]


def _comparison_table(comparisons: Sequence[Comparison], *, narrow: bool) -> Table:
    """`narrow` breaks long names of figures at their first full stop."""
    columns = ("figure", "first", "second", "differ-\nence", "95 %", "p\n(Holm)", "effect", "n")
    shown = make_table(columns, words=["figure"], padding=0)
    for one in comparisons:
        scale = unit(one.figure).scale
        bounds = UNDEFINED
        if one.low is not None and one.high is not None:
            until = " to " if one.low < 0 else "-"
            bounds = f"{scale * one.low:.1f}{until}{scale * one.high:.1f}"
        values = [_number(value, scale) for value in (one.first_value, one.second_value, one.difference)]
        name = one.figure.replace(".", ".\n", 1) if narrow and len(one.figure) > LONG else one.figure
        p = p_value(one.p_holm, at_floor=one.at_floor)
        shown.add_row(name, *values, bounds, p, _number(one.effect, 1), str(one.n))
    return shown


def _standing_table(ranked: Sequence[LeaderboardEntry], by: str) -> Table:
    shared = {name for standing in ranked if not standing.ours for name in standing.figures}
    columns = [name for name in dict.fromkeys([by, *COMPARED]) if name in shared]
    headings = [name.replace(".", "\n") for name in columns]
    shown = make_table(["rank", "system", "setting", *headings], words=["system", "setting"], padding=0)
    for standing in ranked:
        figures = [_number(standing.figures.get(name), unit(name).scale) for name in columns]
        system = f"* {standing.system}" if standing.ours else standing.system
        shown.add_row(
            str(standing.rank or UNDEFINED), plain(system), plain(standing.setting), *figures,
            style="bold" if standing.ours else None,
        )  # fmt: skip
    return shown


def _number(value: float | None, scale: float, decimals: int = 2) -> str:
    return UNDEFINED if value is None else f"{scale * value:.{decimals}f}"


JUDGES_JSON = """--json prints one object:

figure: what the runs are ranked by; kendall, same_order: of the two judges' orders, null for fewer than two runs;

runs: name, n (answers of which both gave the figure), first, second (the figure by each judge), first_rank,
second_rank, and agreement on sentences: left_out and figures, of each question type and kind of
judgement: n, exact, precision, recall, f1. With --form: form, answers."""


def judges(
    runs: RunsArgument,
    dataset: DatasetOption,
    citations: Annotated[
        list[Path], typer.Option(help="Output of eval citations for these answers; once for each run.", metavar="FILE")
    ],
    references: ReferencesOption = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            help="Output of another judge, or a form that people filled in; once for each run.", metavar="FILE"
        ),
    ] = None,
    figure: Annotated[str, typer.Option(help="The figure by which runs are ranked, such as citation.f1.cited.")] = (
        "accuracy"
    ),
    convention: ConventionOption = ConventionName.STRICT,
    form: Annotated[
        Path | None,
        typer.Option(help="Write a form for people instead, a line for each judged answer.", metavar="FILE"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two judges of cited answers, or a judge with people.

    As in MCiteBench: the figure and rank that each judge gives each run, over
    the answers that both judged, and whether the order is the same (Table 13); and
    precision, recall and F1 of the first judge's grades of sentences, taking
    those of --against as right (Table 12). People fill in the form that --form
    writes.
    """
    examples = load_dataset(dataset, references)
    loaded = [
        _load(run, kept, dataset, references, examples)
        for run, kept in zip(runs, files_per_run("citations", citations, runs), strict=True)
    ]
    items = [judging_items(one.predictions, examples) for one in loaded]
    if form is not None:
        if len(runs) != 1:
            raise UsageError("--form is of one run; name that alone")
        count = write_forms(items[0], loaded[0].citations, form)
        _show_form(form, count, as_json=as_json)
        return
    if not against:
        raise UsageError(
            "name what another judge or people said with --against, or write a form for people with --form"
        )
    paths = files_per_run("against", against, runs)
    others = [
        load_forms(path, pairs) if is_form(path) else _load(run, path, dataset, references, examples).citations
        for run, path, pairs in zip(runs, paths, items, strict=True)
        if path is not None
    ]
    compared = compare_judges(
        [
            JudgedRun(name=name, items=pairs, first=one.citations, second=other)
            for name, pairs, one, other in zip(run_names(runs), items, loaded, others, strict=True)
        ],
        figure=figure,
        convention=convention.value,
    )
    _show_judges(compared, as_json=as_json)


def _load(
    run: Path, kept: Path | None, dataset: str, references: Path | None, examples: Sequence[Example]
) -> LoadedRun:
    """Load a run with what a judge said of its answers, and of no others."""
    request = ScoringRequest(run=run, dataset=dataset, references=references, citations=kept, partial=True)
    return load_run(request, examples)


def _show_form(form: Path, count: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"form": str(form), "answers": count})
    else:
        typer.echo(f"{form}: {pluralize(count, 'answer')} for people to judge")


def _show_judges(compared: JudgeComparison, *, as_json: bool) -> None:
    if as_json:
        print_json(compared.model_dump(mode="json"))
        return
    out = console()
    table = make_table(("run", "n", "first", "rank", "second", "rank "), words=["run"])
    for run in compared.runs:
        values = [_optional_number(value) for value in (run.first, run.first_rank, run.second, run.second_rank)]
        table.add_row(plain(run.name), str(run.n), *values)
    out.print(plain(f"{compared.figure} by each judge"))
    show_table(out, table)
    if compared.same_order is not None:
        order = "the same" if compared.same_order else "another"
        out.print(plain(f"{order} order by both; Kendall's tau-b {_optional_number(compared.kendall)}"))
    for run in compared.runs:
        _show_agreement(run)


def _show_agreement(run: RunByJudges) -> None:
    out = console()
    if run.agreement is None:
        out.print(plain(f"{run.name}: no sentence was judged by both"))
        return
    out.print(plain(f"{run.name}: sentences; {run.agreement.left_out} judgements by one alone are left out"))
    table = make_table(("judgements", "n", "same", "precision", "recall", "F1"), words=["judgements"])
    for name, one in run.agreement.figures.items():
        table.add_row(
            name, str(one.n), *(_optional_number(value) for value in (one.exact, one.precision, one.recall, one.f1))
        )
    show_table(out, table)


def _optional_number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if value.is_integer() else f"{value:.3f}"
