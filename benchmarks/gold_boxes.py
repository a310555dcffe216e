"""Where the evidence in MMDocIR's gold boxes is lost: in parsing, in choosing the context, or in the answer.

A gold box is met where one quote has an intersection over union of 0.5 or more with it. Figures are means over
questions of the share of gold boxes met by any quote of the document (`parser`), by the quotes of a context of 15 and
of 20 (`c15`, `c20`), and by those that the default answer cites (`cited`); `page` is the share of gold boxes with any
quote of their page in the context of 15. `parser`, `c15` and `c20` are what `eval retrieval` prints.

`--boxes` lists boxes that are not met, each with the quote nearest to it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from common import (
    Table,
    add_collection_options,
    arguments,
    collection_of,
    machine,
    mmdocir,
    percent,
    print_results,
    research_folders,
)

from quoteweave.collection.collection import Collection
from quoteweave.core.boxes import Box, iou
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.records import Quote
from quoteweave.evaluation.datasets.mmdocir import load_mmdocir
from quoteweave.evaluation.metrics.box_recall import (
    MIN_IOU,
    GoldBoxRecall,
    Place,
    boxes_met,
    gold_boxes,
    share_met,
)
from quoteweave.evaluation.statistics.intervals import Interval, clustered_interval
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.pipeline.runs.ranking import run_retrieval
from quoteweave.pipeline.search import Search
from quoteweave.retrievers.make_retriever import make_fused

FIGURES = ("parser", "page", "c15", "c20", "cited")
GOALS = {"parser": 0.88, "c15": 0.72}


@dataclass(frozen=True, slots=True)
class BoxRow:
    """The share of a question's gold boxes that is met, by figure."""

    example: str
    document: str
    evidence_types: tuple[str, ...]
    gold_boxes: int
    shares: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class UnmetBox:
    """A gold box that is not in the context of 15."""

    document: str
    page: int  # from 1
    evidence_types: tuple[str, ...]
    question: str
    box: Box
    met_by: str
    """The layout of the quote that meets it; "" if none does."""
    page_in_context: bool
    nearest: str
    """The layout of the quote with the highest IoU; "" if none overlaps."""
    nearest_box: Box | None
    nearest_iou: float


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    parser.add_argument("--boxes", action="store_true", help="list the gold boxes that are not in the context of 15")
    parser.add_argument("--data", type=Path, metavar="DIR", help="other documents and questions in MMDocIR's form")
    options = parser.parse_args()
    host, folder = machine(), options.data or mmdocir()
    with collection_of([folder] if options.data else research_folders(), options) as collection:
        measured = list(_measured(collection, [example for example in load_mmdocir(folder) if example.reference.boxes]))
    rows, unmet = [row for row, _ in measured], [box for _, boxes in measured for box in boxes]
    types = sorted({name for row in rows for name in row.evidence_types})
    groups = {
        "all": rows,
        **{name: [row for row in rows if name in row.evidence_types] for name in types},
        **{name: [row for row in rows if row.document == name] for name in sorted({row.document for row in rows})},
    }
    figures = {
        "goals": GOALS,
        "figures": {name: {"n": len(group_rows), **_plain(group_rows)} for name, group_rows in groups.items()},
        "not_in_context": [asdict(box) for box in unmet],
        "rows": [asdict(row) for row in rows],
    }
    tables = [
        Table(
            "gold boxes met, %", ("", "n", *FIGURES), [_line(name, group_rows) for name, group_rows in groups.items()]
        ),
        Table("95 % interval", ("", *FIGURES), [["over documents", *map(_bounds, _intervals(rows).values())]]),
    ]
    if options.boxes:
        tables += [
            Table("met by no quote", _COLUMNS, [_cells(box) for box in unmet if not box.met_by]),
            Table("met, but not in the context", _COLUMNS, [_cells(box) for box in unmet if box.met_by]),
        ]
    print_results(host, figures, tables, options)


def _measured(collection: Collection, examples: Sequence[Example]) -> Iterator[tuple[BoxRow, list[UnmetBox]]]:
    quotes = {document.name: collection.document_quotes(document.name) for document in collection.documents()}
    measurable = [example for example in examples if example.document in quotes]
    for example, prediction in zip(measurable, contexts_of(collection, measurable), strict=True):
        yield _measure(example, quotes[example.document or ""], prediction)


