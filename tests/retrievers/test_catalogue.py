import re
from typing import get_args

import pytest

from quoteweave.retrievers.catalogue import Loader, ModelRow, catalogue
from quoteweave.retrievers.encoders import CLASSES

QWEN3 = ["qwen3-embedding-0.6b", "qwen3-embedding-4b", "qwen3-embedding-8b"]
PYLATE = ["gte-moderncolbert", "lateon", "answerai-colbert-small", "mxbai-edge-colbert-17m", "mxbai-edge-colbert-32m"]
TEXT = ["dpr", "contriever", "e5", "bge", "gte", *QWEN3, "minilm", "specter", "specter2", "colbert", *PYLATE]
VISUAL = [
    *(
        "colpali",
        "colpali-hf",
        "colqwen2",
        "colqwen2-hf",
        "colqwen2.5",
        "colsmol-256m",
        "colsmol-500m",
        "colmodernvbert",
        "colqwen-omni",
        "tomoro-colqwen3-4b",
        "tomoro-colqwen3-8b",
    ),
    *("dse-wikiss", "dse-docmatix", "dse-qwen2", "qwen3-vl-embedding-2b", "qwen3-vl-embedding-8b"),
]


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
        **dict.fromkeys(QWEN3, "last"),
        "minilm": "mean",
        "specter": "cls",
        "specter2": None,
        "colbert": None,
        **dict.fromkeys(PYLATE),
    }
    left = [*QWEN3, "dse-qwen2", "qwen3-vl-embedding-2b", "qwen3-vl-embedding-8b"]
    assert [name for name, row in rows.items() if row.padding == "left"] == left
    assert [name for name, row in rows.items() if not row.normalize] == ["dpr", "contriever"]


@pytest.mark.parametrize("row", catalogue().values(), ids=lambda row: row.name)
def test_rows_agree_with_themselves(row: ModelRow) -> None:
    revisions = (row.revision, row.query_revision, row.base_revision)
    assert all(revision == "main" or re.fullmatch("[0-9a-f]{40}", revision) for revision in revisions)
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", row.checkpoint)
    assert row.source.startswith("https://")
    assert (row.query_checkpoint is not None) == (row.loader in ("dpr", "adapted-bert"))
    assert (row.base is not None) == (row.loader in ("colpali-engine", "adapted-bert"))
    assert row.multi_vector == (row.loader in ("multi-vector", "multi-vector-visual", "colpali-engine", "colpali-hf"))
    assert (row.passage_length is None) == (row.reads == "image" or row.name in PYLATE), "theirs are the checkpoints'"
    assert row.remote_code == row.name.startswith(("dse-wikiss", "dse-docmatix", "tomoro-"))
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
