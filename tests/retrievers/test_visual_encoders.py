"""ColPali, ColQwen2, ColQwen2.5 and colSmol against colpali-engine and transformers, on tiny checkpoints."""

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tiny_visual_checkpoints as tiny
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model_calls import watched_models
from PIL import Image
from tiny_visual_checkpoints import MAX_PIXELS, PALI_SIDE, needs_engine

from quoteweave.core.errors import MissingExtra, ModelFailed, ModelNotFound, UsageError
from quoteweave.core.protocols import Encoder, SuggestsCallSize
from quoteweave.models.checkpoints import Hardware
from quoteweave.retrievers.catalogue import ModelRow, catalogue
from quoteweave.retrievers.encoders import make_encoder
from quoteweave.retrievers.encoders.colpali_engine import ColPaliEngineModel
from quoteweave.retrievers.encoders.visual import ColPaliEncoder, pad_to_limits

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix

CPU = Hardware(device="cpu", dtype="float32")
# The row that each tiny checkpoint stands in for.
ROWS = {
    "colpali": "colpali",
    "colqwen2": "colqwen2",
    "colqwen2.5": "colqwen2.5",
    "colpali-adapter": "colpali",
    "colqwen2-adapter": "colqwen2",
    "colqwen2.5-adapter": "colqwen2.5",
    "colsmol": "colsmol-256m",
    "colsmol-adapter": "colsmol-256m",
    "colpali-hf": "colpali-hf",
    "colqwen2-hf": "colqwen2-hf",
}
ENGINE = [pytest.param(name, marks=needs_engine) for name in ROWS if not name.endswith("-hf")]
HF = ["colpali-hf", "colqwen2-hf"]
QUESTIONS = (
    "how much grain was landed",
    "",
    "wo liegt der Hafen?",
    "which of the quarters shown in the chart on the second page had the largest share of timber by rail",
    "港はどこですか",
)


def noise(width: int, height: int, seed: int = 0) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


# (pixels wide, pixels high): a tiny crop, a sliver, lines of text, figures and a page.
PICTURES = tuple(noise(*size) for size in [(1, 1), (600, 3), (300, 20), (56, 56), (90, 60), (40, 200), (340, 440)])


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny checkpoint by name; each is made once."""
    root = tmp_path_factory.mktemp("visual")

    @cache
    def made(name: str) -> Path:
        if name.endswith("-adapter"):
            return tiny.adapter_over(made(name.removesuffix("-adapter")), root / name)
        makers: dict[str, Callable[[Path], Path]] = {
            "colpali": tiny.colpali,
            "colqwen2": tiny.colqwen,
            "colqwen2.5": lambda folder: tiny.colqwen(folder, "qwen2_5_vl"),
            "colsmol": tiny.colsmol,
            "colpali-hf": tiny.colpali_hf,
            "colqwen2-hf": tiny.colqwen2_hf,
            "dse-qwen2": tiny.dse_qwen2,
        }
        return makers[name](root / name)

    return made


@pytest.fixture(scope="session")
def encoder(checkpoint: Callable[[str], Path]) -> Callable[[str], Encoder]:
    """The encoder of a tiny checkpoint by name; each is loaded once."""
    return cache(lambda name: make_encoder(catalogue()[ROWS[name]], CPU, str(checkpoint(name))))


@pytest.fixture(scope="session")
def alone(encoder: Callable[[str], Encoder]) -> "Callable[[str], tuple[list[Matrix], list[Matrix]]]":
    """What an encoder makes of each question and of each picture when it gets nothing else."""

    @cache
    def made(name: str) -> "tuple[list[Matrix], list[Matrix]]":
        used = encoder(name)
        questions = [used.encode_queries([question])[0] for question in QUESTIONS]
        return questions, [used.encode_views([picture])[0] for picture in PICTURES]

    return made


def engine_itself(folder: Path) -> tuple[Any, Any]:
    """The model and the processor of a checkpoint, as colpali-engine's readers are told to load them."""
    import colpali_engine.models as engine

    adapter = folder / "adapter_config.json"
    home = Path(json.loads(adapter.read_text("utf-8"))["base_model_name_or_path"]) if adapter.is_file() else folder
    kind = json.loads((home / "config.json").read_text("utf-8"))["architectures"][0]
    model = getattr(engine, kind).from_pretrained(folder).eval()
    if kind == "ColPali":
        model.model.lm_head.weight = model.model.model.language_model.embed_tokens.weight
    processors = {
        "ColPali": engine.ColPaliProcessor,
        "ColQwen2": engine.ColQwen2Processor,
        "ColQwen2_5": engine.ColQwen2_5_Processor,
        "ColIdefics3": engine.ColIdefics3Processor,
    }
    processor = processors[kind].from_pretrained(folder)
    processor.query_prefix = "Query: "  # the engine's own until 0.3.12, with which these models were trained
    return model, processor


