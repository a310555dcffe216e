"""CiteVQA: gold regions met by the boxes that an answer cites, and how many of them could have been met at all.

The figures are those of the paper's released script (arXiv 2605.12882; opendatalab/CiteVQA, `eval/run.py` at commit
b643eb9). A box *meets* a gold region if they are on the same page of the same document with an IoU of at least 0.5.

    citevqa.recall         gold regions met by a cited box / gold regions
    citevqa.page_recall    gold pages on which a usable box is cited / gold pages
    citevqa.precision      cited boxes that meet a gold region / cited boxes
    citevqa.f1             2 · precision · recall / (precision + recall)

    citevqa.ceiling.parser     gold regions met by any quote of their pages / gold regions
    citevqa.ceiling.context    gold regions met by any quote of the context / gold regions

The last two are upper bounds of recall: no retriever finds what the parser lost, and no answer can cite what the
context lacks. All are means over questions.

`strict` counts each box once, and ignores boxes in a section of thinking. A box that is reversed, without area, outside
its page, or of a document or page that the question does not have, and a mark that names no quote, meets nothing and
counts in precision. Gold that is reversed, without area, outside its page, or on a page that its document lacks is left
out; gold in a document that the collection lacks counts as missed. F1 is 0 if there is gold and none is met.

`published` does what the script does. (1) Precision is the number of gold regions met divided by the number of cited
boxes: a box that meets two counts twice, so precision can be 2 and F1 4/3. A box cited twice counts twice. (2) F1 is
undefined if recall and precision are 0, and so left out of its mean, which is only over the questions with a right box.
(3) Page recall is undefined for every question: the text is cut at `<bbox` before boxes are looked for in it. (4) A box
without a document belongs to the first. (5) An IoU of exactly 0.5 is too small, by 10^-6 in the denominator. (6) Boxes
in a section of thinking count. (7) No box is checked: a gold or cited box outside its page is met, or meets, like any
other, and one that is reversed or without area does not.
"""

from collections.abc import Sequence

from quoteweave.core.boxes import Box
from quoteweave.core.examples import Example, GoldRegion, Prediction
from quoteweave.evaluation.metrics.box_recall import MIN_IOU, Place, boxes_met, share_met
from quoteweave.evaluation.metrics.citations.citation_quality import harmonic_mean
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of
from quoteweave.evaluation.text.responses import (
    CitedBox,
    answer_of,
    box_problem,
    boxed_response,
    citations,
    cited_boxes,
    transposed,
)
from quoteweave.evaluation.text.responses import unread_tags as count_unread_tags

Placed = tuple[Place, Box]
UNUSABLE_GOLD = "citevqa.unusable_gold"
LACKING_GOLD = "citevqa.gold_on_lacking_pages"
UNREAD_GOLD = "citevqa.gold_on_pages_without_quotes"
UNUSABLE_BOXES = "citevqa.unusable_boxes"
UNREAD_TAGS = "citevqa.unread_tags"
EXCHANGED = "citevqa.ceiling.parser, x and y exchanged"
"""The parser's ceiling if the gold were written in the other order: a value above the ceiling shows that it is."""
NOWHERE: Place = ("", -1)
"""The place of a box whose document is not known; no gold is there."""


class CiteVqa:
    """`citevqa.recall`, `.page_recall`, `.precision`, `.f1` and the two ceilings, as fractions; means over questions.

    Other columns count what is reported with the figures: `citevqa.unusable_gold` (reversed, without area or outside
    its page), `citevqa.gold_on_lacking_pages`, `citevqa.gold_on_pages_without_quotes`, `citevqa.unusable_boxes` (cited)
    and `citevqa.unread_tags`, both in the text that the convention reads, and `out_of_range` (marks that name no
    quote). Undefined if the dataset does not ask for boxes, or without a response; for a failed prediction also by the
    `published` convention, because the authors' code writes no line for it.
    """

    name = "citevqa"
    aggregates: tuple[Aggregate, ...] = (
        *(mean_of(f"citevqa.{figure}") for figure in ("recall", "page_recall", "precision", "f1")),
        *(mean_of(f"citevqa.ceiling.{source}") for source in ("parser", "context")),
    )

    def __init__(self, convention: Convention = "strict") -> None:
        self._published = convention == "published"

    def row(self, prediction: Prediction, example: Example) -> Row:
        """Fractions, and counts."""
        if not example.documents or prediction.response is None or prediction.error is not None:
            return {}
        usable = [_placed(region) for region in example.reference.regions if box_problem(region.bbox) is None]
        gold = [(place, box) for place, box in usable if _has_page(place, prediction)]
        text = boxed_response(prediction, example) or ""
        lost = _marks_without_quote(prediction)
        answer = text if self._published else answer_of(text, "own")
        cited = [_placed_box(box, example, unnamed=1 if self._published else None) for box in cited_boxes(answer)]
        cited = cited if self._published else list(dict.fromkeys(cited))
        unread = {(page.document, page.page) for page in prediction.gold_pages or () if not page.boxes}
        figures = _published_figures(cited, example) if self._published else _strict_figures(cited, gold, lost)
        return {
            **{f"citevqa.{name}": value for name, value in figures.items()},
            **_ceilings(gold, prediction),
            UNUSABLE_GOLD: float(len(example.reference.regions) - len(usable)),
            LACKING_GOLD: float(len(usable) - len(gold)),
            UNREAD_GOLD: float(sum(place in unread for place, _ in gold)),
            UNUSABLE_BOXES: float(sum(map(_is_unusable, cited))),
            UNREAD_TAGS: float(count_unread_tags(answer)),
            "out_of_range": float(lost) if prediction.quote_boxes is not None else None,
        }


