"""How fast documents become a searchable collection, and how much memory that takes.

digital         MMDocIR's PDFs whose pages all have a text layer, into a fresh collection without OCR, two processes;
                beside pypdfium2 alone, which in one process reads each page's text and draws it at 144 dpi
ocr             pages of those that are scanned throughout, with OCR; beside rapidocr alone on the same pages, drawn
memory          `quoteweave add` of a long made PDF, with text, a table and a chart on each page, without OCR
memory-scanned  the same, each page a picture, without OCR
memory-ocr      the same as memory, with OCR, on as many pages as `ocr`
ocr-digital     the samples whose pages all have a text layer, the long made PDF and each PDF of `digital`, with OCR
                and without
small-files     2,000 and 20,000 text files of two to six paragraphs
large-text      a text file of 50 MB
words           how much processor time and disk space it takes to store the words of pages, for the documents of
                `digital`, in one process and without OCR; compared with the same without words
"""

import hashlib
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from common import REPOSITORY, Table, arguments, machine, median_seconds, mmdocir, print_results, seconds
from long_pdf import make_long_pdf
from made_quotes import Writing
from peak_memory import run_and_watch

DPI = 144
SAMPLES = REPOSITORY / "quoteweave" / "samples" / "pdf"
Figures = Mapping[str, float]


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), help="what to measure (all)")
    parser.add_argument(
        "--checkout",
        type=Path,
        metavar="DIR",
        help="of small-files and large-text: time another version, checked out here",
    )
    parser.add_argument("--pages", type=int, metavar="N", default=60, help="pages to read by OCR (%(default)s)")
    parser.add_argument("--long", type=int, metavar="N", default=500, help="pages of the made PDF (%(default)s)")
    parser.add_argument("--repeats", type=int, metavar="N", default=3, help="runs, for the median (%(default)s)")
    options = parser.parse_args()
    host = machine()
    if options.checkout:
        os.chdir(options.checkout)  # `python -m` takes the package from there
    measured = {name: PARTS[name](options.pages, options.long, options.repeats) for name in options.only}
    rows = [[name, figure, f"{value:,.2f}"] for name, figures in measured.items() for figure, value in figures.items()]
    print_results(host, measured, [Table("speed and memory of adding", ("", "figure", "value"), rows)], options)


def digital(_pages: int, _long: int, repeats: int) -> Figures:
    """Pages a second of PDFs with a text layer, without OCR."""
    paths = digital_pdfs(mmdocir() / "pdf")
    pages = sum(len(_text_layers(path)) for path in paths)
    ours = statistics.median(_add_seconds(paths, ocr=False) for _ in range(repeats))
    alone = median_seconds(lambda: _read_and_draw(paths), repeats)
    return {
        "documents": len(paths),
        "pages": pages,
        "pages a second": pages / ours,
        "pages a second, pypdfium2 alone": pages / alone,
        "times as long as pypdfium2": ours / alone,
    }


def ocr(pages: int, _long: int, _repeats: int) -> Figures:
    """Seconds a page of PDFs without a text layer, with OCR."""
    paths = [path for path in sorted((mmdocir() / "pdf").glob("*.pdf")) if not any(_text_layers(path))]
    with TemporaryDirectory(prefix="quoteweave-") as folder:
        page_counts = _first_pages(paths, pages, Path(folder))
        ours = _add_seconds(list(page_counts), ocr=True)
        alone = _rapidocr_seconds(list(page_counts))
    count = sum(page_counts.values())
    return {
        "pages": count,
        "seconds a page": ours / count,
        "seconds a page, rapidocr alone": alone / count,
        "times as long as rapidocr": ours / alone,
    }


def memory(_pages: int, long: int, _repeats: int, *, scanned: bool = False, ocr: bool = False) -> Figures:
    """Peak memory of `quoteweave add` of a long PDF, in two processes."""
    with TemporaryDirectory(prefix="quoteweave-") as folder:
        path = Path(folder) / "long.pdf"
        make_long_pdf(path, long, scanned=scanned)
        command = [sys.executable, "-m", "quoteweave", "add", str(path), "-c", f"{folder}/collection"]
        peak = run_and_watch([*command, "--processes", "2", "--ocr" if ocr else "--no-ocr"])
    return {"pages": long, "peak, GB": peak.bytes / 1e9, "pages a second": long / peak.seconds}


