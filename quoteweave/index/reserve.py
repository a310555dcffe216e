"""Room on the disk that is set aside, so that documents can be removed when nothing else is left."""

import shutil
from contextlib import suppress
from pathlib import Path

_BYTES = 512 << 10
_LEFT = 64 << 10  # for what is written next


class Reserve:
    """A file at `path` that only takes room."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def keep(self) -> None:
        """Sets the room aside, unless it is already; less where less is left, or none."""
        with suppress(OSError):
            held = self.path.stat().st_size if self.path.exists() else 0
            size = min(_BYTES, held + shutil.disk_usage(self.path.parent).free - _LEFT)
            if size > held:
                self.path.write_bytes(bytes(size))

    def release(self) -> None:
        """Gives the room back; the next writer that finds enough of it sets it aside again."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