def forward(model: Any, inputs: Any) -> Any:
    import torch

    with torch.no_grad():
        return model(**inputs)


def maxsim(question: "Matrix", picture: "Matrix") -> float:
    return float((question @ picture.T).max(axis=1).sum())


@pytest.mark.parametrize("name", ENGINE)
def test_vectors_and_scores_are_those_of_colpali_engine(
    name: str,
    checkpoint: Callable[[str], Path],
    encoder: Callable[[str], Encoder],
) -> None:
    model, processor = engine_itself(checkpoint(name))
    pictures = [pad_to_limits(picture) for picture in PICTURES]
    # The engine's own until 0.3.11; ColPali was trained with the line break.
    suffix = processor.query_augmentation_token * 10 + ("\n" if name.startswith("colpali") else "")
    # Each question alone: in a batch, the engine's vectors of ColPali change with the padding.
    asked = [forward(model, processor.process_queries([question], suffix=suffix))[0] for question in QUESTIONS]
    inputs = processor.process_images(pictures)
    seen = [item[own.bool()] for item, own in zip(forward(model, inputs), inputs["attention_mask"], strict=True)]
    questions, views = encoder(name).encode_queries(QUESTIONS), encoder(name).encode_views(PICTURES)
    for ours, theirs in zip([*questions, *views], [*asked, *seen], strict=True):
        np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-4)
    scores = [[maxsim(question, view) for view in views] for question in questions]
    np.testing.assert_allclose(scores, processor.score_multi_vector(asked, seen, device="cpu").numpy(), atol=1e-4)


@pytest.mark.parametrize("name", HF)
def test_vectors_are_those_of_transformers(
    name: str, checkpoint: Callable[[str], Path], encoder: Callable[[str], Encoder]
) -> None:
    import transformers

    kind = "ColPali" if name == "colpali-hf" else "ColQwen2"
    model = getattr(transformers, f"{kind}ForRetrieval").from_pretrained(checkpoint(name)).eval()
    processor = getattr(transformers, f"{kind}Processor").from_pretrained(checkpoint(name), backend="pil")
    processor.query_prefix = "Query: "  # ColPali's own is "Question: ", with which these weights were not trained
    asked, seen = processor.process_queries(text=list(QUESTIONS)), processor.process_images(images=list(PICTURES[2:]))
    if kind == "ColQwen2":
        seen["position_ids"], _ = model.vlm.get_rope_index(
            seen["input_ids"],
            mm_token_type_ids=(seen["input_ids"] == processor.image_token_id).int(),
            image_grid_thw=seen["image_grid_thw"],
            attention_mask=seen["attention_mask"],
        )
    for ours, inputs in [
        (encoder(name).encode_queries(QUESTIONS), asked),
        (encoder(name).encode_views(PICTURES[2:]), seen),
    ]:
        theirs = forward(model, inputs).embeddings
        for matrix, item, own in zip(ours, theirs, inputs["attention_mask"], strict=True):
            np.testing.assert_allclose(matrix, item[own.bool()].numpy(), atol=1e-4)


