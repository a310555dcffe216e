"""The Milvus schema of an item, and filter expressions over it."""

import json
from typing import TYPE_CHECKING, Any

from quoteweave.index.base import SearchScope, Shard

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix
    from quoteweave.core.records import Document, Filter

# Milvus counts bytes of UTF-8. These fields are for people and other programs to read: no filter of ours depends on
# them, so a name longer than the longest path on Linux is cut.
_MAX_NAME_BYTES = 4096
_MAX_WORD_BYTES = 64


def make_schema(dimension: int) -> Any:
    """The fields of an item. The primary key is its row in the catalogue."""
    from pymilvus import DataType, MilvusClient

    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("row", DataType.INT64, is_primary=True)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
    for name in ("quote", "document"):
        schema.add_field(name, DataType.VARCHAR, max_length=_MAX_NAME_BYTES)
    for name in ("document_id", "kind", "layout"):
        schema.add_field(name, DataType.VARCHAR, max_length=_MAX_WORD_BYTES)
    schema.add_field("page", DataType.INT64)
    return schema


def make_indexes() -> Any:
    """Exact search by inner product, and a lookup of documents.

    Searches select documents by an expression and not by a partition key, because documents are many and small, and
    partitions would split every search of the whole collection.
    """
    from pymilvus import MilvusClient

    indexes = MilvusClient.prepare_index_params()
    indexes.add_index("vector", index_type="FLAT", metric_type="IP")
    indexes.add_index("document_id", index_type="INVERTED")
    return indexes


def entities(shard: Shard, vectors: "Matrix", start: int) -> list[dict[str, object]]:
    """The fields to store for the shard's items from `start` on, one item for each of `vectors`."""
    part = slice(start, start + len(vectors))
    return [
        {
            "row": row,
            "vector": vector,
            "quote": _cut(quote.id),
            "document": _cut(quote.document),
            "document_id": quote.id.partition(":")[0],
            "page": quote.page,
            "kind": quote.kind,
            "layout": quote.layout,
        }
        for row, vector, quote in zip(shard.rows[part].tolist(), vectors, shard.quotes[part], strict=True)
    ]


def expression(scope: SearchScope) -> str | None:
    """The filter expression for a scope; empty if the scope restricts nothing, None if nothing can pass.

    Documents are named by their ids, so that no text of a document or a user is ever part of an expression. Metadata
    is looked up in the catalogue: it may change while rows stay, so Milvus does not have it. Raises UsageError for
    documents that do not exist.
    """
    where, terms = scope.where, []
    if where.documents is not None or where.metadata:
        terms.append(_membership("document_id", [document.id for document in _documents(scope, where)]))
    if where.first_page is not None:
        terms.append(f"page >= {where.first_page}")
    if where.last_page is not None:
        terms.append(f"page <= {where.last_page}")
    if where.kind is not None:
        terms.append(_membership("kind", [where.kind]))
    if where.layouts is not None:
        terms.append(_membership("layout", list(where.layouts)))
    return None if None in terms else " and ".join(term for term in terms if term)


def _documents(scope: SearchScope, where: "Filter") -> "list[Document]":
    if where.documents is None:
        documents = scope.collection.documents()
    else:
        documents = [scope.collection.document(name) for name in dict.fromkeys(where.documents)]
    return [document for document in documents if where.admits(document)]


def _membership(field: str, values: list[str]) -> str | None:
    return f"{field} in {json.dumps(values)}" if values else None


def _cut(name: str) -> str:
    return name.encode("utf-8")[:_MAX_NAME_BYTES].decode("utf-8", "ignore")
