"""Where a server keeps keys, jobs, uploads and conversations unless it is told."""

import os
from pathlib import Path

STATE_VARIABLE = "QUOTEWEAVE_STATE"


def default_state() -> Path:
    """Return the folder that QUOTEWEAVE_STATE names, else quoteweave's in the user's own folder of state (XDG)."""
    named = os.environ.get(STATE_VARIABLE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "quoteweave"
