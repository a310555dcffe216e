"""Rows of recent models on tiny checkpoints of their classes, against their libraries or a plain forward pass."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_checkpoints as tiny
import tiny_rerankers
import tiny_visual_checkpoints as tiny_visual
from PIL import Image
from reranked_hits import made_hits

from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.errors import ModelFailed
from quoteweave.core.protocols import Encoder
from quoteweave.core.records import Query
from quoteweave.models.checkpoints import Hardware
from quoteweave.retrievers.catalogue import catalogue
from quoteweave.retrievers.encoders import make_encoder
from quoteweave.retrievers.encoders.visual import pad_to_limits
from quoteweave.retrievers.make_reranker import make_local_reranker
from quoteweave.retrievers.rerankers import reranker_rows

CPU = Hardware(device="cpu", dtype="float32")
TEXTS = ["what is the revenue of the ship?", "grain", "", "the ship is in the harbour " * 30]
MODERN = ("gte-moderncolbert", "lateon", "mxbai-edge-colbert-17m", "mxbai-edge-colbert-32m")


PICTURES = [tiny_visual.noise(*size) for size in ((30, 30), (100, 60), (3, 300), (64, 64))]


def close(found: Sequence[Any], expected: Sequence[Any]) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


def alone_and_together(encoder: Encoder) -> None:
    close(encoder.encode_queries(TEXTS), [encoder.encode_queries([text])[0] for text in TEXTS])
    if encoder.reads == "image":
        close(encoder.encode_views(PICTURES), [encoder.encode_views([picture])[0] for picture in PICTURES])


@pytest.mark.parametrize("name", MODERN)
def test_colbert_of_modernbert_is_that_of_the_reference_library(tmp_path: Path, name: str) -> None:
    from sentence_transformers import MultiVectorEncoder

    folder = tiny.modern_colbert(tmp_path / "model", expands=not name.startswith("mxbai"))
    encoder = make_encoder(catalogue()[name], CPU, str(folder))
    reference = MultiVectorEncoder(str(folder), device="cpu")
    close(encoder.encode_queries(TEXTS), list(reference.encode_query(TEXTS)))
    close(encoder.encode_views(TEXTS), list(reference.encode_document(TEXTS)))
    alone_and_together(encoder)


def test_lengths_markers_and_masks_are_the_checkpoints(tmp_path: Path) -> None:
    filled = make_encoder(catalogue()["lateon"], CPU, str(tiny.modern_colbert(tmp_path / "a")))
    plain = make_encoder(catalogue()["lateon"], CPU, str(tiny.modern_colbert(tmp_path / "b", expands=False)))
    assert [len(vectors) for vectors in filled.encode_queries(["ship", TEXTS[3]])] == [12, 12]
    assert [len(vectors) for vectors in plain.encode_queries(["ship", TEXTS[3]])] == [4, 12]
    # [CLS], the marker as one token, the words and [SEP]; of a passage without punctuation, cut at 20 tokens.
    assert [len(vectors) for vectors in filled.encode_views(["the ship, the harbour.", TEXTS[3]])] == [7, 20]


def test_answerai_colbert_is_in_the_form_of_colberts_authors(tmp_path: Path) -> None:
    from sentence_transformers import MultiVectorEncoder

    folder = tiny.colbert(tmp_path / "model", dimension=catalogue()["answerai-colbert-small"].dimension)
    encoder = make_encoder(catalogue()["answerai-colbert-small"], CPU, str(folder))
    reference = MultiVectorEncoder(str(folder), device="cpu")
    close(encoder.encode_queries(TEXTS), list(reference.encode_query(TEXTS)))
    close(encoder.encode_views(TEXTS), list(reference.encode_document(TEXTS)))
    assert encoder.encode_queries(["ship"])[0].shape == (32, 96)


def test_colmodernvbert_is_that_of_transformers(tmp_path: Path) -> None:
    import torch
    from transformers import ColModernVBertForRetrieval, ColModernVBertProcessor

    folder = tiny_visual.colmodernvbert(tmp_path / "model")
    encoder = make_encoder(catalogue()["colmodernvbert"], CPU, str(folder))
    model: Any = ColModernVBertForRetrieval.from_pretrained(folder)
    model.eval()
    processor: Any = ColModernVBertProcessor.from_pretrained(folder, backend="pil")
    with torch.inference_mode():
        asked = [model(**processor.process_queries(text=[text])).embeddings[0] for text in TEXTS[:3]]
        seen = [model(**processor.process_images(images=[pad_to_limits(one)])).embeddings[0] for one in PICTURES]
    close(encoder.encode_queries(TEXTS[:3]), asked)
    close(encoder.encode_views(PICTURES), seen)
    alone_and_together(encoder)


def test_qwen3_vl_embedding_is_a_plain_forward_pass(tmp_path: Path) -> None:
    import torch
    from transformers import AutoTokenizer, Qwen2VLImageProcessorPil, Qwen3VLModel

    folder = tiny_visual.qwen3_vl(tmp_path / "model")
    row = catalogue()["qwen3-vl-embedding-2b"].model_copy(update={"dimension": tiny_visual.WIDTH})
    encoder = make_encoder(row, CPU, str(folder))
    model: Any = Qwen3VLModel.from_pretrained(folder)
    model.eval()
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    sizes = {"shortest_edge": 4 * 32 * 32, "longest_edge": 1800 * 32 * 32}
    pictures: Any = Qwen2VLImageProcessorPil(patch_size=16, size=sizes)

    def last(instruction: str, content: str, seen: dict[str, Any]) -> Any:
        chat = f"system\n{instruction}<|im_end|>\n<|im_start|>user\n{content}<|im_end|>\n<|im_start|>assistant\n"
        inputs = tokenizer(f"<|im_start|>{chat}", return_tensors="pt")
        is_image = (inputs["input_ids"] == model.config.image_token_id).int()
        with torch.inference_mode():
            state = model(**inputs, **seen, mm_token_type_ids=is_image).last_hidden_state[0, -1]
        return (state / state.norm())[None]

    def shown(picture: Image.Image) -> Any:
        seen = pictures(images=[pad_to_limits(picture)], return_tensors="pt")
        patches = int(seen["image_grid_thw"].prod()) // 4
        content = "<|vision_start|>" + "<|image_pad|>" * patches + "<|vision_end|>"
        return last("Represent the user's input.", content, dict(seen))

    close(
        encoder.encode_queries(TEXTS),
        [last("Retrieve images or text relevant to the user's query.", text, {}) for text in TEXTS],
    )
    close(encoder.encode_views(PICTURES), [shown(picture) for picture in PICTURES])
    alone_and_together(encoder)
    close(encoder.encode_queries(["grain<|image_pad|><|im_end|>"]), encoder.encode_queries(["grain  "]))


def test_another_checkpoint_is_no_qwen3_vl(tmp_path: Path) -> None:
    encoder = make_encoder(catalogue()["qwen3-vl-embedding-8b"], CPU, str(tiny_visual.dse_qwen2(tmp_path / "other")))
    with pytest.raises(ModelFailed, match="other"):
        encoder.encode_queries(["grain"])


@pytest.mark.parametrize("name", ["qwen3-embedding-4b", "qwen3-embedding-8b"])
def test_larger_qwen3_embeddings_run_as_the_smallest(tmp_path: Path, name: str) -> None:
    folder = str(tiny.qwen3_embedding(tmp_path / "model"))
    usual = make_encoder(catalogue()["qwen3-embedding-0.6b"], CPU, folder)
    larger = make_encoder(catalogue()[name], CPU, folder)
    close(larger.encode_queries(TEXTS), usual.encode_queries(TEXTS))
    close(larger.encode_views(TEXTS), usual.encode_views(TEXTS))


@pytest.mark.parametrize("name", ["qwen3-reranker-4b", "qwen3-reranker-8b"])
def test_larger_qwen3_rerankers_run_as_the_smallest(tmp_path: Path, name: str) -> None:
    folder = str(tiny_rerankers.make_qwen3_reranker(tmp_path / "model"))
    query, hits = Query(text="what did the harbour ship"), made_hits()
    usual, larger = (make_local_reranker(reranker_rows()[row], CPU, folder) for row in ("qwen3-reranker-0.6b", name))
    assert run_sync(larger.rerank(query, hits)).hits == run_sync(usual.rerank(query, hits)).hits
