"""What a collection says of itself."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from quoteweave.core.records import Kind, Layout, Record

# How the fingerprints of importers begin.
IMPORTED = "imported-"


class Origin(Record):
    """Where a document comes from. A document is up to date when its origin is still the same."""

    root: Path = Field(description="absolute path of the folder that was added")
    content: str = Field(description="SHA-256 of the file, in hexadecimal")
    parser: str = Field(description="fingerprint of the parser and its settings")
    metadata: Mapping[str, str] = Field(default_factory=dict)

    @property
    def imported(self) -> bool:
        """Whether another tool parsed it: a folder's files then say nothing of it."""
        return self.parser.startswith(IMPORTED)


class Failure(Record):
    """A file that could not become a document."""

    name: str = Field(description="the name that the document would have")
    root: Path = Field(description="absolute path of the folder that was added")
    reason: str
    content: str | None = Field(description="SHA-256 of the file; None where it could not be read")
    time: float = Field(description="seconds since the epoch")


class Counts(Record):
    """How much a collection holds."""

    documents: int
    pages: int
    by_kind: Mapping[Kind, int] = Field(description="quotes of each kind; kinds without quotes are left out")
    by_layout: Mapping[Layout, int] = Field(description="quotes of each layout; layouts without quotes are left out")

    @property
    def quotes(self) -> int:
        """All quotes, headers and footers included."""
        return sum(self.by_kind.values())

    @property
    def image_quotes(self) -> int:
        """Figures, charts, tables and whole pages."""
        return self.by_kind.get("image", 0)


class IndexState(Record):
    """The current generation of a derived index."""

    name: str = Field(description="of the retriever or library that made it")
    fingerprint: str = Field(description="of the settings that it was made with")
    generation: int = Field(ge=1, description="its number; none is used twice in a collection")
    revision: int = Field(ge=0, description="revision of the documents that it was made from")
    folder: Path