@needs_engine
def test_both_forms_of_one_checkpoint_see_the_same(
    checkpoint: Callable[[str], Path], encoder: Callable[[str], Encoder], tmp_path: Path
) -> None:
    """transformers alone would count the patches of a picture like words, and colpali-engine does not."""
    same = tiny.colqwen2_hf(tmp_path / "hf", like=checkpoint("colqwen2"))
    unscaled = [noise(56, 56), noise(112, 84), noise(28, 224)]  # each library scales pictures in its own way
    through_hf = make_encoder(catalogue()["colqwen2-hf"], CPU, str(same)).encode_views(unscaled)
    for ours, theirs in zip(through_hf, encoder("colqwen2").encode_views(unscaled), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)


@needs_engine
def test_both_forms_of_colpali_read_the_same_tokens(checkpoint: Callable[[str], Path]) -> None:
    with watched_models() as batches:
        for form in ("colpali", "colpali-hf"):
            make_encoder(catalogue()[form], CPU, str(checkpoint(form))).encode_queries(QUESTIONS)
    assert len(batches) == 2
    first, second = ([row["input_ids"] for row in batch] for batch in batches)
    assert first == second


@pytest.mark.parametrize("name", [*ENGINE[:4], *ENGINE[-2:], *HF])
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_vector_does_not_depend_on_what_stands_beside_it(
    name: str,
    alone: "Callable[[str], tuple[list[Matrix], list[Matrix]]]",
    encoder: Callable[[str], Encoder],
    monkeypatch: pytest.MonkeyPatch,
    data: st.DataObject,
) -> None:
    used = encoder(name)
    batch_size = data.draw(st.integers(1, 8))
    monkeypatch.setattr(used, "hardware", CPU.model_copy(update={"batch_size": batch_size}))
    asked = data.draw(st.lists(st.integers(0, len(QUESTIONS) - 1), min_size=1, max_size=6))
    seen = data.draw(st.lists(st.integers(0, len(PICTURES) - 1), min_size=1, max_size=6))
    questions, pictures = alone(name)
    for ours, i in zip(used.encode_queries([QUESTIONS[i] for i in asked]), asked, strict=True):
        np.testing.assert_allclose(ours, questions[i], atol=1e-5)
    for ours, i in zip(used.encode_views([PICTURES[i] for i in seen]), seen, strict=True):
        np.testing.assert_allclose(ours, pictures[i], atol=1e-5)


@pytest.mark.parametrize(
    ("name", "question", "vectors"),
    [
        # A token a byte, and ten that fill the question up; ColPali begins with one more, and ends so, as all of
        # transformers' do.
        pytest.param("colqwen2", "grain", len("Query: grain") + 10, marks=needs_engine),
        pytest.param("colqwen2", "", len("Query: ") + 10, marks=needs_engine),
        pytest.param("colqwen2.5", "grain", len("Query: grain") + 10, marks=needs_engine),
        pytest.param("colpali", "grain", 1 + len("Query: grain") + 10 + 1, marks=needs_engine),
        ("colqwen2-hf", "grain", len("Query: grain") + 10 + 1),
        ("colpali-hf", "grain", 1 + len("Query: grain") + 10 + 1),
        # The model's special tokens are removed from a question.
        ("colqwen2-hf", "<|image_pad|>", len("Query:  ") + 10 + 1),
        ("colpali-hf", "<image>", 1 + len("Query:  ") + 10 + 1),
    ],
)
def test_a_question_has_its_prefix_and_is_filled_up(
    name: str, question: str, vectors: int, encoder: Callable[[str], Encoder]
) -> None:
    longer = "a much longer question, so that the other one is padded"
    (found, _) = encoder(name).encode_queries([question, longer])
    assert found.shape == (vectors, 128)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("name", [pytest.param("colqwen2", marks=needs_engine), *HF])
def test_a_long_question_is_cut_and_said_to_be(name: str, checkpoint: Callable[[str], Path]) -> None:
    row = catalogue()[ROWS[name]].model_copy(update={"query_length": 40})
    cut, whole = (make_encoder(made, CPU, str(checkpoint(name))) for made in (row, catalogue()[ROWS[name]]))
    prefix = row.query_prefix or "Query: "
    kept = ("grain " * 10_000)[: 40 - len(prefix)]
    (found,), (expected,) = cut.encode_queries(["grain " * 10_000]), whole.encode_queries([kept])
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert cut.settings["query_length"] == 40


