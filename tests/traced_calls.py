"""Runs the command line in a process of its own, and records the functions of the package that are called there.

All threads are recorded, and the processes that it starts too: each Python that starts imports `sitecustomize`.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "quoteweave"
# A function is noted when a file calls it for the first time in a process; what imports call is left out.
RECORDER = """
import json, os, sys, threading

package, file = os.environ["TRACED_PACKAGE"], os.open(os.environ["TRACED_CALLS"], os.O_WRONLY | os.O_APPEND)
seen = set()

def record(frame, event, _):
    code, back = frame.f_code, frame.f_back
    if event != "call" or not code.co_filename.startswith(package) or code.co_name == "<module>":
        return
    key = code.co_filename, code.co_qualname, back and back.f_code.co_filename
    if key in seen:
        return
    stack = []
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(package):
            return
        if frame.f_code.co_filename.startswith(package):
            stack.append([frame.f_code.co_filename, frame.f_code.co_qualname])
        frame = frame.f_back
    seen.add(key)
    os.write(file, (json.dumps(stack) + chr(10)).encode())

# As a function that follows no line of what it is called for: a profile would also tell of each end and of built-ins.
threading.settrace(record)
sys.settrace(record)
"""


@dataclass(frozen=True)
class Call:
    """The first call of a function by a file, in one process."""

    file: Path
    name: str
    """Qualified, as `Class.method`."""
    callers: tuple[Path, ...]
    """The files of the functions that were waiting for it in its thread, innermost first."""


def trace_command(folder: Path, *arguments: object) -> list[Call]:
    """Run `quoteweave` with these arguments; return the first calls in the order of time. Writes to the folder."""
    recorder, calls = folder / "recorder", folder / "calls.jsonl"
    recorder.mkdir(exist_ok=True)
    (recorder / "sitecustomize.py").write_text(RECORDER, "utf-8")
    calls.write_bytes(b"")
    environment = {"PYTHONPATH": str(recorder), "TRACED_PACKAGE": f"{PACKAGE}{os.sep}", "TRACED_CALLS": str(calls)}
    command = [sys.executable, "-c", "from quoteweave.cli.app import main; main()", *map(str, arguments)]
    done = subprocess.run(
        command, check=False, env=os.environ | environment, cwd=PACKAGE.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    stacks = [json.loads(line) for line in calls.read_text("utf-8").splitlines()]
    return [Call(Path(stack[0][0]), stack[0][1], tuple(Path(file) for file, _ in stack[1:])) for stack in stacks]
