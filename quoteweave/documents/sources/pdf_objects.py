"""The objects of a PDF as they stand in its file, read by pdfminer: pdfium does not show them.

They are looked at beside pdfium, for what it passes over without a word. Files are untrusted: what is read has limits
of depth, number and size, and an object that cannot be read is None.
"""

import logging
import mmap
import re
import time
import zlib
from base64 import a85decode
from binascii import unhexlify
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pdfminer.pdfdocument import PDFDocument, PDFNoValidXRef
from pdfminer.pdfexceptions import PDFException
from pdfminer.pdfparser import PDFParser, PDFStreamParser
from pdfminer.pdftypes import PDFObjectNotFound, PDFObjRef, PDFStream
from pdfminer.psparser import PSLiteral

# References that lead from one to the next, and nodes of the tree of pages.
MAX_HOPS, MAX_LEVELS = 8, 50
# Bytes of a stream once unpacked; the text of the densest pages takes two million.
MAX_BYTES = 16_000_000
# A larger file whose cross-references are damaged would have to be searched for its objects for too long.
MAX_SEARCHED = 4_000_000
# Processor time in seconds for counting pages, well within what a page may take; one takes a tenth of a millisecond.
MAX_SECONDS = 1.0
# By their long and short names: what is unpacked here, what may be around it, and what pdfium reads besides.
FLATE, HEX, BASE_85 = ("FlateDecode", "Fl"), ("ASCIIHexDecode", "AHx"), ("ASCII85Decode", "A85")
FILTERS = {*FLATE, *HEX, *BASE_85, "LZWDecode", "LZW", "RunLengthDecode", "RL", "Crypt"}

_START, MAX_START = re.compile(rb"startxref\s+(\d{1,9})\b"), 60

logging.getLogger("pdfminer").addHandler(logging.NullHandler())  # else its warnings are printed

Dictionary = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What a stream holds, and whether all of it could be unpacked."""

    data: bytes
    is_whole: bool


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
        super().__init__(parser, password, fallback=fallback)

    def find_xref(self, parser: PDFParser) -> int:
        """Where the last table of cross-references begins; pdfminer would look line by line. Raises PDFNoValidXRef."""
        with mmap.mmap(parser.fp.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = data.rfind(b"startxref")
            found = _START.match(data[at : at + MAX_START]) if at >= 0 else None
        if found is None:
            raise PDFNoValidXRef("no table of cross-references")
        return int(found.group(1))

    def _getobj_objstm(self, stream: PDFStream, index: int, objid: int) -> object:  # noqa: ARG002 - pdfminer's own
        if stream.objid not in self._object_streams:
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
        """As pdfminer's, also where a length leads out of the file. Raises PDFObjectNotFound."""
        try:
            return super().getobj(objid)
        except PDFObjectNotFound:
            if self.decipher is not None:
                raise
            return self._read_without_length(objid)

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

    def __init__(self, document: _Document) -> None:
        self._document = document
        self.catalog: Dictionary = document.catalog

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


@contextmanager
def open_objects(path: Path, password: str | None) -> Iterator[PdfObjects | None]:
    """Open a PDF; None where its objects cannot be found."""
    with path.open("rb") as file:
        parser, found = PDFParser(file), None
        is_small = path.stat().st_size <= MAX_SEARCHED
        with suppress(Exception):
            found = PdfObjects(_Document(parser, password or "", fallback=is_small))
        yield found


def resolve(value: object) -> Any:
    """What a reference leads to; None where that cannot be read."""
    for _ in range(MAX_HOPS):
        if not isinstance(value, PDFObjRef):
            return value
        try:
            value = value.resolve()
        except Exception:  # a damaged object, of any kind
            return None
    return None


def dictionary(value: object) -> Dictionary:
    """A dictionary, which may be a stream's; empty where it is none."""
    found = resolve(value)
    found = found.attrs if isinstance(found, PDFStream) else found
    return found if isinstance(found, dict) else {}


def listed(value: object) -> list[Any]:
    """An array; empty where it is none."""
    found = resolve(value)
    return found if isinstance(found, list) else []


def name(value: object) -> str:
    """A name; empty where it is none."""
    found = resolve(value)
    return str(found.name) if isinstance(found, PSLiteral) else ""


def unpack(stream: PDFStream) -> Unpacked | None:
    """Unpack a stream; None where it is packed in a way that is not unpacked here, or larger than the limit."""
    packed = resolve(stream.get("Filter"))
    filters = [name(each) for each in (packed if isinstance(packed, list) else [packed] if packed else [])]
    if not FILTERS.issuperset(filters):
        return Unpacked(b"", is_whole=False)
    try:
        data = _deciphered(stream)
        if filters and filters[0] in (*HEX, *BASE_85):
            data = _from_text(data, filters.pop(0))
        if not filters:
            return Unpacked(data, is_whole=True)
        has_predictor = "Predictor" in dictionary(stream.get("DecodeParms"))
        return None if has_predictor or len(filters) > 1 or filters[0] not in FLATE else _inflate(data)
    except (ValueError, zlib.error):
        return Unpacked(b"", is_whole=False)


def _deciphered(stream: PDFStream) -> bytes:
    data = stream.rawdata or b""
    if stream.decipher is None or stream.objid is None:
        return data
    return stream.decipher(stream.objid, stream.genno or 0, data, stream.attrs)


def _from_text(data: bytes, filter_name: str) -> bytes:
    data = data.strip()
    if filter_name in BASE_85:
        return a85decode(data.removeprefix(b"<~").partition(b"~")[0])
    digits = b"".join(data.partition(b">")[0].split())
    return unhexlify(digits + b"0" * (len(digits) % 2))


def _inflate(data: bytes) -> Unpacked | None:
    """Unpack what Flate has packed. Raises zlib.error where it is damaged."""
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    found = unpacker.decompress(data[2:], MAX_BYTES)
    if unpacker.unconsumed_tail:
        return None
    # Of the sum that follows, the last bytes often lack.
    written = unpacker.unused_data[:4].rstrip(b"\r\n")[:3]
    is_whole = unpacker.eof and zlib.adler32(found).to_bytes(4, "big").startswith(written)
    return Unpacked(found, is_whole or not data.strip())
