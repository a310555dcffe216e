"""How well the words that are highlighted for a claim agree with those that people marked.

The claims are in `highlight_claims.jsonl`, written by hand about the sample documents and those that
`made_highlight_pages.py` draws: ruled tables, columns with hyphens, turned pages, a scan. For each claim the words of
its quote that support it (`gold`) were marked before the method was run on it: the fewest whole phrases that say it; in
a table, the cell with the name of its row and the heading of its column; none if the quote does not support the claim.
The claims of the set `before` were used to improve the method. Then the method was frozen, and those of the set `after`
were written and marked, and later those of the sets `last` and `fresh`. The method was changed because of their
figures, and frozen again; then the claims of the set `newest` were written, on new pages, and likewise those of
`unseen`, `final` and `closing`. After these the method was not changed, so their figures are the ones to trust.

Words are counted as they stand on the page. *Precision* is the share of the highlighted words that are gold, and
*recall* that of the gold words that are highlighted, over all words of the claims; a claim whose whole element is shown
lowers recall. *No overlap* counts the highlighted claims without any highlighted word that is gold. *Element* counts
the claims without a highlighted word, and *rightly* those of them without gold words. *Area* is the median of the area
of the highlight's boxes divided by the element's, and the same for the gold words of these claims. The time is that of
`evidence_for` in an open collection: each call reads the page's words and aligns them with the quote's.
"""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from common import Table, arguments, machine, median_seconds, percent, print_results, working_folder
from made_highlight_pages import make_pages
from pydantic import Field

from quoteweave.collection.collection import Collection
from quoteweave.core.boxes import Box, area, share_in
from quoteweave.core.records import PageWord, Quote, Record
from quoteweave.documents.ingest import add
from quoteweave.generation.sentences import text_of
from quoteweave.pipeline.highlighting import evidence_for

CLAIMS = Path(__file__).with_name("highlight_claims.jsonl")
SAMPLES = Path(__file__).parents[1] / "quoteweave" / "samples" / "pdf"
SETS = ("before", "after", "last", "fresh", "newest", "unseen", "final", "closing")
GROUPS = ("text", "tables", "scans", "rotated")
REPEATS = 5


class Claim(Record):
    """A claim, the quote that it cites, and the words of that quote that support it."""

    set: Literal["before", "after", "last", "fresh", "newest", "unseen", "final", "closing"] = Field(
        description="when it was written: see the docstring above"
    )
    group: Literal["text", "tables", "scans", "rotated"]
    kind: Literal["repeated", "paraphrased", "cell", "part", "unsupported"]
    document: str
    page: int = Field(description="from 0")
    begins: str = Field(description="how its quote begins")
    claim: str
    gold: Sequence[str | tuple[str, int]] = Field(
        description="words of the quote, and which, from 1, if there are more"
    )


@dataclass(frozen=True, slots=True)
class Marked:
    """What was highlighted for a claim."""

    claim: Claim
    gold: frozenset[int]
    """Positions of the gold words among the words of its page."""
    shown: frozenset[int]
    area: float
    """The area of the boxes as a share of the element's."""
    gold_area: float
    """The same for the gold words, with a box for each word."""
    seconds: float
    said: tuple[str, ...]
    """The characters of the quote, for reading."""


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--misses", action="store_true", help="print each claim whose highlight is not the gold words")
    options = parser.parse_args()
    host = machine()
    claims = [Claim.model_validate_json(line) for line in CLAIMS.read_text("utf-8").splitlines()]
    with working_folder(None) as folder, Collection.open_or_create(folder / "collection") as collection:
        make_pages(folder)
        add(collection, [SAMPLES, *sorted(folder.glob("*.pdf"))])
        quotes = [quote for _, _, some in collection.iter_documents_quotes() for quote in some if quote.retrievable]
        marked = [_marked(claim, quotes, collection) for claim in claims]
    figures, tables = {}, []
    for name in SETS:
        chosen = [case for case in marked if case.claim.set == name]
        if chosen:
            parts = [(group, [case for case in chosen if case.claim.group == group]) for group in GROUPS]
            rows = [(group, _figures(part)) for group, part in [("all", chosen), *parts] if part]
            figures[name] = dict(rows)
            tables.append(_table(f"{len(chosen)} claims written {name}", rows))
    if options.misses:
        tables += [_misses(marked)]
    print_results(host, figures, tables, options)


def _marked(claim: Claim, quotes: Sequence[Quote], collection: Collection) -> Marked:
    quote = _quote(claim, quotes)
    page = collection.page_words(claim.document, claim.page)
    if page is None:
        raise ValueError(f"{claim.document} has no words")
    words = page.words
    _gold(claim, [(at, word) for at, word in enumerate(text_of(quote).split())])
    within = [(at, word.text) for at, word in enumerate(words) if share_in(word.bbox, quote.bbox) >= 0.5]
    spans = evidence_for(claim.claim, quote, collection)
    boxes = [box for span in spans for box in span.boxes]
    gold = _gold(claim, within)
    return Marked(
        claim=claim,
        gold=gold,
        shown=_under(boxes, words),
        area=sum(map(area, boxes)) / area(quote.bbox),
        gold_area=sum(area(words[at].bbox) for at in gold) / area(quote.bbox),
        seconds=median_seconds(lambda: evidence_for(claim.claim, quote, collection), REPEATS),
        said=tuple(text_of(quote)[span.start : span.end] for span in spans),
    )


