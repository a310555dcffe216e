"""What pdfium passes over on a page without a word: content that is damaged, and text that it draws but does not give.

Content is looked at as its file has it: a stream has to unpack to its end, the last one to end with an operator, and
what they draw has to be there.
"""

import re
from collections.abc import Iterator, Sequence

from pdfminer.pdftypes import PDFObjRef, PDFStream

from quoteweave.documents.sources.pdf_objects import (
    Dictionary,
    PageObject,
    PdfObjects,
    dictionary,
    listed,
    name,
    resolve,
    unpack,
)

# Streams of one page that are looked at, and nodes of the tree of attachments.
MAX_STREAMS = 1000
# Letters of a font, and streams within the drawing of one, that are looked at.
MAX_LETTERS, MAX_NESTED = 256, 20
# Bytes at the end of a page's content that show whether it is cut off in a string, which is seldom longer.
END = 4000
OPERATORS = frozenset(
    b"b B b* B* BDC BI BMC BT BX c cm CS cs d d0 d1 Do DP EI EMC ET EX f F f* G g gs h i ID j J K k l m M MP n q Q re "
    b"RG rg ri s S SC sc SCN scn sh T* Tc Td TD Tf Tj TJ TL Tm Tr Ts Tw Tz v w W W* y ' \"".split()
)
_BLANK, _MARKS = rb"\s\x00", rb"()<>\[\]{}/%"
_DELIMITERS = re.compile(rb"[%b%b]" % (_BLANK, _MARKS))
_OPEN_STRING = re.compile(rb"(?<!\\)\((?:[^()\\]|\\.)*\Z", re.DOTALL)
# A form or picture that is drawn, a pattern that is painted with, a font that is written in.
_USED = re.compile(rb"/([^%b%b]+)(?:\s+[-+.\d]+)?\s+(Do|scn|SCN|Tf)\b" % (_BLANK, _MARKS))
_KINDS = {b"Do": "XObject", b"Tf": "Font", b"scn": "Pattern", b"SCN": "Pattern"}
_WRITES = re.compile(rb"[)>\]]\s*(?:T[jJ]\b|['\"])")


def page_losses(objects: PdfObjects, number: int) -> Iterator[str]:
    """Warnings about what of a page pdfium passes over."""
    found = objects.page(number)
    if found is None:
        return
    content = _ContentReader(objects)
    content.read(found)
    if content.is_damaged:
        yield f"page {number + 1} has content that is damaged, cut off or missing, all or part of which was not read"
    if content.writing:
        kinds = "patterns, or letters of fonts, that are drawn with text"
        yield f"page {number + 1} has {kinds}, which its text layer lacks: {len(content.writing)}"


def pages_beyond(objects: PdfObjects, count: int) -> Iterator[str]:
    """A warning about a document that says it has `count` pages, where it has more."""
    if (more := objects.count_pages() - count) > 0:
        yield f"it has more pages than it says, and those were not read: {more}"


def count_associated(objects: PdfObjects, entries: Dictionary) -> int:
    """Count the files that belong to a document or page (`/AF`) without being attached to the document as well."""
    found = resolve(entries.get("AF"))
    files = [dictionary(each) for each in (found if isinstance(found, list) else [found])]
    attached = {id(each) for each in _attachments(objects)} if found else set()
    return len({id(file) for file in files if "EF" in file} - attached)


def _attachments(objects: PdfObjects) -> Iterator[Dictionary]:
    unseen = [dictionary(objects.catalog.get("Names")).get("EmbeddedFiles")]
    for _ in range(MAX_STREAMS):
        if not unseen:
            return
        node = dictionary(unseen.pop())
        yield from map(dictionary, listed(node.get("Names"))[1::2])
        unseen += listed(node.get("Kids"))


