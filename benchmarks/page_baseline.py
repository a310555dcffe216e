"""The baseline of page retrieval: plain page text and plain BM25 over whole pages, with no other code of ours.

A page's text is its text layer, as pypdfium2 gives it; a page without one is drawn at 144 dpi and read by rapidocr with
its defaults. Words are bm25s's own: its tokenizer, its English stop words, PyStemmer's English stemmer. Ties, pages
without any word of the question among them, come in the order in which bm25s gives them.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from quoteweave.core.examples import Example, Prediction
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.records import PageHit

DEPTH = 10
Pages = Sequence[tuple[str, int]]


def page_texts(folders: Sequence[Path], cache: Path, *, ocr: bool) -> dict[str, list[str]]:
    """The text of each page of each PDF in the folders, by file name. Text read by OCR is kept in `cache`."""
    import pypdfium2

    read_picture = _reader() if ocr else None
    texts = {}
    for path in (path for folder in folders for path in sorted(folder.glob("*.pdf"))):
        content = file_sha256(path)[:16]
        with pypdfium2.PdfDocument(path) as document:
            pages = [document[number] for number in range(len(document))]
            texts[path.name] = [
                page.get_textpage().get_text_range().strip()
                or (_cached(cache / f"{content}-{number}.txt", page, read_picture) if read_picture else "")
                for number, page in enumerate(pages)
            ]
    return texts


def baseline(examples: Sequence[Example], texts: Mapping[str, Sequence[str]]) -> Iterator[Prediction]:
    """Ask every question within its document, with an index for each, and over all pages, with one index for all."""
    near = {name: PageIndex([(name, number) for number in range(len(pages))], pages) for name, pages in texts.items()}
    every = [(name, number, text) for name, pages in texts.items() for number, text in enumerate(pages)]
    far = PageIndex([(name, number) for name, number, _ in every], [text for *_, text in every])
    for example in examples:
        question = example.query.text
        if example.document in near:
            yield Prediction(example=example.id, scope="document", pages=near[example.document].search(question))
        yield Prediction(example=example.id, scope="collection", pages=far.search(question))


class PageIndex:
    """bm25s with its defaults over the texts of pages, each known by document and number."""

    def __init__(self, pages: Pages, texts: Sequence[str]) -> None:
        import bm25s

        self._pages = pages
        tokens = _tokens(texts)
        # bm25s cannot index a corpus without words, such as a scan that OCR did not read; then all pages are equal.
        self._index = None
        if any(tokens):
            self._index = bm25s.BM25()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                self._index.index(tokens, show_progress=False)

    def search(self, question: str) -> tuple[PageHit, ...]:
        """The first pages for a question."""
        import numpy as np
        from bm25s.selection import topk

        k = min(DEPTH, len(self._pages))
        if self._index is None:
            scores, positions = topk(np.zeros(len(self._pages), dtype=np.float32), k=k, backend="numpy")
        else:
            results, all_scores = self._index.retrieve(_tokens([question]), k=k, show_progress=False)
            scores, positions = all_scores[0], results[0]
        return tuple(
            PageHit(rank=rank, score=float(score), document=self._pages[at][0], page=self._pages[at][1])
            for rank, (score, at) in enumerate(zip(scores, positions, strict=True), 1)
        )


def _tokens(texts: Sequence[str]) -> list[list[str]]:
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    tokens: list[list[str]] = bm25s.tokenize(
        list(texts), stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
    )
    return tokens


def _reader() -> Callable[[Any], str]:
    """Reads a pdfium page with rapidocr; the model loads on the first page."""
    engine: Any = None

    def read(page: Any) -> str:
        nonlocal engine
        if engine is None:
            from rapidocr import RapidOCR

            engine = RapidOCR(params={"Global.log_level": "critical"})
        return "\n".join(engine(page.render(scale=144 / 72).to_numpy()).txts or ())

    return read


def _cached(path: Path, page: Any, read_picture: Callable[[Any], str]) -> str:
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(read_picture(page), "utf-8")
    return path.read_text("utf-8")
