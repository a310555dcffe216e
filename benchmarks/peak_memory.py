"""The most memory that a command takes, with all processes that it starts. Reads /proc, so it works on Linux alone."""

import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

INTERVAL_S = 0.05
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Peak:
    """The time and memory that a command took."""

    seconds: float
    bytes: int  # resident memory of all processes at once; what they share counts once for each


def run_and_watch(command: Sequence[str]) -> Peak:
    """Run a command to its end and look at its memory twenty times a second. Ends the script if the command fails."""
    if not (PROC / "self" / "stat").is_file():
        raise SystemExit("Memory is read from /proc, which this system has not; run this part on Linux.")
    import resource

    start, most = time.perf_counter(), 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            most = max(most, _resident_pages(process.pid))
            time.sleep(INTERVAL_S)
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed with exit code {process.returncode}")
    return Peak(time.perf_counter() - start, most * resource.getpagesize())


def _resident_pages(root: int) -> int:
    children: defaultdict[int, list[int]] = defaultdict(list)
    resident: dict[int, int] = {}
    for path in PROC.glob("[0-9]*/stat"):
        try:
            # The process's name in brackets may contain spaces and brackets; the fields needed come after the last one.
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(path.parent.name)
        children[int(fields[1])].append(pid)
        resident[pid] = int(fields[21])
    total, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        total += resident.get(pid, 0)
        waiting.extend(children[pid])
    return total
