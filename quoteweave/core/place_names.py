"""Names of places in documents, to which questions, captions and headings refer.

`core.text.references.mentions` reads them. This is their form as text, also in the index:

figure 3, table 2         pictures and tables; kinds of pictures are one, Roman numerals become Arabic
page 12, page iv          the page of that name: by the label printed on it, or by its number in the file
page #2, page #-1         the second page of the file, and its last
chapter 3, section 3.2    what is under that heading; also `part 2`, `unit 8`, `item 7`, `note 4`
chapter last              the last of a document's chapters
chapter 3 #1, part 2 #-1  the first page of chapter 3, the last of part 2
chapter ?                 only of headings: one whose number is uncertain, or a preface, an index and the like
appendix, appendix a      the same of appendices
contents, references      the table of contents, and the list of references
"""

from dataclasses import dataclass, replace
from typing import Any, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

LAST, UNREAD = "last", "?"
_ENCLOSING = frozenset({"part", "teil", "partie", "parte", "deel", "unit", "module"})


@dataclass(frozen=True, slots=True)
class PlaceName:
    """The name of a place in a document.

    >>> PlaceName("chapter", "3").on_page(-1).phrase
    'the last page of chapter 3'
    """

    kind: str
    """"page", "figure", "table", "chapter", "part" and the like, "contents" or "references"."""
    number: str = ""
    """"3", "3.2", "a", or, for a page, "iv"; "last"; "?" for one that cannot be read; "" for none."""
    page: int | None = None
    """Which of its pages is meant: 1 for the first, -1 for the last. For the kind "page", which page of the file."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a name from its text."""
        part, _, page = text.partition(" #") if " #" in text else (text, "", "")
        kind, _, number = part.partition(" ")
        return cls(kind, number, int(page) if page else None)

    def __str__(self) -> str:
        """Write the name as text."""
        return f"{self.kind}{self.number and f' {self.number}'}{'' if self.page is None else f' #{self.page}'}"

    @property
    def is_page(self) -> bool:
        """Whether it is a page of the file rather than a part."""
        return self.kind == "page"

    @property
    def is_last(self) -> bool:
        """Whether it is the last part of its kind."""
        return self.number == LAST

    @property
    def is_unread(self) -> bool:
        """Whether it is a heading without a known number, which only ends the part before it."""
        return self.number == UNREAD

    @property
    def encloses_chapters(self) -> bool:
        """Whether it is a kind of part that contains chapters, whose numbers may begin anew in it."""
        return self.kind in _ENCLOSING

    @property
    def value(self) -> int | None:
        """The number as one; None for "3.2", "a" and others."""
        return int(self.number) if self.number.isdecimal() else None

    @property
    def without_page(self) -> Self:
        """The name of the part to which the named page belongs."""
        return replace(self, page=None)

    def on_page(self, page: int) -> Self:
        """The name of one of the part's pages."""
        return replace(self, page=page)

    @property
    def phrase(self) -> str:
        """The name as people say it, such as "the last page of chapter 3"."""
        part = f"the last {self.kind}" if self.is_last else f"{self.kind} {self.number}".strip()
        if self.page is None:
            return part
        if self.page == -1:
            return "the last page" if self.is_page else f"the last page of {part}"
        if self.page > 0:
            return f"page {self.page} of {'the file' if self.is_page else part}"
        return f"page {-self.page} from the end{'' if self.is_page else f' of {part}'}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Let records have fields of names, which are text in JSON."""
        return core_schema.no_info_plain_validator_function(
            lambda value: value if isinstance(value, cls) else cls.parse(value),
            json_schema_input_schema=core_schema.str_schema(),
            serialization=core_schema.to_string_ser_schema(),
        )
