"""How well the quotes of MMDocIR's documents meet the boxes that people drew around the evidence.

Pictures: the share of gold boxes that one image quote meets with an intersection over union of at least 0.5, for
questions whose only type of evidence is figure, chart or table, on pages with a text layer. Coverage: the share of all
gold area that lies in quotes of less than half a page each. Whole-page quotes count in neither.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

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
from quoteweave.core.boxes import Box, area, intersection, iou, union_area
from quoteweave.core.records import Page, Quote
from quoteweave.evaluation.datasets.mmdocir import load_mmdocir

PICTURES = {"figure", "chart", "table"}
MET = 0.5
MAX_SHARE = 0.5  # share of the page
# Gold boxes of which less than this is covered are listed.
LISTED = 0.85
GOALS = {"pictures": 0.70, "coverage": 0.90}


@dataclass(frozen=True, slots=True)
class BoxResult:
    """How one gold box was met."""

    document: str
    page: int  # from 1
    evidence_types: tuple[str, ...]
    box: Box
    text_layer: bool
    best_iou: float | None  # None where the box is not that of a picture alone
    gold_area: float  # square points
    covered_area: float

    @property
    def is_picture(self) -> bool:
        """Whether the box counts among the pictures."""
        return self.text_layer and self.best_iou is not None

    @property
    def is_met(self) -> bool:
        """Whether one image quote meets the box."""
        return self.best_iou is not None and self.best_iou >= MET


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    options = parser.parse_args()
    host = machine()
    with collection_of(research_folders(), options) as collection:
        results = list(_results(collection))
    pictures = [result for result in results if result.is_picture]
    missed = [result for result in pictures if not result.is_met]
    uncovered = [result for result in results if result.covered_area < LISTED * result.gold_area]
    groups = {
        "pages with a text layer": [result for result in results if result.text_layer],
        "pages read by OCR": [result for result in results if not result.text_layer],
        "all pages": results,
    }
    shares: list[tuple[str, int, float | None, float | None]] = [
        ("pictures met", len(pictures), _share_met(pictures), GOALS["pictures"])
    ]
    for name, group in groups.items():
        goal = GOALS["coverage"] if group is groups["pages with a text layer"] else None
        shares.append((f"gold area covered, {name}", len(group), _coverage(group), goal))
    figures = {
        "shares": [{"what": label, "n": n, "share": share, "goal": goal} for label, n, share, goal in shares],
        "pictures_missed": [asdict(result) for result in missed],
        "uncovered": [asdict(result) for result in uncovered],
    }
    rows = [[label, str(n), percent(share), percent(goal)] for label, n, share, goal in shares]
    tables = [
        Table("quotes against gold boxes", ("", "gold boxes", "%", "goal"), rows),
        Table("pictures missed", ("", "page", "box", "best IoU"), [_miss(result) for result in missed]),
        Table("gold boxes little covered", ("", "page", "box", "covered, %"), [_gap(result) for result in uncovered]),
    ]
    print_results(host, figures, tables, options)


def _results(collection: Collection) -> Iterator[BoxResult]:
    names = {document.name for document in collection.documents()}
    examples = [example for example in load_mmdocir(mmdocir()) if example.document in names]
    pages: dict[str, dict[int, Page]] = {}
    quotes: dict[str, dict[int, list[Quote]]] = {}
    for example in examples:
        name = example.document or ""
        if name not in pages:
            pages[name] = {page.number: page for page in collection.pages(name)}
            quotes[name] = _by_page(collection.document_quotes(name))
        alone = len(example.evidence_types) == 1 and example.evidence_types[0] in PICTURES
        for gold in example.reference.boxes:
            page_quotes, page = quotes[name].get(gold.page, []), pages[name][gold.page]
            small = [quote.bbox for quote in page_quotes if area(quote.bbox) < MAX_SHARE * page.width * page.height]
            yield BoxResult(
                document=name,
                page=gold.page + 1,
                evidence_types=example.evidence_types,
                box=gold.bbox,
                text_layer=page.text_source == "text_layer",
                best_iou=_best(gold.bbox, page_quotes) if alone else None,
                gold_area=area(gold.bbox),
                covered_area=union_area([intersection(gold.bbox, box) for box in small]),
            )


def _by_page(quotes: Sequence[Quote]) -> dict[int, list[Quote]]:
    pages: defaultdict[int, list[Quote]] = defaultdict(list)
    for quote in quotes:
        if quote.layout != "page":
            pages[quote.page].append(quote)
    return pages


def _best(gold: Box, quotes: Sequence[Quote]) -> float:
    return max((iou(gold, quote.bbox) for quote in quotes if quote.kind == "image"), default=0.0)


def _share_met(pictures: Sequence[BoxResult]) -> float | None:
    return sum(result.is_met for result in pictures) / len(pictures) if pictures else None


def _coverage(results: Sequence[BoxResult]) -> float | None:
    gold = sum(result.gold_area for result in results)
    return sum(result.covered_area for result in results) / gold if gold else None


def _place(result: BoxResult) -> list[str]:
    place = f"{result.document} ({', '.join(result.evidence_types)})"
    return [place, str(result.page), " ".join(f"{edge:.0f}" for edge in result.box)]


def _miss(result: BoxResult) -> list[str]:
    return [*_place(result), f"{result.best_iou or 0:.2f}"]


def _gap(result: BoxResult) -> list[str]:
    return [*_place(result), percent(result.covered_area / result.gold_area if result.gold_area else None)]


if __name__ == "__main__":
    main()
