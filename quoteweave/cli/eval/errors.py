"""`quoteweave eval errors` and `trajectories`: where answers, and searches for papers, went wrong."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from quoteweave.attribution.agent.review import TrajectoryReview, review_trajectories
from quoteweave.attribution.agent.runs import PAPER_DATASETS
from quoteweave.cli.console import console, print_failures, print_json, printable
from quoteweave.cli.eval.paid import (
    JudgingOptions,
    JudgingWords,
    VerdictFile,
    judge_and_keep,
    judgements_path,
    load_judged_items,
    make_judge_model,
)
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.options.evaluation import DatasetOption, ReferencesOption, RunArgument
from quoteweave.cli.options.settings import JUDGING, OptionValues, make_settings, takes_options
from quoteweave.cli.tables import UNDEFINED, make_table, show_table
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.messages import pluralize
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.judges.batch import JudgingItem
from quoteweave.evaluation.judges.error_judge import (
    ERRORS,
    MAX_CHARACTERS,
    ErrorJudge,
    ErrorVerdict,
    count_cut_texts,
    error_kinds,
    load_error_kinds,
    read_error_labels,
)
from quoteweave.evaluation.report.errors import (
    ErrorAgreement,
    ErrorAnalysis,
    count_errors,
    error_agreement,
    sample_pairs,
    write_error_page,
    wrong_papers,
)
from quoteweave.evaluation.report.questions import PictureFolder
from quoteweave.pipeline.runs.dataset_pictures import pictures_in
from quoteweave.pipeline.settings import ChatSettings

JSON = """--json prints one object:

page, answers, of, lost_pictures: the file that was written, how many answers it shows, of how many that could be
labelled, and how many pictures of their quotes it cannot show; with --page, and then no more;

model, prompt, verdicts (the file), asked, failed, no_answer, errors (example to reason), tokens, price_usd: of the
judge, null or empty without one;

judge, people: total and groups (breakdown to group) of answers, sound and kinds (kind to answers); null without;

agreement: n, left_out, figures (such as excessive_citation.kappa) with value, low, high, n, undefined; with both."""
MAX_ON_PAGE = 200
"""Answers on a page by default, a limited number as their pictures are in its file."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """A judge's verdicts, and what they cost."""

    head: Mapping[str, object]
    labels: Mapping[str, tuple[str, ...]]
    errors: Mapping[str, str]


