"""Pages of documents that are being read, kept until the document is stored, so that an interrupted run resumes.

They are stored as `unfinished/<key of the document>/<page>`, each with a checksum and the keys of its images, which
must stay as long as the page does.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from quoteweave.collection.checksums import sealed_bytes, unsealed_bytes
from quoteweave.collection.storage_errors import guard_writing
from quoteweave.collection.stores.content import atomic_write, folder_name

PAGE_FORM = "5"
"""Changed whenever pages are stored in another form (`documents.layout.page.PageContent`). Pages of an earlier form are
not found, so that the file's pages are read again."""


@dataclass(frozen=True, slots=True)
class UnfinishedPages:
    """The pages of one document that have been read, in a folder of their own."""

    folder: Path

    def put(self, page: int, content: bytes, *, images: Sequence[str]) -> None:
        """Store what was read of a page, and the keys of its images. Raises StorageError where the disk refuses."""
        head = json.dumps(sorted(set(images))).encode()
        body = head + b"\n" + content
        with atomic_write(self.folder / str(page)) as file:
            file.write(sealed_bytes(body, name=f"{self.folder.name}/{page}"))

    def get(self, page: int) -> bytes | None:
        """What was stored of a page; None if nothing was, or if it is damaged."""
        images_and_content = _read(self.folder / str(page))
        return None if images_and_content is None else images_and_content[1]

    def pages(self) -> set[int]:
        """The numbers of the pages that are stored and not damaged."""
        numbers = (int(path.name) for path in _files(self.folder) if path.name.isdecimal())
        return {number for number in numbers if self.get(number) is not None}

    def remove(self) -> None:
        """Remove all pages. Raises StorageError where the disk refuses."""
        with guard_writing(self.folder):
            if self.folder.is_dir():
                shutil.rmtree(self.folder)


class UnfinishedStore:
    """The unfinished documents of a collection, in folders below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def of(self, key: str) -> UnfinishedPages:
        """The pages of the document of that key, which `unfinished_key` makes."""
        return UnfinishedPages(self.root / folder_name(key))

    def images(self) -> set[str]:
        """The keys of the images that pages refer to."""
        pages = (_read(path) for folder in _files(self.root) for path in _files(folder))
        return {key for entry in pages if entry is not None for key in entry[0]}

    def prune(self, keep: Iterable[str] = ()) -> None:
        """Remove the pages of all documents except those of `keep`. Only for the owner of the writer's lock."""
        with guard_writing(self.root):
            folders = {folder.name: folder for folder in _files(self.root)}
            for key in keep if folders else ():  # there may be many keys, and seldom any pages
                folders.pop(key, None)
            for folder in folders.values():
                shutil.rmtree(folder)
            if self.root.is_dir() and not any(self.root.iterdir()):
                self.root.rmdir()


def unfinished_key(name: str, content: str, parser: str) -> str:
    """The key of a document that is being read: a hash of its name, its content, its parser and `PAGE_FORM`."""
    identity = f"{name}\0{content}\0{parser}\0{PAGE_FORM}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(identity).hexdigest()[:32]


def _files(folder: Path) -> Iterator[Path]:
    try:
        yield from folder.iterdir()
    except (FileNotFoundError, NotADirectoryError):
        return


def _read(path: Path) -> tuple[list[str], bytes] | None:
    """The images and the data of a page; None where the file is missing, cannot be read or is damaged."""
    try:
        body = unsealed_bytes(path.read_bytes(), name=f"{path.parent.name}/{path.name}")
    except OSError:
        return None
    if body is None:
        return None
    head, _, content = body.partition(b"\n")
    return json.loads(head), content
