"""Records about a collection: origins, failures, counts, and index states."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import ConfigDict, Field

from quoteweave.collection import views
from quoteweave.collection.views import Unit
from quoteweave.core.fingerprints import fingerprint
from quoteweave.core.protocols import SettingValue
from quoteweave.core.records import Kind, Layout, Record, View

# The prefix of importers' fingerprints.
IMPORTED = "imported-"
# The root of uploaded documents: no real folder, so that no folder's content decides whether they are up to date.
UPLOADED = Path("uploaded:")


class Origin(Record):
    """Where a document comes from. A document is up to date when its origin is still the same."""

    root: Path = Field(description="absolute path of the folder that was added; `UPLOADED` for an uploaded file")
    content: str = Field(description="SHA-256 of the file, in hexadecimal")
    parser: str = Field(description="fingerprint of the parser and its settings")
    metadata: Mapping[str, str] = Field(default_factory=dict)
    path: str | None = Field(default=None, description="of the file below that folder, where it is not the name")
    linked_files: Mapping[str, str | None] = Field(default_factory=dict, description="as `Document.linked_files`")

    def file(self, name: str) -> Path:
        """Where the file of that document was."""
        return self.root / (self.path or name)

    @property
    def imported(self) -> bool:
        """Whether another tool parsed it: the files in a folder then do not show whether it is up to date."""
        return self.parser.startswith(IMPORTED)

    @property
    def uploaded(self) -> bool:
        """Whether its file was uploaded, so that the collection alone holds it."""
        return self.root == UPLOADED


class LostDocument(Record):
    """What is known of a document that a damaged catalogue has lost; a repair reads it again from this."""

    origin: Origin
    source: str = Field(description="key of its stored file, which is kept as long as this is known")


class Failure(Record):
    """A file that could not become a document."""

    name: str = Field(description="the name that the document would have")
    root: Path = Field(description="absolute path of the folder that was added")
    reason: str
    content: str | None = Field(description="SHA-256 of the file; None where it could not be read")
    time: float = Field(description="seconds since the epoch")
    path: str | None = Field(default=None, description="of the file below that folder, where it is not the name")
    lost: LostDocument | None = Field(
        default=None, description="what is left of a document that a damaged catalogue has lost; None for other files"
    )

    @property
    def file(self) -> Path:
        """Where the file was."""
        return self.root / (self.path or self.name)


class CollectionCounts(Record):
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

    name: str = Field(
        description="what made it: the retriever in one word, as the command line takes it; of indexes of earlier "
        "versions its encoder's name"
    )
    fingerprint: str = Field(description="of the settings that it was made with")
    generation: int = Field(ge=1, description="its number; none is used twice in a collection")
    revision: int = Field(ge=0, description="revision of the documents that it was made from")
    folder: Path
    seal: str | None = Field(
        default=None, description="`generation_seal` of the folder as it was written; None where that is not known"
    )


class IndexPlan(Record):
    """The specification of a vector index: all that is needed to keep it up to date, except the encoder."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    name: str = Field(description="of the encoder")
    spec: str = Field(description="the retriever in one word, as the command line takes it")
    kind: str = Field(description="of index, as `kinds.py` names them")
    multi_vector: bool = Field(alias="many", description="whether an item has many vectors; `many` in stored plans")
    unit: Unit
    view: View
    settings: Mapping[str, SettingValue] = Field(description="all that changes a vector, as the encoder says")

    @property
    def dtype(self) -> str:
        """The type of stored numbers. Half precision changes MaxSim scores too little to reorder hits."""
        return "float16" if self.multi_vector else "float32"

    @property
    def shards(self) -> str:
        """Fingerprint of the vectors, which all kinds of index share."""
        made_of = {"view": self.view, "unit": self.unit, "dtype": self.dtype, "views": views.VIEWS_VERSION}
        return fingerprint({**made_of, "settings": dict(self.settings)})

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the index: the fingerprint of its shards, a dot, and the kind of index."""
        return f"{self.shards}.{self.kind}"


class Manifest(IndexPlan):
    """The contents of one generation of a vector index."""

    dimension: int = Field(ge=0, description="numbers in a vector; 0 while there are none")
    count: int = Field(ge=0, description="items in the index")
    skipped: int = Field(ge=0, description="items left out: without words, without a picture, or with a damaged one")
    refused: Mapping[str, str] = Field(
        default_factory=dict, description="of items left out that have words or a picture, why, by id of their quote"
    )
    documents: Mapping[str, str] = Field(description="key of the shard that each document's items are from")
