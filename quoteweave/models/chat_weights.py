"""The weights of a chat model on this machine, with what reads its messages; one adapter of PEFT may lie over them."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from quoteweave.core.errors import ModelFailed
from quoteweave.models.checkpoints import Hardware, import_required, locate_checkpoint, read_config
from quoteweave.models.loading import ModelLock, reporting_load_errors


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

    `checkpoint` and `base` are as those of `LocalChat`.
    """

    def __init__(self, checkpoint: str, *, base: str | None, hardware: Hardware) -> None:
        self._checkpoint, self._base, self._hardware = checkpoint, base, hardware
        self.turns = ModelLock()

    @cached_property
    def loaded(self) -> LoadedChat:
        """The model. Raises ModelNotFound, ModelFailed, and UsageError where a library is missing."""
        folder = locate_checkpoint(self._checkpoint)
        base = base_of(folder)
        whole = folder if base is None else locate_checkpoint(self._base or base)
        sees = "vision_config" in read_config(whole, "config.json")
        library = import_required("transformers")
        if base is not None:
            import_required("peft", "train")
        hub = {"local_files_only": True, "trust_remote_code": self._hardware.trust_remote_code}
        with reporting_load_errors(self._checkpoint, whole):
            readers, models = (
                (library.AutoProcessor, library.AutoModelForImageTextToText)
                if sees
                else (library.AutoTokenizer, library.AutoModelForCausalLM)
            )
            reader = readers.from_pretrained(whole, **hub)
            model = models.from_pretrained(whole, dtype=self._hardware.dtype or "auto", **hub)
        if not reader.chat_template:
            raise ModelFailed(f"{whole} has no chat template; name a checkpoint that was tuned to chat")
        if base is not None:
            _load_adapter(model, folder)
        config = model.config.get_text_config()
        return LoadedChat(
            reader=reader,
            tokenizer=reader.tokenizer if sees else reader,
            model=model.to(self._hardware.chosen_device()).eval(),
            sees=sees,
            window=getattr(config, "max_position_embeddings", None),
        )


def base_of(folder: Path) -> str | None:
    """The base model of an adapter; None for a folder that contains a model."""
    if (folder / "config.json").is_file():
        return None
    return str(read_config(folder, "adapter_config.json").get("base_model_name_or_path"))


def _load_adapter(model: Any, folder: Path) -> None:
    """Load an adapter into the model. Raises ModelFailed for an adapter of another model."""
    with reporting_load_errors(str(folder), folder):
        found = model.load_adapter(str(folder))
    astray = {*found.missing_keys, *found.unexpected_keys}
    if astray:
        raise ModelFailed(
            f"{folder} holds no adapter of {type(model).__name__}: {len(astray)} of its weights are astray, "
            f"{min(astray)} for one; name the base that it was trained over"
        )
