"""The parts of a document that a question asks for, and the quotes of a context that show them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from quoteweave.core.answers import StructureCount, StructureElement, StructureKind
from quoteweave.core.place_names import PlaceName
from quoteweave.core.records import Hit, Quote

MAX_TEXTS, MAX_IMAGES = 30, 5
"""Text and image quotes of the parts found that a context shows, at most."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part that was found, and the quote that shows it."""

    name: str
    label: PlaceName | None
    quote: Quote | None
    page_label: str
    page: int
    is_inner: bool = False
    """Whether only a heading within it is known."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The parts of one kind that were found, and how they are known."""

    kind: StructureKind
    basis: Literal["pages", "captions", "numbers", "outline", "parser"]
    count: int
    parts: Sequence[Part]
    unnumbered: Sequence[Part] = ()

    def record(self, shown_quotes: "ShownQuotes") -> StructureCount:
        """The record of these parts, with their quotes numbered in the context."""
        elements, unnumbered = (tuple(map(shown_quotes.element, parts)) for parts in (self.parts, self.unnumbered))
        return StructureCount(
            kind=self.kind, basis=self.basis, count=self.count, elements=elements, unnumbered=unnumbered
        )


class ShownQuotes:
    """The quotes of a context, numbered as they are added."""

    def __init__(self) -> None:
        self.texts: list[Hit] = []
        self.images: list[Hit] = []

    def element(self, part: Part) -> StructureElement:
        """The record of a part; its quote is added if there is room."""
        fields = {"name": part.name, "label": part.label, "page_label": part.page_label, "page": part.page}
        if part.quote is None:
            return StructureElement.model_validate(fields)
        hits, most = (self.texts, MAX_TEXTS) if part.quote.kind == "text" else (self.images, MAX_IMAGES)
        number = next((at for at, hit in enumerate(hits, start=1) if hit.quote.id == part.quote.id), None)
        if number is None and len(hits) < most:
            hits.append(Hit(rank=len(hits) + 1, score=1.0, quote=part.quote))
            number = len(hits)
        number_fields = {} if number is None else {"kind": part.quote.kind, "number": number}
        return StructureElement.model_validate({**fields, **number_fields})
