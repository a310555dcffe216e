"""What tells one folder of weights from another: every tensor, wherever it stands and however large it is."""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from quoteweave.models import checkpoints as contents
from quoteweave.models.checkpoints import content_hash, tensor_shapes

# Of 4 bytes a number: nothing, one, less and more than is read whole of a tensor, and two matrices like a model's.
SHAPES = {"none": (0,), "scale": (1,), "bias": (4096,), "norm": (8193,), "first": (512, 512), "last": (700, 512)}
NAMES = [name for name in SHAPES if name != "none"]


def tensors(changed: str = "") -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    """The same each time, but for the one that was trained on."""
    drawn = {name: np.random.default_rng(len(name)).random(shape, np.float32) for name, shape in SHAPES.items()}
    return {name: values + (name == changed) for name, values in drawn.items()}


def safetensors(path: Path, changed: str = "") -> None:
    from safetensors.numpy import save_file

    save_file(tensors(changed), path)


def pickled(path: Path, changed: str = "") -> None:
    import torch

    torch.save({name: torch.from_numpy(values) for name, values in tensors(changed).items()}, path)


def pickled_as_of_old(path: Path, changed: str = "") -> None:
    import torch

    weights = {name: torch.from_numpy(values) for name, values in tensors(changed).items()}
    torch.save(weights, path, _use_new_zipfile_serialization=False)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("write", [safetensors, pickled])
def test_another_tensor_is_another_model(tmp_path: Path, name: str, write: Callable[..., None]) -> None:
    write(tmp_path / "weights")
    before, size = content_hash(tmp_path), (tmp_path / "weights").stat().st_size
    write(tmp_path / "weights", changed=name)
    assert (tmp_path / "weights").stat().st_size == size > contents.SMALL_FILE
    assert content_hash(tmp_path) != before


@pytest.mark.parametrize("name", ["first", "last"])
def test_another_matrix_in_a_file_of_no_known_form_is_another_model(tmp_path: Path, name: str) -> None:
    pickled_as_of_old(tmp_path / "weights")
    before = content_hash(tmp_path)
    pickled_as_of_old(tmp_path / "weights", changed=name)
    assert content_hash(tmp_path) != before


def test_the_same_weights_under_other_names_are_another_model(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    weights = tensors()
    save_file(weights, tmp_path / "weights")
    before = content_hash(tmp_path)
    save_file({**weights, "first": weights["last"], "last": weights["first"]}, tmp_path / "weights")
    assert content_hash(tmp_path) != before


@pytest.mark.parametrize("write", [safetensors, pickled, pickled_as_of_old])
def test_where_a_folder_lies_and_when_it_was_written_is_no_part_of_it(
    tmp_path: Path, write: Callable[..., None]
) -> None:
    (tmp_path / "one").mkdir()
    write(tmp_path / "one" / "weights")
    before = content_hash(tmp_path / "one")
    shutil.copyfile(tmp_path / "one" / "weights", tmp_path / "weights")
    (tmp_path / "one").rename(tmp_path / "two")
    assert content_hash(tmp_path / "two") == before
    shutil.copyfile(tmp_path / "weights", tmp_path / "two" / "weights")
    assert content_hash(tmp_path / "two") == before


def test_bytes_of_no_form_are_sampled_from_the_first_to_the_last(tmp_path: Path) -> None:
    size = 3 * contents.SMALL_FILE + 17
    file = tmp_path / "model.bin"

    def hashed(changed: list[int], length: int = size) -> str:
        data = bytearray(length)
        for place in changed:
            data[place] = 1
        file.write_bytes(data)
        return content_hash(tmp_path)

    seen = {hashed([]), hashed([0]), hashed([size - 1]), hashed([], size + 1)}
    seen.add(hashed(list(range(size // 2, size // 2 + contents.STEP, contents.BLOCK))))
    assert len(seen) == 5


def test_little_is_read_of_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = 64 << 20
    header = json.dumps(
        {f"{n}": {"dtype": "U8", "shape": [matrix], "data_offsets": [n * matrix, (n + 1) * matrix]} for n in range(16)}
    )
    with (tmp_path / "weights").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header.encode())
        file.truncate(8 + len(header) + 16 * matrix)  # a gigabyte that takes no room on the disk
    read = list[int]()

    class Counted(io.FileIO):
        def read(self, size: int | None = -1, /) -> bytes:
            found = super().read(size) or b""
            read.append(len(found))
            return found

    monkeypatch.setattr(Path, "open", lambda path, _: Counted(path))
    content_hash(tmp_path)
    # The header twice: to find the tensors by it, and for its own bytes.
    assert sum(read) == 2 * (8 + len(header)) + 16 * contents.BLOCKS * contents.BLOCK


@pytest.mark.parametrize(
    "header",
    [
        b"not JSON",
        b"[1]",
        b'{"a": 1}',
        b'{"a": {"shape": 3, "data_offsets": [0]}}',
        b'{"a": {"data_offsets": [8, 1e99]}}',
        b'{"a": {"data_offsets": [0, 99999999999]}}',
    ],
)
def test_a_damaged_header_is_none(tmp_path: Path, header: bytes) -> None:
    file = tmp_path / "model.safetensors"
    content = len(header).to_bytes(8, "little") + header
    file.write_bytes(content + bytes(2 * contents.SMALL_FILE))
    before = content_hash(tmp_path)
    assert tensor_shapes(file) == {}
    file.write_bytes(content + bytes(2 * contents.SMALL_FILE - 1) + b"x")
    assert content_hash(tmp_path) != before


def test_shapes_are_known_without_the_weights(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    file = tmp_path / "model.safetensors"
    save_file(tensors(), file, {"format": "np"})
    assert tensor_shapes(file) == {name: list(shape) for name, shape in SHAPES.items()}
    assert load_file(file)["last"].shape == tuple(tensor_shapes(file)["last"])
    pickled(file)
    assert tensor_shapes(file) == {}
