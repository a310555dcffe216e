"""Write the files of a report into a folder: an HTML page, Markdown, and CSV files in long form, unrounded."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from quoteweave.core.errors import StorageError
from quoteweave.core.files.templates import open_template
from quoteweave.core.files.whole_files import written_whole
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.evaluation.report.corpus import CorpusStatistics, corpus_plots, corpus_tables
from quoteweave.evaluation.report.drawing import Plot
from quoteweave.evaluation.report.labels import label
from quoteweave.evaluation.report.pairs import PairLayout, RunPair, pairs_plot, pairs_table
from quoteweave.evaluation.report.questions import ExtremeQuestions, PictureReader, extreme_questions
from quoteweave.evaluation.report.runs import Report
from quoteweave.evaluation.report.sections import Section, sections
from quoteweave.evaluation.report.tables import Cell, Table
from quoteweave.evaluation.scoring.comparison import Comparison
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.intervals import Estimate

_ESTIMATE_COLUMNS = ("value", "low", "high", "n", "undefined")
Line = Sequence[object]


def csv_files(report: Report) -> dict[str, str]:
    """File name to content. Figures are fractions except judgements, words, tokens and dollars; undefined is empty."""
    runs = [run.scores for run in report.runs]
    other_scores = [run.other for run in report.runs]
    return {
        "runs.csv": _csv(_RUN_COLUMNS, [_run_line(str(run.path), run.scores) for run in report.runs]),
        "figures.csv": _csv(
            ("run", "convention", "figure", *_ESTIMATE_COLUMNS),
            [
                (scores.name, scores.convention, name, *_estimate_values(estimate))
                for scores in (*runs, *other_scores)
                for name, estimate in scores.figures.items()
            ],
        ),
        "breakdowns.csv": _csv(("run", "breakdown", "group", "figure", *_ESTIMATE_COLUMNS), _breakdown_lines(runs)),
        "differences.csv": _csv(
            tuple(Comparison.model_fields),
            [tuple(comparison.model_dump().values()) for comparison in report.comparisons],
        ),
        "questions.csv": _questions_csv(runs),
    }


_RUN_COLUMNS = ("run", "path", "dataset", "convention", "marks", "clusters", "questions", "failed", "missing")


def _run_line(path: str, scores: Scores) -> Line:
    counts = (len(scores.questions), scores.failed, scores.missing)
    return (scores.name, path, scores.dataset, scores.convention, scores.marks, scores.clusters, *counts)


def _breakdown_lines(runs: Iterable[Scores]) -> list[Line]:
    return [
        (scores.name, breakdown, group, name, *_estimate_values(estimate))
        for scores in runs
        for breakdown, groups in scores.breakdowns.items()
        for group, figures in groups.items()
        for name, estimate in figures.items()
    ]


def _questions_csv(runs: Sequence[Scores]) -> str:
    """One line for each run and question, with every column of its row."""
    rows: list[tuple[Line, Mapping[str, float | None]]] = [
        ((scores.name, question.example, question.cluster, question.error), question.row)
        for scores in runs
        for question in scores.questions
    ]
    columns = list(dict.fromkeys(column for _, row in rows for column in row))
    head = ("run", "question", "cluster", "error", *columns)
    return _csv(head, [(*begin, *(row.get(column) for column in columns)) for begin, row in rows])


def pairs_csv(pairs: Sequence[RunPair]) -> str:
    """A line for each pair and figure, with both runs' values and the change, which is relative if requested."""
    lines = [
        (
            *(position, *(run.name for run in pair.runs), name, *(_value(run, name) for run in pair.runs)),
            *(change.difference, change.low, change.high, change.p, change.p_holm, change.n),
        )
        for position, pair in enumerate(pairs, start=1)
        for name, change in pair.changes.items()
    ]
    head = ("pair", "first", "second", "figure", "first_value", "second_value", "change")
    return _csv((*head, "low", "high", "p", "p_holm", "n"), lines)


def _value(run: Scores, figure: str) -> float | None:
    estimate = run.figures.get(figure)
    return None if estimate is None else estimate.value


def statistics_csv(counted: Sequence[CorpusStatistics]) -> str:
    """A line for each count, for each number of a distribution's summary, and for each group of questions."""
    lines: list[Line] = []
    for corpus in counted:
        lines += [(corpus.name, "count", name, "", number) for name, number in corpus.counts.items()]
        for name, distribution in corpus.distributions.items():
            lines += [(corpus.name, "distribution", name, key, value) for key, value in distribution.summary().items()]
        for name, groups in {**corpus.groups, "gold at place": corpus.gold_at}.items():
            lines += [(corpus.name, "questions", name, group, number) for group, number in groups.items()]
    return _csv(("of", "kind", "what", "part", "value"), lines)


