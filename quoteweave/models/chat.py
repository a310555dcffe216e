"""Chat models on this machine: a checkpoint of transformers, or a LoRA adapter of PEFT over one.

An answer is streamed token by token, while `generate` of transformers runs in a thread.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import Any

from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import ChatMessage, Completion, CompletionDelta
from quoteweave.core.chat.streams import ReasoningSplitter
from quoteweave.core.chat.usage import LOCAL_PREFIX
from quoteweave.core.errors import ModelFailed, ModelNotFound, UsageError, by_setting
from quoteweave.core.files.pictures import UnfitPicture, from_data_url, load_pixels, open_picture
from quoteweave.models.batches import catch_out_of_memory
from quoteweave.models.checkpoints import (
    Hardware,
    adapter_config,
    import_required,
    is_local,
    locate_checkpoint,
    read_config,
    weights_identity,
)
from quoteweave.models.loading import ModelLock, load_adapter, make_shared, reporting_load_errors


@dataclass(frozen=True, slots=True)
class LoadedChat:
    """A model in memory."""

    reader: Any
    """Tokenises messages: a tokenizer or, for a vision model, a processor, which contains one."""
    tokenizer: Any
    model: Any
    sees: bool
    window: int | None
    """Context length in tokens, prompt and answer together; None if the checkpoint does not say."""


class ChatWeights:
    """Weights that are loaded when they are first needed; whoever holds `turns` may use them.

    `checkpoint` and `base` mean the same as in `LocalChat`.
    """

    def __init__(self, checkpoint: str, *, base: str | None, hardware: Hardware) -> None:
        self._checkpoint, self._base, self._hardware = checkpoint, base, hardware
        self.turns = ModelLock()

    @cached_property
    def loaded(self) -> LoadedChat:
        """The model. Raises ModelNotFound, ModelFailed, and UsageError where a library is missing."""
        folder = locate_checkpoint(self._checkpoint)
        base = adapter_base(folder, self._base)
        model_folder = folder if base is None else locate_checkpoint(base)
        sees = "vision_config" in read_config(model_folder, "config.json")
        library = import_required("transformers")
        if base is not None:
            import_required("peft", "train")
        hub = {"local_files_only": True, "trust_remote_code": self._hardware.trust_remote_code}
        with reporting_load_errors(self._checkpoint, model_folder):
            readers, models = (
                (library.AutoProcessor, library.AutoModelForImageTextToText)
                if sees
                else (library.AutoTokenizer, library.AutoModelForCausalLM)
            )
            reader = readers.from_pretrained(model_folder, **hub)
            model = models.from_pretrained(model_folder, dtype=self._hardware.dtype or "auto", **hub)
        if not reader.chat_template:
            raise ModelFailed(f"{model_folder} has no chat template; name a checkpoint that was tuned to chat")
        if base is not None:
            with reporting_load_errors(str(folder), folder):
                load_adapter(model, folder, instead="name the base that it was trained over")
        config = model.config.get_text_config()
        return LoadedChat(
            reader=reader,
            tokenizer=reader.tokenizer if sees else reader,
            model=model.to(self._hardware.chosen_device()).eval(),
            sees=sees,
            window=getattr(config, "max_position_embeddings", None),
        )


def adapter_base(folder: Path, requested: str | None) -> str | None:
    """The base model of an adapter: the one given, else the one it names; None for a folder that contains a model.

    Raises ModelNotFound if there is neither.
    """
    config = adapter_config(folder)
    if not config:
        return None
    if base := requested or config.get("base_model_name_or_path"):
        return str(base)
    raise ModelNotFound(
        f"the adapter in {folder} names no base model: write it as base_model_name_or_path in adapter_config.json"
    )


_THOUGHT = "<think>"
_INCOMPLETE = "\N{REPLACEMENT CHARACTER}"  # what a tokenizer makes of bytes that are not yet a character


class GenerationCancelled(Exception):
    """The reader of the stream is gone."""


class TokenStreamer:
    """Implements transformers' streamer protocol: receives the prompt's tokens first, then each generated one.

    `emit` gets the pieces, reasoning apart from the answer. A prompt that ends with `<think>`, as the templates of some
    models make it, begins the reasoning. Raises GenerationCancelled, which ends `generate`, once `cancelled` is set.
    """

    def __init__(self, tokenizer: Any, emit: Callable[[CompletionDelta], None], cancelled: Event) -> None:
        self._tokenizer = tokenizer
        self._emit = emit
        self._cancelled = cancelled
        self._prompt: list[int] | None = None
        self._generated: list[int] = []
        self._fed_characters = 0
        self._splitter = ReasoningSplitter()
        self._pieces: list[CompletionDelta] = []

    def put(self, tokens: Any) -> None:
        """Receive tokens, an array of any shape."""
        if self._cancelled.is_set():
            raise GenerationCancelled
        numbers: list[int] = tokens.reshape(-1).tolist()
        if self._prompt is None:
            self._prompt = numbers
            if self._text(numbers[-8:]).rstrip().endswith(_THOUGHT):
                self._splitter.feed(_THOUGHT)
            return
        self._generated += numbers
        self._feed(self._text(self._generated).rstrip(_INCOMPLETE))

    def end(self) -> None:
        """End the stream."""
        self._feed(self._text(self._generated))
        self._keep(self._splitter.end())

    def completion(self, model: str, ends: object) -> Completion:
        """The whole completion; `ends` is the end-of-sequence token, or a list of several."""
        ended = bool(self._generated) and self._generated[-1] in (ends if isinstance(ends, list) else [ends])
        return Completion(
            text="".join(piece.text for piece in self._pieces),
            reasoning="".join(piece.reasoning for piece in self._pieces) or None,
            model=model,
            finish_reason="stop" if ended else "length",
            usage=Usage(input_tokens=len(self._prompt or ()), output_tokens=len(self._generated)),
        )

    def _text(self, tokens: list[int]) -> str:
        # All tokens are decoded each time: decoded one by one, many tokenizers lose the spaces between words.
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text

    def _feed(self, text: str) -> None:
        self._keep(self._splitter.feed(text[self._fed_characters :]))
        self._fed_characters = max(self._fed_characters, len(text))

    def _keep(self, piece: CompletionDelta) -> None:
        if piece.text or piece.reasoning:
            self._pieces.append(piece)
            self._emit(piece)


_MAX_WRITTEN = 1024
"""Default limit of the tokens of an answer."""


class LocalChat:
    """A chat model run with transformers; implements `core.protocols.StreamingChatModel`.

    One answer is generated at a time. Weights are loaded for the first answer, and shared by all models of one
    checkpoint on the same hardware, whatever their temperature.

    `checkpoint` is a folder or a name on the hub; a folder that PEFT saved an adapter to is loaded over the model that
    it names, or over `base`. Without a `temperature` the likeliest token is taken each time, whatever the checkpoint
    says. At most `max_tokens` are written, or 1024. `thinking` turns reasoning on or off where the chat template can.
    Tokens that steer the model, such as <|im_end|>, are taken out of messages: what documents say is only text. Raises
    UsageError where `checkpoint` is empty.
    """

    def __init__(
        self,
        checkpoint: str,
        *,
        base: str | None = None,
        hardware: Hardware | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        thinking: bool | None = None,
    ) -> None:
        if not checkpoint:
            raise UsageError(
                f"{LOCAL_PREFIX} names no model; write {LOCAL_PREFIX}/path/to/folder, or "
                f"{LOCAL_PREFIX}NAME of one on the hub"
            )
        self.name = f"{LOCAL_PREFIX}{checkpoint}"
        self._checkpoint = checkpoint
        self._base = base
        self._hardware = hardware or Hardware()
        self.weights = make_shared(ChatWeights, checkpoint, base=base, hardware=self._hardware)
        self._temperature = temperature
        self._max_tokens = max_tokens or _MAX_WRITTEN
        self._thinking = thinking

    def request_settings(self) -> Mapping[str, object]:
        """Return the sampling, and the weights, identified by a hash without loading them.

        Raises ModelNotFound for a folder without a model.
        """
        return self._request_settings

    @cached_property
    def _request_settings(self) -> Mapping[str, object]:
        base = self._base
        if is_local(self._checkpoint):
            base = adapter_base(locate_checkpoint(self._checkpoint), base)
        settings = {
            "weights": weights_identity(self._checkpoint),
            "base": None if base is None else weights_identity(base),
            "dtype": self._hardware.dtype,
            "temperature": self._temperature,
            "max_tokens": self._max_tokens,
            "thinking": self._thinking,
        }
        return {name: value for name, value in settings.items() if value is not None}

    async def complete(self, messages: Sequence[ChatMessage]) -> Completion:
        """Complete a conversation; images, for a vision model, are data URLs.

        Raises ModelNotFound, ModelFailed when the model cannot be loaded, has no memory left, or the messages are
        longer than it reads, and UsageError for pictures that it cannot see.
        """
        async with aclosing(self.stream(messages)) as items:
            completions = [item async for item in items if isinstance(item, Completion)]
        return completions[-1]

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[CompletionDelta | Completion, None]:
        """Stream the completion. Raises what `complete` does. Closing the stream stops the model."""
        loop, cancelled = asyncio.get_running_loop(), Event()
        pieces = asyncio.Queue[CompletionDelta | None]()

        def emit(piece: CompletionDelta | None) -> None:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

        def write() -> Completion:
            try:
                return self._write(messages, emit, cancelled)
            finally:
                emit(None)

        writing = asyncio.ensure_future(asyncio.to_thread(write))
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            yield await writing
        finally:
            cancelled.set()
            writing.cancel()

    def _write(
        self, messages: Sequence[ChatMessage], emit: Callable[[CompletionDelta], None], cancelled: Event
    ) -> Completion:
        torch = import_required("torch")
        with self.weights.turns.taken(), catch_out_of_memory(self._checkpoint):
            if cancelled.is_set():
                raise GenerationCancelled
            loaded = self.weights.loaded
            inputs, streamer = self._inputs(loaded, messages), TokenStreamer(loaded.tokenizer, emit, cancelled)
            with torch.inference_mode():
                loaded.model.generate(
                    **inputs, **self._generation_options(loaded, inputs["input_ids"].shape[1]), streamer=streamer
                )
            return streamer.completion(self.name, loaded.model.generation_config.eos_token_id)

    def _inputs(self, loaded: LoadedChat, messages: Sequence[ChatMessage]) -> Any:
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
            **({} if self._thinking is None else {"enable_thinking": self._thinking}),
        ).to(loaded.model.device)

    def _content(self, content: Any, plain: Any, loaded: LoadedChat) -> Any:
        """Convert a message's content for the chat template: a list of parts for a vision model, else a text."""
        parts: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if loaded.sees:
            return [
                {"type": "text", "text": plain(part["text"])}
                if part["type"] == "text"
                else {"type": "image", "image": _picture(part["image_url"]["url"])}
                for part in parts
            ]
        if any(part["type"] != "text" for part in parts):
            raise UsageError(
                f"{self._checkpoint} sees no pictures; give it words alone (images = false), or name a model that sees",
                remedy=by_setting("turn pictures off: {}", "images"),
            )
        return plain("\n\n".join(part["text"] for part in parts))

    def _generation_options(self, loaded: LoadedChat, prompt_tokens: int) -> dict[str, object]:
        room = self._max_tokens
        if loaded.window is not None:
            if prompt_tokens >= loaded.window:
                raise ModelFailed(
                    f"{self._checkpoint} reads {loaded.window} tokens, and was given {prompt_tokens}; "
                    "give it fewer quotes"
                )
            room = min(room, loaded.window - prompt_tokens)
        pad = loaded.tokenizer.pad_token_id
        fixed = {
            "max_new_tokens": room,
            "num_beams": 1,
            "pad_token_id": loaded.tokenizer.eos_token_id if pad is None else pad,
        }
        if self._temperature:
            return {**fixed, "do_sample": True, "temperature": self._temperature}
        return {**fixed, "do_sample": False, "temperature": None, "top_p": None, "top_k": None}


def _picture(url: str) -> Any:
    if not url.startswith("data:"):
        raise UsageError("a model on this machine fetches no pictures; give them as data URLs")
    try:
        with open_picture(from_data_url(url)) as image:
            load_pixels(image)
            return image.convert("RGB")
    except UnfitPicture as error:
        raise UsageError(f"a picture cannot be read: it {error}") from error
