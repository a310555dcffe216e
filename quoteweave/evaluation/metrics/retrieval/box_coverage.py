"""Box recall and precision: the share of gold area that quotes cover, and of quote area that is gold."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from quoteweave.core.boxes import Box, union_area
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of

Place = tuple[str, int]
"""A document and a page of it."""
Boxes = Mapping[Place, Sequence[Box]]


class BoxCoverage:
    """Area shared by gold boxes and the boxes of the first k quotes, for each k of `cutoffs`; means over questions.

    With G the union of a question's gold boxes and Q the union of the first k quotes' boxes, both over all pages and
    overlaps counted once:

        box_recall@k = area(G ∩ Q) / area(G)        box_precision@k = area(G ∩ Q) / area(Q)

    Whole-page quotes are left out of the ranking before its first k are taken: they cover any gold without finding it.

    Both are undefined without gold area or without a document, and where nothing was searched; precision also where the
    first k quotes have no area. `layout_recall` is the published variant, which counts overlaps as often as
    they occur.
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
            found = _by_place(quotes[:k])
            quote_area, common = _area(found), _common_area(gold, found)
            row |= {f"quote_area@{k}": quote_area, f"common_area@{k}": common}
            row[f"box_recall@{k}"] = common / gold_area
            row[f"box_precision@{k}"] = common / quote_area if quote_area else None
        return row


def gold_boxes(example: Example) -> list[tuple[Place, Box]]:
    """The gold boxes of an example, each with its place; none where its document is not known."""
    if example.document is None:
        return []
    return [((example.document, box.page), box.bbox) for box in example.reference.boxes]


def ranked_boxes(prediction: Prediction) -> list[tuple[Place, Box]] | None:
    """The boxes of a ranking without its whole-page quotes, best first; None where no quotes were searched."""
    if prediction.scope == "context" or prediction.items:
        return None
    quotes = [hit.quote for hit in prediction.hits if hit.quote.layout != "page"]
    return [((quote.document, quote.page), quote.bbox) for quote in quotes]


def _by_place(boxes: Iterable[tuple[Place, Box]]) -> Boxes:
    places: defaultdict[Place, list[Box]] = defaultdict(list)
    for place, box in boxes:
        places[place].append(box)
    return places


def _area(boxes: Boxes) -> float:
    return sum(union_area(boxes[place]) for place in sorted(boxes))


def _common_area(gold: Boxes, found: Boxes) -> float:
    total = 0.0
    for place in sorted(gold.keys() & found.keys()):
        ours, theirs = union_area(gold[place]), union_area(found[place])
        common = ours + theirs - union_area([*gold[place], *found[place]])
        # Rounding may carry the difference a hair outside what is possible, and a share above 1 would be read as a bug.
        total += min(max(common, 0.0), ours, theirs)
    return total
