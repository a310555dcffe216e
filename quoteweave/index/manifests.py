"""What a generation of an index of vectors says of itself."""

import shlex
from contextlib import suppress
from pathlib import Path

from quoteweave.core.errors import CollectionError
from quoteweave.index.checksums import unsealed
from quoteweave.index.records import IndexState, Manifest

MANIFEST = "index.json"


def read_manifest(state: IndexState) -> Manifest | None:
    """What a generation holds; None where it is none of vectors. Raises CollectionError where that is damaged."""
    path = state.folder / MANIFEST
    try:
        return unsealed(Manifest, path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise CollectionError(f"{path} is damaged") from error


def manifest_of(state: IndexState | None) -> Manifest | None:
    """What a generation holds; None where there is none of vectors that can be read."""
    with suppress(CollectionError):
        return None if state is None else read_manifest(state)
    return None


def building_command(root: Path, spec: str) -> str:
    """The command that builds an index, or brings it up to date."""
    return f"quoteweave index {shlex.quote(spec)} -c {shlex.quote(str(root))}"
