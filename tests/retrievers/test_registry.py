from pathlib import Path

import pytest
from made_collections import make_collection

from quoteweave.core.errors import UsageError
from quoteweave.core.records import Query
from quoteweave.retrievers.registry import DEFAULT, RETRIEVERS, make_retriever
from quoteweave.retrievers.sparse import Bm25Retriever, LexicalRetriever


@pytest.mark.parametrize("name", RETRIEVERS)
def test_each_name_gives_a_retriever_over_the_collection(name: str, tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.txt": ["grain ships"], "b.txt": ["timber"]}) as collection:
        (hits,) = make_retriever(name, collection).search([Query(text="timber")], 5)
    assert [hit.quote.document for hit in hits] == ["b.txt"]


def test_the_names_mean_the_classes(tmp_path: Path) -> None:
    with make_collection(tmp_path, {}) as collection:
        assert type(make_retriever("bm25", collection)) is Bm25Retriever
        assert type(make_retriever(DEFAULT, collection)) is LexicalRetriever


def test_an_unknown_name_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with make_collection(tmp_path, {}) as collection, pytest.raises(UsageError, match=r"'dense'.*lexical, bm25"):
        make_retriever("dense", collection)
