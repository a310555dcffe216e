"""Recall of gold boxes: of their area (with precision), of boxes that others cover, and MMDocIR's layout recall."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from quoteweave.core.answers import CONTEXT_SIZES, Context
from quoteweave.core.boxes import Box, area, intersection, iou, union_area
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of

Place = tuple[str, int]
"""A document and one of its pages."""
Boxes = Mapping[Place, Sequence[Box]]


class BoxCoverage:
    """The area shared by gold boxes and the boxes of the first k quotes, for each k of `cutoffs`; means over questions.

    With G the union of a question's gold boxes and Q the union of the first k quotes' boxes, both over all pages and
    with overlaps counted once:

        box_recall@k = area(G ∩ Q) / area(G)        box_precision@k = area(G ∩ Q) / area(Q)

    Whole-page quotes are removed from the ranking before its first k are taken: they cover any gold without finding it.

    Both are undefined without gold area or without a document, and if nothing was searched; precision also if the first
    k quotes have no area. `layout_recall` is the published variant, which counts overlaps as often as they occur.
    """

    name = "box_coverage"

    def __init__(self, *, cutoffs: Sequence[int] = (5, 10, 20)) -> None:
        self._cutoffs = tuple(cutoffs)
        self.aggregates: tuple[Aggregate, ...] = tuple(
            mean_of(f"box_{figure}@{k}") for figure in ("recall", "precision") for k in self._cutoffs
        )

    def row(self, prediction: Prediction, example: Example) -> Row:
        """`gold_area`, `quote_area@k` and `common_area@k` in square points; `box_recall@k` and `box_precision@k`."""
        gold = _by_place(gold_boxes(example))
        gold_area = _area(gold)
        quotes = ranked_boxes(prediction)
        if quotes is None or not gold_area:
            return {}
        row: dict[str, float | None] = {"gold_area": gold_area}
        for k in self._cutoffs:
            quote_boxes = _by_place(quotes[:k])
            quote_area, common = _area(quote_boxes), _common_area(gold, quote_boxes)
            row |= {f"quote_area@{k}": quote_area, f"common_area@{k}": common}
            row[f"box_recall@{k}"] = common / gold_area
            row[f"box_precision@{k}"] = common / quote_area if quote_area else None
        return row


def gold_boxes(example: Example) -> list[tuple[Place, Box]]:
    """The gold boxes of an example, each with its place; none if its document is not known."""
    if example.document is None:
        return []
    return [((example.document, box.page), box.bbox) for box in example.reference.boxes]


def ranked_boxes(prediction: Prediction) -> list[tuple[Place, Box]] | None:
    """The boxes of a ranking without its whole-page quotes, best first; None if no ranking of quotes was stored."""
    if not _has_ranking(prediction):
        return None
    quotes = [hit.quote for hit in prediction.hits if hit.quote.layout != "page"]
    return [((quote.document, quote.page), quote.bbox) for quote in quotes]


def _has_ranking(prediction: Prediction) -> bool:
    """Whether quotes were searched and the ranking was stored; an answer has only the context made from it."""
    if prediction.scope == "context" or prediction.items:
        return False
    return prediction.context is None or bool(prediction.hits)


def _by_place(boxes: Iterable[tuple[Place, Box]]) -> Boxes:
    places: defaultdict[Place, list[Box]] = defaultdict(list)
    for place, box in boxes:
        places[place].append(box)
    return places


def _area(boxes: Boxes) -> float:
    return sum(union_area(boxes[place]) for place in sorted(boxes))


def _common_area(gold: Boxes, found_boxes: Boxes) -> float:
    total = 0.0
    for place in sorted(gold.keys() & found_boxes.keys()):
        ours, theirs = union_area(gold[place]), union_area(found_boxes[place])
        common = ours + theirs - union_area([*gold[place], *found_boxes[place]])
        # Rounding may move the difference slightly out of the possible range, and a share above 1 would look wrong.
        total += min(max(common, 0.0), ours, theirs)
    return total


class LayoutRecall:
    """`layout_recall@k` of MMDocIR (arXiv 2501.08828, its layout-level recall), means over questions and over domains.

    With q_1 … q_k the boxes of the first k quotes and g the gold boxes, only for pairs on the same page:

        layout_recall@k = Σ_i Σ_g area(q_i ∩ g) / Σ_g area(g)

    An area that several quotes cover counts for each of them, so the figure can exceed 1; `box_recall@k` counts it
    once. Names conflict: neither is the share of gold layout elements that were found, which is `recall@k` of
    `rankings`.

    The definition follows `recall_layout` in a copy of the authors' evaluation script; on constructed rankings both
    agree. The published results were not available. The authors' candidates are only layout elements, so whole-page
    quotes are removed before the first k are taken. Undefined where `box_recall@k` is; theirs is 0 without gold area.
    """

    name = "layout_recall"

    def __init__(self, *, cutoffs: Sequence[int] = (1, 5, 10)) -> None:
        self._cutoffs = tuple(cutoffs)
        self.aggregates: tuple[Aggregate, ...] = tuple(
            mean_of(f"layout_recall@{k}", by_domain=True) for k in self._cutoffs
        )

    def row(self, prediction: Prediction, example: Example) -> Row:
        """`layout_recall@k`, 0 or more."""
        gold, quotes = gold_boxes(example), ranked_boxes(prediction)
        gold_area = sum(area(box) for _, box in gold)
        if quotes is None or not gold_area:
            return {}
        overlaps = [
            sum(area(intersection(box, gold_box)) for gold_place, gold_box in gold if gold_place == place)
            for place, box in quotes
        ]
        return {f"layout_recall@{k}": sum(overlaps[:k]) / gold_area for k in self._cutoffs}


MIN_IOU = 0.5
"""The intersection over union from which a box meets another, as in CiteVQA (arXiv 2605.12882)."""


def boxes_met(gold: Sequence[tuple[Place, Box]], boxes: Iterable[tuple[Place, Box]]) -> list[bool]:
    """Tell for each gold box whether one of `boxes`, on the same page of the same document, meets it.

    A box may meet several gold boxes. A box without area meets none and is met by none.
    """
    places = _by_place(boxes)
    return [any(iou(gold_box, box) >= MIN_IOU for box in places.get(place, ())) for place, gold_box in gold]


def share_met(gold: Sequence[tuple[Place, Box]], boxes: Iterable[tuple[Place, Box]]) -> float | None:
    """Return the share of gold boxes that one of `boxes` meets, 0 to 1; None without gold boxes.

    Over all quotes of a document, it is the parser's ceiling: no citation of a quote can reach more. Over the quotes of
    a context, it is the context's ceiling. All boxes must have the same unit, usually points of the page.

    >>> gold = [(("a.pdf", 0), (0, 0, 100, 100)), (("a.pdf", 1), (0, 0, 100, 100))]
    >>> share_met(gold, [(("a.pdf", 0), (0, 0, 100, 50)), (("a.pdf", 1), (0, 0, 100, 49))])
    0.5
    """
    return sum(boxes_met(gold, boxes)) / len(gold) if gold else None


class GoldBoxRecall:
    """`gold_box_recall.parser`, `.c15` and `.c20`: the share of a question's gold boxes that quotes meet (`share_met`).

    `parser` is over all quotes of the collection on the gold pages, so no answer can reach more; `c15` and `c20` are
    over the contexts of 10 text and 5 image quotes and of 12 and 8 (`core.answers.CONTEXT_SIZES`) that a generator
    would get. Whole-page quotes count, because with a minimum IoU of 0.5 they only meet boxes that fill half of the
    page.

    All are undefined without gold boxes or without a document; `parser` also if the quotes of that document are not
    known, and the others if no contexts were stored.
    """

    name = "gold_box_recall"
    aggregates: tuple[Aggregate, ...] = tuple(mean_of(f"gold_box_recall.{of}") for of in ("parser", *CONTEXT_SIZES))

    def __init__(self, quotes: Boxes) -> None:
        """`quotes` has the boxes of a collection's quotes, by document and page."""
        self._quotes = quotes
        self._documents = {document for document, _ in quotes}

    def row(self, prediction: Prediction, example: Example) -> Row:
        """`gold_boxes`, a count, and the shares, 0 to 1."""
        gold = gold_boxes(example)
        if not gold:
            return {}
        row: dict[str, float | None] = {"gold_boxes": float(len(gold)), "gold_box_recall.parser": None}
        if example.document in self._documents:
            places = {place for place, _ in gold}
            page_boxes = [(place, box) for place in places for box in self._quotes.get(place, ())]
            row["gold_box_recall.parser"] = share_met(gold, page_boxes)
        for name, context in _contexts(prediction).items():
            hits = context.hits
            context_boxes = [((hit.quote.document, hit.quote.page), hit.quote.bbox) for hit in hits]
            row[f"gold_box_recall.{name}"] = share_met(gold, context_boxes)
        return row


def _contexts(prediction: Prediction) -> Mapping[str, Context]:
    """The contexts stored with a ranking; empty ones if nothing was found, none if none were stored."""
    if not _has_ranking(prediction):
        return {}
    if not prediction.contexts and not prediction.hits:
        return dict.fromkeys(CONTEXT_SIZES, Context())
    return prediction.contexts
