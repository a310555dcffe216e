"""Documents with canary words, a picture and its description are removed; then every byte of the folder is searched.

For every kind of index: by `remove`, by `add` of a folder in which they were deleted or say something else, with a
reader that has files open until after the command, and by commands that are killed (SIGKILL) at random moments and
followed by another command that writes. Printed is the number of files that contain a canary, before and after.

    python benchmarks/faults/canaries.py --kills 40
"""

import random
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.append(str(Path(__file__).resolve().parent.parent))

import made_trials as made
from common import Table, arguments, machine, print_results

from quoteweave.testing import ModelServer

WAYS = ("remove", "add", "reader", "killed")
WORDS = {"remove": (*made.OF_GONE, *made.OF_PICTURE)}
ALL = (*made.OF_GONE, *made.OF_PICTURE, *made.OF_CHANGED)


def main() -> None:
    """Runs the trials, and prints counts."""
    parser = arguments(__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = machine()
    made.prepare()
    chance, left = random.Random(given.seed), dict[str, dict[str, int]]()
    before, kills = Counter[str](), Counter[str]()
    with TemporaryDirectory(prefix="quoteweave-canaries-") as named:
        folder = Path(named)
        prepared, log = _prepared(folder), folder / "log"
        made.change_files(folder / "files")
        for kind, root in prepared.items():
            before[kind] = len(made.canaries_in(root, ALL))
            left[kind] = dict.fromkeys(WAYS, 0)

            def way(name: str, change: Callable[[Path], list[object]], kind: str = kind, root: Path = root) -> None:
                copy = made.copied(root, folder / "trial")
                _checked(change(copy), log)
                left[kind][name] += len(made.canaries_in(copy, WORDS.get(name, ALL)))

            way("remove", _remove)
            way("add", lambda copy: _add(copy, folder))
            way("reader", lambda copy: _read_meanwhile(copy, folder, log))
        while sum(kills.values()) < given.kills:
            kind = list(prepared)[sum(kills.values()) % len(prepared)]
            copy = made.copied(prepared[kind], folder / "trial")
            process = made.start(_add(copy, folder), log)
            process.join(chance.uniform(0, 4))
            process.kill()
            process.join()
            if process.exitcode != -signal.SIGKILL:
                continue
            kills[kind] += 1
            # Documents removed before the kill must be gone after the next command, whichever it is; then the others.
            _checked(["index", "build", made.spec_of(kind), "-c", copy], log)
            left[kind]["killed"] += sum("holds" in what for what in made.state_of(copy, kind).wrong)
            _checked(_add(copy, folder), log)
            left[kind]["killed"] += len(made.canaries_in(copy, ALL))
    rows = [[k, str(before[k]), *(str(left[k][way]) for way in WAYS), str(kills[k])] for k in left]
    columns = ["index", "before", "after remove", "after add", "after a reader", "after kills", "kills"]
    print_results(found, {"left": left, "kills": kills}, [Table("Files with canaries", columns, rows)], given)
    sys.exit(any(count for counts in left.values() for count in counts.values()))


def _prepared(folder: Path) -> dict[str, Path]:
    """A collection with each kind of index, its pictures described."""
    log, first = folder / "log", folder / "first"
    made.make_files(folder / "files")
    _checked(["add", folder / "files", "-c", first, "--no-ocr"], log)
    with ModelServer(made.describe) as server:
        _checked(["describe", "--model", "v", "--base-url", server.base_url, "--yes", "-c", first], log)
    found = {kind: made.copied(first, folder / kind) for kind in made.kinds()}
    for kind, root in found.items():
        _checked(["index", "build", made.spec_of(kind), "-c", root], log)
    return found


def _remove(root: Path) -> list[object]:
    return ["remove", made.GONE, made.PICTURE, "-c", root]


def _add(root: Path, folder: Path) -> list[object]:
    return ["add", folder / "files", "-c", root, "--no-ocr"]


def _read_meanwhile(root: Path, folder: Path, log: Path) -> list[object]:
    """Change the collection while a reader has files open; return the command to run after the reader has ended."""
    with closing(sqlite3.connect(root / "catalog.sqlite", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM documents").fetchall()
        _checked(_add(root, folder), log)
    if "someone is reading" not in log.read_text("utf-8"):
        raise SystemExit(f"nothing was said of the reader: {log.read_text('utf-8')}")
    return ["check", "--removed", made.GONE, "-c", root]


def _checked(command: list[object], log: Path) -> None:
    if made.run(command, log):
        raise SystemExit(f"{command} failed: {log.read_text('utf-8')}")


if __name__ == "__main__":
    main()
