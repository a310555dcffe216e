"""Texts of pictures made after their documents were added: vision models' descriptions, and OCR of crops."""

import json
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError

from quoteweave.collection.checksums import record_checksum, sealed_bytes, unsealed_bytes
from quoteweave.collection.records import IMPORTED
from quoteweave.collection.storage_errors import guard_writing, repair_command
from quoteweave.collection.stores.content import ContentStore, atomic_write
from quoteweave.core.answers import Usage
from quoteweave.core.errors import CollectionError, StorageError
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Document, Quote, Record

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
        """The same description with its checksum."""
        return self.model_copy(update={"checksum": self._computed()})

    def is_whole(self) -> bool:
        """Whether the checksum matches."""
        return self.checksum == self._computed()

    def _computed(self) -> str:
        return record_checksum(self.model_copy(update={"checksum": ""}))


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """A line that is damaged."""

    number: int
    """The line number, from 1."""
    cut: bool
    """Whether it is unterminated, as when its writer was killed: the next writer drops it."""


def read_descriptions(path: Path) -> Iterator[Description | DamagedLine]:
    """Yield each description of the file, or a DamagedLine in its place. Raises OSError."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                description = Description.model_validate_json(line)
            except ValidationError:
                yield DamagedLine(number, cut=not line.endswith(b"\n"))
            else:
                yield description if description.is_whole() else DamagedLine(number, cut=False)


def stored_descriptions(document: Document, quotes: Iterable[Quote]) -> list[str]:
    """The descriptions that `describe` stored in a document's quotes; imported documents came with theirs."""
    return [] if document.parser.startswith(IMPORTED) else [quote.vlm_text for quote in quotes if quote.vlm_text]


def lost_note(root: Path, stored: Iterable[str], texts_in_file: Container[str]) -> str:
    """A note on descriptions stored in quotes that are not among `texts_in_file`; empty if all are.

    A file that was cut at the end of a line does not itself show that it lacks something.
    """
    lost = sum(text not in texts_in_file for text in stored)
    if not lost:
        return ""
    descriptions = pluralize(lost, "description is", "descriptions are")
    return f"{root / DESCRIPTIONS}: {descriptions} lost; quoteweave describe asks for the pictures again"


def damaged_descriptions(root: Path, line: DamagedLine) -> CollectionError:
    """The error for a damaged line."""
    damage = f"{root / DESCRIPTIONS}, line {line.number}, is damaged: its content is not what was written"
    return CollectionError(damage, remedy=repair_command(root))


def drop_damaged_descriptions(root: Path) -> None:
    """Remove the lines of the file that are damaged. Raises StorageError where the disk refuses."""
    path = root / DESCRIPTIONS
    with guard_writing(path):
        undamaged = [line for line in read_descriptions(path) if isinstance(line, Description)]
        with atomic_write(path) as file:
            file.writelines(line.model_dump_json().encode() + b"\n" for line in undamaged)


def prune_descriptions(root: Path, images: Container[str]) -> bool:
    """Remove the descriptions of all pictures but these; return False, changing nothing, while some are being written.

    `images` are keys of crops. Damaged lines are removed too. Raises StorageError where the disk refuses.
    """
    from filelock import FileLock, Timeout

    path = root / DESCRIPTIONS
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=0, thread_local=False)  # that of `open_for_append`
    if not path.exists():
        return True
    try:
        with guard_writing(path):
            lock.acquire()
    except Timeout:
        return False
    with lock, guard_writing(path):
        lines = path.read_bytes().splitlines(keepends=True)
        kept_lines = [line for line in lines if line.endswith(b"\n") and _image(line) in images]
        if not kept_lines:
            path.unlink()
        elif len(kept_lines) < len(lines):
            with atomic_write(path) as file:
                file.writelines(kept_lines)
    return True


def _image(line: bytes) -> str:
    try:
        return str(json.loads(line)["image"])
    except (ValueError, KeyError, TypeError):
        return ""


class OcrTextStore(ContentStore):
    """One small file for each crop and language in which it was read: `ab/ab12….ch`.

    Its first line is a checksum of the text that follows. Readers write here too, without the writer's lock: files are
    replaced whole, and two processes that read the same crop write the same. Texts of crops that no longer exist are
    removed when a writer ends.
    """

    def get(self, image: str, language: str) -> str | None:
        """What OCR read on the crop of that key; None where it was not read yet, or where the file is damaged."""
        try:
            path = self.path(_key(image, language))
            text = unsealed_bytes(path.read_bytes(), name=path.name)
        except OSError:
            return None
        return None if text is None else text.decode()

    def put(self, image: str, language: str, text: str) -> None:
        """Store what OCR read on the crop of that key, unless a writer that is ending prevents it.

        Raises StorageError where the disk is full or refuses, or where the folder is a link, whose target is not part
        of the collection.
        """
        # A writer that ends removes the files of crops that no longer exist, and incomplete files.
        path = self.path(_key(image, language))
        link = next((folder for folder in (self.root, path.parent) if folder.is_symlink()), None)
        if link is not None:
            raise StorageError(f"{link} is a link, and nothing is written through it")
        with suppress(FileNotFoundError), atomic_write(path) as file:
            file.write(sealed_bytes(text.encode(), name=path.name))

    def drop(self, image: str, language: str) -> None:
        """Remove what was read on a crop. Raises StorageError where the disk refuses."""
        path = self.path(_key(image, language))
        with guard_writing(path):
            path.unlink(missing_ok=True)

    def damaged(self, on_file: Callable[[Path], object] = lambda _: None) -> Iterator[Path]:
        """The damaged files; `on_file` is called with the path of each file that is checked."""
        for _, path in self._files():
            on_file(path)
            try:
                is_undamaged = unsealed_bytes(path.read_bytes(), name=path.name) is not None
            except OSError:
                is_undamaged = False
            if not is_undamaged:
                yield path

    def prune(self, keep: Collection[str]) -> int:
        """Remove the texts of all crops but those whose keys are in `keep`; return how many."""
        crops = {key.partition(".")[0] for key in keep}
        return super().prune({key for key, _ in self._files() if key.partition(".")[0] in crops})


def _key(image: str, language: str) -> str:
    return f"{image.partition('.')[0]}.{''.join(filter(str.isalnum, language.lower()))}"
