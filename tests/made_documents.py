"""Documents made by hand for the tests of storage."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from builders import make_quote

from quoteweave.collection.records import Origin
from quoteweave.collection.writer import Writer
from quoteweave.core.records import Document, Layout, Page, PageWord, PageWords, ParsedDocument, Quote


def made_page(number: int) -> Page:
    return Page(number=number, label=str(number + 1), width=612, height=792, text_source="text_layer")


def made_quote(
    text: str, *, page: int = 0, ordinal: int = 0, layout: Layout = "paragraph", image: str | None = None
) -> Quote:
    box = (72, 72.25, 540, 90)
    return make_quote(text, id=f"{page}:{ordinal}", document="", page=page, bbox=box, layout=layout, image=image)


def made_document(texts: Sequence[str], *, image: str | None = None) -> ParsedDocument:
    """One page of words and one paragraph for each text; with `image`, a figure on the first page too."""
    quotes = [made_quote(text, page=number) for number, text in enumerate(texts)]
    if image is not None:
        quotes.append(made_quote("", ordinal=1, layout="figure", image=image))
    return ParsedDocument(
        pages=tuple(made_page(number) for number in range(len(texts))),
        quotes=tuple(quotes),
        page_words=tuple(made_words(text, number) for number, text in enumerate(texts)),
    )


def made_words(text: str, page: int = 0) -> PageWords:
    """The words of the text, in one line."""
    return PageWords(page=page, packed=_packed_line(text))


@lru_cache  # many pages of one text are made, and packing is most of what they take
def _packed_line(text: str) -> bytes:
    boxes = ((word, (72.0 + 50 * i, 72.25, 120.0 + 50 * i, 90.0)) for i, word in enumerate(text.split()))
    return PageWords.of(0, (PageWord(word, box, 0) for word, box in boxes)).packed


def origin_of(path: Path, metadata: Mapping[str, str] | None = None) -> Origin:
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    return Origin(root=path.parent, content=content, parser="made/1", metadata=metadata or {})


def put(
    writer: Writer,
    folder: Path,
    name: str,
    parsed: ParsedDocument,
    *,
    content: bytes | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Document:
    """Writes a file of that content (by default the quotes' texts) into `folder` and puts it."""
    path = folder / Path(name).name
    path.write_bytes("\n".join(quote.text for quote in parsed.quotes).encode() if content is None else content)
    return writer.put(path, name=name, format="text", origin=origin_of(path, metadata), parsed=parsed)


def stored_files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}
