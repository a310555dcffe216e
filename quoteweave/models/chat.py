"""Chat models on this machine: a checkpoint of transformers, or a LoRA adapter of PEFT over one."""

import asyncio
import base64
import binascii
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from quoteweave.core.answers import Completion, Usage
from quoteweave.core.errors import ModelFailed, UsageError
from quoteweave.core.reasoning import ThoughtSplitter
from quoteweave.models.batches import fitting
from quoteweave.models.loading import Turns, loading
from quoteweave.models.weights import Hardware, described, locate, required

Message = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Loaded:
    reader: Any
    """What makes tokens of messages: a tokenizer or, for a model that sees, a processor, which has one."""
    tokenizer: Any
    model: Any
    sees: bool
    window: int | None
    """How many tokens prompt and answer may have together, where the checkpoint tells."""


class LocalChat:
    """Meets `core.protocols.ChatModel`. One answer is written at a time; weights are loaded at the first.

    `checkpoint` is a folder or a name on the hub; a folder that PEFT saved an adapter to is loaded over the model that
    it names, or over `base`. Without a `temperature` the likeliest token is taken each time, whatever the checkpoint
    says. At most `max_tokens` are written. Signs that steer the model, such as <|im_end|>, are taken out of messages:
    what documents say is only text.
    """

    def __init__(
        self,
        checkpoint: str,
        *,
        base: str | None = None,
        hardware: Hardware | None = None,
        temperature: float | None = None,
        max_tokens: int = 1024,
    ) -> None:
        self.name = checkpoint
        self._base = base
        self._hardware = hardware or Hardware()
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._turns = Turns()

    async def complete(self, messages: Sequence[Message]) -> Completion:
        """The answer to messages whose pictures, for a model that sees, are data URLs.

        Raises ModelNotFound, ModelFailed when the model cannot be loaded, has no memory left, or the messages are
        longer than it reads, and UsageError for pictures that it cannot see.
        """
        return await asyncio.to_thread(self._complete, messages)

    def _complete(self, messages: Sequence[Message]) -> Completion:
        torch = required("torch")
        with self._turns.taken(), fitting(self.name):
            loaded = self._loaded
            inputs = self._inputs(loaded, messages)
            read = inputs["input_ids"].shape[1]
            with torch.inference_mode():
                written = loaded.model.generate(**inputs, **self._choices(loaded, read))[0, read:].tolist()
        # One token, or several, end an answer.
        ends = loaded.model.generation_config.eos_token_id
        ended = bool(written) and written[-1] in (ends if isinstance(ends, list) else [ends])
        splitter = ThoughtSplitter()
        pieces = splitter.feed(loaded.tokenizer.decode(written, skip_special_tokens=True)), splitter.end()
        return Completion(
            text="".join(piece.text for piece in pieces),
            reasoning="".join(piece.reasoning for piece in pieces) or None,
            model=self.name,
            finish_reason="stop" if ended else "length",
            usage=Usage(input_tokens=read, output_tokens=len(written)),
        )

    def _inputs(self, loaded: _Loaded, messages: Sequence[Message]) -> Any:
        special = [token.content for token in loaded.tokenizer.added_tokens_decoder.values() if token.special]

        def plain(text: str) -> str:
            for sign in special:
                text = text.replace(sign, " ")
            return text

        return loaded.reader.apply_chat_template(
            [{**message, "content": self._content(message["content"], plain, loaded)} for message in messages],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        ).to(loaded.model.device)

    def _content(self, content: Any, plain: Any, loaded: _Loaded) -> Any:
        """The content of a message as the chat template reads it: parts for a model that sees, else a text."""
        parts: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if loaded.sees:
            return [
                {"type": "text", "text": plain(part["text"])}
                if part["type"] == "text"
                else {"type": "image", "image": _picture(part["image_url"]["url"])}
                for part in parts
            ]
        if any(part["type"] != "text" for part in parts):
            raise UsageError(f"{self.name} sees no pictures; give it words alone, or name a model that sees")
        return plain("\n\n".join(part["text"] for part in parts))

    def _choices(self, loaded: _Loaded, read: int) -> dict[str, object]:
        room = self._max_tokens
        if loaded.window is not None:
            if read >= loaded.window:
                raise ModelFailed(
                    f"{self.name} reads {loaded.window} tokens, and was given {read}; give it fewer quotes"
                )
            room = min(room, loaded.window - read)
        pad = loaded.tokenizer.pad_token_id
        fixed = {"max_new_tokens": room, "pad_token_id": loaded.tokenizer.eos_token_id if pad is None else pad}
        if self._temperature:
            return {**fixed, "do_sample": True, "temperature": self._temperature}
        return {**fixed, "do_sample": False, "temperature": None, "top_p": None, "top_k": None}

    @cached_property
    def _loaded(self) -> _Loaded:
        folder = locate(self.name)
        adapter = None if (folder / "config.json").is_file() else described(folder, "adapter_config.json")
        whole = folder if adapter is None else locate(self._base or str(adapter.get("base_model_name_or_path")))
        sees = "vision_config" in described(whole, "config.json")
        library = required("transformers")
        if adapter is not None:
            required("peft", "train")
        hub = {"local_files_only": True, "trust_remote_code": self._hardware.trust_remote_code}
        with loading(self.name, whole):
            readers, models = (
                (library.AutoProcessor, library.AutoModelForImageTextToText)
                if sees
                else (library.AutoTokenizer, library.AutoModelForCausalLM)
            )
            reader = readers.from_pretrained(whole, **hub)
            model = models.from_pretrained(whole, dtype=self._hardware.dtype or "auto", **hub)
        if not reader.chat_template:
            raise ModelFailed(f"{whole} has no chat template; name a checkpoint that was tuned to chat")
        if adapter is not None:
            _lay_over(model, folder)
        config = model.config.get_text_config()
        return _Loaded(
            reader=reader,
            tokenizer=reader.tokenizer if sees else reader,
            model=model.to(self._hardware.chosen_device()).eval(),
            sees=sees,
            window=getattr(config, "max_position_embeddings", None),
        )


def _lay_over(model: Any, folder: Path) -> None:
    """Raises ModelFailed for an adapter of another model."""
    with loading(str(folder), folder):
        found = model.load_adapter(str(folder))
    astray = {*found.missing_keys, *found.unexpected_keys}
    if astray:
        raise ModelFailed(
            f"{folder} holds no adapter of {type(model).__name__}: {len(astray)} of its weights are astray, "
            f"{min(astray)} for one; name the base that it was trained over"
        )


def _picture(url: str) -> Any:
    from PIL import Image, UnidentifiedImageError

    head, comma, data = url.partition(",")
    if not (comma and head.startswith("data:") and head.endswith(";base64")):
        raise UsageError("a model on this machine fetches no pictures; give them as data URLs")
    try:
        return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
    except (OSError, binascii.Error, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise UsageError(f"a picture cannot be read: {error}") from error
