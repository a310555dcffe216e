"""What SQLite's file holds in pages that are in no use, as its format says (sqlite.org/fileformat2.html)."""

import mmap
from collections.abc import Iterator
from pathlib import Path


def free_bytes(path: Path) -> Iterator[str]:
    """A sentence for each free page of the database that holds anything but zeros.

    Connections of this process to it must be closed: to close the file again would end their locks.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        size = int.from_bytes(data[16:18], "big")
        size = 65536 if size == 1 else size
        trunk, seen = int.from_bytes(data[32:36], "big"), set[int]()
        while trunk and trunk not in seen:
            seen.add(trunk)
            page = data[(trunk - 1) * size : trunk * size]
            count = int.from_bytes(page[4:8], "big")
            if any(page[8 + 4 * count :]):
                yield f"{path}, page {trunk}, is free and not empty"
            for at in range(8, 8 + 4 * count, 4):
                leaf = int.from_bytes(page[at : at + 4], "big")
                if any(data[(leaf - 1) * size : leaf * size]):
                    yield f"{path}, page {leaf}, is free and not empty"
            trunk = int.from_bytes(page[:4], "big")
