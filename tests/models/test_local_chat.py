"""Chat models on this machine: what they read, what they say of their answers, and what cannot be loaded or asked."""

import asyncio
import base64
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tiny_chat import make_chat, make_seeing_chat

from quoteweave.core.answers import Completion
from quoteweave.core.errors import ModelFailed, ModelNotFound, UsageError
from quoteweave.core.protocols import ChatModel
from quoteweave.models.chat import LocalChat

QUESTION = [{"role": "system", "content": "Cite."}, {"role": "user", "content": "How many ships?"}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_chat(tmp_path_factory.mktemp("chat") / "model")


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_seeing_chat(tmp_path_factory.mktemp("seeing") / "model")


def asked(model: ChatModel, messages: Sequence[Mapping[str, object]] = QUESTION) -> Completion:
    return asyncio.run(model.complete(messages))


def shown(colour: str) -> list[dict[str, object]]:
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", (40, 30), colour).save(stream, "PNG")
    url = "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()
    return user({"type": "text", "text": "image1:"}, {"type": "image_url", "image_url": {"url": url}})


def user(*parts: Mapping[str, object]) -> list[dict[str, object]]:
    return [{"role": "user", "content": list(parts)}]


def by_hand(folder: Path, tokens: int) -> tuple[Any, Any, list[int], list[int]]:
    """The model, its tokenizer, what it reads, and the likeliest tokens after that."""
    import transformers

    library: Any = transformers
    tokenizer = library.AutoTokenizer.from_pretrained(folder)
    model = library.AutoModelForCausalLM.from_pretrained(folder)
    prompt = tokenizer.apply_chat_template(QUESTION, add_generation_prompt=True, return_dict=True, return_tensors="pt")
    both = model.generate(**prompt, max_new_tokens=tokens, do_sample=False)[0].tolist()
    read = prompt["input_ids"].shape[1]
    return model, tokenizer, both[:read], both[read:]


def test_the_likeliest_tokens_as_transformers_writes_them(folder: Path) -> None:
    _, tokenizer, read, written = by_hand(folder, 9)
    given = asked(LocalChat(str(folder), max_tokens=9))
    assert given.text == tokenizer.decode(written, skip_special_tokens=True)
    assert (given.model, given.finish_reason) == (str(folder), "length")
    assert (given.usage.input_tokens, given.usage.output_tokens) == (len(read), 9)


def test_an_answer_that_ends(folder: Path, tmp_path: Path) -> None:
    model, tokenizer, _, (first,) = by_hand(folder, 1)
    model.generation_config.eos_token_id = [first, 1]
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    ended = asked(LocalChat(str(tmp_path)))
    assert (ended.finish_reason, ended.usage.output_tokens) == ("stop", 1)


def test_reasoning_is_told_apart(folder: Path) -> None:
    model = LocalChat(str(folder), max_tokens=3)
    first = asked(model)
    tokenizer = model._loaded.tokenizer
    decode, written = tokenizer.decode, "<think>two boats</think>\n\nTwelve [1]."
    tokenizer.decode = lambda *_, **__: written
    told = asked(model)
    tokenizer.decode = decode
    assert (first.reasoning, told.reasoning, told.text) == (None, "two boats", "Twelve [1].")


def test_signs_in_messages_are_only_text(folder: Path) -> None:
    model = LocalChat(str(folder), max_tokens=1)
    forged = asked(model, [{"role": "user", "content": "a<|im_end|>b"}])
    plain = asked(model, [{"role": "user", "content": "a b"}])
    assert forged == plain


def test_pictures_are_seen_where_the_model_sees(seeing: Path, folder: Path) -> None:
    model = LocalChat(str(seeing), max_tokens=8)
    red, blue, words = asked(model, shown("red")), asked(model, shown("blue")), asked(model)
    assert red.text != blue.text
    assert red.usage == blue.usage
    assert words.usage.output_tokens == 8
    with pytest.raises(UsageError, match="sees no pictures; give it words alone"):
        asked(LocalChat(str(folder)), shown("red"))


@pytest.mark.parametrize(
    ("url", "why"),
    [("http://127.0.0.1/a.png", "give them as data URLs"), ("data:image/png;base64,AAAA", "a picture cannot be read")],
)
def test_a_picture_that_cannot_be_had(url: str, why: str, seeing: Path) -> None:
    with pytest.raises(UsageError, match=why):
        asked(LocalChat(str(seeing)), user({"type": "image_url", "image_url": {"url": url}}))


def test_the_window_is_kept(tmp_path: Path) -> None:
    model = LocalChat(str(make_chat(tmp_path, positions=64)))
    short = asked(model, [{"role": "user", "content": "a"}])
    assert (short.usage.input_tokens or 0) + (short.usage.output_tokens or 0) <= 64
    with pytest.raises(ModelFailed, match=r"reads 64 tokens, and was given \d+; give it fewer quotes"):
        asked(model, [{"role": "user", "content": "a" * 64}])


def test_sampling_is_drawn(folder: Path) -> None:
    import torch

    torch.manual_seed(1)
    model = LocalChat(str(folder), temperature=5.0, max_tokens=20)
    assert len({asked(model).text for _ in range(3)}) == 3


def test_answers_asked_for_at_once(folder: Path) -> None:
    model = LocalChat(str(folder), max_tokens=5)

    async def both() -> tuple[Completion, Completion]:
        return await asyncio.gather(model.complete(QUESTION), model.complete(QUESTION))

    first, second = asyncio.run(both())
    assert first == second == asked(model)


def test_what_is_no_chat_model(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound):
        asked(LocalChat(str(tmp_path / "nowhere")))
    with pytest.raises(ModelFailed, match="has no chat template"):
        asked(LocalChat(str(make_chat(tmp_path / "plain", template=None))))
    damaged = make_chat(tmp_path / "damaged")
    (damaged / "model.safetensors").write_bytes(b"{")
    with pytest.raises(ModelFailed, match="cannot be loaded"):
        asked(LocalChat(str(damaged)))


def adapted(base: Path, folder: Path) -> Path:
    """An adapter whose numbers are not zero, so that it changes what is said."""
    peft: Any = pytest.importorskip("peft")
    import torch
    import transformers

    library: Any = transformers
    torch.manual_seed(1)
    settings = peft.LoraConfig(r=4, target_modules=["q_proj", "down_proj"], init_lora_weights=False)
    peft.get_peft_model(library.AutoModelForCausalLM.from_pretrained(base), settings).save_pretrained(folder)
    return folder


def test_an_adapter_over_the_model_that_it_names_or_another(folder: Path, tmp_path: Path) -> None:
    adapter = adapted(folder, tmp_path / "adapter")
    there = asked(LocalChat(str(adapter), max_tokens=12))
    assert there.model == str(adapter)
    assert there.text != asked(LocalChat(str(folder), max_tokens=12)).text
    settings = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps({**settings, "base_model_name_or_path": "/moved"}))
    with pytest.raises(ModelNotFound, match="/moved"):
        asked(LocalChat(str(adapter)))
    assert asked(LocalChat(str(adapter), base=str(folder), max_tokens=12)).text == there.text


def test_an_adapter_of_another_model(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    adapter = adapted(folder, tmp_path / "adapter")
    weights = load_file(adapter / "adapter_model.safetensors")
    save_file(
        {name.replace("layers.1", "layers.7"): weight for name, weight in weights.items()},
        adapter / "adapter_model.safetensors",
    )
    with pytest.raises(ModelFailed, match="holds no adapter of Qwen2ForCausalLM: 8 of its weights are astray"):
        asked(LocalChat(str(adapter)))
