import json
import string
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tiny_checkpoints as tiny

from quoteweave.core.protocols import Encoder
from quoteweave.models.checkpoints import Hardware
from quoteweave.retrievers.catalogue import ModelRow, catalogue
from quoteweave.retrievers.encoders import make_encoder

CPU = Hardware(device="cpu")
TEXTS = [text for text in tiny.HARD_TEXTS if text.isprintable() or text.isspace()]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.colbert(tmp_path_factory.mktemp("colbert") / "model")


@pytest.fixture(scope="module")
def row() -> ModelRow:
    """ColBERT's row with the passage length that the tiny checkpoint's own metadata names."""
    return catalogue()["colbert"].model_copy(update={"passage_length": 100})


@pytest.fixture(scope="module")
def encoder(checkpoint: Path, row: ModelRow) -> Encoder:
    return make_encoder(row, CPU, str(checkpoint))


def test_vectors_are_those_of_the_reference_library(checkpoint: Path, encoder: Encoder) -> None:
    from sentence_transformers import MultiVectorEncoder

    model = MultiVectorEncoder(str(checkpoint), device="cpu")
    expected = [*model.encode_query(TEXTS), *model.encode_document(TEXTS)]
    found = [*encoder.encode_queries(TEXTS), *encoder.encode_views(TEXTS)]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


def by_hand(checkpoint: Path, text: str, marker: str, length: int | None) -> npt.NDArray[np.float32]:
    """The vectors as the paper and its authors' code define them, from BERT and the projection alone."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, BertConfig, BertModel

    weights = load_file(checkpoint / "model.safetensors")
    bert: Any = BertModel(BertConfig.from_pretrained(checkpoint))
    bert.eval()
    bert.load_state_dict({name.removeprefix("bert."): v for name, v in weights.items() if name.startswith("bert.")})
    tokenizer: Any = AutoTokenizer.from_pretrained(checkpoint)
    inner = tokenizer.encode(text, add_special_tokens=False)
    marked = [tokenizer.cls_token_id, tokenizer.convert_tokens_to_ids(marker), *inner, tokenizer.sep_token_id]
    filled = marked + [tokenizer.mask_token_id] * ((length or 0) - len(marked))
    attention = [1] * len(marked) + [0] * (len(filled) - len(marked))
    with torch.inference_mode():
        states = bert(torch.tensor([filled]), attention_mask=torch.tensor([attention])).last_hidden_state[0]
        vectors = torch.nn.functional.normalize(states @ weights["linear.weight"].T, dim=1)
    skipped = set() if length else set(tokenizer.convert_tokens_to_ids(list(string.punctuation)))
    return vectors[[i for i, token in enumerate(filled) if token not in skipped]].numpy()


def test_a_question_is_marked_and_filled_up_with_masks_that_no_token_looks_at(
    checkpoint: Path, encoder: Encoder
) -> None:
    text = "what is the revenue of the ship?"
    (found,) = encoder.encode_queries([text])
    assert found.shape == (32, 16)
    np.testing.assert_allclose(found, by_hand(checkpoint, text, "[unused0]", 32), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_a_passage_is_marked_and_its_punctuation_left_out(checkpoint: Path, encoder: Encoder) -> None:
    text = "the ship, the harbour: revenue rose (table)."
    (found,) = encoder.encode_views([text])
    assert found.shape == (3 + 7, 16)  # [CLS], [D], [SEP] and the words
    np.testing.assert_allclose(found, by_hand(checkpoint, text, "[unused1]", None), atol=1e-5)


def test_long_questions_and_passages_are_cut(checkpoint: Path, encoder: Encoder) -> None:
    words = "the ship is in the harbour " * 30
    assert encoder.encode_queries([words])[0].shape == (32, 16)
    assert encoder.encode_views([words])[0].shape == (100, 16)
    np.testing.assert_allclose(encoder.encode_views([words])[0], encoder.encode_views([words + "of"])[0], atol=1e-6)


def test_nothing_is_logged_of_a_long_question(encoder: Encoder, caplog: pytest.LogCaptureFixture) -> None:
    from transformers.utils.logging import warning_once

    warning_once.cache_clear()  # the library says it once in a process
    encoder.encode_queries(["the ship is in the harbour " * 3000])
    assert caplog.messages == []


def test_an_empty_passage_is_its_three_markers(encoder: Encoder) -> None:
    assert [len(matrix) for matrix in encoder.encode_views(["", " ", "...", "ship"])] == [3, 3, 3, 4]


def test_lengths_are_the_rows_but_never_more_than_there_are_positions(checkpoint: Path, row: ModelRow) -> None:
    words = ["the ship is in the harbour " * 30]
    short = make_encoder(row.model_copy(update={"query_length": 8, "passage_length": 12}), CPU, str(checkpoint))
    assert (short.encode_queries(words)[0].shape, short.encode_views(words)[0].shape) == ((8, 16), (12, 16))
    long = make_encoder(row.model_copy(update={"query_length": 64, "passage_length": 4096}), CPU, str(checkpoint))
    assert (long.encode_queries(["ship"])[0].shape, long.encode_views(words)[0].shape) == (
        (64, 16),
        (tiny.POSITIONS, 16),
    )


def test_masks_are_looked_at_where_the_checkpoint_says_so(checkpoint: Path, row: ModelRow, tmp_path: Path) -> None:
    from sentence_transformers import MultiVectorEncoder

    other = tiny.colbert(tmp_path / "model")
    metadata = json.loads((other / "artifact.metadata").read_text("utf-8"))
    (other / "artifact.metadata").write_text(json.dumps({**metadata, "attend_to_mask_tokens": True}), "utf-8")
    looked_at = make_encoder(row, CPU, str(other)).encode_queries(["ship"])[0]
    np.testing.assert_allclose(looked_at, MultiVectorEncoder(str(other), device="cpu").encode_query("ship"), atol=1e-4)
    assert np.abs(looked_at - make_encoder(row, CPU, str(checkpoint)).encode_queries(["ship"])[0]).max() > 0.01
