"""Compares OCR that reads short lines with little padding behind them with PaddleOCR's own width for all lines.

pictures  the raster pictures in MMDocIR's PDFs with a text layer that OCR reads when they are added: processor time,
          and the lines that differ
pages     one page of each of some PDFs with a text layer, drawn and read by OCR: processor time, and how many words
          agree with the text layer
"""

import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from common import Table, arguments, machine, mmdocir, print_results
from parsing_speed import digital_pdfs
from rapidocr import RapidOCR

from quoteweave.collection.stores.content import ImageStore
from quoteweave.documents.layout.page import PageReader
from quoteweave.documents.sources import pdf
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.ocr import MIN_CONFIDENCE
from quoteweave.documents.sources.ocr_engine import HEIGHT, WIDTH, Engine
from quoteweave.documents.sources.raw_page import Pixels, Raster

Readings = list[list[str]]


class WideEngine(Engine):
    """Reads every line in PaddleOCR's width."""

    def __init__(self, language: str) -> None:
        super().__init__(language)
        self.cfg.Rec.rec_img_shape = [3, HEIGHT, WIDTH]

    def recognize_txt(self, img: Any) -> Any:
        """Read lines."""
        return RapidOCR.recognize_txt(self, img)


class Recorder:
    """Collects the pictures that it is given to read, each once."""

    def __init__(self) -> None:
        self.pictures: dict[bytes, Pixels] = {}

    def read(self, picture: Raster) -> list[Line]:
        """Record the picture, and read no lines."""
        self.pictures.setdefault(picture.pixels.tobytes(), picture.pixels)
        return []


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--pages", type=int, metavar="N", default=14, help="pages, each of another PDF (%(default)s)")
    options = parser.parse_args()
    host = machine()
    engines = {"PaddleOCR's width": WideEngine("ch"), "ours": Engine("ch")}
    figures = {"pictures": _pictures(engines), "pages": _pages(engines, options.pages)}
    rows = [[part, name, f"{value:,.1f}"] for part, measured in figures.items() for name, value in measured.items()]
    print_results(host, figures, [Table("short lines", ("", "figure", "value"), rows)], options)


def _pictures(engines: Mapping[str, Callable[..., Any]]) -> Mapping[str, float]:
    recorder = Recorder()
    with tempfile.TemporaryDirectory(prefix="quoteweave-") as folder:
        reader = PageReader(ImageStore(Path(folder)), recorder)
        for path in digital_pdfs(mmdocir() / "pdf"):
            with pdf.open_pdf(path, None) as pages:
                for number in range(pages.count):
                    reader.read(pages.read(number))
    figures, readings = _read(engines, list(recorder.pictures.values()))
    before, after = (Counter(line for lines in of_engine for line in lines) for of_engine in readings)
    return {
        **{"pictures": len(recorder.pictures), **figures},
        **{"lines lost": (before - after).total(), "lines gained": (after - before).total()},
    }


def _pages(engines: Mapping[str, Callable[..., Any]], count: int) -> Mapping[str, float]:
    chance, drawn, truth = random.Random(1), list[Pixels](), Counter[tuple[int, str]]()
    for path in chance.sample(paths := sorted((mmdocir() / "pdf").glob("*.pdf")), len(paths))[:count]:
        with pdf.open_pdf(path, None) as pages:
            raw = pages.read(chance.randrange(pages.count))
        words = Counter((len(drawn), word.text) for line in raw.lines for word in line.words)
        if words.total() >= 40:
            drawn.append(raw.picture.pixels)
            truth += words
    figures, readings = _read(engines, drawn)
    for name, of_engine in zip(engines, readings, strict=True):
        words = Counter((page, word) for page, lines in enumerate(of_engine) for line in lines for word in line.split())
        right = (words & truth).total()
        figures |= {
            f"{name}: recall, %": 100 * right / truth.total(),
            f"{name}: precision, %": 100 * right / words.total(),
        }
    return {"pages": len(drawn), "words": truth.total(), **figures}


def _read(engines: Mapping[str, Callable[..., Any]], pictures: list[Pixels]) -> tuple[dict[str, float], list[Readings]]:
    """Seconds of processor time and lines of each engine, and what it reads; the engines take turns."""
    figures, readings = dict[str, float](), {name: Readings() for name in engines}
    for pixels in pictures:
        for name, engine in engines.items():
            start = time.process_time()
            result = engine(pixels[:, :, ::-1], return_word_box=True)
            figures[f"{name}: s"] = figures.get(f"{name}: s", 0.0) + time.process_time() - start
            texts = zip(result.txts or (), result.scores or (), strict=True)
            readings[name].append([text for text, score in texts if score >= MIN_CONFIDENCE])
    figures |= {f"{name}: lines": float(sum(map(len, lines))) for name, lines in readings.items()}
    return figures, list(readings.values())


if __name__ == "__main__":
    main()
