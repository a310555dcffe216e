"""Counts the text that real pages show beside their text layer and figures, and the words that OCR reads there.

Of each PDF of a folder some pages are drawn at random. Prints the pages that show such text, the places, how many of
them OCR reads words on that the text layer lacks there, those words, and the time of looking, as a share of reading the
page without OCR.
"""

import random
import time
from collections import Counter
from pathlib import Path

from common import Table, arguments, machine, print_results, research_folders

from quoteweave.core.boxes import Box
from quoteweave.documents.layout.analyse import analyse_layout
from quoteweave.documents.layout.blocks import LineBlock
from quoteweave.documents.layout.unread.text_layer import has_more_text, is_shown_twice, unread_areas
from quoteweave.documents.layout.used_lines import used_lines
from quoteweave.documents.sources.lines import Line, translated
from quoteweave.documents.sources.ocr import RapidOcr
from quoteweave.documents.sources.pdf import open_pdf
from quoteweave.documents.sources.raw_page import Raster, RawPage

MARGIN = 5.0  # as `unread.pictures` shows these places


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--folder", type=Path, help="PDFs, also in folders within (default: those of the benchmarks)")
    parser.add_argument("--pages", type=int, default=6, help="pages drawn of each PDF")
    options = parser.parse_args()
    chance, counts = random.Random(5), Counter[str]()
    seconds = {"reading": 0.0, "looking": 0.0}
    folders = [options.folder] if options.folder else research_folders()
    for file in sorted(file for folder in folders for file in folder.rglob("*.pdf")):
        with open_pdf(file, None) as pages:
            count = pages.count
        for number in sorted(chance.sample(range(count), min(count, options.pages))):
            start = time.process_time()
            with open_pdf(file, None) as pages:
                page = pages.read(number)
            _count(page, start, counts, seconds)
    counts["looking, % of reading"] = round(100 * seconds["looking"] / seconds["reading"])
    rows = [[name, f"{count:,}"] for name, count in counts.items()]
    print_results(machine(), dict(counts), [Table("text beside the text layer", ("", ""), rows)], options)


def _count(page: RawPage, start: float, counts: Counter[str], seconds: dict[str, float]) -> None:
    """Add what a page, which has been read since `start`, shows beside its text layer."""
    used = used_lines(page, None)
    elements, _ = analyse_layout(used.lines, used.picture, used.page_size)
    words = [word for line in used.lines for word in line.words]
    pictures = [element.box for element in elements if not isinstance(element, LineBlock)]
    read = time.process_time()
    areas = unread_areas(used.picture, words, [*pictures, *page.buttons]) if used.source == "text_layer" else []
    seconds["reading"] += read - start
    seconds["looking"] += time.process_time() - read
    ocr = RapidOcr()
    pictures_read = (_read(area, used.picture, ocr) for area in areas)
    new = [
        lines
        for lines in pictures_read
        if lines and (has_more_text(lines, used.lines) or is_shown_twice(lines, used.lines, used.picture, ocr))
    ]
    counts["pages"] += 1
    counts["pages with such text"] += bool(new)
    counts["places"] += len(areas)
    counts["places with words that the layer lacks"] += len(new)
    counts["words on these"] += sum(len(line.words) for lines in new for line in lines)


def _read(area: Box, picture: Raster, ocr: RapidOcr) -> list[Line]:
    """What OCR reads in a box of a page, in coordinates of the page."""
    x, y = (max(0.0, edge - MARGIN) for edge in area[:2])
    return [translated(line, x, y) for line in ocr.read(Raster(picture.cut(area, margin=MARGIN), picture.scale))]


if __name__ == "__main__":
    main()
