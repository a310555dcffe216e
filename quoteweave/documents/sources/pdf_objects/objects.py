"""The objects of a PDF as they are in its file, read by pdfminer because pdfium does not give access to them.

They are searched for what pdfium ignores without an error. Files are untrusted: depth, number and size of what is read
are limited, and an object that cannot be read is None.
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

# The most nodes from the root of the page tree to a page.
MAX_LEVELS = 50
# Searching a larger file with damaged cross-references for its objects would take too long.
MAX_SEARCHED = 4_000_000
# Limit in seconds of processor time for counting pages, or for searching for a key, well within what a page may take.
MAX_SECONDS = 1.0
# How many unpacked object streams are cached.
MAX_CACHED = 8
# How many bytes of the file are searched at a time.
BLOCK = 4_000_000

_START, MAX_START = re.compile(rb"startxref\s+(\d{1,9})\b"), 60
_OBJECT = re.compile(rb"(\d{1,9})\s+\d{1,5}\s+obj\b")
# The overlap of blocks in bytes, so that an object and its key are in one; the levels searched within an object.
OVERLAP, MAX_DIRECT = 10_000, 6

logging.getLogger("pdfminer").addHandler(logging.NullHandler())  # else its warnings are printed


@dataclass(frozen=True, slots=True)
class PageObject:
    """A page's dictionary, and its own or inherited resources."""

    entries: Dictionary
    resources: Dictionary