@takes_options(*JUDGING)
def errors(
    run: RunArgument,
    dataset: DatasetOption,
    option_values: OptionValues,
    *,
    references: ReferencesOption = None,
    page: Annotated[
        Path | None, typer.Option(help="Write a page on which people label the answers, and end.", metavar="FILE")
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="Take this many answers, drawn by --seed; of a page 200 at most.", metavar="N"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
    labels: Annotated[
        Path | None, typer.Option(help="Count people's labels: the file that the page exports.", metavar="FILE")
    ] = None,
    kinds: Annotated[
        Path | None, typer.Option(help="TOML file of other kinds: a name and when it holds.", metavar="FILE")
    ] = None,
    options: JudgingOptions,
    out: Annotated[
        Path | None,
        typer.Option(help="File for the judge's verdicts; the default is errors.jsonl in the run's folder."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Count the kinds of error in saved answers, by a chat model or by people.

    With --page people label them in a browser: number keys mark kinds. --labels
    counts what they exported. With --model a chat model names the kinds; tokens
    and price are printed first, and each verdict is saved at once: run the same
    command again to ask only for what is missing, failed, or of another answer.
    With both, the output says how far they agree.

    For CiteME, searches that ended with a wrong paper are reviewed.
    """
    if page is not None and labels is not None:
        raise UsageError("--page writes a page to label on, --labels counts what was labelled: give one of them")
    pairs = load_judged_items(run, dataset, references)
    task = pairs[0][1].task if pairs else "answer"
    listed_kinds = error_kinds(task) if kinds is None else load_error_kinds(kinds)
    if task == "name_paper" and not (pairs := wrong_papers(pairs)):
        raise DatasetError(f"no answer of {run} names a wrong paper, so that there is no error to look for")
    all_pairs, pairs = pairs, pairs[: options.limit]
    if page is not None:
        folder = options.image_folder or (None if references is None else references.parent)
        pictures = None if folder is None else PictureFolder(folder).data_url
        drawn = sample_pairs(pairs, sample or MAX_ON_PAGE, seed)
        lost = write_error_page(drawn, page, run=run.name, kinds=listed_kinds, pictures=pictures)
        counts = {"answers": len(drawn), "of": len(sample_pairs(pairs, None)), "lost_pictures": len(lost)}
        _report_page(page, counts, as_json=as_json)
        return
    if sample is not None:
        pairs = sample_pairs(pairs, sample, seed)
    settings = make_settings(ChatSettings, option_values)
    if labels is None and settings.model is None:
        raise UsageError("say who looks for errors: a chat model with --model, or people with --page, then --labels")
    people = None if labels is None else read_error_labels(labels, all_pairs, listed_kinds)
    judged = None
    if "model" in option_values or labels is None:
        judge = ErrorJudge(
            make_judge_model(settings, options.calls),
            listed_kinds,
            prompts_folder=settings.prompts,
            images=pictures_in(options.image_folder),
            task=task,
        )
        judged = _judge(judge, pairs, settings, options, run=run, out=out)
    names, examples = [kind.name for kind in listed_kinds], [example for _, example in all_pairs]
    labels_by = {"judge": None if judged is None else judged.labels, "people": people}
    analyses = {
        who: None if labelled is None else count_errors(labelled, names, examples)
        for who, labelled in labels_by.items()
    }
    agreed = None if judged is None or people is None else error_agreement(judged.labels, people, names)
    _show(analyses, agreed, judged, as_json=as_json)
    if judged is not None and judged.errors:
        raise typer.Exit(1)


def _judge(
    judge: ErrorJudge,
    pairs: Sequence[JudgingItem],
    settings: ChatSettings,
    options: JudgingOptions,
    *,
    run: Path,
    out: Path | None,
) -> _Judged:
    """Ask for verdicts that are not stored yet; return all for these answers."""
    judge_fields, path = {"model": judge.model.name, "prompt": judge.prompt}, judgements_path(run, out, ERRORS)
    cut = count_cut_texts(answer.paper_search for answer, _ in pairs if answer.paper_search is not None)
    cut_texts = pluralize(cut, "text of a search is", "texts of searches are")
    warning = f"{cut_texts} cut to {MAX_CHARACTERS} characters where the judge sees them" if cut else None
    file = VerdictFile(run, path, ErrorVerdict, judge_fields, named=out is not None)
    paid = judge_and_keep(judge, pairs, file, settings, options, JudgingWords("look at", "looking", warning))
    failed = {verdict.example: verdict.error or "" for verdict in paid.verdicts if verdict.kinds is None}
    head = {
        **judge_fields,
        "verdicts": str(path),
        "asked": paid.asked,
        "failed": len(failed),
        "no_answer": paid.no_answer,
        "errors": failed,
        "tokens": paid.cost.tokens,
        "price_usd": paid.cost.price_usd,
    }
    return _Judged(
        head, {verdict.example: verdict.kinds for verdict in paid.verdicts if verdict.kinds is not None}, failed
    )


def _report_page(page: Path, counts: Mapping[str, int], *, as_json: bool) -> None:
    if as_json:
        print_json({"page": str(page), **counts})
        return
    if lost := counts["lost_pictures"]:
        typer.echo(
            f"{pluralize(lost, 'picture')} of quotes cannot be shown; name their folder with --image-folder", err=True
        )
    shown = pluralize(counts["answers"], "answer")
    drawn = "" if counts["answers"] == counts["of"] else f", drawn of {counts['of']:,}; --sample takes another number"
    typer.echo(f"{page}: {shown} to label{drawn}. Open it in a browser; --labels counts what it exports")


EMPTY = dict.fromkeys(("model", "prompt", "verdicts", "asked", "failed", "no_answer", "errors", "tokens", "price_usd"))


def _show(
    analyses: Mapping[str, ErrorAnalysis | None],
    agreed: ErrorAgreement | None,
    judged: _Judged | None,
    *,
    as_json: bool,
) -> None:
    """Print the counts on stdout, and reasons of failures on stderr unless they are in the JSON value."""
    if as_json:
        analyses_json = {
            who: None if analysis is None else analysis.model_dump(mode="json") for who, analysis in analyses.items()
        }
        agreement = None if agreed is None else agreed.model_dump(mode="json")
        print_json({**(EMPTY if judged is None else judged.head), **analyses_json, "agreement": agreement})
        return
    for who, analysis in analyses.items():
        if analysis is not None and analysis.total.answers:  # if a judge failed on all answers, the reasons say so
            _print_counts(who, analysis)
    if agreed is not None:
        typer.echo(f"agreement on {pluralize(agreed.n, 'answer')} ({agreed.left_out} left out):")
        table = make_table(("kind", "agreement", "value", "95 % interval"), words=["kind", "agreement"])
        for name, figure in agreed.figures.items():
            kind, _, measure = name.rpartition(".")
            value = UNDEFINED if figure.value is None else f"{figure.value:.2f}"
            bounds = UNDEFINED if figure.low is None else f"{figure.low:.2f} to {figure.high:.2f}"
            table.add_row(kind.replace("_", " "), measure, value, bounds)
        show_table(console(), table)
        if any(figure.low is None for figure in agreed.figures.values()):
            typer.echo("- as interval: no value, or one that comes from fewer than two documents, or questions")
    if judged is not None:
        print_failures(judged.errors)


def _print_counts(who: str, analysis: ErrorAnalysis) -> None:
    kinds = list(analysis.total.kinds)
    typer.echo(f"by {'the judge' if who == 'judge' else who}, of {pluralize(analysis.total.answers, 'answer')}:")
    columns = ("group", "answers", "sound", *(kind.replace("_", "\n") for kind in kinds))
    table = make_table(columns, words=["group"], padding=0)
    groups = [
        (f"{breakdown.replace('_', ' ')}: {name}", counts)
        for breakdown, by_name in analysis.groups.items()
        for name, counts in by_name.items()
    ]
    for name, counts in (("all", analysis.total), *groups):
        row = (counts.answers, counts.sound, *(counts.kinds[kind] for kind in kinds))
        table.add_row(printable(name), *map(str, row))
    show_table(console(), table)


TRAJECTORIES_JSON = """--json prints one object: trajectories, each with id, outcome (selected, bad_format,
content_filter, window, loops, no_selection, endpoint or source; null where it was broken off), actions,
selected (a title), correct (null without references, after a technical error, and where it was broken off),
findings, leaks (step, kind, paper, reason), page, and unreadable, why its file cannot be read, else null; and leaks,
their number."""


def trajectories(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A run over CiteME, or another folder with its trajectories.")
    ],
    dataset: Annotated[
        str, typer.Option(help=f"What was asked: {', '.join(PAPER_DATASETS)}.", metavar="NAME")
    ] = PAPER_DATASETS[0],
    references: ReferencesOption = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page of each search into this folder.", metavar="DIR")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Review searches for papers: where each went wrong, and what leaked.

    With --references, CiteME's table, it says whether the cited paper was shown, read, or only
    named in another one. A leak is a paper that should have been hidden: the one
    that the excerpt is from, or one published later. Leaks give exit code 1, and
    so does a file that cannot be read, which may hold some.
    """
    if dataset not in PAPER_DATASETS:
        raise UsageError(
            f"{dataset} asks for no paper, so that there are no trajectories; {', '.join(PAPER_DATASETS)} does"
        )
    examples = [] if references is None else load_dataset(dataset, references)
    reviews = review_trajectories(run, examples, pages=html)
    leaks = sum(len(review.leaks) for review in reviews)
    if as_json:
        print_json({"trajectories": [review.model_dump(mode="json") for review in reviews], "leaks": leaks})
    else:
        _print(reviews)
        typer.echo(pluralize(leaks, "leak"))
    if leaks or any(review.unreadable for review in reviews):
        raise typer.Exit(1)


def _print(reviews: Sequence[TrajectoryReview]) -> None:
    for review in reviews:
        if review.unreadable:
            _line(f"{review.id}  cannot be read: {review.unreadable}")
            continue
        correctness = {None: "", True: ", right", False: ", wrong"}[review.correct]
        selected = "" if review.selected is None else f": {review.selected}"
        outcome = f"{review.outcome or 'broken off'}{correctness}"
        _line(f"{review.id}  {outcome}, {pluralize(review.actions, 'action')}{selected}")
        for line in (
            *(() if review.correct else review.findings),
            *(f"leak: {leak}" for leak in review.leaks),
            review.page,
        ):
            if line:
                _line(line, indent="  ")
    outcomes = Counter(
        "not readable" if review.unreadable else review.outcome or "broken off" for review in reviews
    ).most_common()
    counts = ", ".join(f"{number} {outcome}" for outcome, number in outcomes)
    typer.echo(f"{pluralize(len(reviews), 'trajectory', 'trajectories')}: {counts}")
    right_or_wrong = [review.correct for review in reviews if review.correct is not None]
    if right_or_wrong:
        typer.echo(f"{sum(right_or_wrong)} of {len(right_or_wrong)} selected the paper cited, by its title")


def _line(text: str, indent: str = "") -> None:
    """Print a text on one line, even if titles in it have line breaks."""
    typer.echo(indent + printable(text.replace("\n", " ").replace("\r", " ")))
