"""The keys with which programs and people use a server: who may do what, in which collections, until when.

A key is shown once, as `qw_ID_SECRET`. The file `keys.json` of the state folder keeps the SHA-256 of the secret. A
slow hash, as passwords need, would protect nothing here: the secret is 256 random bits, and nobody tries as many.
"""

import hashlib
import hmac
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import AwareDatetime, Field, ValidationError

from quoteweave.core.errors import StateError, UsageError
from quoteweave.core.files.sealed_json import sealed_json, unsealed_json
from quoteweave.core.files.whole_files import written_whole
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import join_names
from quoteweave.core.records import Record
from quoteweave.core.text.question_analysis import MAX_QUESTION_CHARACTERS
from quoteweave.server.state.state_folder import make_state

Scope = Literal["read", "write", "admin"]
"""`read` may ask and look at documents; `write` may also add and remove documents; `admin` may also make and remove
collections, and see the conversations of all keys."""
SCOPES: tuple[Scope, ...] = get_args(Scope)

KEYS_FILE = "keys.json"
PREFIX = "qw"
_SECRET_BYTES = 32
_NAME = lazy_regex(r"[^\x00-\x1f\x7f]{1,100}")
_TOKEN = lazy_regex(rf"{PREFIX}_([0-9a-f]{{8}})_([0-9a-f]{{{2 * _SECRET_BYTES}}})")

RequestCount = Annotated[int, Field(ge=1)]
ByteCount = Annotated[int, Field(ge=1024)]
QuestionLength = Annotated[int, Field(ge=1, le=MAX_QUESTION_CHARACTERS)]


class KeyLimits(Record):
    """Limits of one key in place of the server's settings of the same names; None leaves the server's."""

    requests_per_minute: RequestCount | None = Field(default=None, description="requests in a minute")
    concurrency: RequestCount | None = Field(default=None, description="requests at the same time")
    max_body: ByteCount | None = Field(default=None, description="bytes of a request that is no upload")
    max_question: QuestionLength | None = Field(default=None, description="characters of a question")
    max_upload: ByteCount | None = Field(default=None, description="bytes of one file that is uploaded")
    max_upload_request: ByteCount | None = Field(default=None, description="bytes of an upload, all its files together")

    @property
    def own_limits(self) -> dict[str, int]:
        """The limits that are not the server's, by their names."""
        return {name: limit for name in KeyLimits.model_fields if (limit := getattr(self, name)) is not None}


class Key(KeyLimits):
    """What a key may do, and the limits that it has of its own."""

    id: str = Field(description="the part of the key that is no secret")
    name: str = Field(description="whose it is, or what for")
    scopes: tuple[Scope, ...] = Field(min_length=1)
    collections: tuple[str, ...] | None = Field(default=None, description="names of collections; None for all")
    created: AwareDatetime
    expires: AwareDatetime | None = Field(default=None, description="from when on it is refused; None for never")
    revoked: AwareDatetime | None = Field(default=None, description="since when it is refused; None if it is not")

    def may(self, scope: Scope) -> bool:
        """Whether one of its scopes is this one, or includes it."""
        return any(SCOPES.index(key_scope) >= SCOPES.index(scope) for key_scope in self.scopes)

    def opens(self, collection: str) -> bool:
        """Whether it may be used in the collection of this name."""
        return self.collections is None or collection in self.collections

    def status(self, now: datetime) -> Literal["active", "expired", "revoked"]:
        """Whether it is accepted at this time, and if not, why."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now else "active"


class _StoredKey(Record):
    key: Key
    sha256: str | None = Field(description="of the secret, in hexadecimal; None once the key is revoked")


class _KeysFile(Record):
    format: Literal[1] = 1
    keys: tuple[_StoredKey, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyRequest:
    """What a new key shall be allowed."""

    name: str
    scopes: Sequence[Scope] = ("read",)
    collections: Sequence[str] | None = None
    expires: datetime | None = None
    limits: Mapping[str, int | None] = field(default_factory=dict)
    """Limits of its own, by the names of `KeyLimits`; None for the server's."""


@dataclass(slots=True)
class _Loaded:
    version: tuple[int, int, int] | None = None
    """Inode, modification time and size of the file as it was read; None where there was none."""
    by_id: dict[str, _StoredKey] = field(default_factory=dict)


