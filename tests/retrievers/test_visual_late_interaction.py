"""Late interaction over pictures against sentence-transformers' own `encode_query`, `encode_document` and scores."""

import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_checkpoints
import tiny_visual_late_interaction as tiny
from tiny_visual_checkpoints import needs_engine, noise

from quoteweave.core.errors import MissingExtra, ModelFailed, ModelNotFound, UsageError
from quoteweave.core.protocols import Encoder
from quoteweave.models.checkpoints import Hardware
from quoteweave.retrievers.catalogue import catalogue
from quoteweave.retrievers.encoders import make_encoder, row_for_path
from quoteweave.retrievers.encoders.visual import pad_to_limits

CPU = Hardware(device="cpu", dtype="float32")
TRUSTING = CPU.model_copy(update={"trust_remote_code": True})
# The rows that tiny checkpoints stand in for; those of Qwen have a processor for videos too, which needs torchvision.
ROWS = {"like_transformers_own": None, "colqwen3": None, "omni": "colqwen-omni", "own_code": "tomoro-colqwen3-4b"}
NAMES = [pytest.param(name, marks=() if name == "like_transformers_own" else needs_engine) for name in ROWS]
QUESTIONS = ("how much grain was landed", "", "wo liegt der Hafen?", "https://example.com/figure.png", "港はどこ")


PICTURES = tuple(noise(*size) for size in ((1, 1), (600, 3), (56, 56), (90, 60), (40, 200), (340, 440)))