class _Document(PDFDocument):
    """Reads only the requested object of an object stream, while pdfminer reads all of them."""

    def __init__(self, parser: PDFParser, password: str, *, fallback: bool) -> None:
        self._parser: PDFParser
        self._object_streams: dict[int | None, tuple[dict[int, int], bytes]] = {}
        self._is_searched = self.has_lost_update = False
        super().__init__(parser, password, fallback=fallback)

    def find_xref(self, parser: PDFParser) -> int:
        """Where the last cross-reference table begins; pdfminer would search line by line. Raises PDFNoValidXRef."""
        with mmap.mmap(parser.fp.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = data.rfind(b"startxref")
            match = _START.match(data[at : at + MAX_START]) if at >= 0 else None
            self.has_lost_update = at >= 0 and _OBJECT.search(data, at, at + BLOCK) is not None
        if match is None:
            raise PDFNoValidXRef("no table of cross-references")
        return int(match.group(1))

    def _getobj_objstm(self, stream: PDFStream, index: int, objid: int) -> object:  # noqa: ARG002 - pdfminer's own
        if stream.objid not in self._object_streams:
            if len(self._object_streams) >= MAX_CACHED:
                self._object_streams.clear()
            self._object_streams[stream.objid] = _objects_of(stream)
        places, data = self._object_streams[stream.objid]
        parser = PDFStreamParser(data[places[objid] :])
        parser.set_document(self)
        return parser.nextobject()[1]

    def read_to_its_end(self, stream: PDFStream) -> object:
        """A stream read again up to its end marker, because its stated length may be wrong."""
        if stream.objid is None or stream.decipher is not None:  # an encrypted stream needs its exact length
            return stream
        del self._cached_objs[stream.objid]
        return self._read_without_length(stream.objid)

    def getobj(self, objid: int) -> object:
        """Do as pdfminer's, also for invalid lengths and objects that are elsewhere. Raises PDFObjectNotFound."""
        try:
            return super().getobj(objid)
        except (PDFObjectNotFound, ValueError, MemoryError) as error:  # a length beyond the file, below 0, or too large
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
        """Search the file for the beginnings of objects, as pdfium does if one is not where it should be."""
        self._is_searched, fallback = True, PDFXRefFallback()
        for start, data in _blocks(self._parser.fp):
            fallback.offsets |= {
                int(match.group(1)): (None, start + match.start(), 0) for match in _OBJECT.finditer(data)
            }
        self.xrefs.append(fallback)

    def _read_without_length(self, objid: int) -> object:
        usual, self._parser.fallback = self._parser.fallback, True
        try:
            return super().getobj(objid)
        finally:
            self._parser.fallback = usual


def _objects_of(stream: PDFStream) -> tuple[dict[int, int], bytes]:
    """Where each object of an object stream begins in its data, and the data. Raises PDFException."""
    unpacked, first = unpack(stream), resolve(stream.get("First"))
    if unpacked is None:
        raise PDFException("an object stream that is packed in another way, or too large")
    numbers = [int(number) for number in unpacked.data[:first].split()]
    return dict(zip(numbers[::2], numbers[1::2], strict=False)), unpacked.data[first:]


class PdfObjects:
    """The objects of an open PDF."""

    def __init__(self, document: _Document, file: BinaryIO) -> None:
        self._document = document
        self._file = file
        self.catalog: Dictionary = document.catalog
        self.has_lost_update = document.has_lost_update
        """Whether objects follow all cross-reference tables, so that nothing leads to them."""

    def values(self, key: str) -> Iterator[tuple[object, Dictionary]]:
        """The values of a key in all objects of the file, each with its dictionary."""
        for number in self._objects_with_key(key.encode()):
            yield from _values_within(self._get(number), key)

    def _objects_with_key(self, key: bytes) -> Iterator[int]:
        """The numbers of objects whose bytes contain a key, including those in object streams."""
        end = time.process_time() + MAX_SECONDS
        numbers, pattern = set[int](), re.compile(rb"/(?:%b|Type\s*/ObjStm)\b" % key)
        for _, data in _blocks(self._file):
            if hits := [match.start() for match in pattern.finditer(data)]:
                begins = [(-1, -1), *((match.start(), int(match.group(1))) for match in _OBJECT.finditer(data))]
                numbers.update(_object_before(begins, hit) for hit in hits)
        for number in sorted(numbers - {-1}):
            if time.process_time() > end:
                return
            stream = self._get(number)
            if not isinstance(stream, PDFStream) or name(stream.get("Type")) != "ObjStm":
                yield number
                continue
            with suppress(Exception):
                places, objects = _objects_of(stream)  # not cached: all of them take too much memory
                begins = [(-1, -1), *sorted((place, number) for number, place in places.items())]
                yield from {_object_before(begins, match.start() + 1) for match in pattern.finditer(objects)}

    def _get(self, number: int) -> object:
        with suppress(Exception):  # damaged objects raise exceptions of any kind
            return self._document.getobj(number)
        return None

    def unpack(self, stream: PDFStream) -> Unpacked | None:
        """Do as the function `unpack`, up to the stream's end marker if its length is wrong."""
        unpacked = unpack(stream)
        if unpacked is None or (unpacked.is_whole and stream.get("Filter")):
            return unpacked
        with suppress(Exception):
            whole_stream = self._document.read_to_its_end(stream)
            return unpack(whole_stream) if isinstance(whole_stream, PDFStream) else unpacked
        return unpacked

    def page(self, number: int) -> PageObject | None:
        """A page according to the page tree; None if the tree does not have it."""
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
        """The number of pages in the page tree, including broken ones, whatever its counts say."""
        end = time.process_time() + MAX_SECONDS
        unseen, visited, count = [self.catalog.get("Pages")], set(), 0
        while unseen and time.process_time() < end:
            reference = unseen.pop()
            node = resolve(reference)
            if not isinstance(node, dict) or "Kids" not in node:
                count += 1
            elif id(node) not in visited:
                visited.add(id(node))
                unseen += listed(node["Kids"])
        return count


def _kid(node: Dictionary, number: int) -> tuple[Any, int]:
    """The kid of a node below which the page with that number is, and the page's number there."""
    kids = listed(node["Kids"])
    if resolve(node.get("Count")) == len(kids):  # each kid is a page, and none has to be read
        return (resolve(kids[number]), 0) if number < len(kids) else (None, 0)
    for kid in map(resolve, kids):
        count = resolve(kid.get("Count")) if isinstance(kid, dict) and "Kids" in kid else 1
        if not isinstance(count, int) or number < count:
            return kid, number
        number -= count
    return None, 0


def _object_before(begins: list[tuple[int, int]], place: int) -> int:
    """The number of the object that begins last before a position."""
    return begins[bisect_left(begins, (place, 0)) - 1][1]


def _blocks(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The position of each block of the file, and the block, which begins with the end of the one before."""
    at, overlap = 0, b""
    while True:
        file.seek(at)
        block = file.read(BLOCK)
        if not block:
            return
        yield at - len(overlap), overlap + block
        at, overlap = at + len(block), (overlap + block)[-OVERLAP:]


@contextmanager
def open_objects(path: Path, password: str | None) -> Iterator[PdfObjects | None]:
    """Open a PDF; None if its objects cannot be found."""
    with path.open("rb") as file:
        parser, objects = PDFParser(file), None
        is_small = path.stat().st_size <= MAX_SEARCHED
        with suppress(Exception):
            objects = PdfObjects(_Document(parser, password or "", fallback=is_small), file)
        yield objects


def _values_within(value: object, key: str) -> Iterator[tuple[object, Dictionary]]:
    """The values of a key in dictionaries within an object, without what these refer to."""
    unseen = [(value, 0)]
    while unseen:
        current, level = unseen.pop()
        current = current.attrs if isinstance(current, PDFStream) else current
        if isinstance(current, dict) and key in current:
            yield current[key], current
        if level < MAX_DIRECT and isinstance(current, dict | list):
            unseen += [(child, level + 1) for child in (current.values() if isinstance(current, dict) else current)]
