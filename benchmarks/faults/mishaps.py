"""Mishaps and attacks that no other script here tries: each must give the right result or an error of quoteweave's own.

    python benchmarks/faults/mishaps.py [--only PART]

Files that change, move or vanish while they are added, two commands at once, clocks, links, limits of the system, odd
names, files that are not what they are called, questions and files of settings that no one would write, and folders of
collections that something else changed. Each is tried in a folder of its own, and its outcome is printed: `right`,
`error` (one of quoteweave's own), `silent` (a wrong result without any message) or `raw` (another exception).
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from common import Table, arguments, machine, print_results

WORDS = "The harbour of {} received grain in 1874."
PROSE = "\n\n".join(f"Paragraph {number} tells of ship {number}." for number in range(40))
Attack = Callable[["Place"], object]
ATTACKS: dict[str, Attack] = {}
LIMIT_S = 120


class Place:
    """A folder of files, a collection, and the command line for both; `said` is everything that it has printed."""

    def __init__(self, root: Path) -> None:
        self.root, self.files, self.collection = root, root / "files", root / "collection"
        self.files.mkdir()
        self.said, self.failed = "", False

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file among those that are added."""
        path = self.files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run(self, *given: object, before: str = "", **environment: str) -> str:
        """Run a command; return what it printed on stdout. `before` is code that runs first in its process."""
        code = f"import sys\n{before}\nfrom quoteweave.cli.app import main\nmain()"
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, given)],
            check=False,
            capture_output=True,
            env={**os.environ, **environment},
            cwd=self.root,
            timeout=LIMIT_S,
            stdin=subprocess.DEVNULL,
        )
        out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        self.said += out + err
        self.failed |= done.returncode != 0
        return out

    def add(self, *given: object, before: str = "", **environment: str) -> str:
        """Add the files, without OCR."""
        return self.run(
            "add", *(given or [self.files]), "-c", self.collection, "--no-ocr", before=before, **environment
        )

    def finds(self, words: str) -> bool:
        """Whether the first hit for these words has all of them."""
        found = self.run("search", words, "-c", self.collection, "--json")
        hits = json.loads(found)["hits"] if found.startswith("{") else []
        return any(all(word in hit["text"] for word in words.split()) for hit in hits)

    def names(self) -> list[str]:
        """The documents that are listed."""
        return [one["name"] for one in json.loads(self.run("list", "-c", self.collection, "--json"))]


def attack(function: Attack) -> Attack:
    """Register an attack; its name says what is tried."""
    ATTACKS[function.__name__.strip("_").replace("_", " ")] = function
    return function


def main() -> None:
    """Run from the command line; exit code 1 where anything is silent or raw."""
    import mishaps_of_collections  # noqa: F401 - registers its own
    import mishaps_of_files  # noqa: F401
    import mishaps_of_models  # noqa: F401

    parser = arguments(__doc__)
    parser.add_argument("--only", default="", metavar="PART", help="only those with this in their name")
    options, found = parser.parse_args(), machine()
    rows, counts = [], Counter[str]()
    for name, tried in ATTACKS.items():
        if options.only in name:
            outcome, why = outcome_of(tried)
            counts[outcome] += 1
            rows.append([name, outcome])
            print(f"{outcome:7}{name}: {why}", file=sys.stderr, flush=True)
    print_results(found, {"counts": counts, "outcomes": dict(rows)}, [Table("mishaps", ["", "outcome"], rows)], options)
    sys.exit(bool(counts["silent"] or counts["raw"]))


def outcome_of(tried: Attack) -> tuple[str, str]:
    """The outcome of an attack, which returns whether the result is right, or raises."""
    from quoteweave.core.errors import QuoteweaveError

    with tempfile.TemporaryDirectory(prefix="quoteweave-mishap-") as folder:
        place = Place(Path(folder))
        try:
            right = tried(place)
        except QuoteweaveError as error:
            return "error", str(error)[:300]
        except Exception as error:
            return "raw", f"{type(error).__name__}: {error}; {place.said[-600:]}"
        said = " ".join(place.said.split())
        if "Traceback" in said or "please report" in said:
            return "raw", said[-600:]
        if right:
            return ("error", said[-300:]) if place.failed else ("right", said[-120:])
        return "silent", said[-600:]


if __name__ == "__main__":
    sys.modules["mishaps"] = sys.modules["__main__"]
    main()
