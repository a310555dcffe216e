"""How long a person waits at the command line for the source of a sentence in the literature.

`quoteweave attribute --source` is run for excerpts of the made library (`quoteweave.testing.LibraryServer`), one after
another, each in a process of its own with a new folder of papers, at the rate that an API key allows. Both services are
served on loopback. No file of a paper can be fetched, as the command fetches none from this machine. Measured are the
seconds from the start of the process until it prints the source, and until it has written the answer page and ended.

With `--beside DIR` each excerpt is also looked for by the code of that checkout, in alternation.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from common import REPOSITORY, Table, arguments, machine, print_results, working_folder
from library_process import serving_library

from quoteweave.testing import make_library

SOURCES = ("semantic-scholar", "openalex")
STEP = 5
"""Only every fifth excerpt of the library is used, so that a few of them cover all its topics."""


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--excerpts", type=int, metavar="N", default=12, help="excerpts for each source (%(default)s)")
    parser.add_argument("--beside", type=Path, metavar="DIR", help="also run the code of this checkout")
    options = parser.parse_args()
    host, excerpts = machine(), make_library().excerpts
    codes = {"": REPOSITORY} | ({} if options.beside is None else {f", {options.beside}": options.beside})
    printed: dict[str, list[float]] = {f"{source}{code}": [] for source in SOURCES for code in codes}
    ended: dict[str, list[float]] = {name: [] for name in printed}
    with serving_library() as server:
        environment = os.environ | {
            **{"SEMANTIC_SCHOLAR_BASE_URL": server.semantic_scholar_url, "SEMANTIC_SCHOLAR_API_KEY": "made"},
            **{"OPENALEX_BASE_URL": server.openalex_url, "OPENALEX_API_KEY": "made"},
        }
        for source in SOURCES:
            for number in range(options.excerpts):
                text = excerpts[number * STEP % len(excerpts)].text
                for code, checkout in codes.items():
                    first, last = _seconds(text, source, checkout, environment)
                    printed[f"{source}{code}"].append(first)
                    ended[f"{source}{code}"].append(last)
    measured = {"until the source is printed": printed, "until the page is written and the command has ended": ended}
    rows = [
        [f"{name} {moment}", *(f"{value:.2f}" for value in (min(seconds), statistics.median(seconds), max(seconds)))]
        for name in printed
        for moment, seconds in ((moment, by_name[name]) for moment, by_name in measured.items())
    ]
    table = Table(f"seconds, {options.excerpts} excerpts each", ("", "least", "median", "most"), rows)
    print_results(host, {"seconds": {"printed": printed, "ended": ended}}, [table], options)


def _seconds(text: str, source: str, checkout: Path, environment: Mapping[str, str]) -> tuple[float, float]:
    """The seconds until the first line is printed, and until the command has ended."""
    with working_folder(None) as folder:
        command = [sys.executable, "-m", "quoteweave", "attribute", text, "--source", source]
        command += ["--papers", str(folder / "papers"), "--html", str(folder / "page.html")]
        start = time.perf_counter()
        with subprocess.Popen(
            command, cwd=checkout, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            first = time.perf_counter() - start
            process.stdout.read()
        if process.returncode:
            raise SystemExit(f"the command ended with {process.returncode}: {' '.join(command)}")
        return first, time.perf_counter() - start


if __name__ == "__main__":
    main()
