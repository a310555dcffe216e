"""Derived indexes on disk: a folder for each generation, built aside and renamed into place, with its manifest."""

import shlex
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from quoteweave.collection.checksums import unsealed
from quoteweave.collection.records import IndexState, Manifest
from quoteweave.collection.storage_errors import guard_writing
from quoteweave.collection.stores.content import folder_name
from quoteweave.core.errors import CollectionError

_BUILDING = "building"


class Generations:
    """Folders `root/<fingerprint>/<generation>`. Which one is current is for the catalogue to say."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, fingerprint: str, generation: int) -> Path:
        """The folder of a generation, whether it is there or not."""
        return self.root / folder_name(fingerprint) / f"{generation:06d}"

    def add(self, fingerprint: str, build: Callable[[Path], None], *, after: int) -> int:
        """Have `build` fill an empty folder, make that the generation after `after`, and return its number.

        Raises what `build` raises, and StorageError where the disk is full or refuses.
        """
        generation = after + 1
        final = self.path(fingerprint, generation)
        building = final.with_name(_BUILDING)
        with guard_writing(final):
            # Both can be left by a process that died, the second between its renaming and the catalogue's row.
            for leftover in (building, final):
                shutil.rmtree(leftover, ignore_errors=True)
            building.mkdir(parents=True)
            try:
                build(building)
                building.replace(final)
            except BaseException:
                shutil.rmtree(building, ignore_errors=True)
                raise
        return generation

    def prune(self, current: Mapping[str, int]) -> None:
        """Removes every folder but the current generation of each fingerprint. For the writer alone."""
        keep = {self.path(fingerprint, generation) for fingerprint, generation in current.items()}
        for folder in self.root.glob("*/*"):
            if folder not in keep:
                shutil.rmtree(folder, ignore_errors=True)
        for folder in self.root.glob("*"):
            if folder.name not in current:
                shutil.rmtree(folder, ignore_errors=True)


MANIFEST = "index.json"


def read_manifest(state: IndexState) -> Manifest | None:
    """Read a generation's manifest; None if it is not a vector index. Raises CollectionError if it is damaged."""
    path = state.folder / MANIFEST
    try:
        return unsealed(Manifest, path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise CollectionError(f"{path} is damaged") from error


def try_read_manifest(state: IndexState | None) -> Manifest | None:
    """Read a generation's manifest; None if there is none or it cannot be read."""
    with suppress(CollectionError):
        return None if state is None else read_manifest(state)
    return None


def build_command(root: Path, spec: str) -> str:
    """The command that builds an index, or brings it up to date."""
    return f"quoteweave index build {shlex.quote(spec)} -c {shlex.quote(str(root))}"