def memory_scanned(pages: int, long: int, repeats: int) -> Figures:
    """As `memory`, each page a picture."""
    return memory(pages, long, repeats, scanned=True)


def memory_ocr(pages: int, _long: int, repeats: int) -> Figures:
    """As `memory`, with OCR, on fewer pages: it takes a second a page, and its memory does not grow with them."""
    return memory(pages, pages, repeats, ocr=True)


def ocr_digital(_pages: int, long: int, repeats: int) -> Figures:
    """How much longer PDFs with a text layer take with OCR than without, each by itself, and MMDocIR's together."""
    mmdocirs = digital_pdfs(mmdocir() / "pdf")
    with TemporaryDirectory(prefix="quoteweave-") as folder:
        pdf = Path(folder, f"made PDF of {long} pages.pdf")
        make_long_pdf(pdf, long)
        times = {path.stem: _ocr_seconds(path, repeats) for path in (*digital_pdfs(SAMPLES), pdf)}
    # Once each: they take minutes.
    once = {path.stem: _ocr_seconds(path, 1) for path in mmdocirs}
    together = sum(with_ocr for with_ocr, _ in once.values()), sum(without for _, without in once.values())
    figures = dict[str, float]()
    for name, (with_ocr, without) in {**times, **once, "MMDocIR's together": together}.items():
        figures[f"{name}: seconds with OCR"], figures[f"{name}: seconds without"] = with_ocr, without
        figures[f"{name}: times as long"] = with_ocr / without
    return figures


def small_files(_pages: int, _long: int, _repeats: int) -> Figures:
    """Seconds and peak memory of `quoteweave add` of many small text files."""
    writing, figures = Writing(seed=0), dict[str, float]()
    for count in (2_000, 20_000):
        with TemporaryDirectory(prefix="quoteweave-") as folder:
            files = Path(folder, "files")
            for number in range(count):
                path = files / f"{number // 500:02}" / f"{number:05}.txt"
                path.parent.mkdir(parents=True, exist_ok=True)
                topic = writing.topic()
                path.write_text("\n\n".join(_paragraph(writing, topic) for _ in range(2 + number % 5)))
            figures |= {f"{count:,} files: {name}": value for name, value in _add_text(files).items()}
    return figures


def large_text(_pages: int, _long: int, _repeats: int) -> Figures:
    """Seconds and peak memory of `quoteweave add` of a text of 50 MB."""
    writing, size = Writing(seed=0), 50 * 10**6
    with TemporaryDirectory(prefix="quoteweave-") as folder:
        path = Path(folder, "files", "large.txt")
        path.parent.mkdir()
        topic = writing.topic()
        with path.open("w") as file:
            while file.tell() < size:
                file.write(_paragraph(writing, topic) + "\n\n")
        return _add_text(path.parent)


def words(_pages: int, _long: int, repeats: int) -> Figures:
    """How much time and disk space it takes to store the words of pages while documents are added."""
    paths = digital_pdfs(mmdocir() / "pdf")
    rounds = [[_kept(paths, words=words) for words in (True, False)] for _ in range(repeats)]
    slower = [with_words[0] / without[0] - 1 for with_words, without in rounds]
    (_, room), (_, room_without) = rounds[0]
    return {
        "documents": len(paths),
        "slower, %": 100 * statistics.median(slower),
        "folder, MB": room / 1e6,
        "larger, %": 100 * (room / room_without - 1),
    }


def _kept(paths: Sequence[Path], *, words: bool) -> tuple[float, int]:
    """Seconds of processor time to add PDFs in this process, with the words of their pages or without, and bytes."""
    from quoteweave.collection.collection import Collection
    from quoteweave.collection.records import Origin
    from quoteweave.documents.layout.page import ReadingOrderWords
    from quoteweave.documents.parser import DocumentParser, ParserSettings

    def nothing(*_args: object, **_options: object) -> None:
        """Keep no words, as if pages had none."""

    add_lines = ReadingOrderWords.add_lines
    if not words:
        ReadingOrderWords.add_lines = nothing  # type: ignore[method-assign]
    try:
        with TemporaryDirectory(prefix="quoteweave-") as root, Collection.create(Path(root)) as collection:
            started = time.process_time()
            with collection.writer() as writer:
                parser = DocumentParser(collection.images, ParserSettings(ocr=False))
                for path in paths:
                    parsed = parser.parse(path)
                    kept = parsed if words else parsed.model_copy(update={"page_words": ()})
                    origin = Origin(
                        root=path.parent,
                        content=hashlib.sha256(path.read_bytes()).hexdigest(),
                        parser=parser.fingerprint,
                    )
                    writer.store([writer.prepare(path, name=path.name, format="pdf", origin=origin, parsed=kept)])
            processor_seconds = time.process_time() - started
            return processor_seconds, sum(file.stat().st_size for file in Path(root).rglob("*") if file.is_file())
    finally:
        ReadingOrderWords.add_lines = add_lines  # type: ignore[method-assign]