def contexts_of(collection: Collection, examples: Sequence[Example]) -> Iterator[Prediction]:
    """What the default search of `ask` finds for each question within its document, contexts included."""
    retriever = make_fused(["lexical"], None, collection)
    search, names = Search(retriever, collection=collection), {example.document or "" for example in examples}
    return run_retrieval(examples, retriever, scope="document", documents=names, search=search)


def _measure(example: Example, quotes: Sequence[Quote], prediction: Prediction) -> tuple[BoxRow, list[UnmetBox]]:
    by_page: defaultdict[Place, list[Box]] = defaultdict(list)
    for place, box in _places(quotes):
        by_page[place].append(box)
    recalls = GoldBoxRecall(by_page).row(prediction, example)
    context, gold = prediction.contexts["c15"], gold_boxes(example)
    answer = run_sync(ExtractiveGenerator().answer(example.query, context))
    cited = [context.quote(citation.kind, citation.number) for citation in answer.citations]
    context_places = _places([hit.quote for hit in context.hits])
    pages = {place for place, _ in context_places}
    shares = {name: recalls[f"gold_box_recall.{name}"] for name in ("parser", "c15", "c20")}
    shares["cited"] = share_met(gold, _places([quote for quote in cited if quote is not None]))
    shares["page"] = sum(place in pages for place, _ in gold) / len(gold)
    met = boxes_met(gold, context_places)
    unmet = [_unmet(example, box, quotes, pages) for box, is_met in zip(gold, met, strict=True) if not is_met]
    return BoxRow(example.id, example.document or "", example.evidence_types, len(gold), shares), unmet


def _places(quotes: Sequence[Quote]) -> list[tuple[Place, Box]]:
    return [((quote.document, quote.page), quote.bbox) for quote in quotes]


def _unmet(example: Example, gold: tuple[Place, Box], quotes: Sequence[Quote], pages: set[Place]) -> UnmetBox:
    (document, page), box = gold
    near = [(iou(box, quote.bbox), quote) for quote in quotes if quote.page == page]
    best, nearest = max(near, key=lambda pair: pair[0], default=(0.0, None))
    return UnmetBox(
        document=document,
        page=page + 1,
        evidence_types=example.evidence_types,
        question=example.query.text,
        box=box,
        met_by=nearest.layout if nearest and best >= MIN_IOU else "",
        page_in_context=gold[0] in pages,
        nearest=nearest.layout if nearest and best else "",
        nearest_box=nearest.bbox if nearest and best else None,
        nearest_iou=best,
    )


def _intervals(rows: Sequence[BoxRow]) -> dict[str, Interval | None]:
    documents = [row.document for row in rows]
    return {name: clustered_interval([row.shares[name] for row in rows], documents) for name in FIGURES}


def _plain(rows: Sequence[BoxRow]) -> dict[str, object]:
    return {name: interval and interval.model_dump() for name, interval in _intervals(rows).items()}


def _line(name: str, rows: Sequence[BoxRow]) -> list[str]:
    return [
        name,
        str(len(rows)),
        *(percent(interval.mean if interval else None) for interval in _intervals(rows).values()),
    ]


def _bounds(interval: Interval | None) -> str:
    if interval is None or interval.low is None or interval.high is None:
        return percent(None)
    return f"{100 * interval.low:.0f} to {100 * interval.high:.0f}"


_COLUMNS = ("", "page", "gold box", "nearest", "its box", "IoU", "page in context", "question")


def _cells(unmet: UnmetBox) -> list[str]:
    return [
        f"{unmet.document} ({', '.join(unmet.evidence_types)})",
        str(unmet.page),
        _edges(unmet.box),
        unmet.nearest,
        _edges(unmet.nearest_box or ()),
        f"{unmet.nearest_iou:.2f}",
        "yes" if unmet.page_in_context else "no",
        unmet.question if len(unmet.question) <= 60 else f"{unmet.question[:57]}...",
    ]


def _edges(box: Sequence[float]) -> str:
    return " ".join(f"{edge:.0f}" for edge in box)


if __name__ == "__main__":
    main()
