"""Shared by all tests: no network beyond loopback, and where the optional research data lies."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest

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
