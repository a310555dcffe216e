"""Replies of sources in a folder, so that a run that is resumed, or made again, repeats no request.

ab/ab12….json    one reply: SHA-256 of its request, the JSON that the source sent, and when; the request is not kept
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from quoteweave.core.concurrency.shared_calls import SharedCall, SharedCalls
from quoteweave.core.errors import StorageError
from quoteweave.core.files.whole_files import written_whole
from quoteweave.core.records import Record

Body = TypeVar("Body", bound=BaseModel)


class _Kept(Record):
    request: str
    reply: str
    when: datetime


class ReplyCache:
    """Replies by the keys of their requests. Processes may share a folder; a damaged file is as if it were not there.

    Replies are kept until the folder is removed, however old they grow.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._calls: SharedCalls[BaseModel] = SharedCalls()

    def turn(self, key: str) -> AbstractAsyncContextManager[SharedCall[BaseModel]]:
        """Wait for equal requests; the result is set where one of them was answered."""
        return self._calls.turn(key)

    def find(self, key: str, shape: type[Body]) -> Body | None:
        """The reply that is kept, if it is such a record. Raises StorageError where the file cannot be read."""
        path = self._path(key)
        try:
            kept = _Kept.model_validate_json(path.read_bytes())
            return shape.model_validate_json(kept.reply) if kept.request == key else None
        except (FileNotFoundError, ValidationError):
            return None
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error.strerror}") from error

    def keep(self, key: str, reply: bytes) -> None:
        """Keep a reply. Raises StorageError where the disk is full or refuses."""
        path, kept = self._path(key), _Kept(request=key, reply=reply.decode(), when=datetime.now(UTC))
        try:
            with written_whole(path) as file:
                file.write(kept.model_dump_json().encode())
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror}; free space and resume") from error

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


def reply_key(url: str, params: Mapping[str, str], body: Mapping[str, object] | None) -> str:
    """SHA-256 of a request, in hexadecimal: where it goes and what it asks, without a key."""
    request = {"url": url, "params": dict(params), "body": body}
    text = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
