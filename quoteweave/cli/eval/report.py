"""`quoteweave eval report`, `pairs` and `statistics`: reports on runs, pairs of runs, datasets and collections."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from quoteweave.cli.console import console, plain, print_json, printable
from quoteweave.cli.options.collection import JsonOption, OptionalCollectionOption
from quoteweave.cli.options.evaluation import (
    ByOption,
    CitationsOption,
    JudgementsOption,
    PlotFolderOption,
    ReferencesOption,
    RunsArgument,
    ScoringOptions,
)
from quoteweave.cli.options.settings import ImageFolderOption, takes_options
from quoteweave.cli.tables import make_table, show_table
from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.core.files.whole_files import writing_output
from quoteweave.core.messages import pluralize
from quoteweave.endpoints.prices import chat_price
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.published import PublishedRow, published_table
from quoteweave.evaluation.report.corpus import (
    CorpusStatistics,
    collection_statistics,
    corpus_tables,
    dataset_statistics,
)
from quoteweave.evaluation.report.drawing import require_matplotlib
from quoteweave.evaluation.report.pairs import (
    PAIR_LAYOUTS,
    PairLayout,
    PairName,
    RunPair,
    make_pairs,
    pairs_table,
    printed_row,
)
from quoteweave.evaluation.report.questions import PictureFolder
from quoteweave.evaluation.report.runs import make_report
from quoteweave.evaluation.report.tables import Cell, Table
from quoteweave.evaluation.report.writing import (
    MARKDOWN,
    PAGE,
    PLOTS,
    TABLES,
    write_pairs,
    write_report,
    write_statistics,
)


def show_report_table(table: Table) -> None:
    """Print a table, units below the headings and intervals below their values."""
    units = table.units or ("",) * len(table.head)
    headings = [f"{name}\n{unit}" if unit else name for name, unit in zip(table.head, units, strict=True)]
    terminal_table = make_table(headings, words=headings[:1], title=table.title)
    for row in table.rows:
        terminal_table.add_row(*map(_in_lines, row))
    show_table(console(), terminal_table)


def _in_lines(cell: Cell) -> Text:
    """The value with each detail on a line of its own below it, so that columns are narrow."""
    return plain("\n".join([cell.text, *(cell.detail.split("; ") if cell.detail else ())]))


JSON = """--json prints one object:

page, markdown: paths of report.html and report.md; plots, tables: paths of the files beside them;

runs: run to the name that it has in the report;

lost_pictures: how many pictures of quotes the page cannot show."""


@takes_options()
def report(
    runs: RunsArgument,
    out: Annotated[Path, typer.Option(help="Folder to write to; an earlier report there is written over.")],
    options: ScoringOptions,
    judgements: JudgementsOption = None,
    citations: CitationsOption = None,
    image_folder: ImageFolderOption = None,
    by: ByOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a report of runs: a page, Markdown, plots/ (SVG, PDF) and tables/ (CSV).

    It shows each run's figures with 95 % intervals, by kind of question and by
    position in the context; how each run differs from the first; what was not
    counted; and the questions that each run answers worst and best, with texts
    and images. Images are in the folder of --references, or in that of
    --image-folder. It needs the extra: report.
    """
    require_matplotlib()
    with writing_output(out):
        out.mkdir(parents=True, exist_ok=True)
    sources = options.requests(runs, judgements, citations, by)
    folder = image_folder or (None if options.references is None else options.references.parent)
    pictures = None if folder is None else PictureFolder(folder)
    with Console(stderr=True).status("scoring"):
        gathered = make_report(sources, prices=chat_price)
        files = write_report(gathered, out, pictures=None if pictures is None else pictures.data_url)
    lost = len(pictures.lost) if pictures else 0
    if lost:
        pictures_lost = pluralize(lost, "picture")
        typer.echo(f"{pictures_lost} of quotes cannot be shown; name their folder with --image-folder", err=True)
    if as_json:
        written_files = {name: [str(path) for path in files if path.parent == out / name] for name in (PLOTS, TABLES)}
        names = {str(run.path): run.name for run in gathered.runs}
        print_json(
            {
                "page": str(out / PAGE),
                "markdown": str(out / MARKDOWN),
                **written_files,
                "runs": names,
                "lost_pictures": lost,
            }
        )
    else:
        typer.echo(printable(f"{out / PAGE}\n{out / MARKDOWN}\n{out / PLOTS}\n{out / TABLES}"))


STATISTICS_JSON = """--json prints one object:

statistics: a list of one object for the dataset, and one for the collection: name; counts;
distributions: what is counted to n, total, mean, median and greatest, null of nothing;
groups: breakdown to group to its questions; gold_at: place in the context to gold quotes there;

files: what --out wrote."""


