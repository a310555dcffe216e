"""Finds, downloads and identifies model weights, and chooses the device that they run on."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from quoteweave.core.errors import MissingExtra, ModelFailed, ModelNotFound
from quoteweave.core.records import Record
from quoteweave.models.weights_hash import content_hash

DType = Literal["float32", "float16", "bfloat16"]

# The same weights in forms that nothing here loads, and what training left behind.
UNUSED_FILES = (
    "*.onnx",
    "*.onnx_data",
    "onnx/*",
    "openvino/*",
    "coreml/*",
    "*.h5",
    "*.msgpack",
    "*.ot",
    "checkpoint-*/*",
)
# Weights as Python pickles, at the top of a repository; most have safetensors beside them.
PICKLE_FILES = "pytorch_model*.bin"
# A folder with any of these holds a model.
CONFIG_FILES = ("config.json", "modules.json", "adapter_config.json")


class Hardware(Record):
    """The device and options a model runs with; what is None is chosen automatically."""

    device: str | None = Field(default=None, description="as torch names it: cuda, cuda:1, mps, cpu; None = the best")
    batch_size: int | None = Field(default=None, gt=0, description="items at once; None = by device")
    dtype: DType | None = Field(default=None, description="what it computes in; None = as the catalogue says")
    trust_remote_code: bool = Field(default=False, description="whether code from the checkpoint may be run")

    def chosen_device(self) -> str:
        """The device named, or cuda or mps where there is one, or else cpu. Raises MissingExtra without torch."""
        if self.device is not None:
            return self.device
        torch = import_required("torch")
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"

    def chosen_batch_size(self, *, cpu: int, gpu: int) -> int:
        """The batch size named, or the one of these for the device."""
        return self.batch_size or (cpu if self.chosen_device() == "cpu" else gpu)


def import_required(module: str, extra: str = "models") -> Any:
    """The module, imported. Raises MissingExtra where its library is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(module.partition(".")[0].replace("_", "-"), extra) from error


_listeners: list[Callable[[str], None]] = []  # at most one


def on_download(notify: Callable[[str], None]) -> None:
    """Register `notify`, called with a line before each download: what, how large, from where and to where."""
    _listeners[:] = [notify]


def is_local(checkpoint: str) -> bool:
    """Whether the checkpoint is a folder's path, existing or not; a model on the hub is `owner/name` or `name`."""
    written_as_path = checkpoint.startswith((".", "/", "~")) or "\\" in checkpoint or checkpoint.count("/") > 1
    return written_as_path or Path(checkpoint).is_dir()


def locate_checkpoint(checkpoint: str, revision: str = "main", *, download_gb: float | None = None) -> Path:
    """Return the checkpoint's folder: the given one, or the hub's in the cache, downloaded if necessary.

    What is cached is used without any network call. Raises ModelNotFound where the checkpoint is neither there nor to
    be had, MissingExtra where huggingface_hub is not installed.
    """
    if is_local(checkpoint):
        folder = Path(checkpoint).expanduser()
        if not any((folder / name).is_file() for name in CONFIG_FILES):
            raise ModelNotFound(f"{checkpoint} is no model: a model is a folder that holds a config.json")
        return folder
    constants = import_required("huggingface_hub.constants")
    try:
        cached = _snapshot(checkpoint, revision, offline=True)
    except ValueError as error:
        raise _missing(checkpoint, f"is neither a folder nor a name on a hub: {error}") from error
    if cached is not None:
        return cached
    if not download_gb and not constants.HF_HUB_OFFLINE:
        download_gb = _hub_size(checkpoint, revision)
    size = f" ({_shown(download_gb)})" if download_gb else ""
    if constants.HF_HUB_OFFLINE:
        raise _missing(checkpoint + size, "is not on this machine, and HF_HUB_OFFLINE keeps it from being downloaded")
    for notify in _listeners:
        notify(f"downloading {checkpoint}{size} from {constants.ENDPOINT} to {constants.HF_HUB_CACHE}")
    return _downloaded(checkpoint, revision, size)


def read_config(folder: Path, name: str = "config.json") -> dict[str, Any]:
    """The JSON object in a file of a checkpoint; empty where there is no such file. Raises ModelFailed for no JSON."""
    try:
        found = json.loads((folder / name).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ModelFailed(f"{folder / name} is no JSON: {error}") from error
    return found if isinstance(found, dict) else {}


def weights_identity(checkpoint: str, revision: str = "main") -> str:
    """Identify the weights without loading them: `id@revision` of a model on the hub, a hash of a local folder.

    The hash is `contents.content_hash`. Raises ModelNotFound for a folder without a model.
    """
    if not is_local(checkpoint):
        return f"{checkpoint}@{revision}"
    return content_hash(locate_checkpoint(checkpoint))


def _snapshot(checkpoint: str, revision: str, *, offline: bool) -> Path | None:
    """The folder of a whole download, with its weights as safetensors, or as pickles where there are no others."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    for weights, ignored in (("*.safetensors", [*UNUSED_FILES, PICKLE_FILES]), ("*.bin", [*UNUSED_FILES])):
        try:
            found = snapshot_download(checkpoint, revision=revision, local_files_only=offline, ignore_patterns=ignored)
        except LocalEntryNotFoundError:
            if not offline:
                raise
            continue
        if any(Path(found).glob(weights)):
            return Path(found)
    return None


def _shown(gigabytes: float) -> str:
    return f"{gigabytes:.1f} GB" if gigabytes >= 1 else f"{max(1, round(gigabytes * 1000))} MB"


def _hub_size(checkpoint: str, revision: str) -> float | None:
    """The size of the download in 10⁹ bytes, as the hub reports it; None if it does not."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]  # that of the HTTP library it uses

    try:
        with _quiet_hub():
            files = HfApi().model_info(checkpoint, revision=revision, files_metadata=True).siblings or []
    except (HTTPError, OSError):
        return None  # the download itself will say what is wrong
    sizes = {file.rfilename: file.size or 0 for file in files}
    unused = [*UNUSED_FILES, PICKLE_FILES] if any(name.endswith(".safetensors") for name in sizes) else [*UNUSED_FILES]
    return sum(sizes[name] for name in sizes if not any(fnmatch(name, pattern) for pattern in unused)) / 1e9


def _downloaded(checkpoint: str, revision: str, size: str) -> Path:
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]  # that of the HTTP library it uses

    try:
        with _quiet_hub():
            folder = _snapshot(checkpoint, revision, offline=False)
    except (HTTPError, OSError) as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise _missing(checkpoint + size, f"could not be downloaded: {why}") from error
    if folder is None:
        raise _missing(checkpoint + size, f"holds no weights at revision {revision}")
    return folder


@contextmanager
def _quiet_hub() -> Iterator[None]:
    """Suppress what huggingface_hub logs of retried attempts (the last error is raised), and its progress bars
    without a terminal."""
    hub = import_required("huggingface_hub.utils")
    before, bars = hub.logging.get_verbosity(), not hub.are_progress_bars_disabled()
    hub.logging.set_verbosity_error()
    if bars and not sys.stderr.isatty():
        hub.disable_progress_bars()
    try:
        yield
    finally:
        hub.logging.set_verbosity(before)
        if bars:
            hub.enable_progress_bars()


def _missing(model: str, why: str) -> ModelNotFound:
    remedy = "a copy of its folder can be named instead, as in NAME=/path/to/folder"
    return ModelNotFound(f"the model {model} {why}", remedy=remedy)
