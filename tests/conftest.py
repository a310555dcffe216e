"""Shared by all tests: no network beyond loopback, where the optional research data and the visual libraries lie."""

import gc
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from captured_logs import capture_without_torch
from command_line import Outcome, Quoteweave
from shared_rewriting import rewrite_share
from slow_files import SLOW_FILES
from spread_tests import FolderScheduling, send_less
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

pytest_plugins = ["live_server", "made_runs", "page_visits"]

# What the environment may say; the tests of the command line begin without any of it.
SETTINGS = tuple(
    f"QUOTEWEAVE_{name}"
    for name in (
        "COLLECTION",
        "STATE",
        "MODEL",
        "PASSWORD",
        "MILVUS_URI",
        "MILVUS_TOKEN",
        "RERANK_URL",
        "RERANK_KEY",
        "PRICES",
        "PICTURES",
        "KEY",
    )
)
PROXIES = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
LOOPBACK = ("127.", "::1", "localhost")
# colpali-engine and the torchvision that it asks for, apart from all else: torchvision's wheel does not fit a torch for
# the CPU, and where it can be seen, transformers takes it for usable.
VISUAL = Path(sys.prefix) / "visual"

# Collections are synced to the disk, whose speed is not tested: folders of tests are kept in memory if there is enough
# of it. Processes and files behave in the same way there.
MEMORY, ROOM = Path("/dev/shm"), 4 * 2**30

# While other processes run, generating texts and running tests may be slow, which must not fail a test. Each run tries
# new examples, after those that failed before, so a third as many as is Hypothesis's default suffice in each.
hypothesis.settings.register_profile(
    "quoteweave", max_examples=30, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("quoteweave")
# FAISS's and torch's threads wait for each other in busy loops, which takes the cores from other test processes: the
# tests of FAISS took three times the processor time. The test processes fill the cores anyway, so each of them, and
# what it starts, computes in one thread: a second one would mostly be waited for.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Programs that tests start would otherwise translate the package to bytecode each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# No test speaks TLS: for each client, reading the certificates of all authorities would take 45 ms.
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)
os.environ.pop("SSL_CERT_FILE", None)
# A shell without job control lets what it puts in the background ignore Ctrl-C, and so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def _temporary_folders_in_memory() -> None:
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK | os.X_OK):
        return
    room = os.statvfs(MEMORY)
    if room.f_bavail * room.f_frsize >= ROOM and not room.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


_temporary_folders_in_memory()
capture_without_torch()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One process more than there are cores: a quarter of the time tests wait for processes, servers and browsers.

    The fast ones wait for nothing, and each process takes ten seconds to collect them.
    """
    cores = os.cpu_count() or 1
    return cores if config.option.markexpr == "not slow" else cores + 1


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Where the tests of a file stay together, so do those of a folder as far as no process has to wait for that."""
    return FolderScheduling(config, log) if config.option.dist == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Imports modules without the garbage collector, and has it never look at what they hold, as all of it stays."""
    gc.disable()
    try:
        send_less(session.config.pluginmanager)
        rewrite_share(session.config, SLOW_FILES if session.config.option.markexpr == "not slow" else ())
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(20_000, 50, 100)  # tests make little that refers to itself: looking for it took a tenth


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Does not even import what `-m "not slow"` leaves out: most of it imports torch."""
    return True if config.option.markexpr == "not slow" and collection_path.name in SLOW_FILES else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks slow files and puts them first, so that at the end no process waits for the other's last long file."""
    places = {name: place for place, name in enumerate(SLOW_FILES)}
    for item in items:
        if item.path.name in places:
            item.add_marker("slow")
    items.sort(key=lambda item: places.get(item.path.name, len(places)))


class _OperatorsBefore(MetaPathFinder):
    """Defines what torchvision's library for CUDA would, just before torchvision asks torch for it.

    Finds nothing itself. To see an import as it comes, whoever makes it, spares the tests that need no torch its import
    and makes their order not matter.
    """

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> None:
        if name != "torchvision._meta_registrations":
            return
        import torch

        library: Any = torch.library
        self.operators = library.Library("torchvision", "FRAGMENT")  # they go when it does
        for operator in ("nms", "qnms"):
            if not hasattr(torch.ops.torchvision, operator):
                self.operators.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


if VISUAL.is_dir():
    sys.path.append(str(VISUAL))
    sys.meta_path.insert(0, _OperatorsBefore())


@pytest.fixture(autouse=True)
def _no_network_beyond_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and not str(address[0]).startswith(LOOPBACK):
            raise RuntimeError(f"a test tried to reach {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(scope="session")
def research_data() -> Path:
    """The folder of public research data; tests that need it skip without it."""
    named = os.environ.get("QUOTEWEAVE_DATA")
    beside = next(Path(__file__).parents[2].glob("*/data/mmdocir"), Path("mmdocir")).parent
    folder = Path(named) if named else beside
    if not (folder / "mmdocir" / "annotations.jsonl").is_file():
        pytest.skip("no research data: set QUOTEWEAVE_DATA to a folder that holds mmdocir/")
    return folder


@pytest.fixture(scope="session")
def samples() -> Path:
    """The sample documents that come with the package."""
    return Path(__file__).parents[1] / "quoteweave" / "samples"


@pytest.fixture(scope="session")
def sample_collection(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a collection of the sample documents, OCR included; only to be read, so copy it to write to it.

    Processes that share the tests share it too: OCR takes half a minute.
    """
    from filelock import FileLock

    from quoteweave.collection.collection import Collection
    from quoteweave.documents.ingest import AddOptions, add

    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, done = shared / "samples" / "collection", shared / "samples.done"
    with FileLock(shared / "samples.lock"):
        if not done.exists():
            with Collection.create(folder) as collection:
                report = add(collection, [samples / "pdf"], AddOptions(processes=1))  # each would load OCR's models
            assert (len(report.added), report.failed) == (4, ())
            done.touch()
    return folder


@pytest.fixture(scope="module")
def library_server() -> Iterator[Any]:
    """The made library of papers behind a server, for the tests of a file, which end the faults that they begin."""
    from quoteweave.testing import LibraryServer

    with LibraryServer() as server:
        yield server


@pytest.fixture
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without settings, endpoints, keys and proxies."""
    for name in (*SETTINGS, "OPENAI_BASE_URL", "OPENAI_API_KEY", *PROXIES):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def quoteweave(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, bare_environment: None
) -> Quoteweave:
    """The command line, run in this process on a wide terminal, without settings from the environment."""
    from quoteweave.cli.app import main

    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["quoteweave", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        code = end.value.code
        assert isinstance(code, int)
        return Outcome(code, *capsys.readouterr())

    return run


@pytest.fixture
def images(tmp_path: Path) -> Any:
    """A store of pictures without any."""
    from quoteweave.collection.stores.content import ImageStore

    return ImageStore(tmp_path / "images")


@pytest.fixture
def small_blocks(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own in blocks of one kilobyte, into which SQLite maps files with holes."""
    folder, image = tmp_path / "disk", tmp_path / "image"
    folder.mkdir()
    image.write_bytes(bytes(8 << 20))
    try:
        subprocess.run(["mkfs.ext4", "-q", "-m", "0", "-b", "1024", image], check=True, capture_output=True)
        subprocess.run(["mount", "-o", "loop", image, folder], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the right to mount a small disk of its own")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
