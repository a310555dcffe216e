"""The file of vision models' descriptions of a collection's pictures."""

import json
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError

from quoteweave.collection.checksums import record_checksum
from quoteweave.collection.storage_errors import guard_writing, repair_command
from quoteweave.collection.stores.content import atomic_write
from quoteweave.core.answers import Usage
from quoteweave.core.errors import CollectionError
from quoteweave.core.records import Record

DESCRIPTIONS = "descriptions.jsonl"


class Description(Record):
    """A model's description of a picture."""

    key: str = Field(description="SHA-256 of picture, caption, model and prompt")
    image: str = Field(description="the stored crop, relative to the collection's images folder")
    text: str
    model: str
    usage: Usage = Usage()
    checksum: str = Field(default="", description="XXH3 of the other fields, with which it is written")

    def sealed(self) -> Self:
        """With its checksum."""
        return self.model_copy(update={"checksum": self._computed()})

    def is_whole(self) -> bool:
        """Whether it is what was written."""
        return self.checksum == self._computed()

    def _computed(self) -> str:
        return record_checksum(self.model_copy(update={"checksum": ""}))


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """A line that is not what was written."""

    number: int
    """From 1."""
    cut: bool
    """Whether it is unterminated, as when its writer was killed: the next writer drops it."""


def read_descriptions(path: Path) -> Iterator[Description | DamagedLine]:
    """Each description of the file, or what is damaged in its place. Raises OSError."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                found = Description.model_validate_json(line)
            except ValidationError:
                yield DamagedLine(number, cut=not line.endswith(b"\n"))
            else:
                yield found if found.is_whole() else DamagedLine(number, cut=False)


def damaged_descriptions(root: Path, line: DamagedLine) -> CollectionError:
    """The error for a line that is damaged."""
    what = f"{root / DESCRIPTIONS}, line {line.number}, is damaged: its content is not what was written"
    return CollectionError(what, remedy=repair_command(root))


def drop_damaged_descriptions(root: Path) -> None:
    """Removes the lines of the file that are damaged. Raises StorageError where the disk refuses."""
    path = root / DESCRIPTIONS
    with guard_writing(path):
        whole = [found for found in read_descriptions(path) if isinstance(found, Description)]
        with atomic_write(path) as file:
            file.writelines(found.model_dump_json().encode() + b"\n" for found in whole)


def prune_descriptions(root: Path, images: Container[str]) -> bool:
    """Remove the descriptions of all pictures but these; False, without any change, while some are being written.

    `images` are keys of crops. Lines that say of no picture go too. Raises StorageError where the disk refuses.
    """
    from filelock import FileLock, Timeout

    path = root / DESCRIPTIONS
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=0, thread_local=False)  # that of core.lines.appending
    if not path.exists():
        return True
    try:
        with guard_writing(path):
            lock.acquire()
    except Timeout:
        return False
    with lock, guard_writing(path):
        lines = path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if line.endswith(b"\n") and _image(line) in images]
        if not kept:
            path.unlink()
        elif len(kept) < len(lines):
            with atomic_write(path) as file:
                file.writelines(kept)
    return True


def _image(line: bytes) -> str:
    try:
        return str(json.loads(line)["image"])
    except (ValueError, KeyError, TypeError):
        return ""