def statistics(
    dataset: Annotated[str | None, typer.Option(help="What is counted, such as mmdocrag-20.", metavar="NAME")] = None,
    references: ReferencesOption = None,
    collection: OptionalCollectionOption = None,
    out: PlotFolderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count what a dataset or a collection holds, in numbers and plots.

    For a dataset: questions by domain, type and evidence, gold and candidate
    quotes, words, and the positions of gold. For a collection: documents, pages,
    quotes by kind and layout, and words and tokens per quote. These are
    MMDocRAG's Table 2 and Figures 4 and 5.
    """
    if dataset is None and collection is None:
        raise UsageError("name what is to be counted: --dataset, with --references, or -c for a collection")
    if out is not None:
        require_matplotlib()
    with Console(stderr=True).status("counting"):
        counted = _count_statistics(dataset, references, collection)
        files = [] if out is None else write_statistics(counted, out)
    if as_json:
        print_json({"statistics": [corpus.as_dict() for corpus in counted], "files": [str(path) for path in files]})
        return
    for table in (table for corpus in counted for table in corpus_tables(corpus)):
        show_report_table(table)
    for path in files:
        typer.echo(printable(str(path)))


def _count_statistics(dataset: str | None, references: Path | None, collection: Path | None) -> list[CorpusStatistics]:
    counted = []
    if dataset is not None:
        counted.append(dataset_statistics(dataset, load_dataset(dataset, references)))
    if collection is not None:
        with Collection.open(collection) as opened:
            documents = ((document, quotes) for document, _, quotes in opened.iter_documents_quotes())
            counted.append(collection_statistics(collection.name, documents))
    return counted


PAIRS_JSON = """--json prints one object; figures are fractions, judgements 0 to 5, null where undefined:

layout, source: which table of which paper it is laid out as; relative: whether changes are
divided by the first run's figure;

pairs: a list of first, second (name, run, figures, notes, printed: the figures of the row that
--printed named, or null) and changes: figure to change, low, high (95 % interval), p, p_holm, n;

files: what --out wrote."""


@takes_options()
def pairs(
    runs: RunsArgument,
    layout: Annotated[PairName, typer.Option(help="What the runs of a pair differ in.")],
    options: ScoringOptions,
    judgements: JudgementsOption = None,
    published: Annotated[
        str | None, typer.Option(help="The published table that --printed names rows of.", metavar="TABLE")
    ] = None,
    printed: Annotated[
        list[str] | None,
        typer.Option(
            help="What a run is called in that table; once for each run, in their order, - for none.",
            metavar="SYSTEM[, SETTING]",
        ),
    ] = None,
    out: PlotFolderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare pairs of runs that differ in one thing, as MMDocRAG's tables do.

    Give the runs two by two: first, second, first, second…

    multimodal: pictures against words. image-text: words of a vision model
    against those of OCR. thinking: with and without. fine-tuning: before and
    after. Changes are over the questions that count in both runs of a pair, with
    95 % intervals. The layouts are those of MMDocRAG's Tables 4, 5 and 9 to 12
    and of its Figure 6; those that end in -full have every column.
    """
    if out is not None:
        require_matplotlib()
    pair_layout, rows = PAIR_LAYOUTS[layout], _printed_rows(published, printed, runs)
    requests = options.requests(runs, judgements)
    with Console(stderr=True).status("scoring"):
        run_pairs = make_pairs(requests, pair_layout, printed=rows, prices=chat_price)
        files = [] if out is None else write_pairs(run_pairs, pair_layout, out)
    if as_json:
        print_json(_as_dict(run_pairs, layout, runs, files))
        return
    show_report_table(pairs_table(run_pairs, pair_layout))
    for run in (run for pair in run_pairs for run in pair.runs):
        for note in run.notes:
            console().print(plain(f"{run.name}: note: {note}"))
    for path in files:
        typer.echo(printable(str(path)))


def _printed_rows(table: str | None, names: Sequence[str] | None, runs: Sequence[Path]) -> list[PublishedRow | None]:
    """The rows of the published table that these names give, one for each run.

    Raises UsageError for names without a table, a table without names, and a wrong number of names.
    """
    if not names and table is None:
        return []
    if not names or table is None:
        raise UsageError("--published names the table, and --printed a row of it for each run: give both, or neither")
    if len(names) != len(runs):
        row_count, run_count = pluralize(len(names), "row"), pluralize(len(runs), "run")
        raise UsageError(f"{row_count} of --printed for {run_count}; give one for each, - where there is none")
    published = published_table(table)
    return [None if name == "-" else printed_row(published, name) for name in names]


def _as_dict(run_pairs: Sequence[RunPair], name: str, runs: Sequence[Path], files: Sequence[Path]) -> dict[str, object]:
    layout: PairLayout = PAIR_LAYOUTS[name]
    paths = iter(runs)
    return {
        "layout": name,
        "source": layout.source,
        "relative": layout.relative,
        "pairs": [
            {
                **{
                    side: {
                        "name": run.name,
                        "run": str(next(paths)),
                        "figures": {
                            figure: run.figures[figure].value for figure in layout.figures if figure in run.figures
                        },
                        "notes": run.notes,
                        "printed": None if row is None else dict(row.figures),
                    }
                    for side, run, row in zip(("first", "second"), pair.runs, pair.printed, strict=True)
                },
                "changes": {
                    figure: {
                        "change": change.difference,
                        **change.model_dump(mode="json", include={"low", "high", "p", "p_holm", "n"}),
                    }
                    for figure, change in pair.changes.items()
                },
            }
            for pair in run_pairs
        ],
        "files": [str(path) for path in files],
    }