def test_a_question_of_ten_thousand_words_is_encoded(encoder: Callable[[str], Encoder]) -> None:
    (found,) = encoder("colqwen2-hf").encode_queries(["grain " * 10_000])
    assert len(found) == (catalogue()["colqwen2-hf"].query_length or 0) + 10 + 1


@pytest.mark.parametrize("name", ["colqwen2-hf", pytest.param("colqwen2.5", marks=needs_engine)])
def test_a_picture_has_a_vector_for_each_patch_within_the_limits(name: str, encoder: Callable[[str], Encoder]) -> None:
    words = len("user\nDescribe the image.") + 5  # and five signs
    vectors = encoder(name).encode_views([noise(112, 84), noise(2000, 3000), noise(2, 2)])
    # 4 × 3 patches of 28 pixels; at most 16; at least 4
    assert [len(found) - words for found in vectors] == [12, 12, 4]
    assert MAX_PIXELS == 16 * 28 * 28


@needs_engine
def test_colsmol_sees_a_picture_in_tiles_and_once_more_whole(checkpoint: Callable[[str], Path]) -> None:
    import torch

    folder = checkpoint("colsmol")
    _, processor = engine_itself(folder)
    used = ColPaliEngineModel(catalogue()["colsmol-256m"], folder, base=None, dtype=torch.float32, device="cpu")
    for picture in map(pad_to_limits, PICTURES):
        ids = processor.process_images([picture])["input_ids"]
        assert used.tokens(picture) == int((ids == processor.image_token_id).sum())
    assert used.tokens(noise(64, 64)) == 4 * (2 * 2 + 1)