def _estimate_values(estimate: Estimate) -> Line:
    return tuple(getattr(estimate, name) for name in _ESTIMATE_COLUMNS)


def _csv(head: Sequence[str], lines: Iterable[Line]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_safe(value) for value in line] for line in lines)
    return buffer.getvalue()


def _safe(value: object) -> object:
    """The value, with an apostrophe before text that a spreadsheet would execute as a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


_SPECIAL = lazy_regex(r"([\\`*_{}\[\]<>#|~&!$])")


def as_markdown(title: str, parts: Sequence[Section], *, plots: str) -> str:
    """The report as Markdown; `plots` is the folder of the plots relative to the file."""
    blocks = [f"# {plain(title)}", *(block for part in parts for block in _markdown_section(part, plots))]
    return "\n\n".join(blocks) + "\n"


def plain(text: str) -> str:
    """The text on one line, escaped so that none of it is read as markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _markdown_section(part: Section, plots: str) -> list[str]:
    notes = [f"- {plain(run)}: {plain(note)}" for run, texts in part.notes.items() for note in texts]
    return [
        f"## {plain(part.heading)}",
        *map(plain, part.says),
        *(_markdown_plot(plot, plots) for plot in part.plots),
        *map(_markdown_table, (*part.tables, *part.folded)),
        *(["\n".join(notes)] if notes else []),
    ]


def _markdown_plot(plot: Plot, folder: str) -> str:
    shown = f"![{plain(plot.title)}]({folder}/{plot.name}.svg)\n\n*{plain(plot.title)}.* {plain(plot.says)}".rstrip()
    return shown if plot.table is None else f"{shown}\n\n{_markdown_table(plot.table)}"


def _markdown_table(table: Table) -> str:
    align = ["---", *["---:"] * (len(table.head) - 1)]
    units = table.units or ("",) * len(table.head)
    head = [
        f"{plain(name)} ({plain(unit)})" if unit else plain(name) for name, unit in zip(table.head, units, strict=True)
    ]
    lines = [head, align, *(map(_markdown_cell, row) for row in table.rows)]
    return "\n".join([f"**{plain(table.title)}**", "", *(f"| {' | '.join(line)} |" for line in lines)])


def _markdown_cell(cell: Cell) -> str:
    text = f"**{plain(cell.text)}**" if cell.best else plain(cell.text)
    return f"{text} ({plain(cell.detail)})" if cell.detail else text


PAGE, MARKDOWN, PLOTS, TABLES = "report.html", "report.md", "plots", "tables"


def write_report(report: Report, folder: Path, *, pictures: PictureReader | None = None) -> list[Path]:
    """Write report.html, report.md, plots/ and tables/; files of an earlier report are overwritten.

    `pictures` reads the quotes' images. Raises MissingExtra without matplotlib, StorageError if the folder cannot
    be written.

        >>> request = ScoringRequest(run="ours.jsonl", dataset="mmdocrag-20", references="gold.jsonl")
        >>> write_report(make_report([request]), Path("report"))[0].name
        'report.html'
    """
    return _write(folder, lambda: _report_files(report, pictures or (lambda _: None)))


def write_pairs(pairs: Sequence[RunPair], layout: PairLayout, folder: Path) -> list[Path]:
    """Write the table and plot of pairs of runs as report.html, report.md, plots/ and tables/pairs.csv.

    Raises MissingExtra without matplotlib, StorageError where the folder cannot be written.

        >>> requests = [
        ...     ScoringRequest(run=run, dataset="mmdocrag-20", references="gold.jsonl")
        ...     for run in ("theirs.jsonl", "ours.jsonl")
        ... ]
        >>> layout = PAIR_LAYOUTS["fine-tuning"]
        >>> write_pairs(make_pairs(requests, layout), layout, Path("pairs"))[0].name
        'report.html'
    """
    return _write(folder, lambda: _pairs_files(pairs, layout))


def write_statistics(counted: Sequence[CorpusStatistics], folder: Path) -> list[Path]:
    """Write statistics of datasets and collections as report.html, report.md, plots/ and tables/statistics.csv.

    Raises MissingExtra without matplotlib, StorageError where the folder cannot be written.

        >>> counted = dataset_statistics("mmdocrag-20", load_dataset("mmdocrag-20", Path("gold.jsonl")))
        >>> write_statistics([counted], Path("statistics"))[0].name
        'report.html'
    """
    return _write(folder, lambda: _statistics_files(counted))


