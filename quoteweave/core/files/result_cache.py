"""Results of requests, cached in a folder: a run that is resumed, or made again, repeats no request.

ab/ab12….json    one result: the SHA-256 of its request, the time, and the result; the request itself is not stored
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import Field

from quoteweave.core.errors import StorageError
from quoteweave.core.files.sealed_json import sealed_json, unsealed_json
from quoteweave.core.files.whole_files import written_whole
from quoteweave.core.records import Record


class CachedResult(Record):
    """Base of the cached records, to which each kind adds its result."""

    request: str = Field(description="the key of its request, of which two are equal only where the requests are")
    when: datetime = Field(default_factory=lambda: datetime.now(UTC), description="when it came")


R = TypeVar("R", bound=CachedResult)


class ResultCache(Generic[R]):
    """Cached results of one kind. Processes may share a folder; a damaged file is treated as missing.

    Results are kept until the folder is removed, whatever their age.
    """

    def __init__(self, folder: Path, kind: type[R]) -> None:
        self._folder, self._kind = folder, kind

    def find(self, request: str) -> R | None:
        """The result of the request with this key, if it is cached. Raises StorageError where it cannot be read."""
        path = self._path(request)
        try:
            result = self._kind.model_validate_json(unsealed_json(path.read_bytes()))
        except (FileNotFoundError, ValueError):  # not cached, damaged, or in another format
            return None
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error.strerror}") from error
        return result if result.request == request else None

    def keep(self, result: R) -> None:
        """Cache a result. Raises StorageError where the disk is full or refuses."""
        path = self._path(result.request)
        try:
            with written_whole(path) as file:
                file.write(sealed_json(result.model_dump_json().encode()))
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror}; free space and resume") from error

    def _path(self, request: str) -> Path:
        return self._folder / request[:2] / f"{request}.json"
