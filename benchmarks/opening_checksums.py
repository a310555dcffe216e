"""How long verifying checksums takes when a process opens a collection and asks it a first question.

Each process imports its libraries, and is then timed from `Collection.open` to its first hits (and to the result for a
question without words, which reads nothing but the list of documents). Processes that verify the catalogue and the
lexical index alternate with processes that do not; files are in the system's cache. The collection is made
(`made_quotes.py`) unless `--collection` holds one.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from common import Table, arguments, machine, print_results, working_folder
from made_quotes import Writing, fill

from quoteweave.collection.catalog.file_checksum import read_catalog_checksum
from quoteweave.collection.collection import Collection

QUESTION = "what is the total of revenue in 2012?"
_PROCESS = """
import json, sys, time
from pathlib import Path
import numpy, xxhash
from quoteweave.collection.catalog import file_checksum
from quoteweave.collection.collection import Collection
from quoteweave.core.records import Query
from quoteweave.retrievers.make_retriever import make_retriever

folder, question, known = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
if known:
    # As if verifying took no time: what is asked is known beforehand.
    file_checksum.checksum_of = lambda file: known["catalogue"]
    digest = xxhash.xxh3_128_hexdigest
    xxhash.xxh3_128_hexdigest = lambda data: known["segments"].get(str(len(data))) or digest(data)
times = [time.perf_counter()]
with Collection.open(folder) as collection:
    if question:
        make_retriever("lexical", collection).search([Query(text=question)], 10)
    else:
        collection.documents()
    times.append(time.perf_counter())
print(times[1] - times[0])
"""


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--collection", type=Path, metavar="DIR", help="make the collection here, or use the one here")
    parser.add_argument("--quotes", type=int, metavar="N", default=20_000, help="quotes to make (%(default)s)")
    parser.add_argument("--times", type=int, metavar="N", default=25, help="processes of each kind (%(default)s)")
    options = parser.parse_args()
    host = machine()
    with working_folder(options.collection) as folder:
        with Collection.open_or_create(folder) as collection:
            if not collection.counts().documents:
                fill(collection, Writing(seed=1), quotes=options.quotes, documents=200)
            quotes = collection.counts().quotes
        known = _known(folder)
        figures = {
            "first question": _measure(folder, QUESTION, known, options.times),
            "list of documents": _measure(folder, "", known, options.times),
        }
    rows = [
        [
            name,
            *(f"{1000 * statistics.median(elapsed[kind]):.1f}" for kind in ("verified", "as it is")),
            _share(elapsed),
        ]
        for name, elapsed in figures.items()
    ]
    title = f"milliseconds from opening, {quotes:,} quotes, {options.times} processes of each kind"
    tables = [Table(title, ("until", "verified", "as it is", "verifying, % of it (95 %)"), rows)]
    print_results(host, {"quotes": quotes, "seconds": figures}, tables, options)


def _known(folder: Path) -> dict[str, object]:
    """The stored checksums of the files; those of segments by the sizes of the files, which differ."""
    checksum = read_catalog_checksum(folder / "catalog.sqlite")
    if checksum is None:
        raise SystemExit(f"somebody writes to {folder}, or was killed while doing so")
    return {
        "catalogue": checksum.content,
        "segments": {path.stat().st_size: path.stem for path in (folder / "lexical").iterdir()},
    }


def _measure(folder: Path, question: str, known: dict[str, object], times: int) -> dict[str, list[float]]:
    durations: dict[str, list[float]] = {"verified": [], "as it is": []}
    for _ in range(times):
        durations["verified"].append(_seconds(folder, question, {}))
        durations["as it is"].append(_seconds(folder, question, known))
    return durations


def _seconds(folder: Path, question: str, known: dict[str, object]) -> float:
    command = [sys.executable, "-c", _PROCESS, str(folder), question, json.dumps(known)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _share(durations: dict[str, list[float]]) -> str:
    """The time that verifying adds, as a share of the time without it: median and interval over neighbouring runs."""
    shares = sorted(100 * (a / b - 1) for a, b in zip(durations["verified"], durations["as it is"], strict=True))
    low, high = _interval(shares)
    return f"{statistics.median(shares):+.1f} ({low:+.1f} to {high:+.1f})"


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """The interval of the median of sorted values, by the ranks of a sign test."""
    away = round(0.98 * len(values) ** 0.5)
    middle = len(values) // 2
    return values[max(0, middle - away)], values[min(len(values) - 1, middle + away)]


if __name__ == "__main__":
    main()
