"""Shared by all tests: no network beyond loopback, and where the optional research data lies."""

import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import Outcome, Quoteweave

LOOPBACK = ("127.", "::1", "localhost")


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
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "mmdocir" / "annotations.jsonl").is_file():
        pytest.skip("no research data: set QUOTEWEAVE_DATA to a folder that holds mmdocir/")
    return folder


@pytest.fixture(scope="session")
def samples() -> Path:
    """The sample documents that come with the package."""
    return Path(__file__).parents[1] / "quoteweave" / "samples"


@pytest.fixture(scope="session")
def sample_collection(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a collection of the sample documents, OCR included; only to be read, so copy it to write to it."""
    from quoteweave.documents.ingest import add
    from quoteweave.index.collection import Collection

    folder = tmp_path_factory.mktemp("samples") / "collection"
    with Collection.create(folder) as collection:
        report = add(collection, [samples / "pdf"])
    assert (len(report.added), report.failed) == (4, ())
    return folder


@pytest.fixture
def quoteweave(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Quoteweave:
    """The command line, run in this process on a wide terminal, without settings from the environment."""
    from quoteweave.cli.app import main

    for name in ("QUOTEWEAVE_COLLECTION", "QUOTEWEAVE_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
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
