"""The sections of a report, each with the explanation of its tables and plots."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from pydantic import Field

from quoteweave.core.records import Record
from quoteweave.evaluation.report.drawing import Plot
from quoteweave.evaluation.report.labels import (
    ANSWERS,
    CONTEXT,
    CORRELATION,
    JUDGE,
    RANKED,
    SEARCHES,
    SELECTION,
    SOURCES,
)
from quoteweave.evaluation.report.plots import (
    INTERVAL,
    breakdown_plot,
    distributions_plot,
    judge_plot,
    positions_plot,
    selection_plot,
    tokens_plot,
)
from quoteweave.evaluation.report.runs import Report
from quoteweave.evaluation.report.tables import (
    OVERVIEW,
    Table,
    breakdown_table,
    conventions_table,
    counts_table,
    difference_tables,
    every_figure_table,
    runs_table,
    undefined_table,
)
from quoteweave.evaluation.scoring.breakdowns import BY_POSITION, SMALL_GROUPS

T = TypeVar("T")

_CONVENTION = {
    "strict": "A run's answers that failed, and judgements that cannot be read, are left out of every figure and "
    "counted (the strict convention).",
    "published": "A run's answers that failed count as empty answers, and what is missing of a judgement as 0 (the "
    "published convention, by which MMDocRAG's figures were made).",
}
_MARKS = {
    "published": "Citations are the marks [1] and (image1) alone, as in MMDocRAG's published figures.",
    "own": "Citations are the marks [1], [1, 2], [1-3] and (image1); published figures read [1] and (image1) alone, "
    "and are not comparable.",
}


class Section(Record):
    """One part of the report."""

    id: str
    heading: str
    says: tuple[str, ...] = ()
    plots: tuple[Plot, ...] = ()
    tables: tuple[Table, ...] = ()
    folded: tuple[Table, ...] = Field(default=(), description="tables for those who look for more")
    notes: Mapping[str, tuple[str, ...]] = Field(default_factory=dict, description="run to sentences")


def sections(report: Report) -> list[Section]:
    """The sections that have something to show, the most general first. Raises MissingExtra without matplotlib."""
    scores = (_overview, _selection, _sources, _retrieval, _answers, _searches, _trade_offs, _distributions)
    details = (_differences, _groups, _correlations, _positions, _counting)
    return [section for make in (*scores, *details) if (section := make(report)) is not None]


def _overview(report: Report) -> Section:
    several = len(report.runs) > 1
    first = report.first
    says = [
        f"{_runs(len(report.runs))} on {first.dataset}. {_CONVENTION[first.convention]}"
        + ("" if "title_match" in first.figures else f" {_MARKS[first.marks]}"),  # papers are named without marks
        f"Below each figure stands its 95 % interval, which tells how far it would differ with other {first.clusters}s."
        + (" The best of each column is bold; how sure that is, the differences tell." if several else ""),
    ]
    return Section(
        id="overview",
        heading="Overview",
        says=tuple(says),
        tables=_present([runs_table(report, "All runs", OVERVIEW)]),
    )


def _runs(number: int) -> str:
    return "One run" if number == 1 else f"{number} runs"


def _selection(report: Report) -> Section | None:
    table = runs_table(report, "Precision, recall and F1", SELECTION)
    if table is None:
        return None
    says = (
        "Each question comes with quotes, texts and images, of which some are gold: they hold the evidence. "
        "Precision (P) is the share of the cited quotes that are gold, recall (R) the share of the gold quotes that "
        "are cited, F1 their harmonic mean. Image and text figures are over all questions together; overall is the "
        "mean over questions, of both kinds as one.",
    )
    return Section(
        id="citations",
        heading="Which quotes are cited",
        says=says,
        plots=_present([selection_plot(report)]),
        tables=(table,),
    )


def _sources(report: Report) -> Section | None:
    judged = report.known(("source.f1",))
    headings = {
        name: heading for name, heading in SOURCES.items() if not (judged and name.startswith("source_by_rule."))
    }
    table = runs_table(report, "Citations, sources and answers", headings)
    if table is None:
        return None
    says = {
        "citation.f1.cited": "Citation recall is how far the sentences of an answer follow from what they cite, "
        "precision how much of what is cited bears on its sentence, both as a judge found; of sentences with "
        "citations alone.",
        "accuracy": "Accuracy is a judge's grade of the answer, 0, 1 or 2, as a share of 2.",
        "source.f1": "Source precision and recall compare what an answer cites with the gold sources; exact match is "
        "the share of answers that cite these and no others.",
        "source_by_rule.f1": "By rule, every mention of a source counts as a citation, which is not comparable with "
        "published figures.",
    }
    return Section(
        id="sources",
        heading="Which sources are cited",
        says=tuple(says[name] for name in report.known(says) if name in headings),
        tables=(table,),
    )


def _answers(report: Report) -> Section | None:
    tables = _present(
        [
            runs_table(report, "Scores of a judge, 0 to 5", JUDGE),
            runs_table(report, "Compared with the gold answer, length and tokens", ANSWERS),
        ]
    )
    if not tables:
        return None
    says = {
        "judge.average": "A judge is a chat model that read question, quotes and answer.",
        "rouge_l.f1": "ROUGE-L, BLEU and token F1 compare an answer's words with those of the gold answer; where that "
        "is a few words, long answers score low whatever they say.",
    }
    return Section(
        id="answers",
        heading="How good the answers are",
        says=tuple(says[name] for name in report.known(says)),
        tables=tables,
    )


def _retrieval(report: Report) -> Section | None:
    context = runs_table(report, "Gold quotes in the contexts", CONTEXT)
    ranked = runs_table(report, "Rankings, pages and boxes", RANKED)
    if context is None and ranked is None:
        return None
    says = []
    if context is not None:
        says.append(
            "The recall of a context is the share of the gold quotes among those that were retrieved and put before "
            "the model: no answer can cite more."
        )
    if ranked is not None:
        says.append(
            "Of what a retriever found, before anything was answered. Recall@k is the share of the gold evidence among "
            "the first k, of quotes, of pages, or of the area of boxes; precision@k the share of the first k that is "
            "gold. nDCG, MAP and MRR are the higher, the earlier gold stands."
        )
    tables = _present([context, ranked])
    return Section(id="retrieval", heading="What was retrieved", says=tuple(says), tables=tables)


def _searches(report: Report) -> Section | None:
    if "title_match" not in report.known(SEARCHES):
        return None
    says = (
        "Each excerpt cites a paper that is to be named. Titles match by the ratio of CiteME, which takes some papers "
        "for each other; equal titles and identifiers stand beside it. A target was found if any search showed it. "
        "Technical errors are replies that were no action, refusals, full windows, failing endpoints and sources: by "
        "the strict convention no wrong answers, by the published one wrong.",
    )
    tables = _present([runs_table(report, "Papers that were named", SEARCHES)])
    return Section(id="papers", heading="Which papers were named", says=says, tables=tables)


def _trade_offs(report: Report) -> Section | None:
    plots = _present([tokens_plot(report), judge_plot(report)])
    return Section(id="trade-offs", heading="Length, answers and citations", plots=plots) if plots else None


def _distributions(report: Report) -> Section | None:
    plots = _present([distributions_plot(report)])
    return Section(id="distributions", heading="Price and time", plots=plots) if plots else None


def _differences(report: Report) -> Section | None:
    tables = tuple(difference_tables(report.comparisons))
    if not tables:
        return None
    says = (
        f"Each run less the first, {report.first.name}, over the questions that count in both; + means better than "
        "it. p is how often a difference at least as large would come of chance alone, were the two runs equally "
        "good; it is below 0.05 where the 95 % interval of the difference excludes 0. Of many comparisons some come "
        "out small by chance: p (Holm) is corrected for all in these tables. Below 0.05 is commonly called "
        "significant. Left out are questions that count in only one of the two, or in which the figure is undefined.",
    )
    return Section(id="differences", heading="Do the runs differ?", says=says, tables=tables)


def _groups(report: Report) -> Section | None:
    crossed = [name for name in report.breakdowns if "," in name]
    single = [name for name in report.breakdowns if name not in (BY_POSITION, *crossed)]
    plots = _present([breakdown_plot(report, name) for name in single])
    tables = _present([breakdown_table(report, name) for name in crossed])
    if not plots and not tables:
        return None
    says = (
        "The same figure over groups of questions. A question with several kinds of evidence counts in each; one whose "
        "group the dataset does not tell, in none.",
        "Each panel is a run, each bar a group; the dashed line is the run's figure over all questions. Groups of few "
        f"questions have long intervals; the tables say how many there are (n), with a star where they are "
        f"{SMALL_GROUPS}. {INTERVAL}",
    )
    return Section(
        id="groups",
        heading="Kinds of questions",
        says=says,
        plots=plots,
        tables=tables,
        folded=_present([breakdown_table(report, name) for name in single]),
    )


def _correlations(report: Report) -> Section | None:
    figures = report.known(CORRELATION)
    if not figures or next(iter(CORRELATION)) != figures[0]:
        return None
    names = [name for name in report.breakdowns if BY_POSITION not in name.split(",")]
    says = (
        "Pearson's r between the F1 on all quotes and a score of the answer, over the questions of a run: 1 where the "
        "answers that cite the right quotes are the good ones, 0 where one tells nothing of the other.",
    )
    return Section(
        id="correlations",
        heading="Are well-cited answers the better ones?",
        says=says,
        tables=_present([runs_table(report, "Correlation of overall F1 with scores of answers", CORRELATION)]),
        folded=_present([breakdown_table(report, name, figures[0]) for name in names]),
    )


def _positions(report: Report) -> Section | None:
    plots = _present([positions_plot(report)])
    says = (
        "Recall is the share of the gold quotes that are cited, here by where they stand in what the model was "
        "given: the first, the second, and so on, among the text quotes and among the image quotes.",
    )
    return Section(id="positions", heading="Place in the context", says=says, plots=plots) if plots else None


def _counting(report: Report) -> Section:
    conventions = conventions_table(report)
    says = [
        "A figure that cannot be computed for a question, such as the precision of an answer that cites nothing, is "
        "undefined there; the question is left out of that figure and counted."
    ]
    if conventions is not None:
        says.append(
            "Answers that failed, citations and gold that are missing, and judgements that cannot be read can be "
            "counted in two ways. Strict leaves them out: no answer is no wrong answer. Published counts them as "
            "empty answers and 0, so that figures can be put beside those that papers print. Where the two differ, "
            "both stand here."
        )
    return Section(
        id="counting",
        heading="How it was counted",
        says=tuple(says),
        tables=_present([counts_table(report), conventions, undefined_table(report)]),
        folded=(every_figure_table(report),),
        notes={run.name: run.scores.notes for run in report.runs if run.scores.notes},
    )


def _present(parts: Iterable[T | None]) -> tuple[T, ...]:
    return tuple(part for part in parts if part is not None)
