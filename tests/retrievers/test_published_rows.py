"""Models as MMDocIR's authors ran them: prompts, pooling and masks against what their wrappers do, by hand."""

import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tiny_checkpoints as tiny
import tiny_visual_checkpoints as tiny_visual
from PIL import Image

from quoteweave.collection.views import item_views
from quoteweave.core.errors import UsageError
from quoteweave.core.records import Quote
from quoteweave.models.checkpoints import Hardware
from quoteweave.retrievers.catalogue import catalogue, published_row, published_rows
from quoteweave.retrievers.encoders import make_encoder
from quoteweave.retrievers.encoders.colpali_engine import ColPaliEngineModel
from quoteweave.retrievers.make_retriever import Resources, make_encoder_for
from quoteweave.retrievers.spec import parse_spec

CPU = Hardware(device="cpu", dtype="float32")
TEXTS = ["what is the revenue of the ship?", "grain", "the ship, the harbour: revenue rose (table)."]
Vectors = npt.NDArray[np.float32]


def test_the_experiment_has_the_models_of_its_tables() -> None:
    assert [*published_rows("mmdocir")] == [
        *("dpr", "bge", "e5", "contriever", "gte", "colbert"),
        *("colpali", "colqwen2", "dse-wikiss", "dse-docmatix"),
    ]
    for name in ("dpr", "contriever", "gte"):
        assert published_row("mmdocir", name) == catalogue()[name]


@pytest.mark.parametrize(
    ("name", "pooling", "query", "passage"),
    [
        ("bge", "cls", "Represent this sentence for searching relevant passages：", ""),
        ("e5", "mean", "query：", "passage: "),
    ],
)
def test_questions_begin_with_the_authors_prefix(
    tmp_path: Path, name: str, pooling: str, query: str, passage: str
) -> None:
    from sentence_transformers import SentenceTransformer

    folder = tiny.sentence_transformer(tmp_path / "model", pooling)
    encoder = make_encoder(published_row("mmdocir", name), CPU, str(folder))
    reference = SentenceTransformer(str(folder), device="cpu")
    for found, prefix in ((encoder.encode_queries(TEXTS), query), (encoder.encode_views(TEXTS), passage)):
        expected = reference.encode([prefix + text for text in TEXTS], normalize_embeddings=True)
        np.testing.assert_allclose(np.concatenate(found), expected, atol=1e-5)


