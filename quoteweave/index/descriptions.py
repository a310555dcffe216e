"""The file of what vision models wrote of a collection's pictures."""

import json
from collections.abc import Container
from pathlib import Path

from quoteweave.index.faults import writing
from quoteweave.index.files import replacing

DESCRIPTIONS = "descriptions.jsonl"


def keep_descriptions(root: Path, images: Container[str]) -> bool:
    """Removes the descriptions of all pictures but these; False, and nothing is done, while some are being written.

    `images` are keys of crops. Lines that say of no picture go too. Raises StorageError where the disk refuses.
    """
    from filelock import FileLock, Timeout

    path = root / DESCRIPTIONS
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=0, thread_local=False)  # that of core.lines.appending
    if not path.exists():
        return True
    try:
        with writing(path):
            lock.acquire()
    except Timeout:
        return False
    with lock, writing(path):
        lines = path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if line.endswith(b"\n") and _image(line) in images]
        if not kept:
            path.unlink()
        elif len(kept) < len(lines):
            with replacing(path) as file:
                file.writelines(kept)
    return True


def _image(line: bytes) -> str:
    try:
        return str(json.loads(line)["image"])
    except (ValueError, KeyError, TypeError):
        return ""
