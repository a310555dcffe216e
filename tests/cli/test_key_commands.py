"""`quoteweave keys`."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from command_line import Quoteweave

from quoteweave.cli.commands.server import expiry
from quoteweave.core.errors import UsageError
from quoteweave.server.access.keys import KeyStore

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def test_a_key_is_shown_once_and_is_accepted_until_it_is_revoked(quoteweave: Quoteweave, tmp_path: Path) -> None:
    made = quoteweave("keys", "add", "the page", "--collection", "reports", "--expires", "30d", "--state", tmp_path)
    token = made.out.strip()
    key = KeyStore(tmp_path).verify(token)
    assert (made.code, key is not None) == (0, True)
    assert "It is not shown again" in made.err
    secret = token.rpartition("_")[2]
    listed = quoteweave("keys", "list", "--state", tmp_path)
    assert "the page" in listed.out
    assert "active" in listed.out
    assert secret not in listed.out + listed.err + made.err
    assert quoteweave("keys", "revoke", "the page", "--state", tmp_path).code == 0
    assert KeyStore(tmp_path).verify(token) is None


def test_json_and_the_folder_of_the_environment(
    quoteweave: Quoteweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUOTEWEAVE_STATE", str(tmp_path / "state"))
    made = quoteweave("keys", "add", "bot", "--scope", "write", "--requests-per-minute", 60, "--json").json()
    assert KeyStore(tmp_path / "state").verify(made["token"]) is not None
    (listed,) = quoteweave("keys", "list", "--json").json()
    assert listed == made["key"]
    assert {name: listed[name] for name in ("scopes", "collections", "expires", "requests_per_minute", "status")} == {
        "scopes": ["write"],
        "collections": None,
        "expires": None,
        "requests_per_minute": 60,
        "status": "active",
    }
    assert quoteweave("keys", "revoke", made["key"]["id"], "--json").json()["status"] == "revoked"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_key_that_nobody_was_shown_is_revoked(
    quoteweave: Quoteweave, tmp_path: Path, options: tuple[str, ...]
) -> None:
    command = [sys.executable, "-m", "quoteweave", "keys", "add", "bot", "--state", str(tmp_path), *options]
    with Path("/dev/full").open("w") as full:
        assert subprocess.run(command, check=False, stdout=full, stderr=subprocess.DEVNULL).returncode == 1
    (listed,) = quoteweave("keys", "list", "--state", tmp_path, "--json").json()
    assert listed["status"] == "revoked"


def test_what_cannot_be_is_told(quoteweave: Quoteweave, tmp_path: Path) -> None:
    assert "there are no keys" in quoteweave("keys", "list", "--state", tmp_path).err
    unknown = quoteweave("keys", "revoke", "nobody", "--state", tmp_path)
    assert (unknown.code, "there are none" in unknown.err) == (2, True)
    past = quoteweave("keys", "add", "late", "--expires", "2001-01-01", "--state", tmp_path)
    assert (past.code, "would have expired" in past.err) == (2, True)


def test_times_of_expiry() -> None:
    assert expiry("12h", NOW) == datetime(2026, 5, 5, tzinfo=UTC)
    assert expiry("30d", NOW) == datetime(2026, 6, 3, 12, tzinfo=UTC)
    assert expiry("2026-05-04", NOW) == datetime(2026, 5, 5, tzinfo=UTC)  # the day itself is included


@pytest.mark.parametrize("text", ["", "0d", "30", "d", "2026-13-01", "9999-12-31", "1 year"])
def test_other_times_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="give days"):
        expiry(text, NOW)
