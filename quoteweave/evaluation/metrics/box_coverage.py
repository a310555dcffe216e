"""Box recall and precision: how much of the gold area is covered by quotes, and how much of their area is gold."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from quoteweave.core.boxes import Box, union_area
from quoteweave.core.records import Prediction, Reference
from quoteweave.evaluation.metrics.summary import Row, mean_over_questions


class BoxCoverage:
    """Area shared by gold boxes and the boxes of the first k quotes, for each k of `cutoffs`.

    With G the union of a question's gold boxes and Q the union of the first k quotes' boxes, both over all pages of the
    document and overlaps counted once:

        box_recall@k = area(G ∩ Q) / area(G)        box_precision@k = area(G ∩ Q) / area(Q)

    Whole-page quotes are left out of the ranking before its first k are taken: they cover any gold without finding it.

    For rankings within one document: boxes are told apart by page number alone. Both are undefined without gold area,
    and precision also where the first k quotes have no area.
    """

    def __init__(self, *, cutoffs: Sequence[int] = (5, 10, 20)) -> None:
        self._cutoffs = tuple(cutoffs)
        self.names = tuple(f"box_{figure}@{k}" for figure in ("recall", "precision") for k in self._cutoffs)

    def row(self, prediction: Prediction, reference: Reference) -> Row:
        """`gold_area`, `quote_area@k` and `common_area@k` in square points; `box_recall@k` and `box_precision@k`."""
        gold = _by_page((box.page, box.bbox) for box in reference.boxes)
        quotes = [hit.quote for hit in prediction.hits if hit.quote.layout != "page"]
        gold_area = _area(gold)
        row: dict[str, float | None] = {"gold_area": gold_area}
        for k in self._cutoffs:
            found = _by_page((quote.page, quote.bbox) for quote in quotes[:k])
            quote_area, common = _area(found), _common_area(gold, found)
            row |= {f"quote_area@{k}": quote_area, f"common_area@{k}": common}
            row[f"box_recall@{k}"] = common / gold_area if gold_area else None
            row[f"box_precision@{k}"] = common / quote_area if gold_area and quote_area else None
        return row

    def summarise(self, rows: Sequence[Row]) -> dict[str, float | None]:
        """The mean over questions of each `box_recall@k` and `box_precision@k`."""
        return mean_over_questions(rows, self.names)


def _by_page(boxes: Iterable[tuple[int, Box]]) -> Mapping[int, list[Box]]:
    pages: defaultdict[int, list[Box]] = defaultdict(list)
    for page, box in boxes:
        pages[page].append(box)
    return pages


def _area(pages: Mapping[int, list[Box]]) -> float:
    return sum(union_area(pages[page]) for page in sorted(pages))


def _common_area(gold: Mapping[int, list[Box]], found: Mapping[int, list[Box]]) -> float:
    total = 0.0
    for page in sorted(gold.keys() & found.keys()):
        ours, theirs = union_area(gold[page]), union_area(found[page])
        common = ours + theirs - union_area([*gold[page], *found[page]])
        # Rounding may carry the difference a hair outside what is possible, and a share above 1 would be read as a bug.
        total += min(max(common, 0.0), ours, theirs)
    return total
