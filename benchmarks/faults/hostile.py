"""Adds hostile files to a collection as a user would, and counts what happens to each.

Some hundred bombs (`tests/hostile_pdfs.py`, `tests/hostile_files.py`) and damaged files, up to the number of trials.
Each must be refused with a reason, or be added. If a bomb is added, the words before and after the hostile part must be
found, or a warning must say what was left out. Prints the counts, the names of files that fail, the time, and the most
memory that all processes took at once.
"""

import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "tests"), str(REPOSITORY / "benchmarks")]

from common import Table, arguments, machine, print_results  # noqa: E402
from hostile_files import write_bombs, write_damaged  # noqa: E402
from peak_memory import run_and_watch  # noqa: E402

from quoteweave.collection.collection import Collection  # noqa: E402

WORDS = ("Harbour words before the bomb", "Ferry words after the bomb")
SECONDS, MEGABYTES = 600, 1500
LIMITS, CRASHES = ("out of memory", "out of time"), "crashes"


def silent(collection: Collection, bombs: Sequence[str], told: Mapping[str, Sequence[str]]) -> list[str]:
    """The bombs that were added without words that they hold, and without any warning."""
    lacking = []
    for name in {document.name for document in collection.documents()}.intersection(bombs):
        text = " ".join(quote.all_text() for quote in collection.document_quotes(name))
        holds = name.endswith((".pdf", ".html", ".xhtml", ".md", ".txt"))
        if holds and not all(words in text for words in WORDS) and not told.get(name):
            lacking.append(name)
    return sorted(lacking)


def add(given: Sequence[str], report: Path) -> tuple[float, float]:
    """Run `quoteweave add`; return the seconds and megabytes that it took."""
    code = (
        "import sys; from quoteweave.cli.app import main\n"
        f"sys.stdout = open({str(report)!r}, 'w')\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nsys.stdout.close(); sys.stdout = sys.__stdout__"
    )
    peak = run_and_watch([sys.executable, "-c", code, "add", *given, "--json"])
    return peak.seconds, peak.bytes / 1e6


def main() -> None:
    """Run from the command line; exit code 1 where a file fails."""
    parser = arguments(__doc__)
    parser.add_argument("--trials", type=int, default=400, help="files, the bombs among them")
    parser.add_argument("--ocr", action="store_true", help="with OCR, which takes longer")
    parser.add_argument("--seed", type=int, default=0)
    options, machine_now = parser.parse_args(), machine()
    with tempfile.TemporaryDirectory(prefix="quoteweave-") as made:
        folder, root, report_path = Path(made, "files"), Path(made, "collection"), Path(made, "report.json")
        folder.mkdir()
        start = time.perf_counter()
        bombs = write_bombs(folder)
        names = [*bombs, *write_damaged(folder, max(0, options.trials - len(bombs)), options.seed)]
        print(
            f"{len(names)} files written in {time.perf_counter() - start:.0f} s, {len(bombs)} of them bombs",
            file=sys.stderr,
        )
        given = [str(folder), "-c", str(root), *([] if options.ocr else ["--no-ocr"])]
        seconds, megabytes = add(given, report_path)
        report = json.loads(report_path.read_text("utf-8"))
        told: dict[str, list[str]] = {}
        for warning in report["warnings"]:
            told.setdefault(warning["name"], []).append(warning["reason"])
        refused = {failure["name"]: failure["reason"] for failure in report["failed"]}
        forgotten = sorted(set(names).difference(report["added"], refused))
        ours = sorted(name for name, reason in refused.items() if "please report this" in reason)
        with Collection.open(root) as collection:
            dropped = silent(collection, bombs, told)
    figures: dict[str, object] = {
        "added": len(report["added"]),
        "added with warnings": len(told),
        "refused": len(refused),
        **{reason: sum(reason in said for said in _reasons(names, told, refused)) for reason in LIMITS},
        CRASHES: [name for name in names if CRASHES in _reasons([name], told, refused)[0]],
        "neither added nor refused": forgotten,
        "silent drops": dropped,
        "refused with an error of a library": ours,
        f"seconds (goal {SECONDS})": round(seconds),
        f"MB at most (goal {MEGABYTES})": round(megabytes),
    }
    rows = [
        [name, " ".join([str(len(value)), *value]) if isinstance(value, list) else str(value)]
        for name, value in figures.items()
    ]
    print_results(machine_now, figures, [Table(f"{len(names)} hostile files", ["", "counted"], rows)], options)
    sys.exit(bool(forgotten or dropped or ours))


def _reasons(names: Sequence[str], warned: Mapping[str, Sequence[str]], refused: Mapping[str, str]) -> list[str]:
    """All that was said of each file, by file."""
    return [" ".join((*warned.get(name, ()), refused.get(name, ""))) for name in names]


if __name__ == "__main__":
    main()