def _paragraph(writing: Writing, topic: Sequence[str]) -> str:
    return f"{writing.text(writing.length(), topic)}."


def _add_text(files: Path) -> Figures:
    command = [sys.executable, "-m", "quoteweave", "add", str(files), "-c", str(files.parent / "collection")]
    peak = run_and_watch(command)
    return {"seconds": peak.seconds, "peak of all processes, MB": peak.bytes / 1e6}


PARTS: Mapping[str, Callable[[int, int, int], Figures]] = {
    "digital": digital,
    "ocr": ocr,
    "memory": memory,
    "memory-scanned": memory_scanned,
    "memory-ocr": memory_ocr,
    "ocr-digital": ocr_digital,
    "small-files": small_files,
    "large-text": large_text,
    "words": words,
}


def _add_seconds(paths: Sequence[Path], *, ocr: bool) -> float:
    """Seconds from files to a searchable collection, including the start of processes and loading of models."""
    from quoteweave.collection.collection import Collection
    from quoteweave.documents.ingest import AddOptions, add
    from quoteweave.documents.parser import ParserSettings

    options = AddOptions(settings=ParserSettings(ocr=ocr), processes=2)
    with TemporaryDirectory(prefix="quoteweave-") as folder, Collection.create(Path(folder)) as collection:
        return seconds(lambda: add(collection, paths, options))


def _ocr_seconds(path: Path, repeats: int) -> tuple[float, float]:
    """How long adding a PDF takes with OCR and without, medians."""
    with_ocr, without = (
        statistics.median(_add_seconds([path], ocr=ocr) for _ in range(repeats)) for ocr in (True, False)
    )
    return with_ocr, without


def digital_pdfs(folder: Path) -> list[Path]:
    """The PDFs whose pages all have a text layer."""
    return [path for path in sorted(folder.glob("*.pdf")) if all(_text_layers(path))]


def _text_layers(path: Path) -> list[bool]:
    """Whether each page has any text."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        return [bool(page.get_textpage().get_text_range().strip()) for page in document]


def _read_and_draw(paths: Sequence[Path]) -> None:
    import pypdfium2

    for path in paths:
        with pypdfium2.PdfDocument(path) as document:
            for number in range(len(document)):
                page = document[number]
                page.get_textpage().get_text_range()
                page.render(scale=DPI / 72)
                page.close()


def _first_pages(paths: Sequence[Path], pages: int, folder: Path) -> dict[Path, int]:
    """PDFs of the first pages of each document, together about `pages` pages, with the number of pages of each."""
    import pypdfium2

    page_counts: dict[Path, int] = {}
    for i, path in enumerate(paths):
        with pypdfium2.PdfDocument(path) as document, pypdfium2.PdfDocument.new() as part:
            share = min((pages - sum(page_counts.values())) // (len(paths) - i), len(document))
            if share > 0:
                part.import_pages(document, list(range(share)))
                part.save(folder / path.name)
                page_counts[folder / path.name] = share
    return page_counts


def _rapidocr_seconds(paths: Sequence[Path]) -> float:
    """rapidocr with its defaults, model loaded, pages drawn beforehand."""
    import pypdfium2
    from rapidocr import RapidOCR

    pictures: list[Any] = []
    for path in paths:
        with pypdfium2.PdfDocument(path) as document:
            pictures.extend(page.render(scale=DPI / 72).to_numpy().copy() for page in document)
    engine = RapidOCR(params={"Global.log_level": "critical"})
    engine(pictures[0])
    return seconds(lambda: [engine(picture) for picture in pictures])


if __name__ == "__main__":
    main()
