import json
from pathlib import Path

import numpy as np
import pytest
import tiny_checkpoints as tiny

from quoteweave.core.errors import ModelNotFound, UsageError
from quoteweave.models.checkpoints import Hardware
from quoteweave.retrievers.catalogue import catalogue
from quoteweave.retrievers.encoders import make_encoder, row_for_path

CPU = Hardware(device="cpu")
QUESTION, PASSAGE = "what is the revenue of the harbour?", "The revenue rose."


def change(folder: Path, **values: object) -> None:
    file = folder / "config_sentence_transformers.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **values}), "utf-8")


@pytest.mark.parametrize(
    ("prompts", "passage_prefix"),
    [
        ({}, ""),
        ({"query": "query: ", "document": "passage: "}, "passage: "),
        ({"query": "query: ", "passage": "passage: "}, "passage: "),
        ({"query": "", "document": "", "corpus": "the "}, "the "),
        ({"query": "ask ", "document": "the ", "passage": "passage: "}, "the "),
    ],
)
def test_prompts_and_pooling_are_the_checkpoints_own(
    tmp_path: Path, prompts: dict[str, str], passage_prefix: str
) -> None:
    from sentence_transformers import SentenceTransformer

    folder = str(tiny.sentence_transformer(tmp_path / "model", "cls", prompts=prompts))
    row, model = row_for_path(folder), SentenceTransformer(folder, device="cpu")
    assert (row.name, row.pooling, row.dimension, row.multi_vector) == (
        "sentence-transformers",
        None,
        tiny.HIDDEN,
        False,
    )
    assert (row.query_prefix, row.passage_prefix, row.normalize) == (prompts.get("query", ""), passage_prefix, True)
    encoder = make_encoder(row, CPU, folder)
    np.testing.assert_allclose(encoder.encode_queries([QUESTION])[0][0], model.encode_query(QUESTION), atol=1e-4)
    expected = model.encode_document(PASSAGE, prompt=passage_prefix)
    np.testing.assert_allclose(encoder.encode_views([PASSAGE])[0][0], expected, atol=1e-4)


@pytest.mark.parametrize(("similarity", "normalized"), [("cosine", True), (None, True), ("dot", False)])
def test_vectors_are_made_so_that_inner_products_are_the_checkpoints_similarity(
    tmp_path: Path, similarity: str | None, normalized: bool
) -> None:
    from sentence_transformers import SentenceTransformer

    folder = tiny.sentence_transformer(tmp_path / "model", "mean", normalize=False)
    change(folder, similarity_fn_name=similarity)
    model = SentenceTransformer(str(folder), device="cpu")
    encoder = make_encoder(row_for_path(str(folder)), CPU, str(folder))
    (question,), (passage,) = encoder.encode_queries([QUESTION]), encoder.encode_views([PASSAGE])
    expected = model.similarity(model.encode([QUESTION]), model.encode([PASSAGE]))
    np.testing.assert_allclose(question @ passage.T, expected, atol=1e-4)
    assert (abs(np.linalg.norm(passage) - 1) < 1e-5) == normalized