def test_a_picture_of_any_size_has_the_same_number_of_patches_for_colpali(encoder: Callable[[str], Encoder]) -> None:
    words = len("Describe the image.\n") + 1
    vectors = encoder("colpali-hf").encode_views([noise(112, 84), noise(2000, 3000), noise(2, 2)])
    assert [len(found) - words for found in vectors] == [(PALI_SIDE // 14) ** 2] * 3


@pytest.mark.parametrize(
    ("size", "canvas"),
    [
        ((1, 1), (8, 8)),
        ((3000, 5), (3000, 30)),
        ((5, 3000), (30, 3000)),
        ((8, 800), (8, 800)),
        ((801, 7), (801, 9)),
        ((640, 480), (640, 480)),
    ],
)
def test_tiny_and_long_crops_get_white_around_them(size: tuple[int, int], canvas: tuple[int, int]) -> None:
    black = Image.new("L", size)
    found = np.asarray(pad_to_limits(black))
    assert found.shape == (canvas[1], canvas[0], 3)
    assert (found == 0).all(axis=2).sum() == size[0] * size[1]
    assert (found == 255).all(axis=2).sum() == canvas[0] * canvas[1] - size[0] * size[1]
    rows, columns = np.nonzero((found == 0).all(axis=2))
    assert abs((rows.min() + rows.max()) - (canvas[1] - 1)) <= 1
    assert abs((columns.min() + columns.max()) - (canvas[0] - 1)) <= 1


@pytest.mark.parametrize("name", HF)
def test_half_as_many_bits_give_nearly_the_same(name: str, checkpoint: Callable[[str], Path]) -> None:
    exact, rough = (
        make_encoder(catalogue()[name], CPU.model_copy(update={"dtype": dtype}), str(checkpoint(name)))
        for dtype in ("float32", "bfloat16")
    )
    assert (exact.settings["dtype"], rough.settings["dtype"]) == ("float32", "bfloat16")
    for one, other in [
        (exact.encode_queries(QUESTIONS), rough.encode_queries(QUESTIONS)),
        (exact.encode_views(PICTURES), rough.encode_views(PICTURES)),
    ]:
        for vectors, others in zip(one, other, strict=True):
            assert others.dtype == np.float32
            assert (vectors * others).sum(axis=1).mean() > 0.98


@pytest.mark.parametrize(
    ("hardware", "at_once"),
    [
        (Hardware(device="cuda", batch_size=32), 128),
        (Hardware(device="cuda"), 256),
        (Hardware(device="cpu", batch_size=32), 128),
        (Hardware(device="cpu"), 8),
    ],
)
def test_how_many_pictures_are_given_at_once_goes_with_the_batch(hardware: Hardware, at_once: int) -> None:
    used = make_encoder(catalogue()["colqwen2-hf"], hardware)
    assert isinstance(used, SuggestsCallSize)
    assert used.at_once == at_once


def test_settings_are_known_without_weights_and_tell_checkpoints_apart(
    checkpoint: Callable[[str], Path], tmp_path: Path
) -> None:
    row = catalogue()["colqwen2"]
    published = ColPaliEncoder(row, Hardware())
    assert published.settings["checkpoint"] == f"{row.checkpoint}@{row.revision}"
    assert published.settings["base"] == f"{row.base}@{row.base_revision}"
    assert published.settings["dtype"] == "bfloat16"
    assert (published.name, published.reads, published.multi_vector) == ("colqwen2", "image", True)
    copied = Path(shutil.copytree(checkpoint("colqwen2-hf"), tmp_path / "copied"))
    mine = ColPaliEncoder(row, CPU, str(copied)).settings
    assert "base" not in mine
    assert mine == ColPaliEncoder(row, CPU, str(checkpoint("colqwen2-hf"))).settings
    limits = json.loads((copied / "processor_config.json").read_text("utf-8"))
    limits["image_processor"]["size"]["longest_edge"] = 8 * 28 * 28
    (copied / "processor_config.json").write_text(json.dumps(limits), "utf-8")
    assert mine != ColPaliEncoder(row, CPU, str(copied)).settings
    assert mine != ColPaliEncoder(row.model_copy(update={"query_prefix": "?"}), CPU, str(copied)).settings


@needs_engine
def test_what_an_adapter_is_laid_over_is_part_of_its_settings(
    checkpoint: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(checkpoint("colqwen2-adapter"), tmp_path / "adapter"))
    base = Path(shutil.copytree(checkpoint("colqwen2"), tmp_path / "base"))
    described = json.loads((folder / "adapter_config.json").read_text("utf-8"))
    (folder / "adapter_config.json").write_text(
        json.dumps({**described, "base_model_name_or_path": str(base)}), "utf-8"
    )
    before = dict(ColPaliEncoder(catalogue()["colqwen2"], CPU, str(folder)).settings)
    (base / "model.safetensors").write_bytes(b"other weights")
    after = ColPaliEncoder(catalogue()["colqwen2"], CPU, str(folder)).settings
    assert {name for name in before if before[name] != after[name]} == {"base"}


def without(monkeypatch: pytest.MonkeyPatch, module: str, error: Exception) -> None:
    """From now on, importing the module raises the error."""

    class Missing(MetaPathFinder):
        def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> None:
            if name.partition(".")[0] == module:
                raise error

    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])


