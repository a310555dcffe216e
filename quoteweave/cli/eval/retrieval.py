"""`quoteweave eval retrieval`: how good a retriever is on a dataset with gold evidence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from quoteweave.cli.console import console, plain, print_failures, print_frequent_notes, print_json, print_message
from quoteweave.cli.options.collection import CollectionOption, JsonOption
from quoteweave.cli.options.settings import RANKING, RESOURCES, OptionValues, make_settings, takes_options
from quoteweave.cli.progress import TerminalProgress
from quoteweave.cli.tables import UNDEFINED, make_table, show_table
from quoteweave.core.examples import Scope
from quoteweave.core.messages import pluralize
from quoteweave.core.urls import without_credentials
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.datasets.mmdocir import DOCUMENTS, annotations_file
from quoteweave.evaluation.datasets.mmlongbench import SAMPLES
from quoteweave.evaluation.scoring.notes import WHOLE_PAGES, cluster_notes
from quoteweave.evaluation.scoring.scorer import only_whole_pages, retrieval_figures, score_retrieval, search_errors
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.aggregates import DOMAIN_MEAN
from quoteweave.evaluation.statistics.intervals import Estimate
from quoteweave.pipeline.composition.make_search import name_chat_model
from quoteweave.pipeline.runs.search_dataset import Questions, retriever_shown, search_dataset
from quoteweave.pipeline.settings import RetrievalSettings

JSON = """--json prints one object; figures are fractions, null where undefined:

dataset, retriever, terms, expand, rerank, questions: what was asked;

unread: document to the reason why it could not be read;

failed: questions whose search failed;

in_document: figure to mean: page_recall@k, box_recall@k, box_precision@k, layout_recall@k, and
gold_box_recall.parser, .c15, .c20; page and layout recall also as page_recall@k.mean_over_domains;
of MMDocRAG also those of rankings, such as text.recall@k;

collection: figure to mean: page_recall@k, page_recall@k.mean_over_domains;

by_evidence_type, by_domain: group to n, in_document, collection, as above;

undefined: in_document, collection: figure to questions left out;

interval_95: in_document, collection: figure to its low and high bound;

notes: sentences, such as that documents are few."""


PAGES = tuple(f"page_recall@{k}" for k in (1, 3, 5, 10))
PAGES_BY_DOMAIN = tuple(f"{name}{DOMAIN_MEAN}" for name in PAGES)
BOXES = tuple(f"box_{figure}@{k}" for figure in ("recall", "precision") for k in (5, 10, 20))
LAYOUTS = tuple(f"layout_recall@{k}" for k in (1, 5, 10))
LAYOUTS_BY_DOMAIN = tuple(f"{name}{DOMAIN_MEAN}" for name in LAYOUTS)
GOLD_BOXES = tuple(f"gold_box_recall.{of}" for of in ("parser", "c15", "c20"))
QUOTES_BY_KIND = tuple(f"{kind}.recall@{k}" for kind in ("text", "image") for k in (10, 15, 20))
QUOTES = tuple(f"recall@{k}" for k in (10, 15, 20))
WITHOUT_LAYOUT_IDS = (
    "nothing that was found has a layout id of MMDocIR, so that it is not known which quotes are gold: recall of "
    "quotes is left out; a collection made by 'import mmdocir-layout' has them"
)
SCOPES: Mapping[str, Scope] = {"in_document": "document", "collection": "collection"}
"""The scopes by their keys in the JSON value."""
EVIDENCE = "evidence"
DOMAIN = "domain"
Figures = Mapping[str, Estimate]
MeasuredDataset = Literal["mmdocir", "mmdocrag-15", "mmdocrag-20", "mmlongbench"]


@takes_options("preset", *RANKING, *RESOURCES)
def retrieval(
    dataset: Annotated[MeasuredDataset, typer.Option(help="Which dataset the folder holds.")],
    references: Annotated[
        Path,
        typer.Option(
            help="Folder with annotations.jsonl (of mmlongbench samples.jsonl) and, unless the collection holds the "
            "documents, pdf/; of mmdocrag its file. It is only read.",
            metavar="DIR_OR_FILE",
        ),
    ],
    collection: CollectionOption,
    option_values: OptionValues,
    run: Annotated[
        Path | None, typer.Option(help="Keep the predictions in this folder, or resume those there.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask every question of a dataset and score what a retriever finds.

    Page recall: the share of a question's gold pages among the first k pages.
    Box recall: the share of its gold area that the first k quotes cover.
    Box precision: the share of the area they cover that is gold.

    Layout recall: as box recall, but overlaps count as often as they occur.
    Gold box recall: the share of gold boxes that one quote meets at an IoU of
    0.5, of all quotes (parser) and of those in the context of 15 or 20 quotes
    that 'ask' makes.

    Quote recall, for mmdocrag only: the share of the gold quotes among the first
    k. The collection has to hold MMDocIR's layouts ('import mmdocir-layout').

    Whole-page quotes are left out of box and layout figures. All are means over
    questions, page and layout recall also over domains; a question with several
    evidence types counts in each. A document that could not be read yields
    nothing for its questions; a question whose search failed is left out. Both
    are reported, and give exit code 1.

    With --preset, retrievers run as in a published experiment, such as
    --preset mmdocir -r colbert; docs/retrieval.md describes the differences.

    Documents in the collection are searched as they were added. With
    --rerank, a ranking consists of the 40 candidates that are reranked.
    """
    settings = name_chat_model(make_settings(RetrievalSettings, option_values))
    examples = load_dataset(dataset, references)
    file, documents = _files(dataset, references)
    questions = Questions(dataset, examples, file, documents=documents)
    searched = search_dataset(questions, collection, settings, run=run, progress=TerminalProgress(quiet=as_json))
    scores = score_retrieval(examples, searched.predictions, dataset=dataset, quote_boxes=searched.quote_boxes)
    errors = search_errors(scores)
    print_frequent_notes(searched.notes)
    if only_whole_pages(searched.predictions):
        print_message(WHOLE_PAGES)
    if any(example.reference.layouts for example in examples) and QUOTES[0] not in scores["document"].figures:
        print_message(WITHOUT_LAYOUT_IDS)
    absent = Counter(example.document for example in examples)
    for name, reason in searched.unread.items():
        typer.echo(
            f"not read: {name}: {reason}; nothing is found there for {pluralize(absent[name], 'question')}", err=True
        )
    steps = {"expand": settings.expand, "rerank": settings.rerank}
    head = {
        "dataset": dataset,
        "retriever": retriever_shown(settings),
        "terms": [str(path) for path in settings.terms],
        **{step: spec and without_credentials(spec) for step, spec in steps.items()},
        "questions": len(examples),
        "unread": dict(searched.unread),
    }
    _show(scores, errors, head, as_json=as_json)
    if searched.unread or errors:
        raise typer.Exit(1)


