"""A cache of OCR texts of crops that were read after their documents were added."""

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

from quoteweave.collection.checksums import sealed_bytes, unsealed_bytes
from quoteweave.collection.storage_errors import guard_writing
from quoteweave.collection.stores.content import ContentStore, atomic_write


class OcrTextStore(ContentStore):
    """One small file for a crop and the language in which it was read: `ab/ab12….ch`.

    Its first line is a checksum of the text that follows. Readers write here too, without the writer's lock: files are
    replaced whole, and two processes that read the same crop write the same. Texts of crops that are gone are removed
    when a writer ends.
    """

    def get(self, image: str, language: str) -> str | None:
        """What OCR read on the crop of that key; None where it was not read yet, or where the file is damaged."""
        try:
            text = unsealed_bytes(self.path(_key(image, language)).read_bytes())
        except OSError:
            return None
        return None if text is None else text.decode()

    def put(self, image: str, language: str, text: str) -> None:
        """Keeps what OCR read on the crop of that key, unless a writer that ends is in the way.

        Raises StorageError where the disk is full or refuses.
        """
        # A writer that ends removes the files of crops that are gone, and those that are not whole yet.
        with suppress(FileNotFoundError), atomic_write(self.path(_key(image, language))) as file:
            file.write(sealed_bytes(text.encode()))

    def drop(self, image: str, language: str) -> None:
        """Removes what was read on a crop. Raises StorageError where the disk refuses."""
        path = self.path(_key(image, language))
        with guard_writing(path):
            path.unlink(missing_ok=True)

    def damaged(self, on_file: Callable[[Path], object] = lambda _: None) -> Iterator[Path]:
        """The files that are not what was written; `on_file` is told of each file."""
        for _, path in self._files():
            on_file(path)
            try:
                whole = unsealed_bytes(path.read_bytes()) is not None
            except OSError:
                whole = False
            if not whole:
                yield path

    def prune(self, keep: Collection[str]) -> int:
        """Removes the texts of all crops but those whose keys are in `keep`; returns how many."""
        crops = {key.partition(".")[0] for key in keep}
        return super().prune({key for key, _ in self._files() if key.partition(".")[0] in crops})


def _key(image: str, language: str) -> str:
    return f"{image.partition('.')[0]}.{''.join(filter(str.isalnum, language.lower()))}"
