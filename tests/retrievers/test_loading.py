"""Models are loaded whole or not at all, one at a time, and without the libraries' own messages."""

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_checkpoints as tiny
import tiny_rerankers
from reranked_hits import made_hits

from quoteweave.core.errors import ModelFailed, ModelNotFound
from quoteweave.core.protocols import Encoder
from quoteweave.core.records import Query
from quoteweave.models.checkpoints import Hardware
from quoteweave.models.loading import ModelLock, reporting_load_errors
from quoteweave.retrievers.catalogue import catalogue
from quoteweave.retrievers.encoders import make_encoder, row_for_path
from quoteweave.retrievers.make_reranker import make_local_reranker
from quoteweave.retrievers.rerankers import reranker_row_for_path as reranker_at
from quoteweave.retrievers.rerankers import reranker_rows

CPU = Hardware(device="cpu")


def strip(folder: Path, *names: str) -> Path:
    """Take the weights whose names hold one of these out of a checkpoint."""
    from safetensors.torch import load_file, save_file

    file = folder / "model.safetensors"
    weights = load_file(file)
    kept = {key: value for key, value in weights.items() if not any(name in key for name in names)}
    assert len(kept) < len(weights)
    save_file(kept, file, {"format": "pt"})
    return folder


def encoder(name: str, folder: Path) -> Encoder:
    return make_encoder(catalogue()[name], CPU, str(folder))


def rerank(name: str, folder: Path) -> None:
    row = reranker_rows()[name] if name in reranker_rows() else reranker_at(str(folder))
    asyncio.run(make_local_reranker(row, CPU, str(folder)).rerank(Query(text="grain"), made_hits()))


@pytest.mark.parametrize(
    ("lost", "complaint"),
    [
        (
            ("classifier",),
            r"BertForSequenceClassification: classifier\.bias, classifier\.weight; name .*minilm",
        ),
        (("pooler",), r"BertForSequenceClassification: bert\.pooler\.dense\.bias, bert\.pooler\.dense\.weight; "),
        (("layer.1.",), r"BertForSequenceClassification: bert\.encoder\.layer\.1\.[^;]*…; "),
    ],
)
def test_a_cross_encoder_without_a_trained_head_is_refused(tmp_path: Path, lost: Sequence[str], complaint: str) -> None:
    folder = strip(tiny_rerankers.make_cross_encoder(tmp_path), *lost)
    with pytest.raises(ModelFailed, match=f"{tmp_path} lacks weights of {complaint}"):
        rerank("cross-encoder", folder)


def test_an_encoder_called_a_cross_encoder_is_refused(tmp_path: Path) -> None:
    """Its modules.json makes sentence-transformers turn it into a cross-encoder, with a head of random numbers."""
    folder = tiny.sentence_transformer(tmp_path / "model", "mean")
    with pytest.raises(ModelFailed, match=r"lacks weights of BertForSequenceClassification: .*classifier"):
        rerank("cross-encoder", folder)


