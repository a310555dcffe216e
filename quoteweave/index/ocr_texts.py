"""What OCR read on crops after their documents were added, kept so that no crop is read twice."""

from collections.abc import Collection

import xxhash

from quoteweave.index.files import ContentFolder, replacing


class OcrTextStore(ContentFolder):
    """One small file for a crop and the language in which it was read: `ab/ab12….ch`.

    Its first line is a checksum of the text that follows. Readers write here too, without the writer's lock: files are
    replaced whole, and two processes that read the same crop write the same. Texts of crops that are gone are removed
    when a writer ends.
    """

    def get(self, image: str, language: str) -> str | None:
        """What OCR read on the crop of that key; None where it was not read yet, or where the file is damaged."""
        try:
            stored = self.path(_key(image, language)).read_bytes()
        except OSError:
            return None
        checksum, _, text = stored.partition(b"\n")
        return text.decode() if checksum == _checksum(text) else None

    def put(self, image: str, language: str, text: str) -> None:
        """Keeps what OCR read on the crop of that key. Raises StorageError where the disk is full or refuses."""
        data = text.encode()
        with replacing(self.path(_key(image, language))) as file:
            file.write(_checksum(data) + b"\n" + data)

    def prune(self, keep: Collection[str]) -> int:
        """Removes the texts of all crops but those whose keys are in `keep`; returns how many."""
        crops = {key.partition(".")[0] for key in keep}
        return super().prune({key for key, _ in self._files() if key.partition(".")[0] in crops})


def _key(image: str, language: str) -> str:
    return f"{image.partition('.')[0]}.{''.join(filter(str.isalnum, language.lower()))}"


def _checksum(data: bytes) -> bytes:
    return xxhash.xxh3_64_hexdigest(data).encode()