def _files(dataset: MeasuredDataset, references: Path) -> tuple[Path, Path | None]:
    """The file of the questions, and the folder of the documents if there is one."""
    if dataset in ("mmdocrag-15", "mmdocrag-20"):
        return references, None
    documents = references / DOCUMENTS
    file = annotations_file(references) if dataset == "mmdocir" else references / SAMPLES
    return file, documents if documents.is_dir() else None


def _in_words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _show(
    scores: Mapping[Scope, Scores], errors: Mapping[str, str], head: Mapping[str, object], *, as_json: bool
) -> None:
    if as_json:
        print_json({**head, "failed": len(errors), **_as_dict(scores)})
    else:
        choices = [
            f"{part} {_in_words(head[part])}" for part in ("retriever", "terms", "expand", "rerank") if head[part]
        ]
        typer.echo(f"{head['dataset']}: {pluralize(int(str(head['questions'])), 'question')}, {', '.join(choices)}\n")
        stdout = console()
        for table in _tables(scores):
            show_table(stdout, table)
        for note in _notes(scores["document"]):
            stdout.print(plain(f"note: {note}"))
    print_failures(errors, again=False)


def _notes(scores: Scores) -> list[str]:
    """Notes that readers of figures within documents need."""
    groups = (scores.figures, *(_group(scores, name) for name in _group_sizes(scores)))
    values = [estimate.value for group in groups for name in LAYOUTS if (estimate := group.get(name)) is not None]
    above = "layout recall above 100 %: the published formula counts an area for each quote that covers it"
    notes = [above] if any(value is not None and value > 1 for value in values) else []
    return [*notes, *cluster_notes(scores)]


def _as_dict(scores: Mapping[Scope, Scores]) -> dict[str, object]:
    """Figures as fractions, null where undefined; nested by scope, then by evidence type and by domain."""
    values = {key: _values(scope, scores[scope].figures) for key, scope in SCOPES.items()}
    return {
        **values,
        "by_evidence_type": _by_group(scores, EVIDENCE),
        "by_domain": _by_group(scores, DOMAIN),
        "undefined": {
            key: {name: _undefined(scores[scope], name) for name in values[key]} for key, scope in SCOPES.items()
        },
        "interval_95": {
            key: {name: _bounds(scores[scope].figures.get(name)) for name in values[key]}
            for key, scope in SCOPES.items()
        },
        "notes": _notes(scores["document"]),
    }


def _by_group(scores: Mapping[Scope, Scores], by: str) -> dict[str, object]:
    return {
        group: {
            "n": n,
            **{key: _group_values(scope, _group(scores[scope], group, by)) for key, scope in SCOPES.items()},
        }
        for group, n in _group_sizes(scores["document"], by).items()
    }


