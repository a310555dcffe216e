"""Reads text files within limits of size, in the encoding they are in; plain text becomes quotes."""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from quoteweave.core.errors import DocumentError
from quoteweave.core.messages import pluralize
from quoteweave.core.records import ParsedDocument
from quoteweave.documents.reflow.paginate import FlowBlock, paginate_blocks

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# Only encodings of web pages: Python has codecs that are not text encodings.
_DECLARABLE = re.compile(
    r"iso8859-\d+|cp125\d|cp932|cp949|cp950|shift_jis|euc_jp|iso2022_jp|euc_kr|gb2312|gbk|gb18030|big5|big5hkscs|koi8-[ru]"
)
# Blocks of characters with alphabets, and the least share of a text's upper bytes that are 0, and that are of these.
_ALPHABETS = 0x20
_MIN_SPACES, _MIN_BLOCKS = 0.03, 0.9
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def read_text(path: Path, *, megabytes: int, declared: re.Pattern[bytes] | None = None) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file with `\\n` line ends, and a warning if the encoding was guessed.

    The encoding is the byte order mark's (UTF-8, UTF-16); else UTF-16, with a warning, where the upper bytes of an
    alphabet's characters show it, which would be UTF-8 of control characters otherwise; else UTF-8 where the bytes are
    valid; else what the first group of `declared` finds in the first 1,024 bytes; else Windows-1252, with a warning.
    Raises DocumentError when the file cannot be read or is larger than `megabytes`.
    """
    try:
        size = path.stat().st_size
        if size > megabytes * 10**6:
            raise DocumentError(
                f"{path.name!r} has {size / 10**6:.0f} MB; this format is read up to {megabytes} MB; split the file"
            )
        data = path.read_bytes()
    except OSError as error:
        raise DocumentError(f"{path.name!r} cannot be read: {error.strerror or error}") from error
    text, warnings = _decode(data, declared)
    return without_unstorable(text.replace("\r\n", "\n").replace("\r", "\n")), warnings


def without_unstorable(text: str) -> str:
    """The text without NULs, and with a replacement character for each lone surrogate: neither can be stored."""
    return _UNSTORABLE.sub(lambda match: "" if match.group() == "\x00" else "\ufffd", text)


def _decode(data: bytes, declared: re.Pattern[bytes] | None) -> tuple[str, tuple[str, ...]]:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _lenient(data[len(mark) :], encoding)
    if unmarked := _unmarked_utf_16(data):
        text, warnings = _lenient(data, unmarked)
        return text, (f"It has no mark of its encoding, and was taken for {unmarked.upper()}.", *warnings)
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError:
        pass
    match = declared.search(data[:1024]) if declared else None
    stated = _known(match.group(1).decode("ascii", "replace")) if match else None
    if stated:
        return _lenient(data, stated)
    text, _ = _lenient(data, "cp1252")
    return text, ("Its encoding is unknown, and was taken for Windows-1252; if that is wrong, save it as UTF-8.",)


def _unmarked_utf_16(data: bytes) -> str | None:
    """UTF-16's form where these bytes are text of an alphabet in it; ideographs are no valid UTF-8, and so told."""
    if 0 not in data:
        return None
    # The upper byte of a character is 0 for spaces, digits and Latin letters, and below 0x20 for other alphabets.
    for encoding, upper, lower in (("utf-16-le", data[1::2], data[::2]), ("utf-16-be", data[::2], data[1::2])):
        spaces = upper.count(0)
        blocks = sum(upper.count(block) for block in range(_ALPHABETS))
        if spaces >= _MIN_SPACES * len(upper) and blocks >= _MIN_BLOCKS * len(upper) and 10 * lower.count(0) < spaces:
            return encoding
    return None


def _lenient(data: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    text = data.decode(encoding, "replace")
    bad = text.count("\ufffd")
    return text, (
        f"{pluralize(bad, 'character is', 'characters are')} not valid {encoding}, and replaced.",
    ) if bad else ()


def _known(label: str) -> str | None:
    """Python's name of a declared encoding that is one of text; Latin-1 and ASCII mean Windows-1252 on the web."""
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    if name in ("iso8859-1", "ascii"):
        return "cp1252"
    return name if _DECLARABLE.fullmatch(name) else None


MAX_MEGABYTES = 64


def parse_text(path: Path) -> ParsedDocument:
    """Parse a plain text file: its paragraphs become text quotes on virtual pages.

    Raises DocumentError when the file cannot be read, is larger than 64 MB, or holds more than 200,000 quotes.
    """
    text, warnings = read_text(path, megabytes=MAX_MEGABYTES)
    blocks = (FlowBlock(layout="paragraph", text=paragraph) for paragraph in _paragraphs(text))
    return paginate_blocks(blocks, name=path.name, warnings=warnings)


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in _lines(text):
        if line.strip():
            lines.append(line.rstrip())
        elif lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def _lines(text: str) -> Iterator[str]:
    """One at a time: a list of them, or a StringIO, would take several times as much memory as the text."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]
