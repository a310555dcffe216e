import re
from typing import get_args

import pytest

from quoteweave.retrievers.catalogue import Loader, ModelRow, catalogue
from quoteweave.retrievers.encoders.factory import CLASSES

TEXT = ["dpr", "contriever", "e5", "bge", "gte", "qwen3-embedding-0.6b", "minilm", "colbert"]
VISUAL = ["colpali", "colpali-hf", "colqwen2", "colqwen2-hf", "colqwen2.5", "dse-wikiss", "dse-docmatix", "dse-qwen2"]


def test_every_model_is_there_by_its_name_text_first() -> None:
    assert list(catalogue()) == TEXT + VISUAL
    assert [name for name, row in catalogue().items() if row.reads == "image"] == VISUAL
    assert all(row.name == name for name, row in catalogue().items())


def test_the_catalogue_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        catalogue()["bge"] = catalogue()["e5"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("e5", "query: ", "passage: "),
        ("bge", "Represent this sentence for searching relevant passages: ", ""),
        (
            "qwen3-embedding-0.6b",
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
            "",
        ),
        ("contriever", "", ""),
        ("gte", "", ""),
        ("minilm", "", ""),
        ("dpr", "", ""),
        ("dse-qwen2", "Query: ", "What is shown in this image?"),
        ("dse-docmatix", "query: ", "What is shown in this image?"),
    ],
)
def test_prefixes_are_those_of_the_model_cards(name: str, query: str, passage: str) -> None:
    row = catalogue()[name]
    assert (row.query_prefix, row.passage_prefix) == (query, passage)


def test_text_models_pool_and_pad_as_their_makers_do() -> None:
    rows = catalogue()
    assert {name: rows[name].pooling for name in TEXT} == {
        "dpr": None,
        "contriever": "mean",
        "e5": "mean",
        "bge": "cls",
        "gte": "mean",
        "qwen3-embedding-0.6b": "last",
        "minilm": "mean",
        "colbert": None,
    }
    assert [name for name, row in rows.items() if row.padding == "left"] == ["qwen3-embedding-0.6b", "dse-qwen2"]
    assert [name for name, row in rows.items() if not row.normalize] == ["dpr", "contriever"]


@pytest.mark.parametrize("row", catalogue().values(), ids=lambda row: row.name)
def test_rows_agree_with_themselves(row: ModelRow) -> None:
    revisions = (row.revision, row.query_revision, row.base_revision)
    assert all(revision == "main" or re.fullmatch("[0-9a-f]{40}", revision) for revision in revisions)
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", row.checkpoint)
    assert row.source.startswith("https://")
    assert (row.query_checkpoint is not None) == (row.loader == "dpr")
    assert (row.base is not None) == (row.loader == "colpali-engine")
    assert row.many == (row.loader in ("multi-vector", "colpali-engine", "colpali-hf"))
    assert (row.passage_length is None) == (row.reads == "image")
    assert row.remote_code == (row.loader == "dse-phi3")
    # Two bytes a number in what is downloaded, four on a GPU in float32.
    assert row.gpu_gb > row.download_gb * (2 if row.dtype == "float32" and row.loader != "dpr" else 0.85)


def test_every_loader_has_an_encoder_and_every_row_a_loader() -> None:
    assert set(CLASSES) == set(get_args(Loader)) == {row.loader for row in catalogue().values()}


def test_another_checkpoint_takes_the_place_of_the_rows_own() -> None:
    row = catalogue()["dpr"]
    assert row.at(None) is row
    assert row.at(row.checkpoint) is row
    other = row.at("/models/dpr")
    assert (other.checkpoint, other.revision, other.query_checkpoint) == ("/models/dpr", "main", None)
    assert other.dimension == row.dimension
