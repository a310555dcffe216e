"""Retrievers by name, for the command line, configuration files and HTTP; code passes objects."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import Retriever
from quoteweave.index.collection import Collection
from quoteweave.retrievers.sparse import Bm25Retriever, LexicalRetriever

DEFAULT = "lexical"
RETRIEVERS: Mapping[str, Callable[[Collection], Retriever]] = MappingProxyType(
    {"lexical": LexicalRetriever, "bm25": Bm25Retriever}
)


def make_retriever(name: str, collection: Collection) -> Retriever:
    """The retriever of that name over a collection. Raises UsageError naming those there are."""
    if name not in RETRIEVERS:
        raise UsageError(f"there is no retriever {name!r}; choose one of: {', '.join(RETRIEVERS)}")
    return RETRIEVERS[name](collection)
