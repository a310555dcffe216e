"""Run the benchmarks of `make bench` one after the other, and print how long each took.

The documents are read before, into the collection that all share (`common.collection_of`). A benchmark that fails does
not stop the others; the exit status is then 1.
"""

import argparse
import subprocess
import sys
import time

from common import REPOSITORY, Table, collection_of, machine, research_folders, seconds

GOAL_S = 30 * 60
PARTS = (
    ("retrieval_mmdocir.py",),
    ("answers.py",),
    ("off_topic.py",),
    ("natural_questions.py",),
    ("statement_questions.py",),
    ("parsing_mmdocir.py",),
    ("gold_boxes.py",),
    ("parsing_speed.py", "--only", "digital", "ocr", "memory"),
    ("search_speed.py",),
    ("hybrid_mmdocir.py",),
    ("dense_speed.py", "--only", "speed"),
    ("maxsim_speed.py", "--only", "made", "memory"),
    ("encoding_speed.py", "--only", "speed", "--quotes", "500"),
    ("gate_quality.py",),
    ("highlights.py",),
    ("generation_speed.py", "--only", "overhead", "first", "flight"),
    ("scoring_speed.py",),
    ("serving.py",),
    ("startup.py",),
)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="SCRIPT", help="only these, such as startup.py")
    options = parser.parse_args()
    chosen = [part for part in PARTS if not options.parts or part[0] in options.parts]
    if unknown := sorted(set(options.parts).difference(name for name, *_ in PARTS)):
        parser.error(f"{unknown[0]} is none of {', '.join(name for name, *_ in PARTS)}")
    host, failed = machine(), list[str]()
    durations = {"documents read": seconds(_read_documents)}
    for name, *arguments in chosen:
        print(f"\n--- {' '.join([name, *arguments])}", flush=True)
        start = time.perf_counter()
        run = subprocess.run([sys.executable, str(REPOSITORY / "benchmarks" / name), *arguments], check=False)
        durations[name] = time.perf_counter() - start
        failed += [name] if run.returncode else []
    rows = [[name, f"{time:.0f}", "failed" if name in failed else ""] for name, time in durations.items()]
    total = ["all", f"{sum(durations.values()):.0f}", f"goal {GOAL_S}"]
    print("", Table("seconds of each benchmark", ("", "s", ""), [*rows, total]), host, sep="\n\n")
    return 1 if failed else 0


def _read_documents() -> None:
    with collection_of(research_folders(), argparse.Namespace(collection=None, cache=None, as_is=False)):
        pass


if __name__ == "__main__":
    sys.exit(main())