def _quote(claim: Claim, quotes: Sequence[Quote]) -> Quote:
    """The shortest quote that begins as the claim says: a whole scanned page begins like its first paragraph."""
    page_quotes = [quote for quote in quotes if (quote.document, quote.page) == (claim.document, claim.page)]
    fitting = [quote for quote in page_quotes if text_of(quote).startswith(claim.begins)]
    if not fitting:
        raise ValueError(f"no quote of page {claim.page} of {claim.document} begins with {claim.begins!r}")
    return min(fitting, key=lambda quote: len(text_of(quote)))


def _gold(claim: Claim, words: Sequence[tuple[int, str]]) -> frozenset[int]:
    """The words, of those numbered, that the claim's gold names. Raises ValueError where they are not there."""
    gold_words: set[int] = set()
    for named in claim.gold:
        phrase, occurrence = (named, None) if isinstance(named, str) else named
        places = list(_places(phrase, words))
        if not places or (occurrence is None and len(places) > 1) or len(places) < (occurrence or 1):
            raise ValueError(f"{phrase!r} is in the quote of {claim.claim!r} {len(places)} times")
        gold_words |= places[(occurrence or 1) - 1]
    return frozenset(gold_words)


def _places(phrase: str, words: Sequence[tuple[int, str]]) -> Iterator[set[int]]:
    """Yield the words that say it, compared by letters and digits alone, so that hyphens at line ends do not matter."""
    wanted = _bare(phrase)
    bare = [(at, _bare(word)) for at, word in words if _bare(word)]
    for first in range(len(bare)):
        joined, last = "", first
        while last < len(bare) and len(joined) < len(wanted):
            joined += bare[last][1]
            last += 1
        if joined == wanted:
            yield {at for at, _ in bare[first:last]}


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _under(boxes: Sequence[Box], words: Sequence[PageWord]) -> frozenset[int]:
    return frozenset(at for at, word in enumerate(words) if any(share_in(word.bbox, box) >= 0.5 for box in boxes))


def _figures(marked: Sequence[Marked]) -> dict[str, float | None]:
    shown, gold = (sum(len(getattr(case, words)) for case in marked) for words in ("shown", "gold"))
    common = sum(len(case.shown & case.gold) for case in marked)
    highlighted = [case for case in marked if case.shown]
    without = [case for case in marked if not case.gold]
    times = sorted(1000 * case.seconds for case in marked)
    return {
        "claims": len(marked),
        "precision": common / shown if shown else None,
        "recall": common / gold if gold else None,
        "highlighted": len(highlighted),
        "no_overlap": sum(not case.shown & case.gold for case in highlighted),
        "median_area": statistics.median(case.area for case in highlighted) if highlighted else None,
        "median_gold_area": statistics.median(case.gold_area for case in highlighted) if highlighted else None,
        "element": len(marked) - len(highlighted),
        "without_gold": len(without),
        "element_rightly": sum(not case.shown for case in without),
        "milliseconds_median": statistics.median(times) if times else None,
        "milliseconds_95": times[int(0.95 * (len(times) - 1))] if times else None,
    }


def _table(title: str, rows: Sequence[tuple[str, dict[str, float | None]]]) -> Table:
    columns = [
        "",
        "claims",
        "precision %",
        "recall %",
        "no overlap",
        "area %",
        "gold's %",
        "element",
        "rightly",
        "ms",
        "ms 95 %",
    ]
    return Table(title, columns, [[name, *_cells(figures)] for name, figures in rows])


def _cells(figures: dict[str, float | None]) -> list[str]:
    return [
        f"{figures['claims']}",
        percent(figures["precision"]),
        percent(figures["recall"]),
        f"{figures['no_overlap']} of {figures['highlighted']}",
        percent(figures["median_area"]),
        percent(figures["median_gold_area"]),
        f"{figures['element']}",
        f"{figures['element_rightly']} of {figures['without_gold']}",
        *(f"{figures[name]:.1f}" for name in ("milliseconds_median", "milliseconds_95")),
    ]


def _misses(marked: Sequence[Marked]) -> Table:
    """A table of the claims with a word too many or too few."""
    rows = [
        [
            case.claim.claim,
            f"+{len(case.shown - case.gold)} -{len(case.gold - case.shown)}",
            " / ".join(case.said),
        ]
        for case in marked
        if case.shown != case.gold
    ]
    return Table("Highlights that are not the gold words", ["claim", "words", "highlighted"], rows)


if __name__ == "__main__":
    main()
