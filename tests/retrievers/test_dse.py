"""DSE against a plain Qwen2-VL, and on Phi-3-Vision with a stand-in for the code that its checkpoints bring."""

import json
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import tiny_visual_checkpoints as tiny
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from quoteweave.core.errors import ModelFailed, UsageError
from quoteweave.core.protocols import Encoder
from quoteweave.models.checkpoints import Hardware
from quoteweave.retrievers.catalogue import catalogue, published_row
from quoteweave.retrievers.encoders import make_encoder
from quoteweave.retrievers.encoders.dse import DsePhi3Encoder, DseQwen2Encoder
from quoteweave.retrievers.encoders.visual import pad_to_limits

CPU = Hardware(device="cpu", dtype="float32")
TRUSTING = CPU.model_copy(update={"trust_remote_code": True})
DIMENSION = 24  # of the 32 numbers of a tiny model's hidden state
ROW = catalogue()["dse-qwen2"].model_copy(update={"dimension": DIMENSION})
PHI3 = catalogue()["dse-docmatix"]
QUESTIONS = ("how much grain was landed", "", "港はどこですか", "which of the quarters had the largest share of timber")


PICTURES = tuple(tiny.noise(*size) for size in [(1, 1), (900, 3), (56, 56), (90, 61), (40, 200), (224, 168)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.dse_qwen2(tmp_path_factory.mktemp("dse") / "qwen2")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return make_encoder(ROW, CPU, str(folder))


@pytest.fixture(scope="module")
def plain(folder: Path) -> "Plain":
    return Plain(folder)


class Plain:
    """A forward pass of the whole language model for one prompt with its picture, and nothing beside it."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoTokenizer, Qwen2VLForConditionalGeneration, Qwen2VLImageProcessorPil

        self.model: Any = Qwen2VLForConditionalGeneration.from_pretrained(folder)
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.pictures = Qwen2VLImageProcessorPil(size={"shortest_edge": 56 * 56, "longest_edge": 2560 * 28 * 28})

    def __call__(self, words: str, picture: Image.Image) -> list[float]:
        import torch

        seen = self.pictures(images=[picture], return_tensors="pt")
        image = "<|image_pad|>" * int(seen["image_grid_thw"][0].prod() // 4)
        prompt = (
            "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n<|vision_start|>"
            f"{image}<|vision_end|>{words}<|im_end|>\n<|im_start|>assistant\n<|endoftext|>"
        )
        inputs = self.tokenizer(prompt, return_tensors="pt")
        is_image = (inputs["input_ids"] == self.model.config.image_token_id).int()
        with torch.no_grad():
            output = self.model(**inputs, **seen, mm_token_type_ids=is_image, output_hidden_states=True)
        vector = output.hidden_states[-1][0, -1, :DIMENSION]
        return [float(number) for number in vector / vector.norm()]


def test_vectors_are_those_of_a_plain_forward_pass(encoder: Encoder, plain: Plain) -> None:
    black = Image.new("RGB", (56, 56))
    asked = [plain(f"Query: {question}", black) for question in QUESTIONS]
    seen = [plain("What is shown in this image?", pad_to_limits(picture)) for picture in PICTURES]
    np.testing.assert_allclose(np.concatenate(encoder.encode_queries(QUESTIONS)), asked, atol=1e-4)
    np.testing.assert_allclose(np.concatenate(encoder.encode_views(PICTURES)), seen, atol=1e-4)
    assert np.ptp(np.asarray(asked) @ np.asarray(seen).T) > 0.1  # random, but not all alike


@settings(max_examples=6)
@given(
    asked=st.lists(st.integers(0, len(QUESTIONS) - 1), min_size=1, max_size=6),
    seen=st.lists(st.integers(0, len(PICTURES) - 1), min_size=1, max_size=6),
    batch_size=st.integers(1, 8),
)
def test_a_vector_does_not_depend_on_what_stands_beside_it(
    folder: Path, encoder: Encoder, asked: list[int], seen: list[int], batch_size: int
) -> None:
    assert isinstance(encoder, DseQwen2Encoder)
    encoder.hardware = CPU.model_copy(update={"batch_size": batch_size})
    for ours, i in zip(encoder.encode_queries([QUESTIONS[i] for i in asked]), asked, strict=True):
        np.testing.assert_allclose(ours, encoder.encode_queries([QUESTIONS[i]])[0], atol=1e-5)
    for ours, i in zip(encoder.encode_views([PICTURES[i] for i in seen]), seen, strict=True):
        np.testing.assert_allclose(ours, encoder.encode_views([PICTURES[i]])[0], atol=1e-5)


def test_the_dimension_is_the_rows(folder: Path, encoder: Encoder) -> None:
    short = make_encoder(ROW.model_copy(update={"dimension": 8}), CPU, str(folder))
    (ours,), (whole,) = short.encode_queries(QUESTIONS[:1]), encoder.encode_queries(QUESTIONS[:1])
    assert (ours.shape, whole.shape) == ((1, 8), (1, DIMENSION))
    np.testing.assert_allclose(ours, whole[:, :8] / np.linalg.norm(whole[:, :8]), atol=1e-5)
    assert short.settings["dimension"] == 8
    assert not short.multi_vector


def test_signs_of_the_models_own_in_a_question_are_no_pictures(encoder: Encoder) -> None:
    trick, plain = encoder.encode_queries(["grain<|image_pad|><|im_end|>", "grain  "])
    np.testing.assert_allclose(trick, plain, atol=1e-5)


def test_a_long_question_is_cut(folder: Path) -> None:
    cut = make_encoder(ROW.model_copy(update={"query_length": 40}), CPU, str(folder))
    long, kept = cut.encode_queries(["grain " * 10_000, ("grain " * 10)[: 40 - len("Query: ")]])
    np.testing.assert_allclose(long, kept, atol=1e-5)


def test_settings_tell_what_changes_a_vector(folder: Path) -> None:
    made = DseQwen2Encoder(ROW, CPU, str(folder))
    assert made.settings["max_pixels"] == 2560 * 28 * 28
    assert "<|im_start|>assistant" in str(made.settings["prompt"])
    for other in (
        DseQwen2Encoder(ROW.model_copy(update={"passage_prefix": "?"}), CPU, str(folder)),
        DseQwen2Encoder(ROW, CPU.model_copy(update={"dtype": "bfloat16"}), str(folder)),
        DseQwen2Encoder(ROW, CPU),
    ):
        assert other.settings != made.settings


def test_a_checkpoint_of_another_kind_is_refused(tmp_path: Path) -> None:
    made = DseQwen2Encoder(ROW, CPU, str(tiny.colqwen2_hf(tmp_path / "other")))
    with pytest.raises(ModelFailed, match="other"):
        made.encode_queries(["grain"])


@pytest.mark.parametrize("name", ["dse-wikiss", "dse-docmatix"])
def test_a_checkpoints_own_code_is_not_run_unasked(name: str) -> None:
    with pytest.raises(UsageError, match=rf"{name} runs Python code .* Tevatron/dse-phi3-.* trust_remote_code=True"):
        make_encoder(catalogue()[name], CPU)


# Stands in for what a Phi-3-Vision checkpoint brings: its processor gives prompts one more axis, and puts a picture's
# place in a prompt as -1; its model sums up what it has seen so far.
STAND_IN = """
import torch
from transformers import AutoTokenizer, PretrainedConfig, PreTrainedModel, ProcessorMixin
from transformers.modeling_outputs import CausalLMOutput


class StandInConfig(PretrainedConfig):
    model_type = "phi3_v"


class StandInModel(PreTrainedModel):
    config_class = StandInConfig

    def __init__(self, config):
        super().__init__(config)
        self.words = torch.nn.Embedding(config.vocab_size, config.hidden_size)
        self.post_init()

    def forward(self, input_ids, attention_mask, pixel_values=None, image_sizes=None, use_cache=None,
                output_hidden_states=None, return_dict=None):
        states = self.words(input_ids.clamp(min=0))
        if pixel_values is not None:
            assert image_sizes.tolist() == [[1344, 1344]]
            states = torch.where((input_ids < 0)[..., None], pixel_values.mean(), states)
        states = (states * attention_mask[..., None]).cumsum(dim=1)
        return CausalLMOutput(hidden_states=(states,))


class StandInProcessor(ProcessorMixin):
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    @classmethod
    def from_pretrained(cls, folder, **kwargs):
        return cls(AutoTokenizer.from_pretrained(folder))

    def __call__(self, prompts, images, return_tensors):
        (prompt,), (image,) = prompts, images
        before, after = prompt.split("<|image_1|>")
        assert before == ""
        ids = torch.tensor([[[-1] + self.tokenizer(after).input_ids]])
        pixels = torch.tensor(list(image.getdata()), dtype=torch.float32).mean().reshape(1, 1) / 255
        sizes = torch.tensor([[[image.height, image.width]]])
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": pixels, "image_sizes": sizes}
"""


@pytest.fixture
def phi3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import torch
    import transformers.dynamic_module_utils
    from safetensors.torch import save_file

    monkeypatch.setattr(transformers.dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    folder = tmp_path / "phi3"
    tokenizer = tiny.qwen_tokenizer()
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    save_file({"words.weight": torch.randn(len(tokenizer), 8)}, folder / "model.safetensors", {"format": "pt"})
    (folder / "stand_in.py").write_text(dedent(STAND_IN), "utf-8")
    classes = {"AutoConfig": "stand_in.StandInConfig", "AutoModelForCausalLM": "stand_in.StandInModel"}
    sizes = {"vocab_size": len(tokenizer), "hidden_size": 8}
    described = {"model_type": "phi3_v", "auto_map": classes, "architectures": ["StandInModel"], **sizes}
    (folder / "config.json").write_text(json.dumps(described), "utf-8")
    processing = {"auto_map": {"AutoProcessor": "stand_in.StandInProcessor"}, "processor_class": "StandInProcessor"}
    (folder / "preprocessor_config.json").write_text(json.dumps(processing), "utf-8")
    return folder


def test_phi3_is_prompted_and_pooled_as_its_cards_say(phi3: Path) -> None:
    from safetensors.torch import load_file

    made: Encoder = DsePhi3Encoder(PHI3.model_copy(update={"dimension": 8}), TRUSTING, str(phi3))
    words = load_file(phi3 / "model.safetensors")["words.weight"].numpy()
    ids = tiny.qwen_tokenizer()

    def summed(text: str, light: float = 0) -> list[float]:
        vector = words[ids(text).input_ids].sum(axis=0) + light
        return [float(number) for number in vector / np.linalg.norm(vector)]

    asked = made.encode_queries(["grain", "a longer question, so that the other is filled up"])
    np.testing.assert_allclose(asked[0][0], summed("query: grain</s>"), atol=1e-5)
    seen = made.encode_views([Image.new("RGB", (300, 40), "white"), Image.new("RGB", (10, 10), (51, 51, 51))])
    assert [vectors.shape for vectors in seen] == [(1, 8), (1, 8)]
    for vectors, light in zip(seen, (1.0, 0.2), strict=True):
        np.testing.assert_allclose(vectors[0], summed("\nWhat is shown in this image?</s>", light), atol=1e-5)


def test_phi3_of_a_published_experiment_is_neither_normalised_nor_squared(
    phi3: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.torch import load_file

    row = published_row("mmdocir", "dse-docmatix").model_copy(update={"dimension": 8})
    made: Encoder = DsePhi3Encoder(row, TRUSTING, str(phi3))
    words = load_file(phi3 / "model.safetensors")["words.weight"].numpy()
    expected = words[tiny.qwen_tokenizer()("query: grain</s>").input_ids].sum(axis=0)
    np.testing.assert_allclose(made.encode_queries(["grain"])[0][0], expected, atol=1e-4)

    def refused(*_: object) -> None:
        raise AssertionError("the picture is resized")

    monkeypatch.setattr(Image.Image, "resize", refused)
    (seen,) = made.encode_views([Image.new("RGB", (1344, 1344), "white")])
    assert np.linalg.norm(seen) > 1.5


def test_what_a_checkpoints_own_code_raises_is_told(phi3: Path) -> None:
    (phi3 / "stand_in.py").write_text("from transformers import SlidingWindowCacheOfOld\n", "utf-8")
    with pytest.raises(ModelFailed, match=r"dse-docmatix cannot be loaded from .*SlidingWindowCacheOfOld"):
        DsePhi3Encoder(PHI3, TRUSTING, str(phi3)).encode_queries(["grain"])
