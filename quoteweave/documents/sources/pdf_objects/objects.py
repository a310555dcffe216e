"""The objects of a PDF as they stand in its file, read by pdfminer: pdfium does not show them.

They are looked at beside pdfium, for what it passes over without a word. Files are untrusted: what is read has limits
of depth, number and size, and an object that cannot be read is None.
"""

import logging
import mmap
import re
import time
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from pdfminer.pdfdocument import PDFDocument, PDFNoValidXRef, PDFXRefFallback
from pdfminer.pdfexceptions import PDFException
from pdfminer.pdfparser import PDFParser, PDFStreamParser
from pdfminer.pdftypes import PDFObjectNotFound, PDFStream

from quoteweave.documents.sources.pdf_objects.unpacking import (
    Dictionary,
    Unpacked,
    dictionary,
    listed,
    name,
    resolve,
    unpack,
)

# Nodes of the tree of pages from its root to a page.
MAX_LEVELS = 50
# A larger file whose cross-references are damaged would have to be searched for its objects for too long.
MAX_SEARCHED = 4_000_000
# Processor time in seconds for counting pages, or for looking for a key, well within what a page may take.
MAX_SECONDS = 1.0
# Object streams that are kept unpacked.
MAX_KEPT = 8
# Bytes of the file that are looked at together.
BLOCK = 4_000_000

_START, MAX_START = re.compile(rb"startxref\s+(\d{1,9})\b"), 60
_OBJECT = re.compile(rb"(\d{1,9})\s+\d{1,5}\s+obj\b")
# Bytes of a block that the next one begins with, so that an object has its key; levels of what stands in an object.
OVERLAP, MAX_DIRECT = 10_000, 6

logging.getLogger("pdfminer").addHandler(logging.NullHandler())  # else its warnings are printed


@dataclass(frozen=True, slots=True)
class PageObject:
    """A page's dictionary, and the resources that it has or inherits."""

    entries: Dictionary
    resources: Dictionary