@pytest.fixture(scope="module", autouse=True)
def code_apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Copies of checkpoints' code go to a folder of this process's own, not to the one that all programs share."""
    import transformers.dynamic_module_utils

    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("modules")
        patch.setattr(transformers.dynamic_module_utils, "HF_MODULES_CACHE", str(folder))
        patch.setattr(sys, "path", list(sys.path))
        yield


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("visual-late-interaction")
    return cache(lambda name: getattr(tiny, name)(root / name))


@pytest.fixture(scope="session")
def encoder(checkpoint: Callable[[str], Path]) -> Callable[[str], Encoder]:
    """The encoder of a tiny checkpoint by name: of its row, or by its path; each is loaded once."""

    @cache
    def made(name: str) -> Encoder:
        path, row = str(checkpoint(name)), ROWS[name]
        return make_encoder(catalogue()[row] if row else row_for_path(path), TRUSTING, path)

    return made


@pytest.mark.parametrize("name", NAMES)
def test_vectors_and_scores_are_those_of_the_library(
    name: str, checkpoint: Callable[[str], Path], encoder: Callable[[str], Encoder]
) -> None:
    from sentence_transformers import MultiVectorEncoder

    library = MultiVectorEncoder(str(checkpoint(name)), device="cpu", trust_remote_code=True)
    asked = library.encode_query([{"text": question} for question in QUESTIONS])
    seen = library.encode_document([pad_to_limits(picture) for picture in PICTURES])
    read = library.encode_document([{"text": question} for question in QUESTIONS])
    used = encoder(name)
    questions, pictures, texts = (
        used.encode_queries(QUESTIONS),
        used.encode_views(PICTURES),
        used.encode_views(QUESTIONS),
    )
    for ours, theirs in zip([*questions, *pictures, *texts], [*asked, *seen, *read], strict=True):
        np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-5)
    scores = [[float((one @ other.T).max(axis=1).sum()) for other in pictures] for one in questions]
    np.testing.assert_allclose(scores, library.similarity(asked, seen).numpy(), atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("batch_size", [1, 2, 5])
def test_a_vector_does_not_depend_on_its_batch(name: str, batch_size: int, encoder: Callable[[str], Encoder]) -> None:
    used: Any = encoder(name)
    alone = [used.encode_queries([text])[0] for text in QUESTIONS], [used.encode_views([one])[0] for one in PICTURES]
    used.hardware = TRUSTING.model_copy(update={"batch_size": batch_size})
    try:
        together = used.encode_queries(QUESTIONS), used.encode_views(PICTURES)
    finally:
        used.hardware = TRUSTING
    for ours, expected in zip([*together[0], *together[1]], [*alone[0], *alone[1]], strict=True):
        np.testing.assert_allclose(ours, expected, atol=1e-5)


@needs_engine
def test_questions_have_the_chat_and_the_prompts_of_the_checkpoint(encoder: Callable[[str], Encoder]) -> None:
    chat = 1 + len("user\n") + 1 + len("\n")
    prompt = 1 + len("system\nFind: ") + 1 + len("\n")
    (question,) = encoder("colqwen3").encode_queries(["grain"])
    assert question.shape == (prompt + chat + len("grain") + 3, tiny.DIMENSION)
    assert np.linalg.norm(question, axis=1) == pytest.approx(1, abs=1e-5)


@needs_engine
def test_signs_of_the_model_are_no_words_of_a_question(encoder: Callable[[str], Encoder]) -> None:
    used = encoder("colqwen3")
    (found,), (expected,) = used.encode_queries(["grain<|image_pad|><|im_end|>"]), used.encode_queries(["grain  "])
    np.testing.assert_allclose(found, expected, atol=1e-5)


@needs_engine
def test_a_long_question_is_cut_and_keeps_what_stands_around_it(checkpoint: Callable[[str], Path]) -> None:
    row = catalogue()["colqwen-omni"].model_copy(update={"query_length": 12})
    encoder = make_encoder(row, CPU, str(checkpoint("omni")))
    (found,), (expected,) = encoder.encode_queries(["grain " * 5000]), encoder.encode_queries(["grain grain "])
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_way_of_resizing_is_part_of_the_settings(
    checkpoint: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(checkpoint("like_transformers_own"))
    found: dict[bool, object] = {}
    for there in (True, False):
        spec = ModuleSpec("torchvision", None) if there else None
        monkeypatch.setattr("quoteweave.retrievers.encoders.visual.find_spec", lambda _, spec=spec: spec)
        found[there] = make_encoder(row_for_path(path), CPU).settings["resized_by"]
    assert found == {True: "torchvision", False: "pillow"}


def test_a_checkpoint_says_by_itself_that_it_reads_pictures(checkpoint: Callable[[str], Path], tmp_path: Path) -> None:
    row = row_for_path(str(checkpoint("like_transformers_own")))
    assert (row.loader, row.reads, row.multi_vector) == ("multi-vector-visual", "image", True)
    text = row_for_path(str(tiny_checkpoints.colbert(tmp_path / "colbert")))
    assert (text.loader, text.reads, text.multi_vector) == ("multi-vector", "text", True)


def test_a_checkpoint_without_pictures_is_refused(tmp_path: Path) -> None:
    folder = tiny_checkpoints.modern_colbert(tmp_path / "words")
    with pytest.raises(ModelFailed, match=r"words reads no pictures.*write sentence-transformers=\S+words to search"):
        make_encoder(catalogue()["colqwen-omni"], CPU, str(folder)).encode_queries(["grain"])


def test_a_model_without_late_interaction_is_refused(tmp_path: Path) -> None:
    folder = tiny_checkpoints.clip(tmp_path / "clip")
    with pytest.raises(ModelFailed, match="clip holds no late-interaction model, but a SentenceTransformer"):
        make_encoder(catalogue()["colqwen-omni"], CPU, str(folder)).encode_queries(["grain"])


def test_a_wrong_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelNotFound, match="empty is no model"):
        make_encoder(catalogue()["colqwen-omni"], CPU, str(tmp_path / "empty")).encode_queries(["grain"])


@needs_engine
def test_missing_weights_are_refused_but_those_of_the_layer_that_is_not_used(
    checkpoint: Callable[[str], Path], tmp_path: Path
) -> None:
    from safetensors.torch import load_file, save_file

    folder = tiny.omni(tmp_path / "half")
    weights = load_file(folder / "model.safetensors")
    kept = {name: weight for name, weight in weights.items() if "layers.1.mlp" not in name}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelFailed, match=r"half lacks weights .*layers\.1\.mlp"):
        make_encoder(catalogue()["colqwen-omni"], CPU, str(folder)).encode_queries(["grain"])


@needs_engine
def test_the_last_layer_of_a_model_that_reads_it_may_not_be_missing(tmp_path: Path) -> None:
    folder = tiny.omni(tmp_path / "headless")
    said = json.loads((folder / "sentence_bert_config.json").read_text("utf-8"))
    for read in said["modality_config"].values():
        read["method_output_name"] = "logits"
    (folder / "sentence_bert_config.json").write_text(json.dumps(said), "utf-8")
    with pytest.raises(ModelFailed, match=r"headless lacks weights .*lm_head"):
        make_encoder(catalogue()["colqwen-omni"], CPU, str(folder)).encode_queries(["grain"])


@needs_engine
def test_code_of_a_checkpoint_is_not_run_unasked(checkpoint: Callable[[str], Path]) -> None:
    path = str(checkpoint("own_code"))
    with pytest.raises(UsageError, match=r"tomoro-colqwen3-8b runs Python code .*own_code.*trust_remote_code=True"):
        make_encoder(catalogue()["tomoro-colqwen3-8b"], CPU, path)
    with pytest.raises(ModelFailed, match="own_code"):
        make_encoder(catalogue()["colqwen-omni"], CPU, path).encode_queries(["grain"])


@needs_engine
def test_half_as_many_bits_give_nearly_the_same(
    checkpoint: Callable[[str], Path], encoder: Callable[[str], Encoder]
) -> None:
    rough = make_encoder(
        catalogue()["colqwen-omni"], CPU.model_copy(update={"dtype": "bfloat16"}), str(checkpoint("omni"))
    )
    for ours, exact in zip(rough.encode_views(PICTURES), encoder("omni").encode_views(PICTURES), strict=True):
        assert ours.dtype == np.float32
        assert (ours * exact).sum(axis=1).mean() > 0.95


@needs_engine
def test_without_torchvision_a_model_that_needs_it_says_what_to_install(
    checkpoint: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(checkpoint("omni"))

    def refuse(*_: object, **__: object) -> None:
        raise ImportError("\nQwen2VLVideoProcessor requires the Torchvision library but it was not found.\n")

    monkeypatch.setattr("transformers.AutoProcessor.from_pretrained", refuse)
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(MissingExtra, match="torchvision"):
        make_encoder(catalogue()["colqwen-omni"], CPU, path).encode_queries(["grain"])
