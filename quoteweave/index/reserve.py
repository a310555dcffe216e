"""Room on the disk that is set aside, so that documents can be removed when nothing else is left."""

import shutil
from contextlib import suppress
from pathlib import Path

_BYTES = 256 << 10
# A disk that is nearly full is left alone: what could be set aside there may be needed now.
_ROOM = 4 * _BYTES


class Reserve:
    """A file at `path` that only takes room."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def keep(self) -> None:
        """Sets the room aside, unless it is or there is little left."""
        with suppress(OSError):
            if not self.path.exists() and shutil.disk_usage(self.path.parent).free > _ROOM:
                self.path.write_bytes(bytes(_BYTES))

    def release(self) -> None:
        """Gives the room back; the next writer that finds enough of it sets it aside again."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
