"""Imports MinerU's output, `<name>_content_list.json`.

The flat content list is read, as the pipeline and VLM back ends of MinerU 0.6 to 2.x write it: `type`, `page_idx`,
`bbox` (in recent versions, in thousandths of the page's width and height), `text`, `text_level`, `list_items`,
`code_body`, `img_path`, `table_body` (HTML), `content` of images and charts, and captions and footnotes as
`<type>_caption` and `<type>_footnote` (`img_caption`, `img_footnote` in old versions). The nested
`_content_list_v2.json` is not read.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.boxes import Box
from quoteweave.core.errors import DamagedDocument, DocumentError
from quoteweave.core.files.strict_json import load_json
from quoteweave.core.messages import pluralize
from quoteweave.core.records import IMAGE_LAYOUTS, Layout, Page, ParsedDocument, Quote
from quoteweave.documents.layout.tables.stated_units import with_units
from quoteweave.documents.reflow.html import html_blocks
from quoteweave.documents.reflow.linked_images import LinkedImages
from quoteweave.documents.reflow.paginate import FlowBlock, with_sections
from quoteweave.documents.reflow.text_files import read_text, without_unstorable
from quoteweave.documents.sources.pdf import NAMES_LEFT_OUT, PageFrame, open_pdf
from quoteweave.documents.worker_pool import ProcessLimits, StopReason, WorkerPool, default_memory, stop_message

MAX_MEGABYTES = 256
MAX_PAGES = 100_000
UNKNOWN_SIZE = (1000.0, 1000.0)

_LAYOUTS: Mapping[str, Layout] = {
    "title": "title",
    "list": "list",
    "equation": "equation",
    "interline_equation": "equation",
    "image": "figure",
    "chart": "chart",
    "table": "table",
    "header": "header",
    "footer": "footer",
    "page_number": "footer",
}
_PROSE = frozenset({"text", "code", "ref_text", "phonetic", "abstract", "index", "aside_text", "page_footnote"})


def read_within_limits(path: Path, images: ImageStore) -> ParsedDocument:
    """Call `parse_content_list` in a separate process, which for each picture has the limits of reading a page.

    The PDF beside the list, and the pictures, may be damaged or hostile. If reading the labels of pages crashes the
    process, they are left out, with a warning. Raises DocumentError.
    """
    limits = ProcessLimits(default_memory(1)).for_file(path.stat().st_size)
    with WorkerPool(1, limits) as workers:
        outcome = workers.submit(limits, _parsing, path, images).result()
        if outcome.stop is StopReason.CRASH:
            outcome = workers.submit(limits, _parsing, path, images, skip_names=True).result()
    if outcome.error is not None:
        raise outcome.error
    if outcome.stop is not None:
        doing = "reading it with its PDF and pictures"
        why = stop_message(outcome.stop, limits, time_factor=outcome.time_factor, doing=doing, advice="")
        raise DamagedDocument(f"{path.name!r} cannot be imported: it {why}")
    parsed = outcome.items[-1]
    assert parsed is not None  # noqa: S101 - for the type checker: the last item is the document
    return parsed


def parse_content_list(path: Path, images: ImageStore) -> ParsedDocument:
    """Parse a content list: each block becomes one quote, however long, in the list's order.

    Boxes are in points if MinerU's `<name>_origin.pdf`, or `<name>.pdf`, is beside the list and gives the pages' sizes.
    If not, pages are assumed to be 1000 by 1000, so that boxes are the list's own thousandths, with a warning. A block
    without a usable box gets its whole page, and one warning counts such blocks. Pictures are only read from below the
    list's folder. Raises DocumentError, naming block and field, if the file is no content list.
    """
    *_, parsed = _parsing(path, images)
    assert parsed is not None  # noqa: S101 - for the type checker
    return parsed


def _parsing(path: Path, images: ImageStore, *, skip_names: bool = False) -> Iterator[ParsedDocument | None]:
    """The document, after one None for each picture that was read, so that the time limit applies to each picture."""
    items = _read_items(path)
    sheets, warnings = _sheets(path, skip_names=skip_names)
    pictures, blocks = LinkedImages(path.parent, images), list[FlowBlock]()
    for item in items:
        blocks.append(_block_of_item(item, path.name, pictures))
        if item.get("img_path"):
            yield None
    indexes = [_page_index(item, f"{path.name!r}, block {number}") for number, item in enumerate(items)]
    boxes = [_thousandths(item.get("bbox")) for item in items]
    filled = [number for number, block in enumerate(blocks) if block.text or block.caption or block.image]
    pages = _pages(sheets, 1 + max(indexes, default=0))
    quotes = _quotes([blocks[at] for at in filled], [(indexes[at], boxes[at]) for at in filled], pages)
    yield ParsedDocument(
        pages=pages,
        quotes=with_units(quotes),
        warnings=(*warnings, *_doubt_warnings(items, sum(boxes[at] is None for at in filled)), *pictures.warnings),
    )


def _doubt_warnings(items: Sequence[Mapping[str, Any]], without_box: int) -> list[str]:
    """Warnings about what was guessed, one sentence each."""
    types = Counter(str(item.get("type"))[:40] for item in items)
    doubts = [
        f"{pluralize(count, 'block')} of the unknown type {name!r}, read as text."
        for name, count in types.items()
        if name not in _PROSE and name not in _LAYOUTS
    ]
    if without_box:
        doubts.append(f"{pluralize(without_box, 'block')} without a usable box, which the whole page was taken for.")
    return doubts


def _read_items(path: Path) -> list[dict[str, Any]]:
    text, _ = read_text(path, megabytes=MAX_MEGABYTES)
    try:
        items = load_json(text)
    except (ValueError, RecursionError) as error:
        raise DamagedDocument(f"{path.name!r} is not JSON ({error}); have MinerU write it again") from error
    if not isinstance(items, list):
        raise DamagedDocument(f"{path.name!r} is no content list: it holds no list of blocks")
    for number, item in enumerate(items):
        if isinstance(item, list):
            raise DamagedDocument(f"{path.name!r} is MinerU's nested form (v2); give the _content_list.json beside it")
        if not isinstance(item, dict):
            raise DamagedDocument(f"{path.name!r}, block {number}: it is {type(item).__name__}, not an object")
    return items


def _block_of_item(item: Mapping[str, Any], source: str, pictures: LinkedImages) -> FlowBlock:
    kind = str(item.get("type"))
    level = item.get("text_level")
    is_title = kind == "title" or (isinstance(level, int) and level > 0)
    layout: Layout = "title" if is_title else _LAYOUTS.get(kind, "paragraph")
    picture = pictures.at_path(str(item["img_path"])) if item.get("img_path") else None
    caption = _words_of(item, f"{kind}_caption") or _words_of(item, "img_caption")
    note = _words_of(item, f"{kind}_footnote") or _words_of(item, "img_footnote")
    text = "\n".join(part for part in (_text_of_item(item, kind, source), note) if part)
    if layout not in IMAGE_LAYOUTS and caption:
        text, caption = f"{caption}\n{text}", ""
    return FlowBlock(
        layout=layout,
        text=" ".join(text.split()) if is_title else text,
        level=level if isinstance(level, int) and level > 0 else 1,
        caption=caption or None,
        image=picture.key if picture else None,
    )


def _text_of_item(item: Mapping[str, Any], kind: str, source: str) -> str:
    if kind == "table":
        return "\n".join(block.text for block in html_blocks(_words_of(item, "table_body"), name=source))
    if kind in ("equation", "interline_equation"):
        return _words_of(item, "text").removeprefix("$$").removesuffix("$$").strip()
    fields = ("text", "list_items", "code_body", "content")
    return "\n".join(words for words in (_words_of(item, field) for field in fields) if words)


def _words_of(item: Mapping[str, Any], field: str) -> str:
    """A field that is a string or a list of strings; empty if it is neither."""
    value = item.get(field)
    lines = value if isinstance(value, list) else [value]
    return "\n".join(without_unstorable(line).strip() for line in lines if isinstance(line, str) and line.strip())


def _page_index(item: Mapping[str, Any], where: str) -> int:
    index = item.get("page_idx")
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < MAX_PAGES:
        raise DamagedDocument(f"{where}: page_idx is {str(index)[:40]}, not a page number from 0 to {MAX_PAGES:,}")
    return index


def _thousandths(value: object) -> Box | None:
    """A box in thousandths of its page, or None if there is none that can be used."""
    if not isinstance(value, list) or len(value) != 4:
        return None
    if not all(isinstance(edge, int | float) and math.isfinite(edge) for edge in value):
        return None
    x1, y1, x2, y2 = (min(max(float(edge), 0.0), 1000.0) for edge in value)
    # Values far beyond the page are not thousandths, but points or pixels of an unknown version.
    return (x1, y1, x2, y2) if x1 < x2 and y1 < y2 and max(value) <= 1050 else None


def _sheets(path: Path, *, skip_names: bool) -> tuple[list[PageFrame], tuple[str, ...]]:
    """The pages of the PDF from which the list was made, and a warning if there is none, or not everything is read."""
    stem = path.stem.removesuffix("_content_list")
    for name in (f"{stem}_origin.pdf", f"{stem}.pdf"):
        source = path.with_name(name)
        if not source.is_file():
            continue
        try:
            with open_pdf(source, None, skip_names=skip_names) as pdf:
                frames = [pdf.frame(number) for number in range(min(pdf.count, MAX_PAGES))]
            return frames, (NAMES_LEFT_OUT,) if skip_names else ()
        except (DocumentError, RuntimeError):  # pdfium raises RuntimeError for a page
            return [], (
                f"The sizes of its pages are unknown, because {name!r} cannot be read; boxes are in thousandths.",
            )
    return [], (
        f"The sizes of its pages are unknown, because there is no {stem}_origin.pdf; boxes are in thousandths.",
    )


def _pages(frames: Sequence[PageFrame], at_least: int) -> tuple[Page, ...]:
    count = max(len(frames), at_least)
    known = [*frames, *(PageFrame(UNKNOWN_SIZE, None) for _ in range(len(frames), count))]
    sizes = [frame.size if min(frame.size) > 0 else UNKNOWN_SIZE for frame in known]
    return tuple(
        Page(number=number, label=frame.label or str(number + 1), width=width, height=height, text_source="file")
        for number, (frame, (width, height)) in enumerate(zip(known, sizes, strict=True))
    )


def _quotes(
    blocks: Sequence[FlowBlock], places: Sequence[tuple[int, Box | None]], pages: Sequence[Page]
) -> list[Quote]:
    quotes: list[Quote] = []
    ordinals = [0] * len(pages)
    for (block, section), (index, box) in zip(with_sections(blocks), places, strict=True):
        page = pages[index]
        x1, y1, x2, y2 = (edge / 1000 for edge in box or (0, 0, 1000, 1000))
        quotes.append(
            Quote(
                id=f"{index}:{ordinals[index]}",
                document="",
                page=index,
                page_label=page.label,
                bbox=(x1 * page.width, y1 * page.height, x2 * page.width, y2 * page.height),
                kind="image" if block.layout in IMAGE_LAYOUTS else "text",
                layout=block.layout,
                section=section,
                caption=block.caption,
                text=block.text,
                image=block.image,
            )
        )
        ordinals[index] += 1
    return quotes