class _Document(PDFDocument):
    """Reads of an object stream the object that is asked for alone: pdfminer reads them all."""

    def __init__(self, parser: PDFParser, password: str, *, fallback: bool) -> None:
        self._parser: PDFParser
        self._object_streams: dict[int | None, tuple[dict[int, int], bytes]] = {}
        self._is_searched = self.has_lost_update = False
        super().__init__(parser, password, fallback=fallback)

    def find_xref(self, parser: PDFParser) -> int:
        """Where the last table of cross-references begins; pdfminer would look line by line. Raises PDFNoValidXRef."""
        with mmap.mmap(parser.fp.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = data.rfind(b"startxref")
            found = _START.match(data[at : at + MAX_START]) if at >= 0 else None
            self.has_lost_update = at >= 0 and _OBJECT.search(data, at, at + BLOCK) is not None
        if found is None:
            raise PDFNoValidXRef("no table of cross-references")
        return int(found.group(1))

    def _getobj_objstm(self, stream: PDFStream, index: int, objid: int) -> object:  # noqa: ARG002 - pdfminer's own
        if stream.objid not in self._object_streams:
            if len(self._object_streams) >= MAX_KEPT:
                self._object_streams.clear()
            self._object_streams[stream.objid] = _objects_of(stream)
        places, data = self._object_streams[stream.objid]
        parser = PDFStreamParser(data[places[objid] :])
        parser.set_document(self)
        return parser.nextobject()[1]

    def read_to_its_end(self, stream: PDFStream) -> object:
        """A stream once more, up to where its end is marked: the length that it states may be wrong."""
        if stream.objid is None or stream.decipher is not None:  # what is encrypted needs its exact length
            return stream
        del self._cached_objs[stream.objid]
        return self._read_without_length(stream.objid)

    def getobj(self, objid: int) -> object:
        """As pdfminer's, also where a length is none, or an object elsewhere than stated. Raises PDFObjectNotFound."""
        try:
            return super().getobj(objid)
        except (PDFObjectNotFound, ValueError, MemoryError) as error:  # a length out of the file, below 0, too large
            if self.decipher is not None:
                raise PDFObjectNotFound(objid) from error
            with suppress(PDFObjectNotFound):
                return self._read_without_length(objid)
            if self._is_searched or not self._is_listed(objid):
                raise
            self._search()
            return super().getobj(objid)

    def _is_listed(self, objid: int) -> bool:
        for xref in self.xrefs:
            with suppress(KeyError):
                return bool(xref.get_pos(objid))
        return False

    def _search(self) -> None:
        """Look through the file for where objects begin, as pdfium does where one does not stand where it should."""
        self._is_searched, found = True, PDFXRefFallback()
        for start, data in _blocks(self._parser.fp):
            found.offsets |= {int(one.group(1)): (None, start + one.start(), 0) for one in _OBJECT.finditer(data)}
        self.xrefs.append(found)

    def _read_without_length(self, objid: int) -> object:
        usual, self._parser.fallback = self._parser.fallback, True
        try:
            return super().getobj(objid)
        finally:
            self._parser.fallback = usual


def _objects_of(stream: PDFStream) -> tuple[dict[int, int], bytes]:
    """Where each object begins among those of an object stream, and these. Raises PDFException."""
    found, first = unpack(stream), resolve(stream.get("First"))
    if found is None:
        raise PDFException("an object stream that is packed in another way, or too large")
    numbers = [int(number) for number in found.data[:first].split()]
    return dict(zip(numbers[::2], numbers[1::2], strict=False)), found.data[first:]


class PdfObjects:
    """The objects of an open PDF."""

    def __init__(self, document: _Document, file: BinaryIO) -> None:
        self._document = document
        self._file = file
        self.catalog: Dictionary = document.catalog
        self.has_lost_update = document.has_lost_update
        """Whether objects stand behind all tables of cross-references, so that nothing leads to them."""

    def values(self, key: str) -> Iterator[tuple[object, Dictionary]]:
        """What all objects of the file have under a key, with the dictionary that has it."""
        for number in self._having(key.encode()):
            yield from _within(self._get(number), key)

    def _having(self, key: bytes) -> Iterator[int]:
        """The numbers of objects whose bytes have a key, those in object streams included."""
        end = time.process_time() + MAX_SECONDS
        numbers, wanted = set[int](), re.compile(rb"/(?:%b|Type\s*/ObjStm)\b" % key)
        for _, data in _blocks(self._file):
            if hits := [found.start() for found in wanted.finditer(data)]:
                begins = [(-1, -1), *((one.start(), int(one.group(1))) for one in _OBJECT.finditer(data))]
                numbers.update(_before(begins, hit) for hit in hits)
        for number in sorted(numbers - {-1}):
            if time.process_time() > end:
                return
            stream = self._get(number)
            if not isinstance(stream, PDFStream) or name(stream.get("Type")) != "ObjStm":
                yield number
                continue
            with suppress(Exception):
                places, objects = _objects_of(stream)  # without keeping them: all take too much memory
                begins = [(-1, -1), *sorted((place, number) for number, place in places.items())]
                yield from {_before(begins, found.start() + 1) for found in wanted.finditer(objects)}

    def _get(self, number: int) -> object:
        with suppress(Exception):  # a damaged object, of any kind
            return self._document.getobj(number)
        return None

    def unpack(self, stream: PDFStream) -> Unpacked | None:
        """As the function `unpack`, up to where the stream's end is marked if its length is wrong."""
        found = unpack(stream)
        if found is None or (found.is_whole and stream.get("Filter")):
            return found
        with suppress(Exception):
            again = self._document.read_to_its_end(stream)
            return unpack(again) if isinstance(again, PDFStream) else found
        return found

    def page(self, number: int) -> PageObject | None:
        """A page, as its tree names it; None where it names none."""
        node = resolve(self.catalog.get("Pages"))
        resources: Dictionary = {}
        for _ in range(MAX_LEVELS):
            if not isinstance(node, dict):
                return None
            resources = dictionary(node.get("Resources")) or resources
            if "Kids" not in node:
                return PageObject(node, resources)
            node, number = _kid(node, number)
        return None

    def count_pages(self) -> int:
        """The number of pages that the tree names, broken ones included, whatever its counts say."""
        end = time.process_time() + MAX_SECONDS
        unseen, seen, count = [self.catalog.get("Pages")], set(), 0
        while unseen and time.process_time() < end:
            reference = unseen.pop()
            node = resolve(reference)
            if not isinstance(node, dict) or "Kids" not in node:
                count += 1
            elif id(node) not in seen:
                seen.add(id(node))
                unseen += listed(node["Kids"])
        return count


def _kid(node: Dictionary, number: int) -> tuple[Any, int]:
    """The kid of a node below which its page of that number is, and that page's number there."""
    kids = listed(node["Kids"])
    if resolve(node.get("Count")) == len(kids):  # each is a page, none of which has to be read
        return (resolve(kids[number]), 0) if number < len(kids) else (None, 0)
    for kid in map(resolve, kids):
        count = resolve(kid.get("Count")) if isinstance(kid, dict) and "Kids" in kid else 1
        if not isinstance(count, int) or number < count:
            return kid, number
        number -= count
    return None, 0


def _before(begins: list[tuple[int, int]], place: int) -> int:
    """The number of the object that begins last before a place."""
    return begins[bisect_left(begins, (place, 0)) - 1][1]


def _blocks(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Where each piece of the file begins, and the piece, which begins with the end of the one before."""
    at, kept = 0, b""
    while True:
        file.seek(at)
        read = file.read(BLOCK)
        if not read:
            return
        yield at - len(kept), kept + read
        at, kept = at + len(read), (kept + read)[-OVERLAP:]


@contextmanager
def open_objects(path: Path, password: str | None) -> Iterator[PdfObjects | None]:
    """Open a PDF; None where its objects cannot be found."""
    with path.open("rb") as file:
        parser, found = PDFParser(file), None
        is_small = path.stat().st_size <= MAX_SEARCHED
        with suppress(Exception):
            found = PdfObjects(_Document(parser, password or "", fallback=is_small), file)
        yield found


def _within(value: object, key: str) -> Iterator[tuple[object, Dictionary]]:
    """What dictionaries within an object have under a key, without what they refer to."""
    unseen = [(value, 0)]
    while unseen:
        found, level = unseen.pop()
        found = found.attrs if isinstance(found, PDFStream) else found
        if isinstance(found, dict) and key in found:
            yield found[key], found
        if level < MAX_DIRECT and isinstance(found, dict | list):
            unseen += [(each, level + 1) for each in (found.values() if isinstance(found, dict) else found)]