def test_a_checkpoint_without_weights_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with ever smaller batches, as where memory ran out."""
    from sentence_transformers import CrossEncoder

    made: list[object] = []
    create = CrossEncoder.__init__

    def counted(self: Any, *arguments: Any, **named: Any) -> None:
        made.append(self)
        create(self, *arguments, **named)

    monkeypatch.setattr(CrossEncoder, "__init__", counted)
    with pytest.raises(ModelFailed, match="lacks weights"):
        rerank("cross-encoder", strip(tiny_rerankers.make_cross_encoder(tmp_path), "classifier"))
    assert len(made) == 1


def test_the_output_layer_of_qwen3_may_be_tied_but_not_missing(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    folder = tiny_rerankers.make_qwen3_reranker(tmp_path)
    assert "lm_head.weight" not in load_file(folder / "model.safetensors")
    rerank("qwen3-reranker-0.6b", folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "tie_word_embeddings": False}), "utf-8")
    with pytest.raises(ModelFailed, match=r"lacks weights of Qwen3ForCausalLM: lm_head\.weight; "):
        rerank("qwen3-reranker-0.6b", folder)


def test_dense_models_may_lack_the_pooler_that_they_do_not_ask_and_nothing_else(tmp_path: Path) -> None:
    plain = tiny.bert(tmp_path / "plain")
    expected = encoder("contriever", plain).encode_queries(["the ship"])[0]
    strip(plain, "pooler")
    np.testing.assert_array_equal(encoder("contriever", plain).encode_queries(["the ship"])[0], expected)
    strip(plain, "layer.1.output.dense.weight")
    with pytest.raises(ModelFailed, match=r"lacks weights of BertModel: encoder\.layer\.1\.output\.dense\.weight; "):
        encoder("contriever", plain).encode_queries(["the ship"])
    folder = tiny.sentence_transformer(tmp_path / "model", "cls")
    strip(folder, "embeddings.LayerNorm")
    with pytest.raises(ModelFailed, match=r"lacks weights of BertModel: embeddings\.LayerNorm\.bias, "):
        encoder("bge", folder).encode_queries(["the ship"])


def test_a_model_that_is_asked_for_its_poolers_vector_needs_it(tmp_path: Path) -> None:
    folder = strip(tiny.sentence_transformer(tmp_path / "model", "cls"), "pooler")
    described = json.loads((folder / "sentence_bert_config.json").read_text("utf-8"))
    asked = {"text": {"method": "forward", "method_output_name": "pooler_output"}}
    described.update(modality_config=asked, module_output_name="sentence_embedding")
    (folder / "sentence_bert_config.json").write_text(json.dumps(described), "utf-8")
    with pytest.raises(ModelFailed, match=r"lacks weights of BertModel: pooler\.dense\.bias"):
        encoder("bge", folder).encode_queries(["the ship"])


def test_a_projection_on_top_of_a_dense_model_is_not_made_up(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense

    model = SentenceTransformer(str(tiny.sentence_transformer(tmp_path / "plain", "mean")), device="cpu")
    model.append(Dense(tiny.HIDDEN, 8))
    model.save(str(tmp_path / "model"))
    head = next((tmp_path / "model").glob("*Dense*"))
    assert make_encoder(row_for_path(str(tmp_path / "model")), CPU).encode_queries(["a"])[0].shape == (1, 8)
    strip(head, "bias")
    with pytest.raises(ModelFailed, match=r"cannot be loaded from .*Dense"):
        make_encoder(row_for_path(str(tmp_path / "model")), CPU).encode_queries(["a"])


def test_colbert_needs_its_projection_and_its_bert(tmp_path: Path) -> None:
    folder = strip(tiny.colbert(tmp_path / "one"), "pooler")
    assert encoder("colbert", folder).encode_queries(["grain"])[0].shape == (32, 16)
    strip(folder, "layer.0.output.dense.weight")
    with pytest.raises(ModelFailed, match=r"lacks weights of BertModel: .*layer\.0\.output\.dense\.weight; "):
        encoder("colbert", folder).encode_queries(["grain"])
    with pytest.raises(ModelFailed, match=r"cannot be loaded from .*: it lacks 'linear\.weight'"):
        encoder("colbert", strip(tiny.colbert(tmp_path / "two"), "linear")).encode_queries(["grain"])


@pytest.mark.parametrize("make", [tiny.bert, lambda folder: tiny.sentence_transformer(folder, "mean")])
def test_a_dense_model_is_no_colbert(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    """sentence-transformers would give either a projection of random numbers."""
    folder = make(tmp_path / "model")
    with pytest.raises(ModelFailed, match=f"holds no late-interaction model.*sentence-transformers={folder}"):
        encoder("colbert", folder).encode_queries(["grain"])


@pytest.mark.parametrize("side", ["question_encoder", "ctx_encoder"])
def test_each_side_of_dpr_is_loaded_whole(tmp_path: Path, side: str) -> None:
    folder = tiny.dpr(tmp_path)
    strip(folder / side, "layer.1.output.LayerNorm")
    made = encoder("dpr", folder)
    encode = made.encode_queries if side == "question_encoder" else made.encode_views
    with pytest.raises(ModelFailed, match=rf"{side} lacks weights of DPR.*: {side}\."):
        encode(["grain"])


def test_weights_of_another_shape_are_named(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = tiny.bert(tmp_path)
    weights = load_file(folder / "model.safetensors")
    weights["embeddings.LayerNorm.weight"] = weights["embeddings.LayerNorm.weight"][:5].clone()
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelFailed, match=r"embeddings\.LayerNorm\.weight of another shape than its config\.json says"):
        encoder("contriever", folder).encode_queries(["grain"])


def test_what_is_loaded_elsewhere_meanwhile_is_not_our_matter(tmp_path: Path) -> None:
    from transformers import BertForSequenceClassification

    folder = tiny.bert(tmp_path)
    bert: Any = BertForSequenceClassification
    before = bert.from_pretrained
    with reporting_load_errors("bge", tmp_path), ThreadPoolExecutor(1) as other:
        made: Any = other.submit(bert.from_pretrained, folder).result()
        _, found = other.submit(bert.from_pretrained, folder, output_loading_info=True).result()
    assert isinstance(made, bert)
    assert "classifier.weight" in found["missing_keys"]
    assert bert.from_pretrained == before


def test_whatever_loading_raises_names_the_model_and_its_folder(tmp_path: Path) -> None:
    with (
        pytest.raises(ModelFailed, match=rf"bge cannot be loaded from {tmp_path}: header too large$"),
        reporting_load_errors("bge", tmp_path),
    ):
        raise OSError("header too large\nand more of it")
    with pytest.raises(ModelFailed, match="KeyError"), reporting_load_errors("bge", tmp_path):
        raise KeyError
    full = "bge does not fit into memory: CUDA out of memory; try"
    with pytest.raises(ModelFailed, match=full), reporting_load_errors("bge", tmp_path):
        raise RuntimeError("CUDA out of memory.")
    with pytest.raises(ModelNotFound, match="as it is"), reporting_load_errors("bge", tmp_path):
        raise ModelNotFound("as it is")


def test_reports_of_loading_are_kept_back_while_a_model_is_loaded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from transformers.utils import logging as transformers_logging

    logger = logging.getLogger("transformers.modeling_utils")
    with reporting_load_errors("bge", tmp_path):
        assert not transformers_logging.is_progress_bar_enabled()
        logger.warning("BertModel LOAD REPORT from: there\nlinear.weight | UNEXPECTED")
        logger.warning("something else")
    assert transformers_logging.is_progress_bar_enabled()
    logger.warning("BertModel LOAD REPORT of another's model\nlinear.weight | UNEXPECTED")
    assert [record.message.split()[-1] for record in caplog.records] == ["else", "UNEXPECTED"]


def test_no_two_models_are_loaded_at_once_and_loaded_ones_do_not_wait_for_each_other() -> None:
    one, other = ModelLock(), ModelLock()
    both, first = threading.Barrier(2, timeout=10), threading.Event()

    def take(turns: ModelLock) -> bool:
        with turns.taken():
            alone = not first.is_set()
            first.set()
            first.clear()
        with turns.taken():  # which would never end, were the second turns taken one after the other
            both.wait()
        return alone

    with ThreadPoolExecutor(2) as threads:
        assert all(threads.map(take, [one, other]))


def test_a_model_whose_first_turn_failed_is_still_to_be_loaded_alone() -> None:
    failed, loaded = ModelLock(), ModelLock()
    with pytest.raises(ModelFailed), failed.taken():
        raise ModelFailed("damaged")
    entered = threading.Event()

    def take() -> None:
        with loaded.taken():
            entered.set()

    with failed.taken():
        waiting = threading.Thread(target=take)
        waiting.start()
        assert not entered.wait(0.05)
    waiting.join(10)
    assert entered.is_set()
