"""The keys of a server: what is kept of them, which are accepted, and what another process changes."""

import json
import stat
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from quoteweave.core.errors import StateError, UsageError
from quoteweave.server.access.keys import KEYS_FILE, KeyRequest, KeyStore

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(tmp_path: Path, clock: Clock) -> KeyStore:
    return KeyStore(tmp_path / "state", clock=clock)


def test_a_key_is_accepted_and_only_its_hash_is_kept(keys: KeyStore) -> None:
    key, token = keys.add(KeyRequest("reader", collections=["reports"], limits={"requests_per_minute": 5}))
    assert keys.verify(token) == key
    assert (key.name, key.scopes, key.collections, key.requests_per_minute) == ("reader", ("read",), ("reports",), 5)
    prefix, key_id, secret = token.split("_")
    assert (prefix, key_id, len(bytes.fromhex(secret))) == ("qw", key.id, 32)
    stored = keys.path.read_text("utf-8")
    assert key.id in stored
    assert secret not in stored


def test_the_file_and_its_folder_are_closed_to_other_users(keys: KeyStore) -> None:
    keys.add(KeyRequest("reader"))
    keys.revoke("reader")
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(keys.path.parent.stat().st_mode) == 0o700


def test_wrong_tokens_are_refused(keys: KeyStore) -> None:
    _, token = keys.add(KeyRequest("reader"))
    _, other = keys.add(KeyRequest("other"))
    own, foreign = token.rsplit("_", 1), other.rsplit("_", 1)
    wrong = [f"{own[0]}_{foreign[1]}", f"qw_00000000_{own[1]}", own[1], "", "qw__", f"{token} ", f"{token}0", "\udc80é"]
    assert [keys.verify(each) for each in wrong] == [None] * len(wrong)


def test_an_expired_key_is_refused_from_its_time_on(keys: KeyStore, clock: Clock) -> None:
    key, token = keys.add(KeyRequest("guest", expires=NOW + timedelta(days=1)))
    clock.now = NOW + timedelta(days=1, microseconds=-1)
    assert keys.verify(token) == keys.active(key.id) == key
    clock.now = NOW + timedelta(days=1)
    assert keys.verify(token) is keys.active(key.id) is None
    assert keys.list()[0].status(clock.now) == "expired"


def test_a_key_that_another_process_revokes_is_refused_at_the_next_request(keys: KeyStore, tmp_path: Path) -> None:
    key, token = keys.add(KeyRequest("reader"))
    assert keys.verify(token) == key
    KeyStore(tmp_path / "state").revoke(key.id)
    assert keys.verify(token) is keys.active(key.id) is None
    assert json.loads(keys.path.read_text("utf-8"))["keys"][0]["sha256"] is None
    assert keys.in_use()  # else the end of the last key would open the server


def test_keys_are_revoked_by_name_too_and_a_name_is_free_again_then(keys: KeyStore) -> None:
    keys.add(KeyRequest("reader"))
    with pytest.raises(UsageError, match="there is a key named 'reader' already"):
        keys.add(KeyRequest("reader"))
    keys.revoke("reader")
    with pytest.raises(UsageError, match="no key that is not revoked has the id or name 'reader'"):
        keys.revoke("reader")
    key, token = keys.add(KeyRequest("reader"))
    assert keys.verify(token) == key
    assert [each.status(NOW) for each in keys.list()] == ["revoked", "active"]


def test_what_scopes_and_collections_allow(keys: KeyStore) -> None:
    made = {scope: keys.add(KeyRequest(scope, (scope,)))[0] for scope in ("read", "write", "admin")}
    allowed = {name: [key.may("read"), key.may("write"), key.may("admin")] for name, key in made.items()}
    assert allowed == {"read": [True, False, False], "write": [True, True, False], "admin": [True, True, True]}
    key, _ = keys.add(KeyRequest("some", collections=["a", "b"]))
    assert [key.opens(name) for name in ("a", "b", "c")] == [True, True, False]
    assert made["read"].opens("c")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (KeyRequest(""), "cannot be a key's name"),
        (KeyRequest("two\nlines"), "cannot be a key's name"),
        (KeyRequest("late", expires=NOW), "would have expired at 2026-05-04 12:00 UTC"),
        (KeyRequest("none", collections=[]), "opens nothing"),
        (KeyRequest("none", scopes=()), "scopes"),
        (KeyRequest("slow", limits={"requests_per_minute": 0}), "requests_per_minute"),
    ],
)
def test_keys_that_make_no_sense_are_refused(keys: KeyStore, wanted: KeyRequest, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        keys.add(wanted)
    assert not keys.in_use()


@pytest.mark.parametrize("content", [b"", b"{", b'{"format": 2}', b'{"format": 1, "keys": [{"key": {}}]}'])
def test_a_damaged_file_opens_nothing_and_is_left_as_it_is(keys: KeyStore, content: bytes) -> None:
    _, token = keys.add(KeyRequest("reader"))
    keys.path.write_bytes(content)
    for refused in (lambda: keys.verify(token), lambda: keys.add(KeyRequest("next")), keys.list, keys.in_use):
        with pytest.raises(StateError, match=rf"{KEYS_FILE} is damaged.*no key is accepted"):
            refused()
    assert keys.path.read_bytes() == content


@pytest.mark.parametrize(("written", "flipped"), [(b'"reports"', b'"rexorts"'), (b"2026-08", b"2036-08")])
def test_a_flipped_bit_opens_no_other_collection_and_moves_no_end(
    keys: KeyStore, written: bytes, flipped: bytes
) -> None:
    _, token = keys.add(KeyRequest("reader", collections=["reports"], expires=datetime(2026, 8, 1, tzinfo=UTC)))
    content = keys.path.read_bytes()
    assert written in content
    keys.path.write_bytes(content.replace(written, flipped))
    with pytest.raises(StateError, match="is damaged"):
        keys.verify(token)


def test_keys_without_a_checksum_are_read(keys: KeyStore) -> None:
    _, token = keys.add(KeyRequest("reader"))
    keys.path.write_bytes(json.dumps({"format": 1, "keys": json.loads(keys.path.read_bytes())["keys"]}).encode())
    assert keys.verify(token)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(StateError, match=r"the state folder .*state cannot be made"):
        KeyStore(tmp_path / "file" / "state").add(KeyRequest("reader"))


def test_keys_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    stores = [KeyStore(tmp_path) for _ in range(4)]
    threads = [
        threading.Thread(target=lambda store=store, at=at: store.add(KeyRequest(f"{at}")))
        for at, store in enumerate(stores)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(key.name for key in KeyStore(tmp_path).list()) == ["0", "1", "2", "3"]
