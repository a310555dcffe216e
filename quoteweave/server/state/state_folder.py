"""Where a server keeps keys, jobs, uploads and conversations unless it is told."""

import os
from pathlib import Path

from quoteweave.core.errors import StateError

STATE_VARIABLE = "QUOTEWEAVE_STATE"


def default_state() -> Path:
    """Return the folder that QUOTEWEAVE_STATE names, else quoteweave's in the user's own folder of state (XDG)."""
    named = os.environ.get(STATE_VARIABLE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "quoteweave"


def make_state(folder: Path) -> Path:
    """Make the folder where there is none, closed to other users. Raises StateError where that cannot be done."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StateError(
            f"the state folder {folder} cannot be made ({error.strerror or error})",
            remedy=f"name another with --state, or {STATE_VARIABLE}",
        ) from error
    return folder
