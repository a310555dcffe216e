"""What pdfium ignores on a page without an error: damaged content, and text that it draws but does not return.

Content is checked as it is in the file: a stream must unpack to its end, the last one must end with an operator, what
they draw must exist, and words must be followed by an operator that pdfium knows.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from pdfminer.pdftypes import PDFObjRef, PDFStream

from quoteweave.documents.sources.pdf_objects.objects import PageObject, PdfObjects
from quoteweave.documents.sources.pdf_objects.unpacking import (
    MAX_HOPS,
    Dictionary,
    Unpacked,
    dictionary,
    listed,
    name,
    resolve,
    unpack,
)

# The most streams of a page, and nodes of the tree of attachments, that are examined.
MAX_STREAMS = 1000
# The most letters of a font, and streams within the drawing of one, that are examined.
MAX_LETTERS, MAX_NESTED = 256, 20
# The most strings of a page's content, open brackets within one, and bytes of a layer, that are examined.
MAX_STRINGS, MAX_BRACKETS, MAX_MARKED = 500_000, 1000, 100_000
OPERATORS = frozenset(
    b"b B b* B* BDC BI BMC BT BX c cm CS cs d d0 d1 Do DP EI EMC ET EX f F f* G g gs h i ID j J K k l m M MP n q Q re "
    b"RG rg ri s S SC sc SCN scn sh T* Tc Td TD Tf Tj TJ TL Tm Tr Ts Tw Tz v w W W* y ' \"".split()
)
_CONSTANTS = frozenset((b"true", b"false", b"null"))
_BLANK, _MARKS = rb"\s\x00", rb"()<>\[\]{}/%"
_DELIMITERS = re.compile(rb"[%b%b]" % (_BLANK, _MARKS))
# A string or its beginning, a comment, or the beginning of an image.
_SKIPPED = re.compile(rb"\([^()\\]*+\)?|%%[^\r\n]*|(?<![^%b])BI(?=[%b/])" % (_BLANK, _BLANK))
_BRACKET = re.compile(rb"\\.|[()]", re.DOTALL)
_IMAGE_END, _BARE_IMAGE_END = re.compile(rb"[%b]EI(?![^%b])" % (_BLANK, _BLANK)), re.compile(rb"EI(?![^%b])" % _BLANK)
# What follows a string or an array, if it is neither a number nor a name.
_AFTER_STRING = re.compile(rb"[>\]][%b]*([^%b%b\d.+-][^%b%b]*)" % (_BLANK, _BLANK, _MARKS, _BLANK, _MARKS))
# The use of a form or picture, a pattern, a font, or a state with a mask.
_USED = re.compile(rb"/([^%b%b]+)(?:\s+[-+.\d]+)?\s+(Do|scn|SCN|Tf|gs)\b" % (_BLANK, _MARKS))
_KINDS = {b"Do": "XObject", b"Tf": "Font", b"scn": "Pattern", b"SCN": "Pattern", b"gs": "ExtGState"}
_WRITES = re.compile(rb"[)>\]]\s*(?:T[jJ]\b|['\"])")
_LAYER = re.compile(rb"/OC\s*/([^%b%b]+)\s+BDC\b" % (_BLANK, _MARKS))


def page_losses(objects: PdfObjects, number: int) -> Iterator[str]:
    """Warnings about what pdfium ignores on a page."""
    page = objects.page(number)
    if page is None:
        return
    content = _ContentReader(objects)
    content.read(page)
    if content.is_damaged:
        yield f"page {number + 1} has content that is damaged, cut off or missing, all or part of which was not read"
    if content.writing:
        kinds = "patterns, masks, or letters of fonts, that are drawn with text"
        yield f"page {number + 1} has {kinds}, which its text layer lacks: {len(content.writing)}"
    if content.writes_hidden:
        yield f"page {number + 1} has layers that are not shown, whose text was read like the rest"


def document_losses(objects: PdfObjects, count: int) -> Iterator[str]:
    """Warnings about what pdfium ignores in a document in which it finds `count` pages."""
    if objects.has_lost_update:
        yield "its last update is cut off, so that it was read as it was before"
    if (more := objects.count_pages() - count) > 0:
        yield f"it has more pages than it says, and those were not read: {more}"


def count_associated(objects: PdfObjects, page: Dictionary) -> int:
    """Count the files that belong to a page (`/AF`) without being attached to the document as well."""
    return len(_files(page.get("AF")) - _attachments(objects)) if "AF" in page else 0


def count_associated_elsewhere(objects: PdfObjects) -> int:
    """Count the files that belong to the document, or to anything in it but pages, and are not attached to it."""
    files = set[int]()
    for value, owner in objects.values("AF"):
        files |= _files(value) if name(owner.get("Type")) != "Page" else set()
    return len(files - _attachments(objects)) if files else 0


def count_fields(objects: PdfObjects, most: int) -> int:
    """Count the fields of a form, and their parts, up to somewhat more than `most`."""
    unseen, count = [*listed(dictionary(objects.catalog.get("AcroForm")).get("Fields"))], 0
    while unseen and count + len(unseen) <= most:
        count += 1
        unseen += listed(dictionary(unseen.pop()).get("Kids"))
    return count + len(unseen)


def inherits_value(page: Dictionary, number: int) -> bool:
    """Whether the annotation of that number belongs to a field with a value; a signature is no value."""
    annotations = listed(page.get("Annots"))
    node = dictionary(annotations[number]) if number < len(annotations) else {}
    for _ in range(MAX_HOPS):
        node = dictionary(node.get("Parent"))
        if value := resolve(node.get("V")):
            return not isinstance(value, dict) and name(value) != "Off"
    return False


def _files(value: object) -> set[int]:
    """The files in a value, identified by what is the same wherever they are named."""
    resolved = resolve(value)
    files = [dictionary(entry) for entry in (resolved if isinstance(resolved, list) else [resolved])]
    return {id(file) for file in files if "EF" in file}


def _attachments(objects: PdfObjects) -> set[int]:
    unseen, attachments = [dictionary(objects.catalog.get("Names")).get("EmbeddedFiles")], set[int]()
    for _ in range(MAX_STREAMS):
        if not unseen:
            break
        node = dictionary(unseen.pop())
        attachments |= {id(dictionary(entry)) for entry in listed(node.get("Names"))[1::2]}
        unseen += listed(node.get("Kids"))
    return attachments


def is_damaged(content: bytes) -> bool:
    """Whether content ends within a string or image, or before an operator, or has words that are no operators."""
    bare = _without_strings(content)
    if bare is None:
        return True
    last = _DELIMITERS.split(bare.rstrip(b"\0\t\n\f\r "))[-1]
    is_cut_off = bool(bare.strip(b"\0\t\n\f\r ")) and last not in OPERATORS
    return is_cut_off or not set(_AFTER_STRING.findall(bare)) <= OPERATORS | _CONSTANTS


def _is_cut(unpacked: Unpacked) -> bool:
    """Whether part of a stream is missing; if the stream does not mark its end, whether it ends within text."""
    if not unpacked.is_whole or unpacked.has_end:
        return not unpacked.is_whole
    operators = _DELIMITERS.split(_without_strings(unpacked.data) or b"")
    return is_damaged(unpacked.data) or operators.count(b"BT") != operators.count(b"ET")


def _without_strings(content: bytes) -> bytes | None:
    """Content with `<>` in place of each string, without comments and images; None if one of these has no end.

    Empty if there are more than are examined.
    """
    parts, at, image_end = [], 0, _IMAGE_END
    while match := _SKIPPED.search(content, at):
        parts.append(content[at : match.start()])
        at, skipped = match.end(), match.group()
        if skipped.startswith(b"("):
            parts.append(b"<>")
            at = at if skipped.endswith(b")") else _string_end(content, at - len(skipped))
        elif skipped == b"BI":
            if (end := image_end.search(content, at)) is None:
                image_end = _BARE_IMAGE_END  # for all further images, so that no data are searched twice
                end = image_end.search(content, at)
            at = end.end() if end is not None else -1
        if at < 0:
            return None
        if len(parts) > 2 * MAX_STRINGS:
            return b""
    return b"".join((*parts, content[at:]))


def _string_end(content: bytes, start: int) -> int:
    """The end of the string that begins at `start`; -1 if it has none."""
    depth = 0
    for match in _BRACKET.finditer(content, start):
        bracket = match.group()
        depth += (bracket == b"(") - (bracket == b")")
        if not depth or depth > MAX_BRACKETS:
            return -1 if depth else match.end()
    return -1


def _hidden_layers(catalog: Dictionary) -> set[int]:
    """The layers that are hidden when the document is opened, by an identity that is the same wherever they occur."""
    properties = dictionary(catalog.get("OCProperties"))
    usual = dictionary(properties.get("D"))
    hidden = listed(properties.get("OCGs")) if name(usual.get("BaseState")) == "OFF" else []
    shown = {id(dictionary(layer)) for layer in listed(usual.get("ON"))} if hidden else set()
    layers = [dictionary(layer) for layer in (*hidden, *listed(usual.get("OFF")))]
    return {id(layer) for layer in layers if layer} - shown


class _ContentReader:
    """Reads the content of a page, and of what is drawn on it, to find damage and what writes text."""

    def __init__(self, objects: PdfObjects) -> None:
        self._objects = objects
        self.is_damaged = False
        self.writing: set[int] = set()
        """Patterns, masks and fonts that are drawn with text."""
        self.writes_hidden = False
        """Whether layers that are not shown contain text."""
        self._hidden = _hidden_layers(objects.catalog)
        self._seen: dict[int, PDFStream] = {}  # kept alive, because the id of a deleted object is reused

    def read(self, page: PageObject) -> None:
        """Read everything that the page draws."""
        contents = page.entries.get("Contents")
        parts = resolve(contents)
        streams = parts if isinstance(parts, list) else [] if contents is None else [contents]
        unseen = [(self._content(streams), page.resources)]
        while unseen:
            content, resources = unseen.pop()
            self.writes_hidden |= bool(self._hidden) and self._has_hidden_layer(content, resources)
            for used, operator in set(_USED.findall(content)):
                kind = _KINDS[operator]
                resource = dictionary(resources.get(kind)).get(used.decode("utf-8", "replace"))
                if kind != "XObject":
                    self._look_within(resource, resources)
                elif (form := self._form_of(resource)) is not None:
                    form_resources = dictionary(form.get("Resources")) or resources
                    self.writes_hidden |= self._is_hidden(form.get("OC")) and _writes_text(form, form_resources)
                    unseen.append((self._content([form]), form_resources))

    def _has_hidden_layer(self, content: bytes, resources: Dictionary) -> bool:
        """Whether content writes within a layer that is not shown, up to the first end of marked content in it."""
        layers = dictionary(resources.get("Properties"))
        for match in islice(_LAYER.finditer(content), MAX_STREAMS):
            if self._is_hidden(layers.get(match.group(1).decode("utf-8", "replace"))):
                within, _, _ = content[match.end() : match.end() + MAX_MARKED].partition(b"EMC")
                if _WRITES.search(within):
                    return True
        return False

    def _is_hidden(self, layer: object) -> bool:
        entries = dictionary(layer)
        members = resolve(entries.get("OCGs"))  # the layers on whose visibility this one depends
        layers = [dictionary(member) for member in (members if isinstance(members, list) else [members or entries])]
        return bool(layers) and all(id(member) in self._hidden for member in layers)

    def _content(self, streams: Sequence[object]) -> bytes:
        """The joined data of streams, as far as known, without those that were examined before."""
        contents: list[bytes] = []
        is_known = True
        for stream in map(resolve, streams[:MAX_STREAMS]):
            if not isinstance(stream, PDFStream):
                self.is_damaged = True
            elif id(stream) not in self._seen and len(self._seen) < MAX_STREAMS:
                self._seen[id(stream)] = stream
                unpacked = self._objects.unpack(stream)
                is_known &= unpacked is not None
                self.is_damaged |= unpacked is not None and _is_cut(unpacked)
                contents.append(unpacked.data if unpacked else b"")
        content = b"\n".join(contents)
        self.is_damaged |= is_known and is_damaged(content)
        return content

    def _form_of(self, named: object) -> PDFStream | None:
        stream = resolve(named)
        self.is_damaged |= isinstance(named, PDFObjRef) and stream is None
        return stream if isinstance(stream, PDFStream) and name(stream.get("Subtype")) == "Form" else None

    def _look_within(self, named: object, resources: Dictionary) -> None:
        """Search for text in the cell of a pattern, in a mask, or in letters of a font that are drawn like content."""
        entries = dictionary(named)
        letters = dictionary(entries.get("CharProcs")).values() if name(entries.get("Subtype")) == "Type3" else ()
        masks = [mask["G"] for mask in [dictionary(entries.get("SMask"))] if "G" in mask]
        drawn = [named] if "PatternType" in entries else masks or list(letters)[:MAX_LETTERS]
        if any(_writes_text(stream, dictionary(entries.get("Resources")) or resources) for stream in drawn):
            self.writing.add(id(entries))


def _writes_text(stream: object, resources: Dictionary) -> bool:
    """Whether a stream, or a form that it draws, writes text."""
    unseen, visited = [(stream, resources)], set[int]()
    while unseen and len(visited) < MAX_NESTED:
        current, around = unseen.pop()
        drawn_stream = resolve(current)
        if (
            not isinstance(drawn_stream, PDFStream)
            or id(drawn_stream) in visited
            or name(drawn_stream.get("Subtype")) == "Image"
        ):
            continue
        visited.add(id(drawn_stream))
        unpacked = unpack(drawn_stream)
        if unpacked is None:
            continue
        if _WRITES.search(unpacked.data):
            return True
        own_resources = dictionary(drawn_stream.get("Resources")) or around
        forms = dictionary(own_resources.get("XObject"))
        drawn = {used for used, operator in _USED.findall(unpacked.data) if operator == b"Do"}
        unseen += [(forms.get(used.decode("utf-8", "replace")), own_resources) for used in drawn]
    return False
