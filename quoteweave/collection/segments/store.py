"""The segments of a collection's lexical index on disk, kept in step with its documents."""

import sqlite3
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from quoteweave.collection.segments.merge import merge_segments
from quoteweave.collection.segments.segment import Segment, read_segment, write_segment
from quoteweave.collection.storage_errors import repair_command
from quoteweave.core.errors import CollectionError
from quoteweave.core.files.whole_files import remove_path

# A segment is merged with newer ones unless it is more than this many times as large as they are together: so few
# segments remain to be searched, and how often a posting is rewritten grows only with the logarithm of their number.
RATIO = 3
# Raised when the same documents would give different segments; the next writer then rebuilds those on disk.
SEGMENT_RULES = 16
_IS_LACKING = "SELECT EXISTS (SELECT 1 FROM documents) AND NOT EXISTS (SELECT 1 FROM segments)"


class SegmentStore:
    """Segments in the folder `root`; the catalogue says which of them are current. Only for the writer."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def update(self, db: sqlite3.Connection, *, removed: Collection[str] = (), added: Segment | None = None) -> None:
        """Within a transaction over the catalogue, remove documents from the index and add those of a segment.

        The segments that are current after the transaction are listed in it; `prune` removes the others. Raises
        CollectionError where a segment that has to be read is damaged, StorageError where the disk refuses.
        """
        names = [name for (name,) in db.execute("SELECT name FROM segments ORDER BY number")]
        segments = {name: self._read(name) for name in names}
        merged_names = [
            name for name, segment in segments.items() if any(document in removed for document in segment.names)
        ]
        new_segments = [added] if added is not None else []
        if not names:
            db.execute(
                f"PRAGMA application_id = {SEGMENT_RULES}"
            )  # SQLite's other number, user_version, counts commits (catalog/database.py)
        if not merged_names and not new_segments:
            return
        cost = sum(segment.merge_cost for segment in [*(segments[name] for name in merged_names), *new_segments])
        for name in sorted(set(segments).difference(merged_names), key=lambda name: segments[name].merge_cost):
            if segments[name].merge_cost > RATIO * cost:
                break
            merged_names.append(name)
            cost += segments[name].merge_cost
        kept_names = [name for name in names if name not in merged_names]
        segment = merge_segments([segments[name] for name in names if name in merged_names], removed, new_segments)
        if segment.names:
            kept_names.append(write_segment(self.root, segment))
        db.execute("DELETE FROM segments")
        db.executemany("INSERT INTO segments (name) VALUES (?)", ((name,) for name in kept_names))

    def is_outdated(self, db: sqlite3.Connection) -> bool:
        """Whether the segments were dropped, or were made by rules other than those of this version."""
        (is_lacking,) = db.execute(_IS_LACKING).fetchone()
        return bool(is_lacking) or has_other_rules(db)

    def prune(self, keep: Collection[str]) -> None:
        """Remove every file but those named."""
        for path in self.root.glob("*"):
            if path.name not in keep:
                # Where a file that is mapped into memory cannot be removed, the next writer removes it.
                with suppress(OSError):
                    remove_path(path)

    def _read(self, name: str) -> Segment:
        try:
            return read_segment(self.root / name)
        except (CollectionError, OSError) as error:
            raise damaged_index(self.root.parent, error) from error


def has_other_rules(db: sqlite3.Connection) -> bool:
    """Whether the catalogue lists segments that were made by rules other than those of this version."""
    (rules,) = db.execute("PRAGMA application_id").fetchone()
    if rules == SEGMENT_RULES:
        return False
    (has_segments,) = db.execute("SELECT EXISTS (SELECT 1 FROM segments)").fetchone()
    return bool(has_segments)


def damaged_index(root: Path, error: Exception) -> CollectionError:
    """The error for a lexical index in the collection at `root` that cannot be read, with what to do about it."""
    reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
    return CollectionError(f"the lexical index cannot be read: {reason}", remedy=repair_command(root))