def _strict_figures(cited: Sequence[Placed], gold: Sequence[Placed], lost: int) -> Row:
    usable = [placed for placed in cited if not _is_unusable(placed)]
    recall = share_met(gold, usable)
    right = sum(boxes_met(usable, gold))
    precision = right / (len(cited) + lost) if cited or lost else None
    gold_pages, cited_pages = {place for place, _ in gold}, {place for place, _ in usable}
    return {
        "recall": recall,
        "page_recall": len(gold_pages & cited_pages) / len(gold_pages) if gold_pages else None,
        "precision": precision if gold else None,
        "f1": harmonic_mean(recall, precision or 0.0),
    }


def _published_figures(cited: Sequence[Placed], example: Example) -> Row:
    gold = [_placed(region) for region in example.reference.regions]
    met = sum(any(_is_published_match(gold_box, cited_box) for cited_box in cited) for gold_box in gold)
    recall = (met / len(gold)) if gold else None
    precision = (met / len(cited)) if cited else None
    f1 = harmonic_mean(recall, precision) or None  # 0 is undefined, too
    return {"recall": recall, "page_recall": None, "precision": precision, "f1": f1}


def _is_published_match(gold: Placed, cited: Placed) -> bool:
    """The script's IoU, copied because it counts areas of reversed boxes and depends on the smallest differences."""
    (gold_place, a), (cited_place, b) = gold, cited
    left, top, right, bottom = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    if gold_place != cited_place or right <= left or bottom <= top:
        return False
    common = (right - left) * (bottom - top)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    return common / (areas[0] + areas[1] - common + 1e-6) >= MIN_IOU


def _ceilings(gold: Sequence[Placed], prediction: Prediction) -> Row:
    row: dict[str, float | None] = {}
    if prediction.gold_pages is not None:
        parsed = [((page.document, page.page), box) for page in prediction.gold_pages for box in page.boxes]
        row["citevqa.ceiling.parser"] = share_met(gold, parsed)
        row[EXCHANGED] = share_met([(place, transposed(box)) for place, box in gold], parsed)
    context, boxes = prediction.context, prediction.quote_boxes
    if context is not None and boxes is not None:
        quotes = [hit.quote for hit in context.hits]
        shown = [((quote.document, quote.page), box) for quote in quotes for box in boxes.get(quote.id, ())]
        row["citevqa.ceiling.context"] = share_met(gold, shown)
    return row


def _placed(region: GoldRegion) -> Placed:
    return (region.document, region.page), region.bbox


def _has_page(place: Place, prediction: Prediction) -> bool:
    """Whether the document has the page, as far as this is known."""
    pages = prediction.gold_pages
    return pages is None or any((page.document, page.page) == place for page in pages)


def _placed_box(cited: CitedBox, example: Example, *, unnamed: int | None) -> Placed:
    """A cited box, x first, with its place; `unnamed` is the document that is assumed for a box which names none."""
    names = example.documents
    number = cited.document if cited.document is not None else 1 if len(names) == 1 else unnamed
    document = names[number - 1] if number is not None and 1 <= number <= len(names) else None
    box = transposed(cited.box) if example.reference.y_first else cited.box
    return (NOWHERE if document is None else (document, cited.page - 1)), box


def _is_unusable(cited: Placed) -> bool:
    (_, page), box = cited
    return page < 0 or box_problem(box) is not None


def _marks_without_quote(prediction: Prediction) -> int:
    """How many marks name no quote of the context; 0 for an answer that came with boxes."""
    context = prediction.context
    if context is None or prediction.quote_boxes is None or prediction.response is None:
        return 0
    return sum(context.quote(*mark) is None for mark in citations(prediction.response, "own").marks())
