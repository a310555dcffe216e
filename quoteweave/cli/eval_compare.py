"""`quoteweave eval compare`: whether runs differ, and where they stand among what papers printed."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.eval_score import ConventionName, MarksName

if TYPE_CHECKING:
    from rich.table import Table

    from quoteweave.evaluation.comparison import Comparison
    from quoteweave.evaluation.published import PublishedTable
    from quoteweave.evaluation.scored_files import Scored, Sources
    from quoteweave.evaluation.standing import Standing

JSON = """--json prints one object; figures are fractions, judgements 0 to 5, null where undefined:

runs: name and figures of each run;

comparisons: figure, first, second, first_value, second_value, difference, low, high (95 %
interval), p, p_holm (corrected for all that are listed), effect, n, left_out;

published: with --published, table, source, by, and standings: rank, system, setting, ours,
figures, best first."""
FIGURES = ("image.f1.pooled", "text.f1.pooled", "overall.f1", "judge.average")


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Run folders, or files of responses.")],
    dataset: Annotated[str, typer.Option(help="What was asked, such as mmdocrag-20.")],
    references: Annotated[Path | None, typer.Option(help="The dataset's file, or one with its gold alone.")] = None,
    judgements: Annotated[
        list[Path] | None, typer.Option(help="A judge's scores; once for each run, in their order.")
    ] = None,
    figure: Annotated[
        list[str] | None, typer.Option(help="A figure to compare, as eval score --json names it; may be repeated.")
    ] = None,
    published: Annotated[
        str | None, typer.Option(help="Put the runs among a published table, such as mmdocrag-20.", metavar="TABLE")
    ] = None,
    by: Annotated[str, typer.Option(help="The figure that ranks them there.")] = "overall.f1",
    convention: Annotated[
        ConventionName, typer.Option(help="How what failed counts, as in eval score.")
    ] = ConventionName.STRICT,
    marks: Annotated[MarksName | None, typer.Option(help="Which marks count, as in eval score.")] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Take runs that answer some of the questions.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON value instead of tables.")] = False,
) -> None:
    """Compare runs over the same questions, or put them among published results.

    Differences are of the questions that count in both runs. Their intervals draw
    documents, or questions where documents are not known; p values swap the runs' rows
    within these, and are corrected by Holm's method over all that is compared.
    """
    from rich.console import Console

    from quoteweave.core.errors import UsageError
    from quoteweave.evaluation.scored_files import Sources

    given = judgements or []
    if len(given) not in (0, len(runs)):
        raise UsageError(f"{len(given)} files of judgements for {len(runs)} runs; give --judgements once for each run")
    if len(runs) == 1 and published is None:
        raise UsageError("one run cannot be compared; name another, or a table with --published")
    sources = [
        Sources(
            run=run,
            dataset=dataset,
            references=references,
            judgements=given[place] if given else None,
            convention=convention.value,
            marks=None if marks is None else marks.value,
            partial=partial,
        )
        for place, run in enumerate(runs)
    ]
    with Console(stderr=True).status("scoring"):
        scored = _scored(sources)
        comparisons = _comparisons(scored, figure)
        table, standings = _standings(scored, published, by)
    if as_json:
        _print_json(scored, comparisons, (table, standings, by))
    else:
        _show(comparisons, table, standings, by)


def _scored(sources: "Sequence[Sources]") -> "list[Scored]":
    from dataclasses import replace

    from quoteweave.evaluation.scored_files import load, score_loaded

    scored = [score_loaded(load(one), one) for one in sources]
    names = _names([one.run for one in sources])
    return [
        replace(one, scores=one.scores.model_copy(update={"name": name}))
        for one, name in zip(scored, names, strict=True)
    ]


def _names(paths: Sequence[Path]) -> list[str]:
    """What tells the runs apart: their file names, or whole paths where these are the same."""
    names = [path.name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


def _comparisons(scored: "Sequence[Scored]", asked: Sequence[str] | None) -> "Sequence[Comparison]":
    from quoteweave.core.errors import UsageError
    from quoteweave.evaluation.comparison import compare as compare_runs

    known = scored[0].figures
    for name in asked or []:
        if name not in known:
            raise UsageError(f"there is no figure {name!r}; there are: {', '.join(known)}")
    names = asked or [name for name in FIGURES if all(name in one.scores.figures for one in scored)]
    return compare_runs([one.scores for one in scored], [known[name] for name in names])


def _standings(
    scored: "Sequence[Scored]", name: str | None, by: str
) -> "tuple[PublishedTable | None, Sequence[Standing]]":
    if name is None:
        return None, ()
    from quoteweave.evaluation.published import published_table
    from quoteweave.evaluation.standing import standings

    table = published_table(name)
    return table, standings(table, [one.scores for one in scored], by=by)


def _print_json(
    scored: "Sequence[Scored]",
    comparisons: "Sequence[Comparison]",
    published: "tuple[PublishedTable | None, Sequence[Standing], str]",
) -> None:
    from quoteweave.cli.output import print_json

    table, ranked, by = published
    value: dict[str, object] = {
        "runs": [
            {"name": one.scores.name, "figures": {name: found.value for name, found in one.scores.figures.items()}}
            for one in scored
        ],
        "comparisons": [comparison.model_dump(mode="json") for comparison in comparisons],
    }
    if table is not None:
        places = [standing.model_dump(mode="json") for standing in ranked]
        value["published"] = {"table": table.name, "source": table.source, "by": by, "standings": places}
    print_json(value)


def _show(
    comparisons: "Sequence[Comparison]", table: "PublishedTable | None", ranked: "Sequence[Standing]", by: str
) -> None:
    from quoteweave.cli.output import console, plain

    out = console()
    for pair in dict.fromkeys((one.first, one.second) for one in comparisons):
        out.print(plain(f"first {pair[0]}\nsecond {pair[1]}"))
        out.print(_comparison_table([one for one in comparisons if (one.first, one.second) == pair]))
    if table is not None:
        out.print(plain(f"\n{table.source}, by {by}; * is yours. Published figures keep their printed decimals."))
        out.print(_standing_table(ranked, by))


def _comparison_table(comparisons: "Sequence[Comparison]") -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    shown = Table(box=SIMPLE_HEAD, padding=0)
    shown.add_column("", no_wrap=True)
    for name in ("first", "second", "difference", "95 %", "p (Holm)", "effect", "n"):
        shown.add_column(name, justify="right", no_wrap=True)
    for one in comparisons:
        scale = 1 if one.figure.startswith("judge.") else 100
        bounds = "-" if one.low is None or one.high is None else f"{scale * one.low:.1f} {scale * one.high:.1f}"
        values = [_number(value, scale) for value in (one.first_value, one.second_value, one.difference)]
        shown.add_row(one.figure, *values, bounds, _number(one.p_holm, 1, 4), _number(one.effect, 1), str(one.n))
    return shown


def _standing_table(ranked: "Sequence[Standing]", by: str) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    shared = {name for standing in ranked if not standing.ours for name in standing.figures}
    columns = [name for name in dict.fromkeys([by, *FIGURES]) if name in shared]
    shown = Table(box=SIMPLE_HEAD, padding=0)
    shown.add_column("", justify="right")
    shown.add_column("system", overflow="fold", min_width=20)
    shown.add_column("setting", overflow="fold", min_width=10)
    for name in columns:
        shown.add_column(name.replace(".", "\n"), justify="right", no_wrap=True)
    for standing in ranked:
        figures = [_number(standing.figures.get(name), 1 if name.startswith("judge.") else 100) for name in columns]
        system = f"* {standing.system}" if standing.ours else standing.system
        shown.add_row(
            str(standing.rank or "-"), escape(system), escape(standing.setting), *figures,
            style="bold" if standing.ours else None,
        )  # fmt: skip
    return shown


def _number(value: float | None, scale: float, decimals: int = 2) -> str:
    return "-" if value is None else f"{scale * value:.{decimals}f}"