def test_a_plain_checkpoint_is_pooled_by_the_mean_as_the_library_would(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    folder = str(tiny.bert(tmp_path / "model"))
    row = row_for_path(folder)
    assert (row.pooling, row.dimension) == ("mean", tiny.HIDDEN)
    expected = SentenceTransformer(folder, device="cpu").encode([PASSAGE], normalize_embeddings=True)
    np.testing.assert_allclose(make_encoder(row, CPU, folder).encode_views([PASSAGE])[0], expected, atol=1e-4)


def test_a_projection_says_how_long_vectors_are(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense

    modules = list(SentenceTransformer(str(tiny.sentence_transformer(tmp_path / "base", "mean")), device="cpu"))
    folder = str(tmp_path / "model")
    SentenceTransformer(modules=[*modules[:2], Dense(tiny.HIDDEN, 7)], device="cpu").save(folder)
    assert row_for_path(folder).dimension == 7
    assert make_encoder(row_for_path(folder), CPU, folder).encode_views([PASSAGE])[0].shape == (1, 7)


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("kept", [5, tiny.HIDDEN, 1000])
def test_no_more_of_a_vector_is_kept_than_the_checkpoint_says(tmp_path: Path, similarity: str, kept: int) -> None:
    from sentence_transformers import SentenceTransformer

    folder = tiny.sentence_transformer(tmp_path / "model", "mean", normalize=False)
    whole = make_encoder(row_for_path(str(folder)), CPU, str(folder)).settings
    change(folder, truncate_dim=kept, similarity_fn_name=similarity)
    row = row_for_path(str(folder))
    encoder, model = make_encoder(row, CPU, str(folder)), SentenceTransformer(str(folder), device="cpu")
    texts = [QUESTION, PASSAGE, "ship"]
    expected = model.encode(texts, normalize_embeddings=similarity == "cosine")
    assert row.dimension == expected.shape[1] == min(kept, tiny.HIDDEN)
    for found in (encoder.encode_queries(texts), encoder.encode_views(texts)):
        np.testing.assert_allclose(np.concatenate(found), expected, atol=1e-5)
    assert (whole.get("truncate_dim"), encoder.settings["truncate_dim"]) == (None, kept)


def test_a_row_of_the_catalogue_keeps_no_more_of_a_vector_than_its_checkpoint_says(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    folder = tiny.sentence_transformer(tmp_path / "model", "cls")
    change(folder, truncate_dim=16)
    encoder = make_encoder(catalogue()["bge"], CPU, str(folder))
    expected = SentenceTransformer(str(folder), device="cpu").encode([PASSAGE], normalize_embeddings=True)
    np.testing.assert_allclose(encoder.encode_views([PASSAGE])[0], expected, atol=1e-5)
    assert encoder.settings["truncate_dim"] == 16
    assert "truncate_dim" not in make_encoder(catalogue()["bge"], CPU).settings


@pytest.mark.parametrize("truncate", [None, 5])
def test_a_table_of_words_is_read_as_the_library_reads_it(tmp_path: Path, truncate: int | None) -> None:
    from sentence_transformers import SentenceTransformer

    folder = tiny.static(tmp_path / "model", 12, truncate=truncate)
    row, model = row_for_path(str(folder)), SentenceTransformer(str(folder), device="cpu")
    texts = ["", QUESTION, "the ship in the harbour " * 300, PASSAGE, "unknown"]
    expected = model.encode(texts, normalize_embeddings=True)
    assert row.dimension == expected.shape[1] == (truncate or 12)
    encoder = make_encoder(row, CPU.model_copy(update={"batch_size": 2}), str(folder))
    np.testing.assert_allclose(np.concatenate(encoder.encode_views(texts)), expected, atol=1e-5)
    np.testing.assert_allclose(np.concatenate(encoder.encode_queries(texts)), expected, atol=1e-5)


@pytest.mark.parametrize("place", ["", "0_StaticEmbedding"])
def test_a_table_of_words_may_lie_in_a_folder_of_its_own_and_be_named_as_model2vec_does(
    tmp_path: Path, place: str
) -> None:
    from safetensors.numpy import load_file, save_file
    from sentence_transformers import SentenceTransformer

    folder = tiny.static(tmp_path / "model", 12)
    weights = load_file(folder / "model.safetensors")
    (folder / place).mkdir(exist_ok=True)
    for name in ("model.safetensors", "tokenizer.json"):
        (folder / name).rename(folder / place / name)
    save_file({"embeddings": weights["embedding.weight"]}, folder / place / "model.safetensors")
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    modules[0]["path"] = place
    (folder / "modules.json").write_text(json.dumps(modules), "utf-8")
    row, model = row_for_path(str(folder)), SentenceTransformer(str(folder), device="cpu")
    assert row.dimension == 12
    found = make_encoder(row, CPU, str(folder)).encode_views([PASSAGE])[0]
    np.testing.assert_allclose(found, model.encode([PASSAGE], normalize_embeddings=True), atol=1e-5)


def test_a_projection_of_a_table_of_words_says_how_long_vectors_are(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense

    table = list(SentenceTransformer(str(tiny.static(tmp_path / "base", 12)), device="cpu"))
    folder = str(tmp_path / "model")
    SentenceTransformer(modules=[*table, Dense(12, 7)], device="cpu").save(folder)
    assert row_for_path(folder).dimension == 7
    expected = SentenceTransformer(folder, device="cpu").encode([PASSAGE], normalize_embeddings=True)
    found = make_encoder(row_for_path(folder), CPU, folder).encode_views([PASSAGE])[0]
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("native", [True, False])
def test_late_interaction_is_known_by_its_format(tmp_path: Path, native: bool) -> None:
    from sentence_transformers import MultiVectorEncoder

    folder = str(tiny.colbert(tmp_path / "model"))
    if native:
        MultiVectorEncoder(folder, device="cpu").save(folder := str(tmp_path / "native"))
    row = row_for_path(folder)
    assert (row.loader, row.multi_vector, row.dimension, row.normalize) == ("multi-vector", True, 16, True)
    model, encoder = MultiVectorEncoder(folder, device="cpu"), make_encoder(row, CPU, folder)
    for found, expected in [
        (encoder.encode_queries([QUESTION])[0], model.encode_query(QUESTION)),
        (encoder.encode_views([PASSAGE])[0], model.encode_document(PASSAGE)),
    ]:
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_a_model_of_pictures_and_text_never_fetches_what_a_text_names(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    folder = str(tiny.clip(tmp_path / "model"))
    address = "http://127.0.0.1:9/figure.png"
    with pytest.raises(Exception, match="refused"):
        SentenceTransformer(folder, device="cpu").encode([address])
    encoder = make_encoder(row_for_path(folder), CPU, folder)
    one, other = encoder.encode_views([address, "the ship"])
    assert one.shape == other.shape == (1, 16)
    assert np.abs(one - other).max() > 0.01


def test_a_model_of_the_hubs_cache_is_pinned_to_the_commit_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    commit = "0123456789abcdef0123456789abcdef01234567"
    cached = tmp_path / "models--made--model"
    tiny.bert(cached / "snapshots" / commit)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(commit, "utf-8")
    row = row_for_path("made/model")
    encoder = make_encoder(row, CPU, "made/model")
    assert encoder.settings["checkpoint"] == f"made/model@{commit}"
    assert encoder.encode_views([PASSAGE])[0].shape == (1, tiny.HIDDEN)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"similarity_fn_name": "euclidean"}, "compares its vectors by euclidean; only vectors that inner products"),
        ({"model_type": "CrossEncoder"}, "is a CrossEncoder; only vectors"),
        ({"model_type": "SparseEncoder"}, "is a SparseEncoder; only vectors"),
    ],
)
def test_models_that_give_no_such_vectors_are_refused(tmp_path: Path, values: dict[str, str], why: str) -> None:
    folder = tiny.sentence_transformer(tmp_path / "model", "mean")
    change(folder, **values)
    with pytest.raises(UsageError, match=why):
        row_for_path(str(folder))


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match="gone is no model"):
        row_for_path(str(tmp_path / "gone"))
    (tmp_path / "config.json").write_text("{}", "utf-8")
    with pytest.raises(UsageError, match="does not say how many numbers its vectors have"):
        row_for_path(str(tmp_path))
