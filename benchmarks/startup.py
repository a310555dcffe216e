"""How long a user waits, and how much is installed, before the first question.

Measured are the wall time of `quoteweave --help` and of `import quoteweave`, each in a process of its own, compared
with a Python that does nothing; that of `quoteweave serve` with an empty collection until it accepts connections
(within 0.05 s); which heavy libraries the import loads (there should be none); and, with --venv, the size on disk of an
environment with the base install.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from common import Table, arguments, machine, median_seconds, print_results
from serving import served

from quoteweave.collection.collection import Collection

HEAVY = ("torch", "openai", "numpy")
REPEATS = 7


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--venv", type=Path, metavar="DIR", help="environment with `pip install quoteweave` alone")
    options = parser.parse_args()
    host = machine()
    waits = {
        "quoteweave --help": _wall_seconds(["-m", "quoteweave", "--help"]),
        "import quoteweave": _wall_seconds(["-c", "import quoteweave"]),
        "python alone": _wall_seconds(["-c", "pass"]),
        "quoteweave serve": statistics.median(_seconds_to_serve() for _ in range(REPEATS)),
    }
    heavy = _imported(HEAVY)
    size = None if options.venv is None else _size(options.venv)
    rows = [[name, f"{wait:.3f}", "s"] for name, wait in waits.items()]
    rows.append(["import quoteweave brings", ", ".join(heavy) or "none", f"of {', '.join(HEAVY)}"])
    if size is not None:
        rows.append([f"size of {options.venv}", f"{size / 1e6:.0f}", "MB"])
    figures = {"seconds": waits, "imported": heavy, "venv_bytes": size}
    print_results(host, figures, [Table("start and size", ("", "", ""), rows)], options)


def _wall_seconds(arguments: Sequence[str]) -> float:
    """Median wall time of a Python process."""
    command = [sys.executable, *arguments]
    return median_seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL), REPEATS)


def _seconds_to_serve() -> float:
    """Wall time until a server of an empty collection accepts connections."""
    with TemporaryDirectory() as folder:
        Collection.open_or_create(Path(folder)).close()
        started = time.perf_counter()
        with served(Path(folder)):
            return time.perf_counter() - started


def _imported(names: Sequence[str]) -> list[str]:
    """Those of the modules that `import quoteweave` loads."""
    code = "import json, sys, quoteweave; print(json.dumps(list(sys.modules)))"
    process = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE)
    loaded = set(json.loads(process.stdout))
    return [name for name in names if name in loaded]


def _size(folder: Path) -> int:
    """Bytes on disk of all files below a folder; links are not followed, and a file linked twice counts once."""
    if not (folder / "pyvenv.cfg").is_file():
        raise SystemExit(f"{folder} is no virtual environment; make one with: python -m venv {folder}")
    stats = [path.lstat() for path in folder.rglob("*")]
    return sum({stat.st_ino: stat.st_blocks * 512 for stat in stats}.values())


if __name__ == "__main__":
    main()