def _write(folder: Path, make_files: Callable[[], Iterator[tuple[str, bytes]]]) -> list[Path]:
    try:
        # Checked first, because drawing takes a while: a folder that cannot be written should be reported before.
        folder.mkdir(parents=True, exist_ok=True)
        files = dict(make_files())
        for name, content in files.items():
            with written_whole(folder / name) as file:
                file.write(content)
    except OSError as error:
        raise StorageError(f"the report cannot be written to {folder} ({error.strerror or error})") from error
    return [folder / name for name in files]


def _report_files(report: Report, pictures: PictureReader) -> Iterator[tuple[str, bytes]]:
    title = f"{'One run' if len(report.runs) == 1 else f'{len(report.runs)} runs'} on {report.first.dataset}"
    ends = {run.name: extreme_questions(run, report.main, pictures) for run in report.runs}
    by = "" if report.main is None else label(report.main)
    yield from _files(title, sections(report), csv_files(report), ends=ends, by=by)


def _pairs_files(pairs: Sequence[RunPair], layout: PairLayout) -> Iterator[tuple[str, bytes]]:
    plot = pairs_plot(pairs, layout)
    says = (
        f"Laid out as {layout.source}. Below each figure stands its 95 % interval, with "
        f"{pairs[0].runs[0].clusters}s as its units; below each change that of the change, over the questions that "
        "count in both runs, and p, corrected for all figures of the pair (Holm).",
    )
    notes = {run.name: run.notes for pair in pairs for run in pair.runs if run.notes}
    tables = (pairs_table(pairs, layout),)
    part = Section(
        id="pairs",
        heading="What it changes",
        says=says,
        plots=() if plot is None else (plot,),
        tables=tables,
        notes=notes,
    )
    yield from _files(f"From {layout.first} to {layout.second}", [part], {"pairs.csv": pairs_csv(pairs)})


def _statistics_files(counted: Sequence[CorpusStatistics]) -> Iterator[tuple[str, bytes]]:
    parts = []
    for position, corpus in enumerate(counted):
        # Plots are files in one folder: if there are several statistics, each plot's name begins with their number.
        drawn = [plot.model_copy(update={"name": f"{position + 1}-{plot.name}"}) for plot in corpus_plots(corpus)]
        plots = drawn if len(counted) > 1 else corpus_plots(corpus)
        parts.append(
            Section(id=f"part{position}", heading=corpus.name, plots=tuple(plots), tables=tuple(corpus_tables(corpus)))
        )
    yield from _files("What the data hold", parts, {"statistics.csv": statistics_csv(counted)})


def _files(
    title: str,
    parts: Sequence[Section],
    tables: Mapping[str, str],
    *,
    ends: Mapping[str, ExtremeQuestions] = {},
    by: str = "",
) -> Iterator[tuple[str, bytes]]:
    yield PAGE, _encoded(as_page(title, parts, ends, by=by))
    yield MARKDOWN, _encoded(as_markdown(title, parts, plots=PLOTS))
    for plot in (plot for part in parts for plot in part.plots):
        yield f"{PLOTS}/{plot.name}.svg", _encoded(plot.svg)
        yield f"{PLOTS}/{plot.name}.pdf", plot.pdf
    for name, content in tables.items():
        yield f"{TABLES}/{name}", _encoded(content)


def _encoded(text: str) -> bytes:
    """UTF-8; lone surrogates, which models do write, become question marks."""
    return text.encode("utf-8", "replace")


_TEMPLATES = Path(__file__).parent / "templates"


def as_page(title: str, parts: Sequence[Section], ends: Mapping[str, ExtremeQuestions], *, by: str) -> str:
    """A whole HTML document, to be written as UTF-8; `ends` has, for each run, its worst and best questions by `by`."""
    from markupsafe import Markup

    return open_template(_TEMPLATES, "report.html.j2").render(
        title=title,
        parts=parts,
        ends=ends,
        by=by,
        # Only these are not escaped: a file of ours, and plots in which matplotlib has escaped all text.
        style=Markup((_TEMPLATES / "report.css").read_text("utf-8")),  # noqa: S704
        drawn={plot.name: Markup(plot.inline()) for part in parts for plot in part.plots},  # noqa: S704
    )
