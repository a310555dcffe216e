"""`quoteweave eval report`: runs side by side as a page, with plots, tables and single questions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.cli.eval_score import ConventionName, MarksName, ScopeName
from quoteweave.core.messages import counted

JSON = """--json prints one object:

page, markdown: paths of report.html and report.md; plots, tables: paths of the files beside them;

runs: run to the name that it has in the report."""


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Run folders, or files of responses.")],
    dataset: Annotated[str, typer.Option(help="What was asked, such as mmdocrag-20.")],
    out: Annotated[Path, typer.Option(help="Folder to write to; an earlier report there is written over.")],
    references: Annotated[Path | None, typer.Option(help="The dataset's file, or one with its gold alone.")] = None,
    judgements: Annotated[
        list[Path] | None, typer.Option(help="A judge's scores; once for each run, in their order.")
    ] = None,
    citations: Annotated[
        list[Path] | None, typer.Option(help="What eval citations kept; once for each run, in their order.")
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder of the quotes' images; else that of --references.")
    ] = None,
    scope: Annotated[ScopeName | None, typer.Option(help="Of runs that searched several: which of them.")] = None,
    convention: Annotated[
        ConventionName, typer.Option(help="How what failed counts, as in eval score.")
    ] = ConventionName.STRICT,
    marks: Annotated[MarksName | None, typer.Option(help="Which marks count, as in eval score.")] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Take runs that answer some of the questions.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON value instead of paths.")] = False,
) -> None:
    """Write a report of runs: a page, Markdown, plots/ (SVG, PDF) and tables/ (CSV).

    It shows each run's figures with 95 % intervals, by kind of question and by
    place in the context; how each run differs from the first; what was not
    counted; and which questions each answers worst and best, with their texts
    and images. It needs the extra: report.
    """
    from rich.console import Console

    from quoteweave.cli.output import print_json, printable, writing_output
    from quoteweave.endpoints.prices import chat_price
    from quoteweave.evaluation.report.drawing import require_matplotlib
    from quoteweave.evaluation.report.questions import PictureFolder
    from quoteweave.evaluation.report.runs import make_report
    from quoteweave.evaluation.report.writing import MARKDOWN, PAGE, PLOTS, TABLES, write_report
    from quoteweave.evaluation.scoring.saved_runs import ScoringRequest

    require_matplotlib()
    with writing_output(out):
        out.mkdir(parents=True, exist_ok=True)
    said = for_each("judgements", judgements or [], runs), for_each("citations", citations or [], runs)
    sources = [
        ScoringRequest(
            run=run,
            dataset=dataset,
            references=references,
            judgements=judged,
            citations=checked,
            scope=None if scope is None else scope.value,
            convention=convention.value,
            marks=None if marks is None else marks.value,
            partial=partial,
        )
        for run, judged, checked in zip(runs, *said, strict=True)
    ]
    folder = images or (None if references is None else references.parent)
    with Console(stderr=True).status("scoring"):
        gathered = make_report(sources, prices=chat_price)
        written = write_report(gathered, out, pictures=None if folder is None else PictureFolder(folder).data_url)
    if as_json:
        of = {name: [str(path) for path in written if path.parent == out / name] for name in (PLOTS, TABLES)}
        names = {str(run.path): run.name for run in gathered.runs}
        print_json({"page": str(out / PAGE), "markdown": str(out / MARKDOWN), **of, "runs": names})
    else:
        typer.echo(printable(f"{out / PAGE}\n{out / MARKDOWN}\n{out / PLOTS}\n{out / TABLES}"))


def for_each(option: str, given: Sequence[Path], runs: Sequence[Path]) -> Sequence[Path | None]:
    """A file for each run; None for all where none are given. Raises UsageError for any other number of them."""
    from quoteweave.core.errors import UsageError

    if len(given) not in (0, len(runs)):
        raise UsageError(
            f"{counted(len(given), 'file')} of {option} for {counted(len(runs), 'run')}; give "
            f"--{option} once for each run"
        )
    return given or [None] * len(runs)