def _tables(scores: Mapping[Scope, Scores]) -> list[Table]:
    """Tables of page recall within the document and over the collection, then of boxes or quotes.

    Values are in per cent; each group has a row.
    """
    in_document, in_collection = scores["document"], scores["collection"]
    tables = [
        _table("Page recall within the document, %", in_document, PAGES, PAGES_BY_DOMAIN),
        _table("Page recall over the whole collection, %", in_collection, PAGES, PAGES_BY_DOMAIN),
    ]
    if any(name in in_document.figures for name in QUOTES):
        return [
            *tables,
            _table("Quote recall within the document, %", in_document, QUOTES),
            _table("Of text quotes (text.recall) and image quotes (image.recall), %", in_document, QUOTES_BY_KIND),
        ]
    if not any(name in in_document.figures for name in BOXES) and any(name in in_document.figures for name in PAGES):
        return tables
    return [
        *tables,
        _table("Box recall and precision within the document, %", in_document, BOXES),
        _table("Layout recall within the document, %", in_document, LAYOUTS, LAYOUTS_BY_DOMAIN),
        _table("Gold box recall within the document, %", in_document, GOLD_BOXES),
    ]


def _table(title: str, scores: Scores, names: Sequence[str], by_domain: Sequence[str] = ()) -> Table:
    headings = [name.partition("_recall.")[2] or name.partition("_")[2] or name for name in names]
    headings = [name.replace(".recall", "\nrecall").replace("@", "\n@") for name in headings]
    table = make_table([EVIDENCE, "n", *headings], words=[EVIDENCE], title=title, padding=0)
    table.caption_justify = "left"
    table.add_row("overall", str(_counted_questions(scores)), *_means(scores.figures, names))
    has_domains = any(name in scores.figures for name in by_domain)
    table.add_row("95 % interval", "", *_intervals(scores.figures, names), end_section=not has_domains)
    if has_domains:
        table.add_row("mean over domains", "", *_means(scores.figures, by_domain))
        table.add_row("95 % interval", "", *_intervals(scores.figures, by_domain), end_section=True)
    for by in (EVIDENCE, DOMAIN) if has_domains else (EVIDENCE,):
        groups = _group_sizes(scores, by)
        for group in groups:
            n = sum(question.error is None for question in scores.questions if group in question.groups.get(by, ()))
            means = _means(_group(scores, group, by), names)
            label = group if by == EVIDENCE else f"{by}: {group}"
            table.add_row(plain(label), str(n), *means, end_section=group == list(groups)[-1])
    undefined = [f"{name} for {count}" for name in names if (count := _undefined(scores, name))]
    table.caption = f"undefined, and left out of the mean: {', '.join(undefined)}" if undefined else None
    return table


def _group_sizes(scores: Scores, by: str = EVIDENCE) -> dict[str, int]:
    """The number of questions of each type of evidence, or of other groups; failed questions included."""
    sizes = Counter(name for question in scores.questions for name in question.groups.get(by, ()))
    return dict(sorted(sizes.items()))


def _group(scores: Scores, name: str, by: str = EVIDENCE) -> Figures:
    return scores.breakdowns.get(by, {}).get(name, {})


def _counted_questions(scores: Scores) -> int:
    return len(scores.questions) - scores.failed


def _undefined(scores: Scores, name: str) -> int:
    return scores.figures[name].undefined if name in scores.figures else _counted_questions(scores)


def _values(scope: Scope, figures: Figures) -> dict[str, float | None]:
    return {name: figures[name].value if name in figures else None for name in _figure_names(scope, figures)}


def _figure_names(scope: Scope, figures: Figures) -> list[str]:
    """The names of the figures that every dataset has, and of those that only this one has."""
    return [*dict.fromkeys((*retrieval_figures(scope), *figures))]


def _group_values(scope: Scope, figures: Figures) -> dict[str, float | None]:
    """The figures of a group, without means over domains, which only all questions together have."""
    return {name: value for name, value in _values(scope, figures).items() if not name.endswith(DOMAIN_MEAN)}


def _means(figures: Figures, names: Sequence[str]) -> list[str]:
    means = (figures[name].value if name in figures else None for name in names)
    return [UNDEFINED if mean is None else f"{100 * mean:.1f}" for mean in means]


def _intervals(figures: Figures, names: Sequence[str]) -> list[str]:
    bounds = (_bounds(figures.get(name)) for name in names)
    return [UNDEFINED if pair is None else f"{100 * pair[0]:.0f}-{100 * pair[1]:.0f}" for pair in bounds]


def _bounds(estimate: Estimate | None) -> tuple[float, float] | None:
    return None if estimate is None else estimate.bounds
