"""SPECTER and SPECTER2 read papers as title [SEP] abstract; the second with adapters of its own."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tiny_checkpoints as tiny
from made_collections import make_collection

from quoteweave import Collection
from quoteweave.core.errors import ModelFailed
from quoteweave.core.records import Query
from quoteweave.models.checkpoints import Hardware
from quoteweave.pipeline.composition.manage_indexes import build_indexes
from quoteweave.retrievers.catalogue import catalogue
from quoteweave.retrievers.encoders import make_encoder
from quoteweave.retrievers.make_retriever import make_retriever

if TYPE_CHECKING:
    from torch import Tensor

CPU = Hardware(device="cpu")
PAPER = "harbour\nthe revenue of the ship\nrose"
RECORDED = json.loads((Path(__file__).parent / "recorded" / "adapters.json").read_text("utf-8"))
LAYER = "bert.encoder.layer.{}.output.adapters.{}.adapter_{}"


def fill(weights: Iterable[tuple[str, "Tensor"]], factor: float = 1.0) -> None:
    """Fill weights with what any version of any library fills them with: sines, by the order of their names."""
    import torch

    for number, (name, weight) in enumerate(sorted(weights)):
        values = torch.sin(0.37 * torch.arange(weight.numel(), dtype=torch.float64) + number).reshape(weight.shape)
        base = 1.0 if name.endswith("LayerNorm.weight") else 0.0
        with torch.no_grad():
            weight.copy_(factor * (base + 0.3 * values))


def adapter(folder: Path, name: str, factor: float, **other: Any) -> None:
    import torch

    shapes: dict[str, tuple[int, ...]] = {
        "down.0.weight": (2, tiny.HIDDEN),
        "down.0.bias": (2,),
        "up.weight": (tiny.HIDDEN, 2),
        "up.bias": (tiny.HIDDEN,),
    }
    weights = {
        LAYER.format(layer, name, part): torch.empty(shape) for layer in range(2) for part, shape in shapes.items()
    }
    fill(weights.items(), factor)
    folder.mkdir()
    torch.save(weights, folder / "pytorch_adapter.bin")
    config = {"non_linearity": "relu", "original_ln_before": True, "reduction_factor": 16, **other}
    (folder / "adapter_config.json").write_text(json.dumps({"config": config}), "utf-8")


@pytest.fixture
def specter2(tmp_path: Path) -> Path:
    """A tiny checkpoint in the form of SPECTER2: a base and two adapters."""
    from transformers import BertConfig, BertModel

    folder = tmp_path / "specter2"
    vocabulary = len(tiny.wordpiece(folder / "base"))
    model = BertModel(BertConfig(**tiny.bert_settings(vocabulary)), add_pooling_layer=False)
    fill(model.named_parameters())
    model.save_pretrained(folder / "base")
    adapter(folder / "passages", "proximity", 1.0)
    adapter(folder / "questions", "adhoc_query", -0.5)
    return folder


def test_vectors_are_those_of_the_library_that_adapters_are_made_with(specter2: Path) -> None:
    encoder = make_encoder(catalogue()["specter2"], CPU, str(specter2))
    passages = np.concatenate(encoder.encode_views(RECORDED["texts"]))
    questions = np.concatenate(encoder.encode_queries(RECORDED["texts"][1:]))
    for found, expected in [(passages, RECORDED["passages"]), (questions, RECORDED["questions"][1:])]:
        unit = np.array(expected) / np.linalg.norm(expected, axis=1, keepdims=True)
        np.testing.assert_allclose(found, unit, atol=2e-5)


@pytest.mark.parametrize("other", [{"non_linearity": "gelu"}, {"ln_before": True}, {"is_parallel": True}])
def test_an_adapter_of_another_architecture_is_refused(specter2: Path, other: dict[str, Any]) -> None:
    (specter2 / "questions" / "pytorch_adapter.bin").unlink()
    (specter2 / "questions" / "adapter_config.json").unlink()
    (specter2 / "questions").rmdir()
    adapter(specter2 / "questions", "adhoc_query", 1.0, **other)
    with pytest.raises(ModelFailed, match="another architecture"):
        make_encoder(catalogue()["specter2"], CPU, str(specter2)).encode_queries(["harbour"])


def test_weights_that_no_such_adapter_has_are_refused(specter2: Path) -> None:
    import torch

    torch.save({"heads.x.weight": torch.ones(2)}, specter2 / "passages" / "pytorch_adapter.bin")
    with pytest.raises(ModelFailed, match=r"heads\.x\.weight"):
        make_encoder(catalogue()["specter2"], CPU, str(specter2)).encode_views(["harbour"])


def test_an_adapter_that_lacks_a_layer_is_refused(specter2: Path) -> None:
    import torch

    path = specter2 / "passages" / "pytorch_adapter.bin"
    weights = torch.load(path, weights_only=True)
    torch.save({name: weight for name, weight in weights.items() if "layer.1" not in name}, path)
    with pytest.raises(ModelFailed, match="lacks"):
        make_encoder(catalogue()["specter2"], CPU, str(specter2)).encode_views(["harbour"])


def test_specter_reads_title_sep_abstract_and_takes_the_first_tokens_vector(tmp_path: Path) -> None:
    import torch
    from transformers import BertModel, BertTokenizer

    folder = tiny.bert(tmp_path / "specter")
    found = make_encoder(catalogue()["specter"], CPU, str(folder)).encode_views([PAPER])[0]
    tokenizer, model = BertTokenizer.from_pretrained(folder), BertModel.from_pretrained(folder)
    model.eval()  # type: ignore[no-untyped-call]
    title, abstract = PAPER.split("\n", 1)
    inputs = tokenizer(title + tokenizer.sep_token + abstract, return_tensors="pt")
    assert inputs["input_ids"][0].tolist().count(tokenizer.sep_token_id) == 2
    with torch.inference_mode():
        expected = model(**inputs).last_hidden_state[0, 0].numpy()
    np.testing.assert_allclose(found[0], expected / np.linalg.norm(expected), atol=1e-5)


def test_a_sentence_is_encoded_as_it_is(tmp_path: Path) -> None:
    encoder = make_encoder(catalogue()["specter"], CPU, str(tiny.bert(tmp_path / "specter")))
    lines, line = encoder.encode_queries(["harbour\nthe revenue", "harbour the revenue"])
    np.testing.assert_allclose(lines, line, atol=1e-6)


def test_papers_are_found_by_the_vectors_of_their_pages(tmp_path: Path) -> None:
    folder = tiny.bert(tmp_path / "specter")
    papers = {"a": ["harbour", "the revenue of the ship"], "b": ["table", "what is the figure"]}
    make_collection(tmp_path, {name: list(quotes) for name, quotes in papers.items()}).close()
    spec = f"specter={folder}@page"
    with Collection.open(tmp_path / "collection") as collection:
        build_indexes(collection, [spec])
        (hits,) = make_retriever(spec, collection).search([Query(text="harbour [SEP] the revenue of the ship")], 5)
        assert hits[0].quote.document == "a"
        assert hits[0].score == pytest.approx(1, abs=1e-5)