def original(folder: Path) -> Path:
    """A folder that says it is an original ColPali."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "paligemma", "architectures": ["ColPali"]}), "utf-8")
    return folder


def test_the_hf_form_needs_no_colpali_engine_and_the_original_form_says_that_it_does(
    checkpoint: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = ModuleNotFoundError("No module named 'colpali_engine'", name="colpali_engine")
    without(monkeypatch, "colpali_engine", missing)
    row = catalogue()["colqwen2"]
    assert row.loader == "colpali-engine"
    assert len(ColPaliEncoder(row, CPU, str(checkpoint("colqwen2-hf"))).encode_queries(["grain"])) == 1
    encoder = ColPaliEncoder(row, CPU, str(original(tmp_path / "original")))
    with pytest.raises(MissingExtra, match=r"colpali-engine is not installed.*quoteweave\[visual\]"):
        encoder.encode_queries(["grain"])


def test_a_torchvision_that_does_not_fit_torch_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As transformers passes it on: the reason stands in the cause.
    error = ModuleNotFoundError(
        "Could not import module 'Gemma3Model'. Are this object's requirements defined correctly?"
    )
    error.__cause__ = RuntimeError("operator torchvision::nms does not exist")
    without(monkeypatch, "colpali_engine", error)
    encoder = ColPaliEncoder(catalogue()["colpali"], CPU, str(original(tmp_path / "original")))
    with pytest.raises(UsageError, match="torchvision does not fit the torch that is installed"):
        encoder.encode_queries(["grain"])


@needs_engine
def test_a_checkpoint_of_another_kind_is_refused(checkpoint: Callable[[str], Path], tmp_path: Path) -> None:
    row = catalogue()["colqwen2"]
    with pytest.raises(ModelFailed, match=r"lacks weights of ColQwen2: custom_text_proj"):
        ColPaliEncoder(row, CPU, str(checkpoint("dse-qwen2"))).encode_queries(["grain"])
    (original(tmp_path / "bert") / "config.json").write_text(json.dumps({"model_type": "bert"}), "utf-8")
    with pytest.raises(UsageError, match="is no checkpoint for colqwen2: its type is bert"):
        ColPaliEncoder(row, CPU, str(tmp_path / "bert")).encode_queries(["grain"])


@needs_engine
def test_an_adapter_whose_weights_find_no_place_is_refused(checkpoint: Callable[[str], Path], tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = Path(shutil.copytree(checkpoint("colqwen2-adapter"), tmp_path / "adapter"))
    path = folder / "adapter_model.safetensors"
    save_file({name.replace(".layers.", ".blocks."): weight for name, weight in load_file(path).items()}, path)
    with pytest.raises(ModelFailed, match="holds no adapter of ColQwen2"):
        ColPaliEncoder(catalogue()["colqwen2"], CPU, str(folder)).encode_queries(["grain"])


@needs_engine
def test_a_base_that_is_not_there_is_named(
    checkpoint: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    folder = Path(shutil.copytree(checkpoint("colqwen2-adapter"), tmp_path / "adapter"))
    described = json.loads((folder / "adapter_config.json").read_text("utf-8"))
    described["base_model_name_or_path"] = "nobody/colqwen2-base"
    (folder / "adapter_config.json").write_text(json.dumps(described), "utf-8")
    with pytest.raises(ModelNotFound, match="nobody/colqwen2-base"):
        ColPaliEncoder(catalogue()["colqwen2"], CPU, str(folder)).encode_queries(["grain"])


def test_damaged_weights_are_told(checkpoint: Callable[[str], Path], tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = Path(shutil.copytree(checkpoint("colpali-hf"), tmp_path / "damaged"))
    weights = load_file(folder / "model.safetensors")
    weights["embedding_proj_layer.bias"][:] = float("nan")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    encoder = ColPaliEncoder(catalogue()["colpali-hf"], CPU, str(folder))
    with pytest.raises(ModelFailed, match="not finite"):
        encoder.encode_views([noise(40, 40)])
    (folder / "model.safetensors").write_bytes(b"")
    with pytest.raises(ModelFailed, match=str(folder)):
        ColPaliEncoder(catalogue()["colpali-hf"], CPU, str(folder)).encode_queries(["grain"])


def test_nothing_to_encode_loads_nothing(tmp_path: Path) -> None:
    encoder: Encoder = ColPaliEncoder(catalogue()["colpali"], CPU, str(tmp_path / "not there"))
    assert encoder.encode_queries([]) == []
    assert encoder.encode_views([]) == []


@pytest.mark.parametrize("row", [row for row in catalogue().values() if row.reads == "image"], ids=lambda row: row.name)
def test_the_rows_of_visual_models_say_what_their_encoders_do(row: ModelRow) -> None:
    made = make_encoder(row, Hardware(trust_remote_code=True))
    assert made.reads == "image"
    assert made.multi_vector == row.multi_vector == ("col" in row.name)
    assert made.settings["dimension"] == row.dimension
    assert row.query_length is not None