class KeyStore:
    """The keys in the state folder `state`. Any number of threads and processes may use them.

    The file is read again whenever it has changed, so that a key that another process revokes is refused from the next
    request on. Every method raises StateError where the file is damaged or cannot be read: then no key is accepted.
    `clock` tells the time.
    """

    def __init__(self, state: Path, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.path = state / KEYS_FILE
        self._clock = clock
        self._loaded = _Loaded()
        self._lock = threading.Lock()
        # The secret of an unknown key is compared with this hash, so that it takes as long as for a known key.
        self._nobody = secrets.token_hex(hashlib.sha256().digest_size)

    def add(self, request: KeyRequest) -> tuple[Key, str]:
        """Make a key; return it with `qw_ID_SECRET`, which cannot be had again.

        Raises UsageError for a request that makes no sense, StateError where the file cannot be written.
        """
        key, secret = self._make(request), secrets.token_hex(_SECRET_BYTES)
        with self._changing() as keys:
            if any(stored.key.name == key.name and stored.key.revoked is None for stored in keys.values()):
                raise UsageError(f"there is a key named {key.name!r} already; choose another name, or revoke it first")
            while key.id in keys:
                key = key.model_copy(update={"id": secrets.token_hex(4)})
            keys[key.id] = _StoredKey(key=key, sha256=secret_hash(secret))
        return key, f"{PREFIX}_{key.id}_{secret}"

    def list(self) -> tuple[Key, ...]:
        """Return all keys, the revoked ones too, in the order in which they were made."""
        return tuple(stored.key for stored in self._current().values())

    def revoke(self, name: str) -> Key:
        """Revoke the key of this id or name for good. Raises UsageError if there is none, or it was revoked before."""
        with self._changing() as keys:
            unrevoked = [stored.key for stored in keys.values() if stored.key.revoked is None]
            key = next((candidate for candidate in unrevoked if name in (candidate.id, candidate.name)), None)
            if key is None:
                names = join_names([candidate.name for candidate in unrevoked])
                known = f"; keys: {names}" if unrevoked else "; there are none"
                raise UsageError(f"no key that is not revoked has the id or name {name!r}{known}")
            key = key.model_copy(update={"revoked": self._clock()})
            keys[key.id] = _StoredKey(key=key, sha256=None)
        return key

    def verify(self, token: str) -> Key | None:
        """Return the key of `qw_ID_SECRET`, or None if it is unknown, wrong, revoked or expired.

        Takes as long for an id that exists as for one that does not.
        """
        parts = _TOKEN.fullmatch(token)
        key_id, secret = parts.groups() if parts else ("", token)
        stored = self._current().get(key_id)
        expected = self._nobody if stored is None or stored.sha256 is None else stored.sha256
        matches = hmac.compare_digest(secret_hash(secret), expected)
        return stored.key if matches and stored is not None and stored.key.status(self._clock()) == "active" else None

    def active(self, key_id: str) -> Key | None:
        """Return the key of this id, or None if it is unknown, revoked or expired."""
        stored = self._current().get(key_id)
        return None if stored is None or stored.key.status(self._clock()) != "active" else stored.key

    def in_use(self) -> bool:
        """Whether a key was ever made; revoked and expired keys count, so that their end does not open the server."""
        return bool(self._current())

    def readable(self) -> bool:
        """Whether the file can be read; if it cannot, no key is accepted."""
        try:
            self._current()
        except StateError:
            return False
        return True

    def _make(self, request: KeyRequest) -> Key:
        now = self._clock()
        if not _NAME.fullmatch(request.name) or not request.name.strip():
            raise UsageError(f"{request.name!r} cannot be a key's name: give 1 to 100 characters on one line")
        if request.expires is not None and request.expires <= now:
            raise UsageError(f"the key would have expired at {request.expires:%Y-%m-%d %H:%M} UTC; name a later time")
        if request.collections is not None and not request.collections:
            raise UsageError("a key for no collection opens nothing; name collections, or none for all")
        try:
            return Key(
                id=secrets.token_hex(4),
                name=request.name,
                scopes=tuple(dict.fromkeys(request.scopes)),
                collections=None if request.collections is None else tuple(dict.fromkeys(request.collections)),
                created=now,
                expires=request.expires,
                **request.limits,
            )
        except ValidationError as error:
            first_error = error.errors()[0]
            raise UsageError(f"{'.'.join(map(str, first_error['loc']))} of the key: {first_error['msg']}") from error

    def _current(self) -> dict[str, _StoredKey]:
        """The keys by id, as the file has them now."""
        with self._lock:
            try:
                if self._version() != self._loaded.version:
                    self._loaded = self._read()
            except OSError as error:
                raise StateError(f"{self.path} cannot be read ({error.strerror or error}); allow reading it") from error
            return self._loaded.by_id

    def _version(self) -> tuple[int, int, int] | None:
        try:
            return _file_version(self.path.stat())
        except FileNotFoundError:
            return None

    def _read(self) -> _Loaded:
        try:
            with self.path.open("rb") as file:
                stat, content = os.fstat(file.fileno()), file.read()
        except FileNotFoundError:
            return _Loaded()
        try:
            keys_file = _KeysFile.model_validate_json(unsealed_json(content))
        except ValueError as error:  # pydantic's ValidationError is one, too
            raise StateError(
                f"{self.path} is damaged, or of a newer version of quoteweave, so no key is accepted; restore it, or "
                "remove it and make new keys"
            ) from error
        return _Loaded(_file_version(stat), {stored.key.id: stored for stored in keys_file.keys})

    @contextmanager
    def _changing(self) -> Iterator[dict[str, _StoredKey]]:
        """The keys by id, written back after the block has changed them; only one process at a time may do this."""
        from filelock import FileLock

        make_state(self.path.parent)
        try:
            with FileLock(self.path.with_suffix(".lock"), mode=0o600):
                keys = dict(self._current())
                yield keys
                with written_whole(self.path, private=True) as file:
                    content = _KeysFile(keys=tuple(keys.values())).model_dump_json(indent=1)
                    # The checksum is needed because a flipped bit could change a key's collections or its end.
                    file.write(sealed_json(content.encode()))
                    file.flush()
                    os.fsync(file.fileno())  # a power cut must not bring a revoked key back
        except OSError as error:
            raise StateError(
                f"{self.path} cannot be written ({error.strerror or error}); make room or allow writing there, then "
                "run the same command again. The keys are as they were"
            ) from error


def _file_version(stat: os.stat_result) -> tuple[int, int, int]:
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def secret_hash(secret: str) -> str:
    """Return the SHA-256 of a secret; only this is stored."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
