"""Derived indexes on disk: a folder for each generation, with its manifest, built elsewhere and renamed into place."""

import shlex
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from quoteweave.collection.checksums import CHECKSUMS, bytes_checksum, sealed_record, unsealed_record
from quoteweave.collection.records import IndexPlan, IndexState, Manifest
from quoteweave.collection.storage_errors import guard_writing
from quoteweave.collection.stores.content import atomic_write, folder_name
from quoteweave.core.errors import CollectionError
from quoteweave.core.files.whole_files import ensure_folder

_BUILDING = "building"
MANIFEST = "index.json"
PLAN = "plan.json"
"""The name of a file beside an index's generations that says how it is built, even if these are lost."""


class Generations:
    """Folders `root/<fingerprint>/<generation>`. The catalogue says which one is current."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, fingerprint: str, generation: int) -> Path:
        """The folder of a generation, whether it exists or not."""
        return self.root / folder_name(fingerprint) / f"{generation:06d}"

    def add(self, fingerprint: str, build: Callable[[Path], None], *, after: int) -> int:
        """Have `build` fill an empty folder, make it the generation after `after`, and return its number.

        Raises what `build` raises, and StorageError where the disk is full or refuses.
        """
        generation = after + 1
        final = self.path(fingerprint, generation)
        building = final.with_name(_BUILDING)
        with guard_writing(final):
            # A killed process may leave either; the second if killed between renaming and the catalogue's row.
            for leftover in (building, final):
                shutil.rmtree(leftover, ignore_errors=True)
            ensure_folder(building)
            try:
                build(building)
                building.replace(final)
            except BaseException:
                shutil.rmtree(building, ignore_errors=True)
                raise
        return generation

    def prune(self, current: Mapping[str, int]) -> None:
        """Remove every folder but the current generation of each fingerprint. Only for the writer."""
        keep = {self.path(fingerprint, generation) for fingerprint, generation in current.items()}
        for path in self.root.glob("*/*"):
            if path not in keep and path.name != PLAN:
                shutil.rmtree(path, ignore_errors=True)
                with suppress(OSError):  # a plan that a killed process began to write is not a folder
                    path.unlink()
        for folder in self.root.glob("*"):
            if folder.name not in current:
                shutil.rmtree(folder, ignore_errors=True)


def generation_seal(folder: Path) -> str:
    """A checksum of a generation's manifest and of its files' checksums, by which the catalogue recognises it.

    Empty without either. Raises OSError where they cannot be read.
    """
    paths = [folder / MANIFEST, *sorted(folder.rglob(CHECKSUMS))]
    return bytes_checksum(b"\0".join(path.read_bytes() for path in paths if path.exists())).hex()


def read_manifest(state: IndexState) -> Manifest | None:
    """Read a generation's manifest; None if it is not a vector index.

    Raises CollectionError if it is damaged, or was written for another collection or at another time.
    """
    path = state.folder / MANIFEST
    try:
        manifest = unsealed_record(Manifest, path.read_bytes())
        if state.seal not in (None, generation_seal(state.folder)):
            raise CollectionError(f"{state.folder} is damaged: its files are not those that were written for it")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise CollectionError(f"{path} is damaged") from error
    return manifest


def try_read_manifest(state: IndexState | None) -> Manifest | None:
    """Read a generation's manifest; None if there is none or it cannot be read."""
    with suppress(CollectionError):
        return None if state is None else read_manifest(state)
    return None


def write_plan(folder: Path, plan: IndexPlan) -> None:
    """Write beside the generation in `folder` how its index is built. Raises StorageError where the disk refuses."""
    sealed = sealed_record(IndexPlan.model_validate(plan.model_dump(include=set(IndexPlan.model_fields))))
    path = folder.parent / PLAN
    if not path.exists() or path.read_bytes() != sealed:
        with atomic_write(path) as file:
            file.write(sealed)


def read_plan(state: IndexState) -> IndexPlan | None:
    """How an index is built, from its manifest or from the file beside its generations; None if both cannot be read."""
    manifest = try_read_manifest(state)
    with suppress(OSError, ValueError):
        return manifest or unsealed_record(IndexPlan, (state.folder.parent / PLAN).read_bytes())
    return None


def spec_of(state: IndexState) -> str:
    """The retriever of an index, even of one that is damaged or gone; the index's name where it is unknown."""
    plan = read_plan(state)
    return state.name if plan is None else plan.spec


def build_command(root: Path, spec: str) -> str:
    """The command that builds an index, or brings it up to date."""
    return f"quoteweave index build {shlex.quote(spec)} -c {shlex.quote(str(root))}"
