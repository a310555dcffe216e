"""Unpacks streams of a PDF as far as needed to see whether they are complete, and reads values in dictionaries."""

import zlib
from base64 import a85decode
from binascii import unhexlify
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pdfminer.pdftypes import PDFObjRef, PDFStream
from pdfminer.psparser import PSLiteral

# The most references that lead from one to the next.
MAX_HOPS = 8
# The most bytes of an unpacked stream; the text of the densest pages takes two million.
MAX_BYTES = 16_000_000
# The most bytes of a stream that is unpacked in Python, which takes a second for so many.
MAX_SLOW_BYTES = 1_000_000
NOT_UNPACKED = frozenset({"Crypt"})
"""Filters that pdfium reads besides those that are unpacked here."""
# The bits of LZW's codes, two special codes, and the initial meanings of the others; the length that ends run lengths.
MIN_WIDTH, MAX_WIDTH, CLEAR_TABLE, END_OF_DATA, END_OF_RUNS = 9, 12, 256, 257, 128
_LETTERS = (*(bytes([code]) for code in range(CLEAR_TABLE)), b"", b"")

Dictionary = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The data of a stream, and whether all of it could be unpacked."""

    data: bytes
    is_whole: bool
    has_end: bool = True
    """Whether it marks its end; if not, only its data may show that nothing is missing."""


def unpack(stream: PDFStream) -> Unpacked | None:
    """Unpack a stream; None if its filter is not supported here, or if it is larger than the limit."""
    filters = [name(entry) for entry in _as_list(stream.get("Filter"))]
    parameters = [*map(dictionary, _as_list(stream.get("DecodeParms"))), *({} for _ in filters)]
    if "F" in stream or not NOT_UNPACKED.union(_UNPACKERS).issuperset(filters):  # data in another file are not read
        return Unpacked(b"", is_whole=False)
    if not NOT_UNPACKED.isdisjoint(filters):
        return None
    try:
        result = Unpacked(_deciphered(stream), is_whole=True)
        for filter_name, filter_parameters in zip(filters, parameters, strict=False):
            unpacked = _UNPACKERS[filter_name](result.data, filter_parameters)
            if unpacked is None:
                return None
            is_whole, has_end = result.is_whole and unpacked.is_whole, result.has_end and unpacked.has_end
            result = Unpacked(unpacked.data, is_whole, has_end)
            if resolve(filter_parameters.get("Predictor", 1)) != 1:  # predictors are not undone here
                return None if result.is_whole else result
    except (ValueError, zlib.error):
        return Unpacked(b"", is_whole=False)
    return result


def _as_list(value: object) -> list[Any]:
    resolved = resolve(value)
    return resolved if isinstance(resolved, list) else [] if resolved is None else [resolved]


def _deciphered(stream: PDFStream) -> bytes:
    data = stream.rawdata or b""
    if stream.decipher is None or stream.objid is None:
        return data
    return stream.decipher(stream.objid, stream.genno or 0, data, stream.attrs)


def _from_base_85(data: bytes, _parameters: Dictionary) -> Unpacked:
    return Unpacked(a85decode(data.strip().removeprefix(b"<~").partition(b"~")[0]), is_whole=True)


def _from_hex(data: bytes, _parameters: Dictionary) -> Unpacked:
    digits = b"".join(data.partition(b">")[0].split())
    return Unpacked(unhexlify(digits + b"0" * (len(digits) % 2)), is_whole=True)


def _inflate(data: bytes, _parameters: Dictionary) -> Unpacked | None:
    """Unpack Flate data. Raises zlib.error if they are damaged."""
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    output = unpacker.decompress(data[2:], MAX_BYTES)
    if unpacker.unconsumed_tail:
        return None
    # The last bytes of the checksum that follows are often missing.
    written = unpacker.unused_data[:4].rstrip(b"\r\n")[:3]
    is_whole = unpacker.eof and zlib.adler32(output).to_bytes(4, "big").startswith(written)
    return Unpacked(output, is_whole or not data.strip())


def _from_lzw(data: bytes, parameters: Dictionary) -> Unpacked | None:
    """Unpack LZW data. Raises ValueError if they are damaged."""
    early = 0 if resolve(parameters.get("EarlyChange")) == 0 else 1
    output, table, last = bytearray(), [*_LETTERS], b""
    buffer = bits = 0
    width = MIN_WIDTH
    for byte in data[:MAX_SLOW_BYTES]:
        buffer, bits = buffer << 8 | byte, bits + 8
        if bits < width:
            continue
        bits -= width
        code, buffer = buffer >> bits, buffer & ((1 << bits) - 1)
        if code == END_OF_DATA:
            return Unpacked(bytes(output), is_whole=True)
        if code == CLEAR_TABLE:
            table, last, width = [*_LETTERS], b"", MIN_WIDTH
            continue
        if code > len(table) or (code == len(table) and not last):
            raise ValueError("a code that stands for nothing")
        piece = table[code] if code < len(table) else last + last[:1]
        if last and len(table) < 1 << MAX_WIDTH:
            table.append(last + piece[:1])
        width = min(MAX_WIDTH, max(MIN_WIDTH, (len(table) + early).bit_length()))
        last = piece
        output += piece
        if len(output) > MAX_BYTES:
            return None
    # If no code was cut, less than a byte of zeros is left.
    is_whole = not data.strip() or (bits < 8 and not buffer)
    return None if len(data) > MAX_SLOW_BYTES else Unpacked(bytes(output), is_whole, has_end=False)


def _from_run_lengths(data: bytes, _parameters: Dictionary) -> Unpacked | None:
    output, at = bytearray(), 0
    while at < min(len(data), MAX_SLOW_BYTES):
        length = data[at]
        if length == END_OF_RUNS:
            return Unpacked(bytes(output), is_whole=True)
        is_copied = length < END_OF_RUNS
        output += data[at + 1 : at + 2 + length] if is_copied else data[at + 1 : at + 2] * (257 - length)
        at += 2 + (length if is_copied else 0)
        if len(output) > MAX_BYTES:
            return None
    is_whole = not data.strip() or at == len(data)
    return None if len(data) > MAX_SLOW_BYTES else Unpacked(bytes(output), is_whole, has_end=False)


_Unpacker = Callable[[bytes, Dictionary], Unpacked | None]
# The unpackers by the long and short names of the filters.
_UNPACKERS: dict[str, _Unpacker] = {
    **dict.fromkeys(("FlateDecode", "Fl"), _inflate),
    **dict.fromkeys(("ASCIIHexDecode", "AHx"), _from_hex),
    **dict.fromkeys(("ASCII85Decode", "A85"), _from_base_85),
    **dict.fromkeys(("LZWDecode", "LZW"), _from_lzw),
    **dict.fromkeys(("RunLengthDecode", "RL"), _from_run_lengths),
}


def resolve(value: object) -> Any:
    """The object to which a reference leads; None if it cannot be read."""
    for _ in range(MAX_HOPS):
        if not isinstance(value, PDFObjRef):
            return value
        try:
            value = value.resolve()
        except Exception:  # damaged objects raise exceptions of any kind
            return None
    return None


def dictionary(value: object) -> Dictionary:
    """A dictionary, which may be a stream's; empty for any other value."""
    resolved = resolve(value)
    resolved = resolved.attrs if isinstance(resolved, PDFStream) else resolved
    return resolved if isinstance(resolved, dict) else {}


def listed(value: object) -> list[Any]:
    """An array; empty for any other value."""
    resolved = resolve(value)
    return resolved if isinstance(resolved, list) else []


def name(value: object) -> str:
    """A name; empty for any other value."""
    resolved = resolve(value)
    return str(resolved.name) if isinstance(resolved, PSLiteral) else ""