def colbert_by_hand(folder: Path, text: str, *, passage: bool) -> Vectors:
    """One vector a token: [CLS], the unknown token for the marker, text, [SEP]; punctuation of passages is zeroed."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, BertConfig, BertModel

    weights = load_file(folder / "model.safetensors")
    bert: Any = BertModel(BertConfig.from_pretrained(folder))
    bert.eval()
    bert.load_state_dict({name.removeprefix("bert."): v for name, v in weights.items() if name.startswith("bert.")})
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    tokens = tokenizer.encode(f". {text}")
    tokens[1] = tokenizer.unk_token_id
    with torch.inference_mode():
        states = bert(torch.tensor([tokens])).last_hidden_state[0] @ weights["linear.weight"].T
    marks = set(tokenizer.convert_tokens_to_ids(list(string.punctuation)))
    kept = torch.tensor([not (passage and token in marks) for token in tokens])
    vectors: Vectors = torch.nn.functional.normalize(states * kept[:, None], dim=1).numpy()
    return vectors


def test_colbert_has_no_masks_and_the_unknown_token_for_its_markers(tmp_path: Path) -> None:
    folder = tiny.colbert(tmp_path / "model")
    encoder = make_encoder(published_row("mmdocir", "colbert"), CPU, str(folder))
    questions, passages = encoder.encode_queries(TEXTS), encoder.encode_views(TEXTS)
    for question, text in zip(questions, TEXTS, strict=True):
        np.testing.assert_allclose(question, colbert_by_hand(folder, text, passage=False), atol=1e-5)
    for question in (
        *questions,
        -questions[0],
    ):  # of one, all similarities have the other sign: zeros are then the best
        ours = [(question @ passage.T).max(axis=1).sum() for passage in passages]
        theirs = [(question @ colbert_by_hand(folder, text, passage=True).T).max(axis=1).sum() for text in TEXTS]
        np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_only_what_differs_is_added_to_settings(tmp_path: Path) -> None:
    folder = str(tiny.colbert(tmp_path / "model"))
    usual = make_encoder(catalogue()["colbert"], CPU, folder).settings
    published = make_encoder(published_row("mmdocir", "colbert"), CPU, folder).settings
    assert published.keys() - usual.keys() == {"query_expansion", "punctuation"}
    assert "query_suffix" not in usual


@pytest.mark.parametrize("name", ["dse-wikiss", "dse-docmatix"])
def test_dse_is_not_normalised(name: str) -> None:
    row = published_row("mmdocir", name)
    assert (row.normalize, row.square_pictures, row.pooling) == (False, False, "last")


def test_colpali_is_of_the_authors_version() -> None:
    row = published_row("mmdocir", "colpali")
    assert (row.checkpoint, row.base) == ("vidore/colpali-v1.1", "vidore/colpaligemma-3b-mix-448-base")
    assert row.base_revision == "6ff0d944ea09c3ead97d2bc57427e3d4f01d192f", "not the newest"
    assert row.query_prefix == "Question: "
    assert published_row("mmdocir", "colqwen2").checkpoint == "vidore/colqwen2-v1.0"


@tiny_visual.needs_engine
def test_colqwen2_gets_the_authors_prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from colpali_engine.models import ColQwen2Processor

    folder = tiny_visual.colqwen(tmp_path / "model")
    row = published_row("mmdocir", "colqwen2")
    model = ColPaliEngineModel(row, folder, base=None, dtype=torch.float32, device="cpu")
    asked: list[str] = []
    processors: list[Any] = []
    prepare: Callable[..., Any] = ColQwen2Processor.process_texts

    def spied(processor: Any, texts: list[str]) -> Any:
        asked.extend(texts)
        processors.append(processor)
        return prepare(processor, texts)

    monkeypatch.setattr(ColQwen2Processor, "process_texts", spied)
    model.questions(["how much grain"])
    assert asked == ["Query: how much grain" + "<pad>" * 10]
    assert processors[0].visual_prompt_prefix.endswith("Describe the image.<|im_end|>\n")
    assert model.pictures([Image.new("RGB", (60, 60))])[0].shape[1] == tiny_visual.DIMENSION


def test_the_authors_prompts_need_an_original_checkpoint(tmp_path: Path) -> None:
    folder = tiny_visual.colqwen2_hf(tmp_path / "model")
    encoder = make_encoder(published_row("mmdocir", "colqwen2"), CPU, str(folder))
    with pytest.raises(UsageError, match="name an original checkpoint of colqwen2"):
        encoder.encode_queries(["grain"])


def test_visual_encoders_read_text_as_they_read_questions(tmp_path: Path) -> None:
    encoder = make_encoder(catalogue()["colqwen2-hf"], CPU, str(tiny_visual.colqwen2_hf(tmp_path / "model")))
    picture = Image.new("RGB", (60, 60), "red")
    mixed: Any = ["the harbour", picture, "grain"]
    expected = [
        *encoder.encode_queries(["the harbour"]),
        *encoder.encode_views([picture]),
        *encoder.encode_queries(["grain"]),
    ]
    for one, other in zip(encoder.encode_views(mixed), expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


class Crops:
    """Pictures of which only the names are asked."""

    def crop_key(self, quote: Quote) -> str:
        return f"crop of {quote.id}"

    def crop(self, quote: Quote) -> Image.Image:
        return Image.new("RGB", (8, 8))


def test_a_mixed_view_is_words_of_text_quotes_and_crops_of_image_quotes() -> None:
    common: dict[str, Any] = {"document": "a.pdf", "page": 0, "page_label": "1", "bbox": (0, 0, 9, 9)}
    quotes = [
        Quote(id="0", kind="text", layout="paragraph", text="grain", **common),
        Quote(id="1", kind="image", layout="table", text="cells", **common),
    ]
    pictures: Any = Crops()
    views = item_views(quotes, "mixed", "quote", pictures)
    assert [view.key for view in views] == ["grain", "crop of 1"]
    assert views[0].load() == "grain"
    assert isinstance(views[1].load(), Image.Image)


@pytest.mark.parametrize("spec", ["minilm@mmdocir", "openai:m@mmdocir", "sentence-transformers=/x@mmdocir"])
def test_a_model_that_the_experiment_did_not_have_is_refused_with_those_it_had(spec: str) -> None:
    with pytest.raises(UsageError, match=r"mmdocir has no '.*'; it has: dpr, bge"):
        make_encoder_for(parse_spec(spec), Resources())


def test_an_experiments_row_is_named_in_the_spec() -> None:
    encoder: Any = make_encoder_for(parse_spec("bge@mmdocir@vlm_text"), Resources())
    assert encoder.row.query_prefix.endswith("：")
    assert str(parse_spec("bge@vlm_text@mmdocir")) == "bge@mmdocir@vlm_text"