def is_cut_off(content: bytes) -> bool:
    """Whether the content of a page ends within a string or before an operator; a comment is not looked into."""
    end = content[-END:].rstrip(b"\0\t\n\f\r ")
    last_line = re.split(rb"[\r\n]", end)[-1]
    if not end or b"%" in last_line:
        return False
    string = _OPEN_STRING.search(end)
    is_in_string = string is not None and b"EI" not in string.group()  # the data of an image may have any bytes
    return is_in_string or _DELIMITERS.split(last_line)[-1] not in OPERATORS


class _ContentReader:
    """Reads the content of a page, and of what is drawn on it, for what is damaged and for what writes text."""

    def __init__(self, objects: PdfObjects) -> None:
        self._objects = objects
        self.is_damaged = False
        self.writing: set[int] = set()
        """Patterns and fonts that are drawn with text."""
        self._seen: dict[int, PDFStream] = {}  # kept, as the id of what is gone is given again

    def read(self, page: PageObject) -> None:
        """Read all that the page draws."""
        named = page.entries.get("Contents")
        parts = resolve(named)
        streams = parts if isinstance(parts, list) else [] if named is None else [named]
        unseen = [(self._content(streams), page.resources)]
        while unseen:
            content, resources = unseen.pop()
            for used, operator in set(_USED.findall(content)):
                kind = _KINDS[operator]
                named = dictionary(resources.get(kind)).get(used.decode("utf-8", "replace"))
                if kind != "XObject":
                    self._look_within(named, resources)
                elif (form := self._form(named)) is not None:
                    unseen.append((self._content([form]), dictionary(form.get("Resources")) or resources))

    def _content(self, streams: Sequence[object]) -> bytes:
        """What streams hold together, as far as it can be told, without those that were looked at before."""
        contents: list[bytes] = []
        is_known = True
        for stream in map(resolve, streams[:MAX_STREAMS]):
            if not isinstance(stream, PDFStream):
                self.is_damaged = True
            elif id(stream) not in self._seen and len(self._seen) < MAX_STREAMS:
                self._seen[id(stream)] = stream
                unpacked = self._objects.unpack(stream)
                is_known &= unpacked is not None
                self.is_damaged |= unpacked is not None and not unpacked.is_whole
                contents.append(unpacked.data if unpacked else b"")
        content = b"\n".join(contents)
        self.is_damaged |= is_known and is_cut_off(content)
        return content

    def _form(self, named: object) -> PDFStream | None:
        found = resolve(named)
        self.is_damaged |= isinstance(named, PDFObjRef) and found is None
        return found if isinstance(found, PDFStream) and name(found.get("Subtype")) == "Form" else None

    def _look_within(self, named: object, resources: Dictionary) -> None:
        """Look for text in the cell of a pattern, or in the letters of a font that are drawn as content is."""
        found = dictionary(named)
        letters = dictionary(found.get("CharProcs")).values() if name(found.get("Subtype")) == "Type3" else ()
        drawn = [named] if "PatternType" in found else list(letters)[:MAX_LETTERS]
        if any(_writes(each, dictionary(found.get("Resources")) or resources) for each in drawn):
            self.writing.add(id(found))


def _writes(stream: object, resources: Dictionary) -> bool:
    """Whether a stream, or a form that it draws, writes text."""
    unseen, seen = [(stream, resources)], set[int]()
    while unseen and len(seen) < MAX_NESTED:
        each, around = unseen.pop()
        found = resolve(each)
        if not isinstance(found, PDFStream) or id(found) in seen or name(found.get("Subtype")) == "Image":
            continue
        seen.add(id(found))
        unpacked = unpack(found)
        if unpacked is None:
            continue
        if _WRITES.search(unpacked.data):
            return True
        own = dictionary(found.get("Resources")) or around
        forms = dictionary(own.get("XObject"))
        drawn = {used for used, operator in _USED.findall(unpacked.data) if operator == b"Do"}
        unseen += [(forms.get(used.decode("utf-8", "replace")), own) for used in drawn]
    return False
