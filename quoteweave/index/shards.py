"""Embedding shards: what an encoder made of one document's views, stored once for those views."""

import hashlib
import shutil
import zipfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quoteweave.index.faults import writing
from quoteweave.index.files import folder_name, replacing

if TYPE_CHECKING:
    import numpy as np

    Arrays = dict[str, np.ndarray[Any, Any]]


def shard_key(views: Sequence[str | bytes]) -> str:
    """SHA-256, in hexadecimal, of the views in order; each is preceded by its length, so that no two lists agree."""
    digest = hashlib.sha256()
    for view in views:
        data = view.encode("utf-8", "surrogatepass") if isinstance(view, str) else view
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


class ShardStore:
    """Named arrays under `root/<fingerprint>/<key>.npz`, uncompressed.

    Shards that no document refers to are removed when a writer ends; see `Writer.keep_shards`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def get(self, fingerprint: str, key: str) -> "Arrays | None":
        """The arrays, or None where there are none; a damaged file is removed and counts as none."""
        import numpy as np

        path = self._path(fingerprint, key)
        try:
            with np.load(path, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}
        except FileNotFoundError:
            return None
        except (OSError, EOFError, ValueError, KeyError, AttributeError, zipfile.BadZipFile):
            # A reader may not be allowed to remove it; the next `put` replaces it in any case.
            with suppress(OSError):
                path.unlink(missing_ok=True)
            return None

    def put(self, fingerprint: str, key: str, arrays: "Mapping[str, np.ndarray[Any, Any]]") -> None:
        """Stores the arrays, in place of those that were there.

        Raises ValueError for arrays of Python objects, StorageError where the disk is full or refuses.
        """
        from numpy.lib.format import write_array

        with replacing(self._path(fingerprint, key)) as file, zipfile.ZipFile(file, "w") as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    write_array(member, array, allow_pickle=False)

    def prune(self, keep: Mapping[str, Collection[str]]) -> int:
        """Removes every shard but the keys kept of each fingerprint; returns how many. For the writer alone."""
        removed = 0
        with writing(self.root):
            for folder in self.root.glob("*"):
                kept = keep.get(folder.name, ())
                unwanted = [path for path in folder.iterdir() if path.suffix != ".npz" or path.stem not in kept]
                for path in unwanted:
                    path.unlink(missing_ok=True)
                removed += len(unwanted)
                if not kept:
                    shutil.rmtree(folder, ignore_errors=True)
        return removed

    def _path(self, fingerprint: str, key: str) -> Path:
        return self.root / folder_name(fingerprint) / f"{folder_name(key)}.npz"
