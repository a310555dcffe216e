import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_collections import make_collection

from quoteweave.collection.stores.generations import try_read_manifest
from quoteweave.core.errors import EndpointRefused, InputsRefused
from quoteweave.core.records import Query
from quoteweave.index.encoder_index import counts_by_reason
from quoteweave.index.sync import sync_indexes
from quoteweave.retrievers.make_retriever import make_retriever
from quoteweave.retrievers.vector import VectorRetriever
from quoteweave.testing import ModelServer, Reply


def no_grain(request: Mapping[str, Any]) -> Reply:
    return Reply(status=413 if "grain" in str(request["input"]) else 200, text="no grain")


def test_a_quote_that_an_endpoint_refuses_is_told_and_the_others_are_found(tmp_path: Path) -> None:
    quotes = {"a.txt": ["grain by ship", "timber by rail"], "b.txt": ["grain"], "c.txt": ["coal"]}
    with make_collection(tmp_path, quotes) as collection, ModelServer(no_grain) as server:
        retriever = make_retriever(f"openai:m@{server.base_url}", collection)
        assert isinstance(retriever, VectorRetriever)
        report = retriever.refresh()
        assert (report.items, report.encoded, report.skipped) == (2, 2, 2)
        assert len(report.unreadable) == 2
        assert all(
            "answered 413" in refused.reason and refused.quote in refused.reason for refused in report.unreadable
        )
        sent = len(server.requests)
        assert retriever.refresh().encoded == 0
        assert len(server.requests) == sent, "what was refused is not sent again"
        (state,) = collection.indexes()
        left_out = retriever.refresh().left_out
        assert [(one.document, "answered 413" in one.reason) for one in left_out] == [("a.txt", True), ("b.txt", True)]
        manifest = try_read_manifest(state)
        assert manifest is not None
        assert counts_by_reason(manifest) == {"refused by the endpoint": 2}
        with collection.writer() as writer:
            writer.remove("b.txt")
            sync_indexes(collection, writer)
        manifest = try_read_manifest(collection.indexes()[-1])
        assert manifest is not None
        assert list(manifest.refused) == [left_out[0].quote]
        (hits,) = retriever.search([Query(text="timber")], 5)
        with pytest.raises(EndpointRefused, match="no grain"):
            retriever.search([Query(text="grain")], 5)
    assert sorted(hit.quote.text for hit in hits) == ["coal", "timber by rail"]


def test_the_error_can_be_sent_between_processes() -> None:
    error = pickle.loads(pickle.dumps(InputsRefused({1: "too long"}, [np.ones((1, 2), dtype=np.float32)])))
    assert (str(error), error.refused, len(error.matrices)) == ("too long", {1: "too long"}, 1)
